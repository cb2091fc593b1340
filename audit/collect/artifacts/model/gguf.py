"""The header of a GGUF file: counts, lengths and places that fit the file they stand in. Read piece by piece, never whole."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

from audit.collect.artifacts.sbom.problems import FormatError, Problems, short

VERSIONS = (2, 3)
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_STRING, _ARRAY, _UINT32 = 8, 9, 4
_MAX_KEY = 65_535
_MAX_NAME = 64
_MAX_TEXT = 1 << 20
_MAX_NESTING = 4
_MAX_DIMENSIONS = 4
_MOST = 1 << 63
_REFUSED = frozenset({"too_many", "text_too_long", "unknown_version", "unknown_type"})
"""Why we don't judge a file that may well be valid."""
BLOCKS = {
    0: (1, 4),
    1: (1, 2),
    2: (32, 18),
    3: (32, 20),
    6: (32, 22),
    7: (32, 24),
    8: (32, 34),
    9: (32, 40),
    10: (256, 84),
    11: (256, 110),
    12: (256, 144),
    13: (256, 176),
    14: (256, 210),
    15: (256, 292),
    16: (256, 66),
    17: (256, 74),
    18: (256, 98),
    19: (256, 50),
    20: (32, 18),
    21: (256, 110),
    22: (256, 82),
    23: (256, 136),
    24: (1, 1),
    25: (1, 2),
    26: (1, 4),
    27: (1, 8),
    28: (1, 8),
    29: (256, 56),
    30: (1, 2),
    34: (256, 54),
    35: (256, 66),
    39: (32, 17),
    40: (64, 36),
    41: (128, 18),
}
"""Of each type of tensor: elements and bytes of a block."""
_TOLD = frozenset(
    {
        "general.architecture",
        "general.name",
        "general.license",
        "general.license.link",
        "general.author",
        "general.organization",
        "general.version",
        "general.source.url",
        "general.source.huggingface.repository",
        "general.base_model.0.name",
        "general.base_model.0.repo_url",
    }
)
_TEMPLATE = "tokenizer.chat_template"


def gguf_facts(path: Path, *, max_entries: int) -> dict[str, Any]:
    """Whether the header is sound, and what it says.

    Raises:
        OSError: the file can't be read.
    """
    problems = Problems()
    with path.open("rb") as file:
        header = _Header(file, path.stat().st_size, max_entries)
        try:
            header.read(problems)
            status, reason = ("invalid", problems.rows()[0]["message"]) if problems else ("valid", "")
        except FormatError as error:
            status, reason = "unknown" if error.code in _REFUSED else "invalid", error.message
            problems.add(error.code, error.message)
    return {
        "status": status,
        "reason": reason,
        "problems": problems.rows(),
        "version": header.version,
        "tensors": header.tensors,
        "parameters": header.parameters,
        "types": [{"name": str(kind), "count": count} for kind, count in sorted(header.types.items())],
        "metadata": dict(sorted(header.texts.items())),
        "chat_template": header.template,
    }


