"""The headline of each framework: strict ratio, its bar, its range, and what holds it back."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable

import msgspec

from audit.model.assessment import (
    ControlRow,
    ControlStatus,
    Fraction,
    FrameworkScore,
    Reason,
)
from audit.report.numbers import percent, percent_rounded, share, width
from audit.report.text import visible
from audit.report.texts import Texts
from audit.report.view_functions import (
    FunctionView,
    Segment,
    classic,
    function_view,
    segments,
    total_view,
)
from audit.report.view_parts import Piece, Row, slug
from audit.report.view_words import profile_word


class FrameworkView(msgspec.Struct, frozen=True):
    """One framework beside the other; never averaged."""

    anchor: str
    title: str
    edition: str
    profile_line: str
    sum_line: str
    stated: bool
    numerator: int
    denominator: int
    percent: str
    high_percent: str
    low_x: str
    high_x: str
    low_anchor: str
    """``end`` stands left of its mark, ``start`` right of it: where there is room."""
    low_dx: int
    high_anchor: str
    high_dx: int
    high_apart: bool
    """False when both marks are one: then only the low percent is printed."""
    segments: tuple[Segment, ...]
    bar_label: str
    rows: tuple[Row, ...]
    functions: tuple[FunctionView, ...]
    total: FunctionView
    function_heading: str
    by_family: bool


def framework_view(score: FrameworkScore, controls: Iterable[ControlRow], texts: Texts) -> FrameworkView:
    """Everything about one framework's ratio; `controls` tell which satisfied ones rest on statements."""
    stated = Counter(
        row.function
        for row in controls
        if row.framework == score.framework
        and row.fleet.in_profile
        and row.fleet.status is ControlStatus.SATISFIED
        and Reason.STATEMENT_MET in row.fleet.reasons
    )
    strict, whole = score.strict, score.strict.denominator
    parts = segments(
        score.satisfied - score.attested.numerator,
        score.attested.numerator,
        score.indeterminate,
        score.waived,
        score.failed,
        texts,
    )
    title = visible(score.title)
    left = strict.numerator * 5 >= whole
    right = score.high.numerator * 5 <= whole * 4
    apart = score.high.numerator > strict.numerator
    told = ", ".join(f"{part.count} {part.word}" for part in parts)
    outside = score.catalog_total - score.in_profile
    return FrameworkView(
        anchor=slug(score.framework),
        title=title,
        edition=visible(score.edition),
        profile_line=texts.gettext("{inside} of {all} in profile {profile}, {na} not applicable").format(
            inside=score.in_profile,
            all=score.catalog_total,
            profile=profile_word(score.profile, texts),
            na=score.not_applicable,
        ),
        sum_line=texts.gettext(
            "{s} satisfied, {f} not satisfied, {w} waived, {i} indeterminate, {n} not applicable, {o} outside = {all}"
        ).format(
            s=score.satisfied,
            f=score.failed,
            w=score.waived,
            i=score.indeterminate,
            n=score.not_applicable,
            o=outside,
            all=score.catalog_total,
        ),
        stated=whole > 0,
        numerator=strict.numerator,
        denominator=whole,
        percent=percent(strict, texts),
        high_percent=percent(score.high, texts),
        low_x=width(strict.numerator, whole),
        high_x=width(score.high.numerator, whole),
        low_anchor="end" if left else "start",
        low_dx=-5 if left else 5,
        high_anchor="start" if right else "end",
        high_dx=5 if right else -5,
        # Left of its own mark the high percent needs the room between the two.
        high_apart=apart and (right or (score.high.numerator - strict.numerator) * 4 >= whole),
        segments=parts,
        bar_label=texts.gettext(
            "{title} strict ratio: {parts}, of {all}. Possible range {low} to {high}."
        ).format(
            title=title,
            parts=told,
            all=whole,
            low=percent(strict, texts),
            high=percent(score.high, texts),
        ),
        rows=_rows(score, texts),
        functions=tuple(
            function_view(row, stated[row.function], score.framework, texts) for row in score.functions
        ),
        total=total_view(score, parts, texts),
        function_heading=_heading(score, texts),
        by_family=score.framework != "nist-ai-rmf",
    )


