"""Patterns of the configuration, as the rules read them: capitals don't matter, ``*`` stands for anything, all else for itself."""

from __future__ import annotations

import re
from collections.abc import Iterable


def fits(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name fits one of the patterns; the same answer as `evidence.fits` gives in Rego."""
    lowered = name.lower()
    return any(
        re.fullmatch(".*".join(re.escape(part) for part in pattern.lower().split("*")), lowered, re.DOTALL)
        for pattern in patterns
    )
