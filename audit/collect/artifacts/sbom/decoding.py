"""Bytes to text: UTF-8 and UTF-16 with or without a byte-order mark, and nothing else."""

from __future__ import annotations

import codecs

from audit.collect.artifacts.sbom.problems import FormatError

_WIDE = (("utf-16-le", codecs.BOM_UTF16_LE), ("utf-16-be", codecs.BOM_UTF16_BE))


def encoding_of(data: bytes) -> tuple[str, int]:
    """The encoding, by mark or by the zero bytes beside the first character, and the length of the mark."""
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32", 4
    if data.startswith(codecs.BOM_UTF8):
        return "utf-8", 3
    for name, mark in _WIDE:
        if data.startswith(mark):
            return name, 2
    if len(data) >= 2:
        if data[1] == 0 and data[0] != 0:
            return "utf-16-le", 0
        if data[0] == 0 and data[1] != 0:
            return "utf-16-be", 0
    return "utf-8", 0


def peek(head: bytes) -> str:
    """The beginning as text, for recognition: what can't be decoded is replaced."""
    name, skip = encoding_of(head)
    return head[skip:].decode(name, errors="replace")


def utf8(data: bytes) -> tuple[bytes, str]:
    """The document as UTF-8 without a mark, and the encoding it came in.

    Raises:
        FormatError: it is in no encoding that the formats allow.
    """
    name, skip = encoding_of(data)
    if name == "utf-8":
        body = data[skip:] if skip else data
        try:
            codecs.utf_8_decode(body, "strict", True)  # noqa: FBT003  # takes no keywords
        except UnicodeDecodeError as error:
            raise FormatError("not_utf8", f"not UTF-8: byte {error.start + skip} can't be decoded") from None
        return body, "utf-8-bom" if skip else "utf-8"
    try:
        return data[skip:].decode(name).encode("utf-8"), name
    except UnicodeError:
        raise FormatError("not_utf8", f"looks like {name}, and can't be decoded as that") from None
