"""Twins: rules of several engines that ask the same question. On one object they are one pair, not several."""

from __future__ import annotations

import msgspec


class Twin(msgspec.Struct, frozen=True, kw_only=True):
    """One question, and who else asks it."""

    rule: str
    """The rule that counts: its id stands in the tally, in the findings and in the mappings."""
    others: tuple[str, ...]
    """The rules that, taken together, ask the same; several where another engine needs several for it."""
    reason: str = ""
    """Why it is the same question."""
    file: str = ""
    line: int | None = None

    @property
    def title(self) -> str:
        """``pod/privileged and kyverno:pod-privileged/no-privileged-container``."""
        return f"{self.rule} and {' + '.join(self.others)}"


class TwinCount(msgspec.Struct, frozen=True, kw_only=True):
    """What the two sides said, over all objects both were asked about."""

    twin: Twin
    compared: int
    """Objects that both sides judged."""
    differing: int
    """Objects that fail for one side and not for the other."""
    unjudged: int
    """Objects that at least one side could not judge."""
    examples: tuple[str, ...] = ()
    """The first objects they differ on, as ``Kind namespace/name``."""