class _Header:
    """Reads one."""

    def __init__(self, file: BinaryIO, size: int, max_entries: int) -> None:
        self._file = file
        self._size = size
        self._left = max_entries
        self._order = "<"
        self._alignment = 32
        self.version: int | None = None
        self.tensors: int | None = None
        self.parameters = 0
        self.types: dict[int, int] = {}
        self.texts: dict[str, str] = {}
        self.template = False

    def read(self, problems: Problems) -> None:
        """All of it.

        Raises:
            FormatError: it can't be read on.
        """
        if self._bytes(4) != b"GGUF":
            raise FormatError("bad_magic", "it does not begin with GGUF")
        self.version = self._version()
        self.tensors = self._number("Q")
        keys = self._number("Q")
        if self.tensors > self._left or keys > self._left:
            self._refuse_count()
        self._metadata(keys, problems)
        names: set[str] = set()
        spans = [self._tensor(problems, names) for _ in range(self.tensors)]
        start = -(-self._file.tell() // self._alignment) * self._alignment
        self._place(spans, start, problems)

    def _version(self) -> int:
        raw = self._bytes(4)
        (version,) = struct.unpack("<I", raw)
        if version & 0xFFFF == 0:
            self._order = ">"
            (version,) = struct.unpack(">I", raw)
        if version not in VERSIONS:
            raise FormatError("unknown_version", f"version {version} of GGUF is not known")
        return int(version)

    def _refuse_count(self) -> None:
        raise FormatError("too_many", "more tensors, keys or texts than any model has")

    def _count(self, number: int = 1) -> None:
        self._left -= number
        if self._left < 0:
            self._refuse_count()

    def _bytes(self, size: int) -> bytes:
        if size > self._size - self._file.tell():
            raise FormatError("truncated", "a length leads behind the end of the file")
        found = self._file.read(size)
        if len(found) != size:
            raise FormatError("truncated", "the file ends inside of its header")
        return found

    def _skip(self, size: int) -> None:
        if size > self._size - self._file.tell():
            raise FormatError("truncated", "a length leads behind the end of the file")
        self._file.seek(size, 1)

    def _number(self, form: str) -> int:
        size = struct.calcsize(f"<{form}")
        (value,) = struct.unpack(f"{self._order}{form}", self._bytes(size))
        return int(value)

    def _text(self, limit: int, problems: Problems, what: str) -> str:
        length = self._number("Q")
        if length > limit:
            if length > self._size - self._file.tell():
                raise FormatError("truncated", "a length leads behind the end of the file")
            raise FormatError("text_too_long", f"{what} is longer than {limit} bytes")
        raw = self._bytes(length)
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            problems.add("not_utf8", f"{what} is no UTF-8")
            return raw.decode("utf-8", "replace")

    def _metadata(self, keys: int, problems: Problems) -> None:
        seen: set[str] = set()
        for _ in range(keys):
            self._count()
            key = self._text(_MAX_KEY, problems, "a key")
            if key in seen:
                problems.add("duplicate_keys", "a key stands twice", key)
            seen.add(key)
            kind = self._number("I")
            if key == "general.alignment" and kind == _UINT32:
                self._alignment = self._number("I")
                if self._alignment < 8 or self._alignment & (self._alignment - 1):
                    raise FormatError("bad_alignment", "the alignment is no power of two from eight on")
            elif kind == _STRING and key in _TOLD:
                self.texts[key] = short(self._text(_MAX_TEXT, problems, "a value"))
            else:
                self.template = self.template or key.startswith(_TEMPLATE)
                self._value(kind, 0)

    def _value(self, kind: int, depth: int) -> None:
        if kind == _STRING:
            self._skip(self._number("Q"))
        elif kind == _ARRAY:
            inner, count = self._number("I"), self._number("Q")
            if depth >= _MAX_NESTING:
                raise FormatError("too_deep", "lists in lists, deeper than the format's readers go")
            if inner in _SIZES:
                self._skip(count * _SIZES[inner])
                return
            if inner not in (_STRING, _ARRAY):
                raise FormatError("bad_value_type", "a value of a type that the format does not have")
            self._count(count)
            for _ in range(count):
                self._value(inner, depth + 1)
        elif kind in _SIZES:
            self._skip(_SIZES[kind])
        else:
            raise FormatError("bad_value_type", "a value of a type that the format does not have")

    def _tensor(self, problems: Problems, names: set[str]) -> tuple[int, int, str]:
        """Where a tensor begins and how long it is."""
        self._count()
        name = self._text(_MAX_KEY, problems, "the name of a tensor")
        if len(name.encode()) > _MAX_NAME:
            problems.add("long_name", f"the name of a tensor is longer than {_MAX_NAME} bytes", name)
        if name in names:
            problems.add("duplicate_names", "two tensors have one name", name)
        names.add(name)
        dimensions = self._number("I")
        if dimensions > _MAX_DIMENSIONS:
            raise FormatError("bad_shape", f"a tensor of more than {_MAX_DIMENSIONS} dimensions")
        elements, row = 1, 1
        for number in range(dimensions):
            size = self._number("Q")
            row = size if number == 0 else row
            elements *= size
            if elements > _MOST:
                raise FormatError("bad_shape", "more elements than there are addresses")
        kind, offset = self._number("I"), self._number("Q")
        self.types[kind] = self.types.get(kind, 0) + 1
        if kind not in BLOCKS:
            raise FormatError("unknown_type", f"a tensor of type {kind}, which is not known")
        block, size = BLOCKS[kind]
        if row % block:
            problems.add("bad_shape", "a row of a tensor is not made of whole blocks", name)
        self.parameters += elements
        return offset, elements // block * size, name

    def _place(self, spans: list[tuple[int, int, str]], start: int, problems: Problems) -> None:
        at = 0
        for offset, length, name in sorted(spans):
            if offset % self._alignment:
                problems.add("not_aligned", "a tensor does not begin at a multiple of the alignment", name)
            if offset < at:
                problems.add("overlap", "two tensors share bytes", name)
            if start + offset + length > self._size:
                problems.add("out_of_range", "tensors lie behind the end of the file", name)
            at = offset + length
