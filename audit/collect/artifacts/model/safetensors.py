"""The header of a safetensors file: every tensor in its place, no byte that belongs to none, no key twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from audit.collect.artifacts.sbom.problems import FormatError, Problems, short

BITS = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 16),
    **dict.fromkeys(("U32", "I32", "F32"), 32),
    **dict.fromkeys(("U64", "I64", "F64", "C64"), 64),
    "C128": 128,
    "F4": 4,
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
}
_MOST = 1 << 63
_REFUSED = frozenset({"header_too_large", "too_deep"})
"""Why we don't read a header that may well be valid."""


def safetensors_facts(path: Path, *, max_header: int) -> dict[str, Any]:
    """Whether the header is sound, and what it lists.

    Raises:
        OSError: the file can't be read.
    """
    problems = Problems()
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            data = file.read(_header(file.read(8), size, max_header))
        return _judged(data, size - 8 - len(data), problems)
    except FormatError as error:
        return {
            "status": "unknown" if error.code in _REFUSED else "invalid",
            "reason": error.message,
            "problems": [{"code": error.code, "message": error.message, "count": 1, "examples": []}],
            "tensors": None,
            "parameters": None,
            "types": [],
            "metadata": {},
        }


def _header(first: bytes, size: int, limit: int) -> int:
    """Its length, in bytes."""
    if len(first) < 8:
        raise FormatError("truncated", "there are no eight bytes of length")
    length = int.from_bytes(first, "little")
    if length > limit:
        raise FormatError("header_too_large", f"a header of {length} bytes, limit {limit}")
    if length > size - 8:
        raise FormatError("truncated", "the header is said to be longer than the file")
    if length < 2:
        raise FormatError("not_json", "the header is empty")
    return length


def _judged(data: bytes, room: int, problems: Problems) -> dict[str, Any]:
    header = _parsed(data)
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(one, str) for one in metadata.values()):
        problems.add("bad_metadata", "__metadata__ maps texts to texts")
        metadata = {}
    spans: list[tuple[int, int, str]] = []
    types: dict[str, int] = {}
    parameters = 0
    for name, one in header.items():
        tensor = _tensor(name, one, problems)
        if tensor is not None:
            kind, elements, begin, end = tensor
            types[kind] = types.get(kind, 0) + 1
            parameters += elements
            spans.append((begin, end, name))
    _cover(spans, room, problems)
    return {
        "status": "invalid" if problems else "valid",
        "reason": problems.rows()[0]["message"] if problems else "",
        "problems": problems.rows(),
        "tensors": len(header),
        "parameters": parameters,
        "types": [{"name": short(name), "count": count} for name, count in sorted(types.items())],
        "metadata": {short(key): short(value) for key, value in sorted(metadata.items())[:50]},
    }


def _parsed(data: bytes) -> dict[str, Any]:
    if data[:1] != b"{":
        raise FormatError("not_json", "the header does not begin with a brace")
    try:
        # Two tensors of one name: readers differ in which one they take. So every object is looked at as it is written.
        header = json.loads(data.decode("utf-8"), object_pairs_hook=_unique)
    except RecursionError:
        raise FormatError("too_deep", "the header is nested too deeply to be read") from None
    except ValueError:
        raise FormatError("not_json", "the header is no JSON object") from None
    if not isinstance(header, dict):
        raise FormatError("not_json", "the header is no JSON object")
    return header


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise FormatError("duplicate_keys", "a name stands twice in the header")
    return found


def _tensor(name: str, one: Any, problems: Problems) -> tuple[str, int, int, int] | None:
    """Type, elements, begin and end; None when something of it is wrong."""
    if not isinstance(one, dict) or set(one) != {"dtype", "shape", "data_offsets"}:
        problems.add("bad_entry", "a tensor has dtype, shape and data_offsets, and nothing else", name)
        return None
    kind, shape, offsets = one["dtype"], one["shape"], one["data_offsets"]
    if not isinstance(kind, str) or kind not in BITS:
        problems.add("unknown_dtype", "a tensor of a type that the format does not have", name)
        return None
    if not _whole_numbers(shape) or not _whole_numbers(offsets) or len(offsets) != 2:
        problems.add("bad_entry", "shape and data_offsets are lists of whole numbers", name)
        return None
    elements = 1
    for size in shape:
        elements *= size
        if elements > _MOST:
            problems.add("bad_entry", "more elements than there are addresses", name)
            return None
    begin, end = offsets
    bits = elements * BITS[kind]
    if bits % 8 or end - begin != bits // 8:
        problems.add("wrong_size", "the bytes of a tensor are not those of its shape and type", name)
        return None
    return kind, elements, begin, end


def _whole_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, int) and not isinstance(one, bool) and 0 <= one < _MOST for one in value
    )


def _cover(spans: list[tuple[int, int, str]], room: int, problems: Problems) -> None:
    """The tensors fill the file: no gap, no overlap, nothing behind them."""
    at = 0
    for begin, end, name in sorted(spans):
        if begin != at:
            problems.add(
                "overlap" if begin < at else "hole",
                "two tensors share bytes" if begin < at else "bytes between tensors belong to none",
                name,
            )
        at = max(at, end)
    if at > room:
        problems.add("out_of_range", "tensors lie behind the end of the file")
    elif at < room and "hole" not in problems and not problems:
        problems.add("trailing_bytes", "bytes behind the last tensor belong to none")
