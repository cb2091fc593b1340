"""Reads the YAML that people author, without the surprises of YAML 1.1.

Only null, true/false and plain decimal numbers are more than text: dates, ``yes``, ``on``, ``1:30`` or ``012`` stay the
words that were written. Keys are text. Duplicate keys, tags and second documents are refused, aliases may not
multiply, and size and depth have bounds. Every value knows its line, so that an error can name it.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from audit.errors import ContentError
from audit.resources import content_dir

MAX_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 32
MAX_NODES = 400_000

Path_ = tuple[str | int, ...]

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})\Z", re.ASCII)
_DECIMAL = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})\.[0-9]{1,18}\Z", re.ASCII)
# libyaml, where PyYAML has it, is ten times faster and says the same; start-up time is why it matters.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Document:
    """One parsed file: its value, its digest, and where each part of it stands."""

    def __init__(self, file: str, value: Any, digest: str, lines: dict[Path_, int]) -> None:
        self.file = file
        self.value = value
        self.digest = digest
        """sha256 (hex) of the bytes."""
        self._lines = lines

    def line(self, path: Path_ = ()) -> int | None:
        """1-based line of the part at `path`, or of the nearest part around it."""
        while path not in self._lines and path:
            path = path[:-1]
        return self._lines.get(path)

    def error(self, message: str, path: Path_ = (), *, suggestion: str | None = None) -> ContentError:
        """A content error at `path`, ready to raise."""
        return ContentError(
            message,
            file=self.file,
            line=self.line(path),
            key=".".join(str(part) for part in path) or None,
            suggestion=suggestion,
        )


def read_document(path: Path) -> Document:
    """Read and parse one YAML (or JSON) file. A shipped one is called ``controls/...`` wherever it is installed.

    Raises:
        ContentError: it cannot be read, or is not plain YAML within the bounds above; names the line where known.
    """
    name = _shown(path)
    try:
        if path.is_file() and path.stat().st_size > MAX_BYTES:
            raise ContentError(f"the file is larger than {MAX_BYTES // 1024 // 1024} MiB", file=name)
        data = path.read_bytes()
    except OSError as error:
        raise ContentError(f"cannot be read: {error.strerror or 'input/output error'}", file=name) from error
    return parse_document(data, name)


def parse_document(data: bytes, name: str) -> Document:
    """Parse bytes that stand for the file `name`; otherwise as `read_document`."""
    if len(data) > MAX_BYTES:
        raise ContentError(f"the file is larger than {MAX_BYTES // 1024 // 1024} MiB", file=name)
    digest = hashlib.sha256(data).hexdigest()
    text = _decode(data, name)
    builder = _Builder(name)
    try:
        for event in _events(text):
            builder.take(event)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "not YAML"
        raise ContentError(
            f"not YAML: {problem}",
            file=name,
            line=mark.line + 1 if mark is not None else None,
            column=mark.column + 1 if mark is not None else None,
        ) from error
    return Document(name, builder.value, digest, builder.lines)


def _shown(path: Path) -> str:
    """Equal on every machine for shipped files, so that results which name them are equal too."""
    try:
        folder = content_dir("controls")
    except ContentError:
        return str(path)
    return f"controls/{path.relative_to(folder).as_posix()}" if path.is_relative_to(folder) else str(path)


def _decode(data: bytes, name: str) -> str:
    utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ContentError("not valid UTF-8", file=name, line=None if utf16 else line) from error


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
        self, path: Path_, value: dict[str, Any] | list[Any], anchor: str | None, nodes: int
    ) -> None:
        self.path = path
        self.value = value
        self.anchor = anchor
        self.key: str | None = None
        self.nodes = nodes
        """Nodes counted when it was opened: the difference at its end is its size."""


class _Builder:
    """Turns parser events into plain values; iterative, so depth costs no stack."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.value: Any = None
        self.lines: dict[Path_, int] = {}
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
                raise self._error("holds a second document; only one is read", event)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        self._refuse_tag(event)
        self._count(1, event)
        plain = not event.style
        if self._awaits_key():
            self._key(event.value, event)
            return
        value = _resolve(event.value) if plain else event.value
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        self._place(value, event)

    def _key(self, key: str, event: yaml.Event) -> None:
        top = self._stack[-1]
        if key in top.value:
            first = self.lines.get((*top.path, key))
            raise self._error(f"the key {key!r} stands twice, first in line {first}", event)
        top.key = key
        self.lines[*top.path, key] = _line(event)

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

    def _place(self, value: Any, event: yaml.Event) -> Path_:
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

    def _error(self, message: str, event: yaml.Event) -> ContentError:
        column = event.start_mark.column + 1 if event.start_mark else None
        return ContentError(message, file=self.name, line=_line(event), column=column)


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
