"""Licence expressions of SPDX: what each says, or why it says nothing.

Parsed by license-expression over the SPDX list alone. Its other names for licences are left out, because with them
``LicenseRef-Apache`` of a document would be taken for Apache-2.0.
"""

from __future__ import annotations

import functools
import re
from typing import Any

import msgspec

MAX_LENGTH = 8_000
MAX_DEPTH = 60
MAX_ALTERNATIVES = 64

KNOWN, NONE, NOASSERTION, ABSENT, UNPARSABLE, UNDECLARED = (
    "known",
    "none",
    "noassertion",
    "absent",
    "unparsable",
    "undeclared_ref",
)

_TOKEN = re.compile(r"\s+|([()])|([^\s()]+)")
_REFERENCE = re.compile(r"\A(DocumentRef-[A-Za-z0-9.-]+:)?(LicenseRef|AdditionRef)-[A-Za-z0-9.-]+\Z")
_OPERATORS = frozenset({"AND", "OR", "WITH"})


class Licence(msgspec.Struct, frozen=True):
    """What one expression says."""

    status: str
    """`KNOWN`, `NONE`, `NOASSERTION`, `ABSENT` or `UNPARSABLE`; whether references are declared, the document knows."""
    reason: str = ""
    """Why it can't be parsed."""
    alternatives: tuple[tuple[str, ...], ...] | None = ()
    """Ways to comply: all licences of one of them. None when there are more than `MAX_ALTERNATIVES`."""
    ids: tuple[str, ...] = ()
    """All licences named, each with its exception."""
    references: tuple[str, ...] = ()
    """``LicenseRef-`` names that the document itself must declare."""


@functools.cache
def _licensing() -> Any:
    from license_expression import LicenseSymbol, Licensing, get_spdx_licensing

    symbols = [
        LicenseSymbol(
            symbol.key,
            is_exception=symbol.is_exception,
            aliases=tuple(a for a in symbol.aliases if " " not in a and not a.startswith("LicenseRef-")),
        )
        for symbol in get_spdx_licensing().known_symbols.values()
        if not symbol.key.startswith("LicenseRef-")
    ]
    return Licensing(symbols)


@functools.cache
def _known() -> dict[str, Any]:
    """Symbols by lower-case name, aliases included."""
    known: dict[str, Any] = {}
    for symbol in _licensing().known_symbols.values():
        for name in (*symbol.aliases, symbol.key):
            known[name.lower()] = symbol
    return known


_FIXED = {"": Licence(ABSENT), "NOASSERTION": Licence(NOASSERTION), "NONE": Licence(NONE)}


def licence_of(text: str | None) -> Licence:
    """What an expression says. Linear in its length, and bounded."""
    stripped = (text or "").strip()
    fixed = _FIXED.get(stripped)
    if fixed is not None:
        return fixed
    if len(stripped) > MAX_LENGTH:
        return Licence(UNPARSABLE, f"longer than {MAX_LENGTH} characters")
    return _parsed(stripped)


@functools.lru_cache(maxsize=1 << 13)
def _parsed(text: str) -> Licence:
    names, reason = _names(text)
    if reason:
        return Licence(UNPARSABLE, reason)
    try:
        tree = _licensing().parse(text)
    except Exception:  # noqa: BLE001  # the parser raises whatever it stumbles over, and the text is anybody's
        tree = None
    if tree is None:
        return Licence(UNPARSABLE, "not an SPDX expression")
    alternatives = _alternatives(tree)
    if alternatives is None:
        ids = names
    else:
        ids = tuple(dict.fromkeys(name for way in alternatives for name in way))
    references = tuple(name for name in names if name.startswith(("LicenseRef-", "AdditionRef-")))
    return Licence(KNOWN, "", alternatives, ids, references)


def _names(text: str) -> tuple[tuple[str, ...], str]:
    """The licences named, or why this is no expression; keeps bombs and foreign words from the parser."""
    depth = 0
    names: dict[str, None] = {}
    previous = ""
    for match in _TOKEN.finditer(text):
        if match.group(1):
            depth += 1 if match.group(1) == "(" else -1
            if depth > MAX_DEPTH:
                return (), f"brackets nested deeper than {MAX_DEPTH}"
            if depth < 0:
                return (), "a bracket is closed that was not opened"
            continue
        word = match.group(2)
        if not word:
            continue
        if word in _OPERATORS:
            previous = word
            continue
        reason = _wrong(word, excepting=previous == "WITH")
        if reason:
            return (), reason
        names[word if _REFERENCE.match(word) else _spelt(word)] = None
        previous = word
    return tuple(names), "" if depth == 0 else "a bracket is not closed"


def _wrong(word: str, *, excepting: bool) -> str:
    if word.upper() in _OPERATORS:
        return f"operators are written in capitals, not {word}"
    if _REFERENCE.match(word):
        return ""
    symbol = _known().get(word.lower()) or _known().get(word.lower().removesuffix("+"))
    if symbol is None:
        return "a name that is not on the SPDX licence list"
    if bool(symbol.is_exception) is not excepting:
        return "an exception stands where a licence should, or the other way round"
    return ""


def _spelt(word: str) -> str:
    """As the list spells it."""
    symbol = _known().get(word.lower())
    if symbol is None:
        return f"{_known()[word.lower().removesuffix('+')].key}+"
    return str(symbol.key)


def _alternatives(tree: Any) -> tuple[tuple[str, ...], ...] | None:
    """The ways to comply; None when there are too many to list."""
    operator = str(getattr(tree, "operator", "")).strip()
    if operator not in {"AND", "OR"}:
        return ((_leaf(tree),),)
    ways: dict[tuple[str, ...], None] = {} if operator == "OR" else {(): None}
    for part in tree.args:
        found = _alternatives(part)
        if found is None:
            return None
        if operator == "OR":
            ways.update(dict.fromkeys(found))
        else:
            if len(ways) * len(found) > MAX_ALTERNATIVES:
                return None
            ways = {tuple(dict.fromkeys((*left, *right))): None for left in ways for right in found}
        if len(ways) > MAX_ALTERNATIVES:
            return None
    return tuple(ways)


def _leaf(symbol: Any) -> str:
    if hasattr(symbol, "license_symbol"):
        return f"{_leaf(symbol.license_symbol)} WITH {_leaf(symbol.exception_symbol)}"
    key = str(symbol.key)
    return key if _REFERENCE.match(key) else _spelt(key)
