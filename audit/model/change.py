"""What could be done next: a change to the evidence, for asking what the ratio would then be."""

from __future__ import annotations

import msgspec


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Several things done at once. Empty parts change nothing."""

    answered: frozenset[tuple[str, str]] = frozenset()
    """(framework, control) whose statement is given, or renewed, with the claim "met" on every cluster."""
    fixed_rules: frozenset[str] = frozenset()
    """Rules whose unwaived failures are mended, so that they pass."""
    closed_gaps: frozenset[int] = frozenset()
    """Indexes of gaps behind which nothing was found."""
    built: frozenset[tuple[str, str]] = frozenset()
    """(framework, control) for which a deciding rule is loaded that passes on every cluster."""