def _heading(score: FrameworkScore, texts: Texts) -> str:
    if score.framework == "nist-ai-rmf":
        return texts.gettext("{title} by function").format(title=visible(score.title))
    return texts.gettext("{title} by family").format(title=visible(score.title))


def _rows(score: FrameworkScore, texts: Texts) -> tuple[Row, ...]:
    technical = classic(score)
    by_waiver = sum(row.by_waiver for row in score.functions)
    rows = [
        Row(
            texts.gettext("Possible range"),
            (
                Piece(
                    texts.gettext("{low} to {high} ({share})").format(
                        low=percent(score.strict, texts),
                        high=percent(score.high, texts),
                        share=share(score.high),
                    )
                    if score.high.denominator
                    else texts.gettext("not stated")
                ),
            ),
        ),
        _ratio_row(texts.gettext("With waivers accepted"), score.with_waivers, texts),
        _ratio_row(texts.gettext("Evidence coverage"), score.evidence_coverage, texts),
        Row(
            texts.gettext("Rests on statements"),
            (
                Piece(str(score.attested.numerator), "#statements", bold=True),
                Piece(" " + texts.gettext("of {n} satisfied").format(n=score.attested.denominator)),
            ),
        ),
        _ratio_row(texts.gettext("Statements ignored"), score.technical_only, texts),
        Row(
            texts.gettext("Scanned and complying"),
            (
                Piece(share(technical), bold=True),
                Piece(
                    texts.gettext(" ({percent}, rounded), {n} by waiver").format(
                        percent=percent_rounded(technical, texts), n=by_waiver
                    )
                ),
            )
            if technical.denominator
            else (Piece(texts.gettext("not stated")),),
        ),
    ]
    if len(score.cluster_strict) > 1:
        rows.append(Row(texts.gettext("By cluster"), (Piece(_clusters(score, texts), "#members"),)))
    rows.append(Row(texts.gettext("Held back by"), held_back(score, texts)))
    return tuple(rows)


def _clusters(score: FrameworkScore, texts: Texts) -> str:
    stated = sorted(
        (item for item in score.cluster_strict.values() if item.denominator),
        key=lambda item: (item.numerator / item.denominator, item.numerator),
    )
    if not stated:
        return texts.gettext("not stated")
    if len(stated) < 3:
        return texts.gettext("worst {worst}, best {best}").format(
            worst=share(stated[0]), best=share(stated[-1])
        )
    middle = stated[statistics.median_low(range(len(stated)))]
    return texts.gettext("worst {worst}, median {median}, best {best}").format(
        worst=share(stated[0]), median=share(middle), best=share(stated[-1])
    )


def held_back(score: FrameworkScore, texts: Texts) -> tuple[Piece, ...]:
    """The parts that sum to denominator minus numerator, zeros printed too."""
    held = score.held_back
    statements = held.statement_open + held.statement_expired
    parts = (
        (texts.gettext("{n} failing").format(n=held.failing), "#findings"),
        (texts.gettext("{n} waived").format(n=held.waived), "#waivers"),
        (
            texts.gettext("{n} statement ({open} open, {expired} expired)").format(
                n=statements, open=held.statement_open, expired=held.statement_expired
            ),
            "#statements",
        ),
        (texts.gettext("{n} no evidence").format(n=held.no_evidence), "#unseen"),
        (texts.gettext("{n} no check built").format(n=held.no_check), "#checks"),
    )
    pieces: list[Piece] = []
    for text, href in parts:
        if pieces:
            pieces.append(Piece(" · "))
        pieces.append(Piece(text, href))
    return tuple(pieces)


def _ratio_row(term: str, value: Fraction, texts: Texts) -> Row:
    if not value.denominator:
        return Row(term, (Piece(texts.gettext("not stated")),))
    return Row(term, (Piece(share(value), bold=True), Piece(f" ({percent(value, texts)})")))
