"""Text from audited files on one line, made safe for a terminal and a log."""

from __future__ import annotations

from audit.report.text import visible

DEFAULT_LIMIT = 400


def safe(text: object, limit: int = DEFAULT_LIMIT) -> str:
    """Line ends become spaces, control characters become escapes, and the length is capped."""
    return visible(" ".join(str(text).splitlines()), limit)
