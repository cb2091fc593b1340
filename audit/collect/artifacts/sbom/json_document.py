"""One JSON document and nothing behind it, or a named reason why not."""

from __future__ import annotations

from typing import Any

import msgspec

from audit.collect.artifacts.sbom.problems import FormatError

MAX_CONTAINERS = 3_000_000
MAX_VALUES = 8_000_000
"""An empty list takes two bytes of the file and sixty of memory. Real documents of the largest size have a tenth of this."""


def parse_json(data: bytes) -> dict[str, Any]:
    """The object.

    Raises:
        FormatError: ``too_large``, ``truncated``, ``data_after_end``, ``too_deep``, ``not_json`` or ``not_an_object``.
    """
    if data.count(b",") > MAX_VALUES or data.count(b"{") + data.count(b"[") > MAX_CONTAINERS:
        raise FormatError("too_large", f"more than {MAX_CONTAINERS} containers or {MAX_VALUES} values")
    try:
        value = msgspec.json.decode(data)
    except RecursionError:
        raise FormatError("too_deep", "nested too deeply to be read") from None
    except msgspec.DecodeError as error:
        raise _named(str(error)) from None
    if not isinstance(value, dict):
        raise FormatError("not_an_object", "the document is no JSON object")
    return value


def _named(said: str) -> FormatError:
    lowered = said.lower()
    place = said[said.find("(byte") :] if "(byte" in said else ""
    if "truncated" in lowered:
        return FormatError("truncated", "the document ends before it is complete")
    if "trailing" in lowered:
        return FormatError("data_after_end", f"data after the end of the document {place}".rstrip())
    return FormatError("not_json", f"not JSON {place}".rstrip())
