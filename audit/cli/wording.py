"""Small words that several pages share."""

from __future__ import annotations

from audit.cli.screen import Part

_COLUMN = 10


def label(text: str, style: str = "dim") -> Part:
    """The left column."""
    return (text.ljust(_COLUMN), style)


def count(number: int, noun: str) -> str:
    """``1 file``, ``2,000 files``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
