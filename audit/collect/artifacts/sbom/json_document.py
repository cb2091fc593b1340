"""One JSON document and nothing behind it, or a named reason why not."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from audit.collect.artifacts.sbom.problems import FormatError

_KEY = re.compile(rb'(?<![:,\[{\s\\])"\s*:')
MAX_CONTAINERS = 1_500_000
MAX_VALUES = 4_000_000
"""An empty list takes two bytes of the file and sixty of memory. Real documents of the largest size have less than half of this."""


def refuse_bomb(data: bytes) -> None:
    """Count before anything is made of it.

    Raises:
        FormatError: ``too_large``.
    """
    if data.count(b",") > MAX_VALUES or data.count(b"{") + data.count(b"[") > MAX_CONTAINERS:
        raise FormatError("too_large", f"more than {MAX_CONTAINERS} containers or {MAX_VALUES} values")


def parse_json(data: bytes) -> dict[str, Any]:
    """The object.

    Raises:
        FormatError: ``too_large``, ``truncated``, ``data_after_end``, ``too_deep``, ``not_json`` or ``not_an_object``.
    """
    refuse_bomb(data)
    try:
        value = msgspec.json.decode(data)
    except RecursionError:
        raise FormatError("too_deep", "nested too deeply to be read") from None
    except msgspec.DecodeError as error:
        raise _named(str(error)) from None
    if not isinstance(value, dict):
        raise FormatError("not_an_object", "the document is no JSON object")
    return value


def duplicate_keys(data: bytes, value: dict[str, Any]) -> int:
    """How many keys stand twice in their object: parsers differ in which one they take, and so do audits.

    Keys are counted in the text and in what was made of it. Names of keys that end in a bracket, a comma, a colon, a
    backslash or a space are not counted in the text, so that no value is ever taken for one.
    """
    held = _entries(value)
    # Values may begin with a colon, so this is at least the number of keys, and mostly exactly it.
    most = data.count(b'":') + data.count(b'" :')
    if most <= held and not any(odd in data for odd in (b'"\t:', b'"\n:', b'"\r:', b'"  :')):
        return 0
    return max(0, len(_KEY.findall(data)) - held)


def _entries(value: Any) -> int:
    total, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        if type(one) is dict:
            total += len(one)
            one = one.values()
        waiting += [part for part in one if type(part) is dict or type(part) is list]
    return total


def _named(said: str) -> FormatError:
    lowered = said.lower()
    place = said[said.find("(byte") :] if "(byte" in said else ""
    if "truncated" in lowered:
        return FormatError("truncated", "the document ends before it is complete")
    if "trailing" in lowered:
        return FormatError("data_after_end", f"data after the end of the document {place}".rstrip())
    return FormatError("not_json", f"not JSON {place}".rstrip())
