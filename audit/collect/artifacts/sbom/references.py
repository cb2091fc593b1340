"""Forms that identifiers and digests must have, whatever the standard."""

from __future__ import annotations

import re

_DIGEST_LENGTH = {
    "MD2": 32, "MD4": 32, "MD5": 32, "ADLER32": 8,
    "SHA1": 40, "SHA224": 56, "SHA256": 64, "SHA384": 96, "SHA512": 128,
    "SHA3256": 64, "SHA3384": 96, "SHA3512": 128,
    "BLAKE2B256": 64, "BLAKE2B384": 96, "BLAKE2B512": 128,
}  # fmt: skip
_HEX = re.compile(r"[0-9a-fA-F]+")
_PURL = re.compile(r"pkg:/*[A-Za-z][A-Za-z0-9.+-]*/[^\s?#]+(\?[^\s#]*)?(#\S*)?")
_CPE23 = re.compile(r"cpe:2\.3:[aho*\-](:(\\.|[^:\s])+){10}")
_CPE22 = re.compile(r"cpe:/[aho](:[^\s:]*){0,6}")
_UTC = re.compile(r"\d{4}-(0[1-9]|1[0-2])-([0-2]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)Z")
_NAMESPACE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s#]+")


def digest_fits(algorithm: str, value: str) -> bool:
    """Whether a digest has the length of its algorithm; unknown algorithms are not judged."""
    length = _DIGEST_LENGTH.get(algorithm)
    return length is None or (len(value) == length and _HEX.fullmatch(value) is not None)


def is_purl(value: str) -> bool:
    """Whether it has the form of a package URL."""
    return _PURL.fullmatch(value) is not None


def is_cpe(value: str) -> bool:
    """Whether it has the form of a CPE 2.3 or 2.2 name."""
    return (_CPE23 if value.startswith("cpe:2.3") else _CPE22).fullmatch(value) is not None


def is_utc(value: str) -> bool:
    """``YYYY-MM-DDThh:mm:ssZ``, as SPDX 2 wants it."""
    return _UTC.fullmatch(value) is not None


def is_namespace(value: str) -> bool:
    """An absolute URI without a fragment."""
    return _NAMESPACE.fullmatch(value) is not None
