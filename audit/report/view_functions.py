"""Function and family tables: strict buckets left, classic table right, and the bars both share."""

from __future__ import annotations

import msgspec

from audit.model.assessment import Fraction, FrameworkScore, FunctionRow
from audit.report.numbers import percent, percent_rounded, share, width
from audit.report.text import visible
from audit.report.texts import Texts
from audit.report.view_parts import slug

_LABEL_FLOOR = 0.03
"""Under this share of the bar a count goes to the legend alone."""


class Segment(msgspec.Struct, frozen=True):
    """One part of a bar; positions are percentages of its width."""

    code: str
    """S by scan, P on statements, I, W, F: class and texture."""
    word: str
    count: int
    x: str
    width: str
    middle: str
    labelled: bool


class FunctionView(msgspec.Struct, frozen=True):
    """One line of a function or family table."""

    name: str
    href: str
    strict: str
    percent: str
    segments: tuple[Segment, ...]
    failed: int
    waived: int
    indeterminate: int
    not_applicable: int
    scanned: int
    complies: int
    by_waiver: int
    classic: str


def segments(
    scan: int, stated: int, indeterminate: int, waived: int, failed: int, texts: Texts
) -> tuple[Segment, ...]:
    """A bar's parts in their fixed order: indeterminate stands next to satisfied, so that the range spans it."""
    parts = (
        ("S", texts.gettext("satisfied by scan"), scan),
        ("P", texts.gettext("satisfied, rests on a statement"), stated),
        ("I", texts.gettext("indeterminate"), indeterminate),
        ("W", texts.gettext("waived"), waived),
        ("F", texts.gettext("not satisfied"), failed),
    )
    whole = scan + stated + indeterminate + waived + failed
    before = 0
    made = []
    for code, word, number in parts:
        made.append(
            Segment(
                code=code,
                word=word,
                count=number,
                x=width(before, whole),
                width=width(number, whole),
                middle=width(2 * before + number, 2 * whole),
                labelled=whole > 0 and number / whole >= _LABEL_FLOOR,
            )
        )
        before += number
    return tuple(made)


def classic(score: FrameworkScore) -> Fraction:
    """The classic table's last line: items that comply / items scanned."""
    return Fraction(
        numerator=sum(row.complies for row in score.functions),
        denominator=sum(row.scanned for row in score.functions),
    )


def function_view(row: FunctionRow, stated: int, framework: str, texts: Texts) -> FunctionView:
    """One function or family; `stated` of its satisfied controls rest on statements."""
    return FunctionView(
        name=visible(row.function),
        href=f"#fn-{slug(framework)}-{slug(row.function)}",
        strict=share(row.strict),
        percent=percent(row.strict, texts),
        segments=segments(row.satisfied - stated, stated, row.indeterminate, row.waived, row.failed, texts),
        failed=row.failed,
        waived=row.waived,
        indeterminate=row.indeterminate,
        not_applicable=row.not_applicable,
        scanned=row.scanned,
        complies=row.complies,
        by_waiver=row.by_waiver,
        classic=percent_rounded(row.classic, texts),
    )


def total_view(score: FrameworkScore, bar: tuple[Segment, ...], texts: Texts) -> FunctionView:
    """The last line of a framework's table."""
    technical = classic(score)
    return FunctionView(
        name=texts.gettext("All"),
        href="#controls",
        strict=share(score.strict),
        percent=percent(score.strict, texts),
        segments=bar,
        failed=score.failed,
        waived=score.waived,
        indeterminate=score.indeterminate,
        not_applicable=score.not_applicable,
        scanned=technical.denominator,
        complies=technical.numerator,
        by_waiver=sum(row.by_waiver for row in score.functions),
        classic=percent_rounded(technical, texts),
    )
