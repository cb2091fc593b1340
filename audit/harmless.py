"""Text of the audited world made harmless, in one place for everything that is written.

Control characters, bidirectional marks, zero-width and unassigned characters become escapes, so that a reader sees them
and no terminal, browser or spreadsheet obeys them.
"""

from __future__ import annotations

import re

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""A spreadsheet would run a cell that begins so."""

_ESCAPE = re.compile(r"\\(\\|u[0-9a-f]{4}|U[0-9a-f]{8})")


def escaped(text: str) -> str:
    """The text with unprintable characters as hexadecimal escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _code(c) for c in text)


def reversibly_escaped(text: str) -> str:
    """As `escaped`, with backslashes doubled, so that `unescaped` finds what the text was."""
    return escaped(text.replace("\\", "\\\\") if "\\" in text else text)


def unescaped(text: str) -> str:
    """What `reversibly_escaped` was given."""
    return _ESCAPE.sub(lambda found: "\\" if found[1] == "\\" else chr(int(found[1][1:], 16)), text)


def _code(char: str) -> str:
    number = ord(char)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
