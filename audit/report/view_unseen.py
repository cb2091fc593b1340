"""What was not looked at: always there, and says so when it is nothing."""

from __future__ import annotations

from collections import Counter, defaultdict

import msgspec

from audit.model.gap import Gap
from audit.model.result import AssessmentResult
from audit.report.numbers import count
from audit.report.text import tail, visible
from audit.report.texts import Texts
from audit.report.view_parts import Anchors, Piece, control_pieces
from audit.report.view_words import gap_word

SHOWN_SOURCES = 2
SHOWN_ENTRIES = 8
SHOWN_GAPS = 500
"""Rows of the full tables; the rest is in report.json, and the table says so."""


class Entry(msgspec.Struct, frozen=True):
    """One line of the box."""

    title: str
    pieces: tuple[Piece, ...]


class GapView(msgspec.Struct, frozen=True):
    """One gap in the full table."""

    kind: str
    cluster: str
    place: str
    reason: str
    hides: str
    hint: str
    allowed: bool


class NoticeView(msgspec.Struct, frozen=True):
    """One notice in the full table."""

    code: str
    place: str
    message: str


class Unseen(msgspec.Struct, frozen=True):
    """The box, and the tables behind it."""

    entries: tuple[Entry, ...]
    more: int
    gaps: tuple[GapView, ...]
    gaps_total: int
    notices: tuple[NoticeView, ...]
    notices_total: int


def unseen(result: AssessmentResult, anchors: Anchors, texts: Texts) -> Unseen:
    """Gaps by kind with the controls they leave undecided, then what was left out on purpose."""
    entries = [*_gap_entries(result, anchors, texts), *_left_out(result, texts)]
    return Unseen(
        entries=tuple(entries[:SHOWN_ENTRIES]),
        more=max(0, len(entries) - SHOWN_ENTRIES),
        gaps=tuple(_gap(item, texts) for item in result.gaps[:SHOWN_GAPS]),
        gaps_total=len(result.gaps),
        notices=tuple(
            NoticeView(
                code=visible(item.code),
                place=_place(item.source, item.line, item.document),
                message=visible(item.message),
            )
            for item in result.notices[:SHOWN_GAPS]
        ),
        notices_total=len(result.notices),
    )


def _gap_entries(result: AssessmentResult, anchors: Anchors, texts: Texts) -> list[Entry]:
    together: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, item in enumerate(result.gaps):
        together[gap_word(item.kind, texts), item.hint].append(index)
    entries = []
    for (word, hint), indexes in together.items():
        sources = [result.gaps[index].source for index in indexes]
        text = ", ".join(tail(source, 64) for source in sources[:SHOWN_SOURCES])
        if len(sources) > SHOWN_SOURCES:
            text += " " + texts.gettext("and {n} more").format(n=count(len(sources) - SHOWN_SOURCES))
        pieces = [
            Piece(text, "#gaps"),
            Piece(f": {visible(result.gaps[indexes[0]].reason, 160).rstrip('.')}."),
        ]
        if hint:
            pieces.append(
                Piece(" " + texts.gettext("To close it: {hint}.").format(hint=visible(hint).rstrip(".")))
            )
        if all(result.gaps[index].allowed for index in indexes):
            pieces.append(Piece(" " + texts.gettext("Tolerated by allow_gaps.")))
        pieces += _undecided(result, set(indexes), anchors, texts)
        title = f"{word}, {count(len(indexes))}" if len(indexes) > 1 else word
        entries.append(Entry(title, tuple(pieces)))
    return entries


def _undecided(result: AssessmentResult, indexes: set[int], anchors: Anchors, texts: Texts) -> list[Piece]:
    rows = [row for row in result.controls if row.fleet.in_profile and indexes.intersection(row.fleet.gaps)]
    if not rows:
        return []
    pieces = [Piece(" " + texts.gettext("Undecided:") + " ")]
    for number, row in enumerate(rows[:4]):
        if number:
            pieces.append(Piece(", "))
        pieces += control_pieces(row.framework, [row.id], anchors)
    if len(rows) > 4:
        pieces.append(Piece(" " + texts.gettext("and {n} more").format(n=len(rows) - 4)))
    return pieces


def _left_out(result: AssessmentResult, texts: Texts) -> list[Entry]:
    entries = []
    unreached = [cluster.name for cluster in result.record.clusters if not cluster.reached]
    if unreached:
        entries.append(
            Entry(
                texts.gettext("Not reached"),
                (Piece(", ".join(visible(n) for n in unreached[:12]), "#members"),),
            )
        )
    deselected = [state.rule.id for state in result.rules if not state.selected]
    if deselected:
        text = texts.ngettext("{n} rule: {names}", "{n} rules: {names}", len(deselected)).format(
            n=len(deselected), names=", ".join(visible(name) for name in deselected[:6])
        )
        entries.append(Entry(texts.gettext("Deselected"), (Piece(text, "#rules"),)))
    outside = Counter(row.framework for row in result.controls if not row.fleet.in_profile)
    titles = {score.framework: score.title for score in result.scores}
    if outside:
        text = ", ".join(
            texts.gettext("{n} of {framework}").format(
                n=n, framework=visible(titles.get(framework, framework))
            )
            for framework, n in outside.items()
        )
        entries.append(
            Entry(
                texts.gettext("Outside the profile"),
                (Piece(texts.gettext("Controls:") + f" {text}", "#matrix"),),
            )
        )
    if result.record.denominator.excluded:
        text = texts.gettext("{n} left out by scope.exclude, --exclude or .gitignore").format(
            n=count(result.record.denominator.excluded)
        )
        entries.append(Entry(texts.gettext("Excluded"), (Piece(text, "#notices"),)))
    if result.notices:
        codes = Counter(item.code for item in result.notices)
        text = ", ".join(f"{visible(code)} {count(number)}" for code, number in sorted(codes.items())[:6])
        entries.append(Entry(texts.gettext("Read, but no object"), (Piece(text, "#notices"),)))
    return entries


def _gap(item: Gap, texts: Texts) -> GapView:
    return GapView(
        kind=gap_word(item.kind, texts),
        cluster=visible(item.cluster),
        place=_place(item.source, item.line),
        reason=visible(item.reason),
        hides=texts.gettext("unknown kinds")
        if item.kinds is None
        else ", ".join(visible(kind) for kind in item.kinds[:8]),
        hint=visible(item.hint),
        allowed=item.allowed,
    )


def _place(source: str, line: int | None, document: int = 0) -> str:
    if line is not None:
        return f"{visible(source)}:{line}"
    return f"{visible(source)} #{document}" if document else visible(source)
