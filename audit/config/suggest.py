"""Did you mean: the nearest known word to one that is not known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like `word`, or None when nothing is close."""
    folded: dict[str, str] = {}
    for candidate in sorted(known):
        folded.setdefault(_fold(candidate), candidate)
    matches = difflib.get_close_matches(_fold(word), folded, n=1, cutoff=0.6)
    return folded[matches[0]] if matches else None


def did_you_mean(word: str, known: Iterable[str], *, otherwise: str | None = None) -> str | None:
    """A suggestion sentence, or `otherwise`."""
    found = nearest(word, known)
    return f"did you mean {found}?" if found else otherwise


def _fold(word: str) -> str:
    # People mix up case, dashes, underscores and blanks before they mix up letters.
    return word.casefold().replace("_", "-").replace(" ", "-")
