"""Reads the YAML that people author, without the surprises of YAML 1.1.

Only null, true/false and plain decimal numbers are more than text: dates, ``yes``, ``on``, ``1:30`` or ``012`` stay the
words that were written. Keys are text. Duplicate keys, merge keys, tags and second documents are refused, aliases may
not multiply, and size and depth have bounds. Every value knows its line, so that an error can name it.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import yaml

from audit.errors import AuditError

MAX_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 32
MAX_NODES = 400_000

KeyPath = tuple[str | int, ...]
Error = TypeVar("Error", bound=AuditError)

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})\Z", re.ASCII)
_DECIMAL = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})\.[0-9]{1,18}\Z", re.ASCII)
# libyaml, where PyYAML has it, is ten times faster and says the same; start-up time is why it matters.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Document(Generic[Error]):
    """One parsed file: its value, its digest, and where each part of it stands."""

    def __init__(
        self, file: str, value: Any, digest: str, lines: dict[KeyPath, int], error: type[Error]
    ) -> None:
        self.file = file
        self.value = value
        self.digest = digest
        """sha256 (hex) of the bytes."""
        self.lines = lines
        """1-based line of every key and of every item of a list."""
        self._error = error

    def line(self, path: KeyPath = ()) -> int | None:
        """1-based line of the part at `path`, or of the nearest part around it."""
        while path not in self.lines and path:
            path = path[:-1]
        return self.lines.get(path)

    def error(self, message: str, path: KeyPath = (), *, suggestion: str | None = None) -> Error:
        """An error at `path`, ready to raise."""
        return self._error(
            message,
            file=self.file,
            line=self.line(path),
            key=dotted(path) or None,
            suggestion=suggestion,
        )


def dotted(path: KeyPath) -> str:
    """``clusters.0.name``."""
    return ".".join(str(segment) for segment in path)


def parse_document(data: bytes, name: str, error: type[Error]) -> tuple[Document[Error], tuple[Error, ...]]:
    """Parse the bytes of the file `name`: the document, and what can be passed over to find more mistakes.

    Args:
        data: the whole file.
        name: how the user knows it.
        error: what to raise and to make of mistakes.

    Raises:
        Error: too large, not UTF-8, or not plain YAML within the bounds above; names the line where known.
    """
    if len(data) > MAX_BYTES:
        raise too_large(name, error)
    digest = hashlib.sha256(data).hexdigest()
    text = _decode(data, name, error)
    builder = _Builder(name, error)
    try:
        for event in _events(text):
            builder.take(event)
    except yaml.reader.ReaderError as found:
        line = text.count("\n", 0, found.position) + 1
        raise error("no valid YAML: a character that no text has", file=name, line=line) from None
    except yaml.YAMLError as found:
        mark = getattr(found, "problem_mark", None) or getattr(found, "context_mark", None)
        problem = getattr(found, "problem", None) or "it cannot be parsed"
        raise error(
            f"no valid YAML: {problem}",
            file=name,
            line=mark.line + 1 if mark is not None else None,
            column=mark.column + 1 if mark is not None else None,
            suggestion="indent with spaces, not tabs" if mark is not None and _tab_at(text, mark) else None,
        ) from None
    return Document(name, builder.value, digest, builder.lines, error), tuple(builder.duplicates)


def _tab_at(text: str, mark: yaml.Mark) -> bool:
    lines = text.split("\n")
    return mark.line < len(lines) and "\t" in lines[mark.line][: mark.column + 1]


def too_large(name: str, error: type[Error]) -> Error:
    """A file over the bound."""
    return error(f"the file is larger than {MAX_BYTES // 1024 // 1024} MiB", file=name)


def _decode(data: bytes, name: str, kind: type[Error]) -> str:
    utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise kind("the file is not valid UTF-8", file=name, line=None if utf16 else line) from error


def _events(text: str) -> Iterator[yaml.Event]:
    loader = _LOADER(text)
    try:
        while loader.check_event():
            yield loader.get_event()
    finally:
        loader.dispose()


class _Open:
    """A list or mapping whose end has not been met yet."""

    __slots__ = ("anchor", "key", "nodes", "path", "value")

    def __init__(
        self, path: KeyPath, value: dict[str, Any] | list[Any], anchor: str | None, nodes: int
    ) -> None:
        self.path = path
        self.value = value
        self.anchor = anchor
        self.key: str | None = None
        self.nodes = nodes
        """Nodes counted when it was opened: the difference at its end is its size."""


class _Builder(Generic[Error]):
    """Turns parser events into plain values; iterative, so depth costs no stack."""

    def __init__(self, name: str, error: type[Error]) -> None:
        self.name = name
        self.duplicates: list[Error] = []
        self._kind = error
        self.value: Any = None
        self.lines: dict[KeyPath, int] = {}
        self._stack: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._nodes = 0
        self._documents = 0

    def take(self, event: yaml.Event) -> None:
        """Handle the next event."""
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent):
            self._open(event, {})
        elif isinstance(event, yaml.SequenceStartEvent):
            self._open(event, [])
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self._close()
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise self._error(
                    "a second document begins here", event, suggestion="keep one document in the file"
                )

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        self._refuse_tag(event)
        self._count(1, event)
        plain = not event.style
        if self._awaits_key():
            if plain and event.value == "<<":
                raise self._error("merge keys (<<) are not supported here", event)
            self._key(event.value, event)
            return
        value = _resolve(event.value) if plain else event.value
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        self._place(value, event)

    def _key(self, key: str, event: yaml.Event) -> None:
        top = self._stack[-1]
        top.key = key
        path = (*top.path, key)
        if path in self.lines:
            # Read on: whoever mends a file wants to know of its other mistakes too.
            self.duplicates.append(
                self._error(
                    f"the key {key!r} stands twice, first in line {self.lines[path]}",
                    event,
                    path,
                    suggestion="keep one of them",
                )
            )
        else:
            self.lines[path] = _line(event)

    def _open(self, event: yaml.Event, value: dict[str, Any] | list[Any]) -> None:
        self._refuse_tag(event)
        self._count(1, event)
        if self._awaits_key():
            raise self._error("a key must be plain text", event)
        if len(self._stack) >= MAX_DEPTH:
            raise self._error(f"nested deeper than {MAX_DEPTH} levels", event)
        path = self._place(value, event)
        self._stack.append(_Open(path, value, getattr(event, "anchor", None), self._nodes))

    def _close(self) -> None:
        done = self._stack.pop()
        if done.anchor:
            # Known only once complete, so that nothing can contain itself.
            self._anchors[done.anchor] = (done.value, self._nodes - done.nodes + 1)

    def _alias(self, event: yaml.AliasEvent) -> None:
        if self._awaits_key():
            raise self._error("a key must be plain text", event)
        if event.anchor not in self._anchors:
            raise self._error(f"the alias *{event.anchor} names nothing above it", event)
        value, nodes = self._anchors[event.anchor]
        self._count(nodes, event)
        self._place(value, event)

    def _place(self, value: Any, event: yaml.Event) -> KeyPath:
        if not self._stack:
            self.value = value
            self.lines[()] = _line(event)
            return ()
        top = self._stack[-1]
        if isinstance(top.value, list):
            path = (*top.path, len(top.value))
            top.value.append(value)
            self.lines[path] = _line(event)
            return path
        key = top.key or ""
        top.value[key] = value
        top.key = None
        return (*top.path, key)

    def _awaits_key(self) -> bool:
        return bool(self._stack) and isinstance(self._stack[-1].value, dict) and self._stack[-1].key is None

    def _count(self, nodes: int, event: yaml.Event) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            raise self._error(f"holds more than {MAX_NODES} values, aliases counted in full", event)

    def _refuse_tag(self, event: yaml.Event) -> None:
        tag = getattr(event, "tag", None)
        if tag not in (None, "!"):
            raise self._error(f"the tag {tag} is not accepted; write the plain value", event)

    def _error(
        self,
        message: str,
        event: yaml.Event,
        path: KeyPath | None = None,
        *,
        suggestion: str | None = None,
    ) -> Error:
        column = event.start_mark.column + 1 if event.start_mark else None
        return self._kind(
            message,
            file=self.name,
            line=_line(event),
            column=column,
            key=dotted(self._here() if path is None else path) or None,
            suggestion=suggestion,
        )

    def _here(self) -> KeyPath:
        """Path of the value that is being read."""
        if not self._stack:
            return ()
        top = self._stack[-1]
        if isinstance(top.value, list):
            return (*top.path, len(top.value))
        return (*top.path, top.key) if top.key is not None else top.path


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _resolve(text: str) -> Any:
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INTEGER.match(text):
        return int(text)
    if _DECIMAL.match(text):
        return float(text)
    return text
