"""Numbers as the reports print them: the fraction first, the percent after it, truncated unless said otherwise."""

from __future__ import annotations

from audit.model.assessment import Fraction
from audit.report.texts import Texts


def share(fraction: Fraction) -> str:
    """``21/48``; a dash-free ``0/0`` stays ``0/0``."""
    return f"{fraction.numerator}/{fraction.denominator}"


def percent(fraction: Fraction, texts: Texts) -> str:
    """``43.7 %``, truncated; "not stated" for 0/0."""
    text = fraction.percent_truncated
    return texts.gettext("not stated") if text is None else f"{text} %"


def percent_rounded(fraction: Fraction, texts: Texts) -> str:
    """``90.9 %``, rounded half up: the classic table only."""
    text = fraction.percent_rounded
    return texts.gettext("not stated") if text is None else f"{text} %"


def ratio(fraction: Fraction, texts: Texts) -> str:
    """``21/48 (43.7 %)``; "not stated" for 0/0."""
    if not fraction.denominator:
        return texts.gettext("not stated")
    return f"{share(fraction)} ({fraction.percent_truncated} %)"


def count(number: int) -> str:
    """Thousands separated by commas."""
    return f"{number:,}"


def width(part: int, whole: int) -> str:
    """A share of a picture's width in percent, two decimals."""
    return f"{part * 100 / whole:.2f}%" if whole else "0%"
