"""Turns parts of an authored document into typed entries, with errors a person can act on."""

from __future__ import annotations

import datetime as dt
import difflib
import enum
import functools
import itertools
import re
import typing
from collections.abc import Collection, Iterable, Iterator
from typing import Any, TypeVar

import msgspec

from audit.errors import ContentError
from audit.library.authored import Document, Path_

_AT = re.compile(r"(?P<text>.*) - at `\$?(?P<path>[^`]*)`\Z", re.DOTALL)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_SCALAR_FOR_TEXT = re.compile(r"Expected `str`, got `(int|float|bool|null)`")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z", re.ASCII)
_SHOWN_CHOICES = 8

EntryType = TypeVar("EntryType", bound=msgspec.Struct)


class Problems:
    """Errors of one load, gathered so that an author can mend a file in one go."""

    def __init__(self) -> None:
        self._errors: list[ContentError] = []

    def add(self, error: ContentError) -> None:
        """Keep one more error."""
        self._errors.append(error)

    def raise_any(self) -> None:
        """Raise the first error with all others attached; do nothing when there is none.

        Raises:
            ContentError: at least one error was added.
        """
        if not self._errors:
            return
        first, *others = self._errors
        raise ContentError(
            first.message,
            file=first.file,
            line=first.line,
            column=first.column,
            key=first.key,
            suggestion=first.suggestion,
            others=others,
        )


def suggest(word: str, choices: Iterable[str]) -> str | None:
    """``did you mean "x"?`` for the nearest choice, the whole list when it is short, else None."""
    known = sorted(set(choices))
    folded = {choice.casefold(): choice for choice in known}
    if word.casefold() in folded:
        return f'did you mean "{folded[word.casefold()]}"?'
    close = difflib.get_close_matches(word, known, n=8, cutoff=0.6)
    if close:
        return f'did you mean "{max(close, key=lambda choice: _nearness(word, choice))}"?'
    if 0 < len(known) <= _SHOWN_CHOICES:
        return "one of: " + ", ".join(known)
    return None


def _nearness(word: str, choice: str) -> tuple[float, int, str]:
    """Ids differ near their end: of equally similar ones the one with the same beginning is meant."""
    similar = difflib.SequenceMatcher(None, choice, word).ratio()
    pairs = zip(word, choice, strict=False)
    alike = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    return similar, alike, choice


def mapping_at(document: Document, path: Path_, value: Any, keys: Collection[str]) -> dict[str, Any]:
    """`value` as a mapping that has no other keys than these.

    Raises:
        ContentError: it is no mapping, or has an unknown key.
    """
    if not isinstance(value, dict):
        raise document.error(f"expected keys and values, found {_kind_of(value)}", path)
    for key in value:
        if key not in keys:
            raise document.error("unknown key", (*path, key), suggestion=suggest(key, keys))
    return value


def list_at(document: Document, path: Path_, value: Any) -> list[Any]:
    """`value` as a list; nothing written counts as an empty one.

    Raises:
        ContentError: it is something else.
    """
    if value is None:
        return []
    if not isinstance(value, list):
        raise document.error(f"expected a list, found {_kind_of(value)}", path)
    return value


def entries_of(
    document: Document,
    key: str,
    type_: type[EntryType],
    problems: Problems,
    *,
    other_keys: Collection[str] = (),
) -> Iterator[tuple[Path_, EntryType]]:
    """Each well-formed entry of the list under `key`, with its path; the rest is reported to `problems`."""
    if document.value is None:
        return
    try:
        top = mapping_at(document, (), document.value, (key, *other_keys))
        items = list_at(document, (key,), top.get(key))
    except ContentError as error:
        problems.add(error)
        return
    for index, item in enumerate(items):
        path: Path_ = (key, index)
        try:
            yield path, convert(document, path, item, type_)
        except ContentError as error:
            problems.add(error)


def convert(document: Document, path: Path_, value: Any, type_: type[EntryType]) -> EntryType:
    """One part of a document as a struct.

    Raises:
        ContentError: an unknown, missing or ill-typed key; names it, its line, and a near word where there is one.
    """
    fields = _fields(type_)
    given = mapping_at(document, path, value, fields)
    for name, field in fields.items():
        if field.required and given.get(name) is None:
            raise document.error(f"the key {name!r} is missing", path)
    try:
        # None written out means the same as nothing written, so that an emptied key does not read as a value.
        return msgspec.convert({k: v for k, v in given.items() if v is not None}, type_)
    except msgspec.ValidationError as error:
        raise _explain(document, path, type_, str(error)) from error


@functools.cache
def _fields(type_: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.encode_name: field for field in msgspec.structs.fields(type_)}


def day_at(document: Document, path: Path_, written: str) -> dt.date:
    """A day of the calendar, written as 2026-12-31 and no other way.

    Raises:
        ContentError: it is none.
    """
    try:
        if _DAY.match(written):
            return dt.date.fromisoformat(written)
    except ValueError:
        pass
    raise document.error(f"{written!r} is no day of the calendar such as 2026-12-31", path)


def _explain(document: Document, path: Path_, type_: type[msgspec.Struct], text: str) -> ContentError:
    found = _AT.match(text)
    message, steps = (found["text"], found["path"]) if found else (text, "")
    inner: Path_ = tuple(
        int(index) if index else name for name, index in (step.groups() for step in _STEP.finditer(steps))
    )
    suggestion = None
    if _SCALAR_FOR_TEXT.match(message):
        suggestion = "put the value in quotes"
    elif "enum value" in message and inner:
        suggestion = _choices(type_, str(inner[0]), message)
    return document.error(message.replace("`", ""), (*path, *inner), suggestion=suggestion)


def _choices(type_: type[msgspec.Struct], name: str, message: str) -> str | None:
    hint = typing.get_type_hints(type_).get(name)
    if not (isinstance(hint, type) and issubclass(hint, enum.Enum)):
        return None
    written = re.search(r"'([^']*)'", message)
    return suggest(written[1] if written else "", [member.value for member in hint])


def _kind_of(value: Any) -> str:
    if value is None:
        return "nothing"
    return {dict: "keys and values", list: "a list", str: "text", bool: "true or false"}.get(
        type(value), "a number"
    )
