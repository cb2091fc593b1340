"""Small words that several pages share."""

from __future__ import annotations

from audit.cli.screen import Part
from audit.model.assessment import Fraction
from audit.model.rule import MutationScore

_COLUMN = 10


def label(text: str, style: str = "dim") -> Part:
    """The left column."""
    return (text.ljust(_COLUMN), style)


def count(number: int, noun: str) -> str:
    """``1 file``, ``2,000 files``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def fraction_words(value: Fraction | None, *, rounded: bool = False) -> str:
    """``21/48 (43.7 %)``, truncated as the headline is, or rounded as the classic table is."""
    if value is None:
        return "none"
    percent = value.percent_rounded if rounded else value.percent_truncated
    return (
        f"{value.numerator}/{value.denominator} ({percent} %)" if percent is not None else "not stated (0/0)"
    )


def mutation_words(score: MutationScore | None) -> str:
    """``9 of 10 planted faults noticed by 6 tests``."""
    if score is None:
        return "not measured"
    by = f"by {count(score.tests, 'test')}"
    return (
        f"{score.noticed} of {count(score.planted, 'planted fault')} noticed {by}"
        if score.planted
        else f"no fault planted, {count(score.tests, 'test')}"
    )
