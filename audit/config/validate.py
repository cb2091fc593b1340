"""Checks configuration data against the structs and finds every error, not only the first."""

from __future__ import annotations

import enum
import re
import types
import typing
from typing import Annotated, Any, Literal

import msgspec

from audit.authored import Document, dotted
from audit.authored import KeyPath as Path
from audit.config.schema import FileConfig
from audit.config.suggest import did_you_mean, nearest
from audit.errors import ConfigError
from audit.redact import masked

_AT = re.compile(r" - at `[^`]*`$")
_EXPECTED = re.compile(r"^Expected `(?P<want>[^`]+)`, got `(?P<got>[^`]+)`$")
_WORDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "nothing",
}


def find_errors(
    document: Document[ConfigError], kind: type[msgspec.Struct] = FileConfig
) -> list[ConfigError]:
    """Unknown and missing keys, wrong types and values, in document order.

    Args:
        document: what was written.
        kind: what it must be.
    """
    walk = _Walk(document, kind)
    walk.struct({} if document.value is None else document.value, kind, ())
    return walk.errors


class _Walk:
    def __init__(self, document: Document[ConfigError], root: type[msgspec.Struct]) -> None:
        self.document = document
        self.root = root
        self.errors: list[ConfigError] = []

    def add(self, path: Path, message: str, suggestion: str | None = None) -> None:
        self.errors.append(self.document.error(message, path, suggestion=suggestion))

    def check(self, value: Any, kind: Any, path: Path) -> None:
        """Look into structs, lists and mappings; everything else is msgspec's to judge."""
        base = _bare(kind)
        origin = typing.get_origin(base)
        before = len(self.errors)
        if value is None and base is not kind and _is_optional(kind):
            return
        if _is_struct(base):
            self.struct(value, base, path)
        elif origin is tuple and isinstance(value, list):
            item = typing.get_args(base)[0]
            for index, child in enumerate(value):
                self.check(child, item, (*path, index))
        elif origin is dict and isinstance(value, dict):
            item = typing.get_args(base)[1]
            for key, child in value.items():
                self.check(child, item, (*path, key))
        if len(self.errors) == before and not _is_struct(base):
            self.leaf(value, kind, path)

    def struct(self, value: Any, kind: type[msgspec.Struct], path: Path) -> None:
        if not isinstance(value, dict):
            self.add(path, f"expected a mapping, got {_shown(value)}")
            return
        fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        meant: set[str | None] = set()
        for key, child in value.items():
            if key in fields:
                self.check(child, fields[key].type, (*path, key))
            else:
                meant.add(nearest(key, fields))
                self.add((*path, key), "unknown key", _known_key(key, set(fields), path, self.root))
        for name, field in fields.items():
            if field.required and name not in value and name not in meant:
                self.add((*path, name), "the key is required and is not here")

    def leaf(self, value: Any, kind: Any, path: Path) -> None:
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            message, suggestion = _explain(value, kind, path, _AT.sub("", str(error)))
            self.add(path, message, suggestion)


def _explain(value: Any, kind: Any, path: Path, text: str) -> tuple[str, str | None]:
    special = _special(value, path)
    if special:
        return special
    words = _allowed_words(kind)
    if words:
        listed = ", ".join(words)
        return f"expected one of {listed}, got {_shown(value)}", did_you_mean(str(value), words)
    if match := _EXPECTED.match(text):
        want = " or ".join(_WORDS.get(part.strip(), part.strip()) for part in match["want"].split("|"))
        suggestion = None
        if match["want"].startswith("str") and isinstance(value, bool | int | float):
            suggestion = "put the value in quotes"
        elif match["want"].startswith("array") and isinstance(value, str):
            suggestion = f"write a list: [{value[:60]}]"
        return f"expected {want}, got {_shown(value)}", suggestion
    if "matching regex" in text:
        return f"{_shown(value)} has characters that are not accepted here", None
    plain = re.sub(r"`([^`]+)`", lambda match: _WORDS.get(match[1], match[1]), text[:1].lower() + text[1:])
    return f"{plain}, got {_shown(value)}", None


def _special(value: Any, path: Path) -> tuple[str, str | None] | None:
    """Mistakes that deserve their own sentence."""
    if path in {("gates", "min_ratio"), ("gates", "min_coverage")} and not isinstance(value, dict):
        return (
            "a bare number is not accepted: two frameworks are never averaged",
            f"name the framework, for example nist-ai-rmf: {value if isinstance(value, float) else 0.7}",
        )
    if path[:1] == ("gates",) and len(path) == 3 and isinstance(value, int | float) and 1 < value <= 100:
        return "expected a fraction from 0 to 1", f"write {value / 100:g} for {value:g} percent"
    if path == ("gates", "fail_on") and isinstance(value, str) and value.startswith("new:"):
        return (
            "gates on new findings need an earlier result, and a run has none",
            f"write {value[4:]}, or use fleetaudit diff --since last --fail-on-new {value[4:]} afterwards",
        )
    if path == ("profile",):
        return (
            f"expected technical, full, or a mapping from framework to control ids, got {_shown(value)}",
            did_you_mean(str(value), ("technical", "full")),
        )
    return None


def _known_key(key: str, siblings: set[str], path: Path, root: type[msgspec.Struct]) -> str | None:
    if found := nearest(key, siblings):
        return f"did you mean {dotted((*path, found))}?"
    elsewhere = {name: place for place in sorted(_all_keys(root, ())) for name in (place[-1],)}
    if found := nearest(key, elsewhere):
        return f"did you mean {dotted(elsewhere[found])}?"
    return f"known keys here: {', '.join(sorted(siblings))}"


def _all_keys(kind: type[msgspec.Struct], path: tuple[str, ...]) -> list[tuple[str, ...]]:
    keys: list[tuple[str, ...]] = []
    for field in msgspec.structs.fields(kind):
        place = (*path, field.encode_name)
        keys.append(place)
        base = _bare(field.type)
        if _is_struct(base):
            keys.extend(_all_keys(base, place))
    return keys


def _allowed_words(kind: Any) -> list[str]:
    base = _bare(kind)
    if typing.get_origin(base) is Literal:
        return [str(word) for word in typing.get_args(base)]
    if isinstance(base, type) and issubclass(base, enum.Enum):
        return [str(member.value) for member in base]
    return []


def _bare(kind: Any) -> Any:
    """The type without its annotations and without "or nothing"."""
    while typing.get_origin(kind) is Annotated:
        kind = typing.get_args(kind)[0]
    if typing.get_origin(kind) in {types.UnionType, typing.Union}:
        members = [member for member in typing.get_args(kind) if member is not type(None)]
        if len(members) == 1:
            return _bare(members[0])
    return kind


def _is_optional(kind: Any) -> bool:
    while typing.get_origin(kind) is Annotated:
        kind = typing.get_args(kind)[0]
    return type(None) in typing.get_args(kind)


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = masked(str(value))  # an address in the wrong place may hold a password
    return repr(text if len(text) <= 60 else text[:57] + "...") if isinstance(value, str) else text[:60]
