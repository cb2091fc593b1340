"""Text of the audited world made harmless: what it says is shown, what it would do is not done.

Control characters, bidirectional marks, zero-width and unassigned characters are printed as escapes, so that a
reader sees them and no terminal, browser or spreadsheet obeys them. Every length is capped and says so.
"""

from __future__ import annotations

import json
import re
from typing import Any

from audit.harmless import FORMULA_STARTS, escaped

LINE_CAP = 300
"""Characters kept of one-line texts: names, places, values."""
BLOCK_CAP = 4000
"""Characters kept of texts with several lines: fixes, descriptions."""

_MARKDOWN_SPECIAL = "\\`*_{}[]()<>|~&"
_MARKDOWN_TRIGGER = re.compile(r"[@#]|www\.|:(?=//)", re.IGNORECASE)
"""Mentions, issue numbers and bare links: code hosts look for them in the rendered text, past any backslash."""
_MARKER = re.compile(r"fleetaudit:redacted:([a-z_]{1,40}):([0-9]{1,4}(?:-[0-9]{1,4}|\+))")


def visible(text: str, cap: int = LINE_CAP) -> str:
    """One line of text, unprintable characters as hexadecimal escapes, cut at `cap` characters."""
    if len(text) > cap:
        return escaped(text[:cap]) + f"… ({len(text) - cap} more characters)"
    return escaped(text)


def tail(path: str, cap: int) -> str:
    """The end of a path, from a folder on where one begins: what tells long paths apart stands at their end."""
    shown = visible(path, 4000)
    if len(shown) <= cap:
        return shown
    cut = shown[-(cap - 1) :]
    folder = cut.find("/")
    return "…" + (cut[folder:] if 0 <= folder < len(cut) // 2 else cut)


def visible_block(text: str, cap: int = BLOCK_CAP) -> str:
    """Like `visible`, with line feeds kept; tabs become two spaces and carriage returns are dropped."""
    cut = text[:cap].replace("\r\n", "\n").replace("\t", "  ")
    lines = "\n".join(visible(line, cap) for line in cut.split("\n"))
    return f"{lines}… ({len(text) - cap} more characters)" if len(text) > cap else lines


def value(data: Any, cap: int = LINE_CAP) -> str:
    """A seen or expected value as people write it: strings bare, markers in words, everything else as JSON."""
    if isinstance(data, str):
        marker = _MARKER.fullmatch(data)
        if marker:
            return f"(redacted: {marker[1].replace('_', ' ')}, {marker[2]} characters)"
        return visible(data, cap) if data else '""'
    return visible(json.dumps(data, ensure_ascii=False, sort_keys=True, default=str), cap)


def csv_cell(text: str) -> str:
    """A cell that no spreadsheet takes for a formula; unprintable characters escaped first."""
    # The apostrophe goes before the escape: a cell that began with a tab or a return is suspect however it is shown.
    shown = visible_block(text).replace("\n", "\\n")
    return f"'{shown}" if text.startswith(FORMULA_STARTS) or shown.startswith(FORMULA_STARTS) else shown


def markdown(text: str, cap: int = LINE_CAP) -> str:
    """Text that Markdown shows as it is, in a table cell too; no mention, link, markup or HTML comes out of it.

    Only for the inside of a line: at its start a hyphen would still begin a list.
    """
    shown = "".join(f"\\{c}" if c in _MARKDOWN_SPECIAL else c for c in visible(text, cap))
    return _MARKDOWN_TRIGGER.sub(lambda found: f"{found[0]}<!-- -->", shown)


def markdown_code(text: str, cap: int = LINE_CAP) -> str:
    """Text as inline code, for table cells too."""
    # A bar ends a table cell even inside code, and a backtick ends the code.
    return "`" + visible(text, cap).replace("`", "ˋ").replace("|", "¦") + "`" if text else ""


def css_string(text: str) -> str:
    """A CSS string literal. Only letters, digits and spaces stand for themselves."""
    # The space ends the escape and belongs to it; without one it would swallow a space of the text.
    body = "".join(
        c if c.isascii() and (c.isalnum() or c == " ") else f"\\{ord(c):x} " for c in visible(text)
    )
    return f'"{body}"'


def https_only(link: str) -> str:
    """The link when it is plain https, else an empty string."""
    safe = link.startswith("https://") and link.isprintable() and not any(c in link for c in "\"'<>` \\")
    return link if safe else ""
