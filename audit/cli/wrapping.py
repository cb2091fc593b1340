"""Prose in lines that fit."""

from __future__ import annotations

import textwrap

WIDTH = 100


def wrapped(text: str, *, most: int | None = None, width: int = WIDTH) -> list[str]:
    """Lines of at most `width` characters; beyond `most` lines the text is cut and says so."""
    return textwrap.wrap(
        " ".join(text.split()), width, max_lines=most, placeholder=" ...", break_on_hyphens=False
    )
