"""Counts of statuses, and the ratios over them. The formulas are those of ``docs/report.md``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from audit.model.assessment import ControlStatus, Fraction

NOT_STATED = Fraction(numerator=0, denominator=0)


class Buckets(NamedTuple):
    """Controls by status: P, F, W, I and N of the formulas."""

    satisfied: int = 0
    failed: int = 0
    waived: int = 0
    indeterminate: int = 0
    not_applicable: int = 0

    @property
    def denominator(self) -> int:
        """P + F + W + I."""
        return self.satisfied + self.failed + self.waived + self.indeterminate

    @property
    def strict(self) -> Fraction:
        """P over the denominator."""
        return Fraction(numerator=self.satisfied, denominator=self.denominator)

    @property
    def high(self) -> Fraction:
        """P + I over the denominator: what could still turn out."""
        return Fraction(numerator=self.satisfied + self.indeterminate, denominator=self.denominator)

    @property
    def with_waivers(self) -> Fraction:
        """P + W over the denominator."""
        return Fraction(numerator=self.satisfied + self.waived, denominator=self.denominator)

    @property
    def coverage(self) -> Fraction:
        """P + F + W over the denominator: what evidence has decided."""
        return Fraction(numerator=self.satisfied + self.failed + self.waived, denominator=self.denominator)


def count(statuses: Iterable[ControlStatus]) -> Buckets:
    """Sort statuses into buckets."""
    numbers = dict.fromkeys(ControlStatus, 0)
    for status in statuses:
        numbers[status] += 1
    return Buckets(
        satisfied=numbers[ControlStatus.SATISFIED],
        failed=numbers[ControlStatus.NOT_SATISFIED],
        waived=numbers[ControlStatus.WAIVED],
        indeterminate=numbers[ControlStatus.INDETERMINATE],
        not_applicable=numbers[ControlStatus.NOT_APPLICABLE],
    )


def is_higher(new: Fraction, old: Fraction) -> bool:
    """Whether a ratio rose, exactly; a ratio that is not stated is neither higher nor lower."""
    if not new.denominator or not old.denominator:
        return False
    return new.numerator * old.denominator > old.numerator * new.denominator
