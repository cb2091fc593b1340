"""The control matrix and the control rows: all controls of all catalogs, in profile or not."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby

import msgspec

from audit.model.assessment import ControlRow, ControlStatus, FrameworkScore, Reason, RuleEvidence
from audit.model.control import EvidenceKind, MappingEntry
from audit.model.result import AssessmentResult
from audit.report.numbers import count, share
from audit.report.text import visible, visible_block
from audit.report.texts import Texts
from audit.report.view_parts import Anchors, slug
from audit.report.view_words import Label, kind_word, reason_text, row_label, status_label

_LINES = {EvidenceKind.AUTO: "auto", EvidenceKind.PARTIAL: "partial", EvidenceKind.ATTESTATION: ""}


class Cell(msgspec.Struct, frozen=True):
    """A control in the matrix."""

    href: str
    label: Label
    short: str
    line: str
    """``auto``, ``partial`` or empty: how it can be decided."""
    told: str
    """The hidden text: id, status, kind."""


class Category(msgspec.Struct, frozen=True):
    """Cells side by side under one name."""

    name: str
    cells: tuple[Cell, ...]


class FunctionCells(msgspec.Struct, frozen=True):
    """A function's row of the matrix."""

    name: str
    line: str
    categories: tuple[Category, ...]


class EvidenceView(msgspec.Struct, frozen=True):
    """What one rule contributed, and why it is mapped."""

    rule: str
    href: str
    decides: bool
    evidence: RuleEvidence
    rationale: str
    limits: str
    author: str


class MemberView(msgspec.Struct, frozen=True):
    """The control on one cluster."""

    cluster: str
    label: Label


class ControlView(msgspec.Struct, frozen=True):
    """One row."""

    anchor: str
    id: str
    title: str
    kind: str
    label: Label
    why: str
    gap: bool
    contradicted: bool
    failing_rules: tuple[str, ...]
    """Deciding rules with unwaived failures: their groups are linked."""
    evidence: tuple[EvidenceView, ...]
    evidence_line: str
    members: tuple[MemberView, ...]
    """Only where they differ."""


class FunctionRows(msgspec.Struct, frozen=True):
    """A function's rows."""

    anchor: str
    heading: str
    controls: tuple[ControlView, ...]


class FrameworkControls(msgspec.Struct, frozen=True):
    """All of one framework, as cells and as rows."""

    anchor: str
    title: str
    caption: str
    cells: tuple[FunctionCells, ...]
    by_family: bool
    rows: tuple[FunctionRows, ...]


def framework_controls(
    result: AssessmentResult, score: FrameworkScore, anchors: Anchors, texts: Texts
) -> FrameworkControls:
    """Cells and rows of one framework."""
    own = [row for row in result.controls if row.framework == score.framework]
    mappings: dict[tuple[str, str], MappingEntry] = {
        (entry.control, entry.rule): entry for entry in result.mappings if entry.framework == score.framework
    }
    ratios = {row.function: share(row.strict) for row in score.functions}
    functions: dict[str, list[ControlRow]] = defaultdict(list)
    for row in own:
        functions[row.function].append(row)
    return FrameworkControls(
        anchor=slug(score.framework),
        title=visible(score.title),
        caption=texts.ngettext("{title}, {n} control", "{title}, {n} controls", len(own)).format(
            title=f"{visible(score.title)} {visible(score.edition)}", n=len(own)
        ),
        cells=tuple(
            FunctionCells(
                name=visible(name),
                line=texts.gettext("{share}, {n} in all").format(share=ratios.get(name, "0/0"), n=len(rows)),
                categories=_categories(rows, anchors, texts),
            )
            for name, rows in functions.items()
        ),
        by_family=score.framework != "nist-ai-rmf",
        rows=tuple(
            FunctionRows(
                anchor=f"fn-{slug(score.framework)}-{slug(name)}",
                heading=f"{visible(name)} {ratios.get(name, '0/0')}",
                controls=tuple(_row(row, mappings, anchors, texts) for row in rows),
            )
            for name, rows in functions.items()
        ),
    )


def _categories(rows: list[ControlRow], anchors: Anchors, texts: Texts) -> tuple[Category, ...]:
    parted = groupby(rows, key=lambda row: _split(row.id)[0])
    return tuple(
        Category(visible(name), tuple(_cell(row, anchors, texts) for row in members))
        for name, members in parted
    )


def _split(name: str) -> tuple[str, str]:
    """``GOVERN 1.2`` into ``GOVERN 1`` and ``1.2``; ``LFAI-SIG-01`` into ``LFAI-SIG`` and ``01``."""
    if " " in name:
        word, _, number = name.rpartition(" ")
        return f"{word} {number.partition('.')[0]}", number
    family, _, number = name.rpartition("-")
    return family or name, number


def _cell(row: ControlRow, anchors: Anchors, texts: Texts) -> Cell:
    label = row_label(row, texts)
    told = f"{visible(row.id)}: {label.word}, {kind_word(row.evidence_kind, texts)}"
    if label.code == "S" and Reason.STATEMENT_MET in row.fleet.reasons:
        told = f"{visible(row.id)}: {label.word}, {texts.gettext('rests on a statement')}, {kind_word(row.evidence_kind, texts)}"
    return Cell(
        href=f"#{anchors.control(row.framework, row.id)}",
        label=label,
        short=visible(_split(row.id)[1], 8),
        line=_LINES[row.evidence_kind],
        told=told,
    )


def _row(
    row: ControlRow,
    mappings: dict[tuple[str, str], MappingEntry],
    anchors: Anchors,
    texts: Texts,
) -> ControlView:
    fleet = row.fleet
    pairs = sum(item.due for item in fleet.evidence)
    return ControlView(
        anchor=anchors.control(row.framework, row.id),
        id=visible(row.id),
        title=visible(row.title),
        kind=kind_word(row.evidence_kind, texts),
        label=row_label(row, texts),
        why=_why(row, texts),
        gap=bool(fleet.gaps),
        contradicted=fleet.contradicted,
        failing_rules=tuple(item.rule for item in fleet.evidence if item.decides and item.failed),
        evidence=tuple(
            _evidence(item, mappings.get((row.id, item.rule)), anchors) for item in fleet.evidence
        ),
        evidence_line=texts.ngettext(
            "{n} rule, {pairs} pairs", "{n} rules, {pairs} pairs", len(fleet.evidence)
        ).format(n=len(fleet.evidence), pairs=count(pairs)),
        members=tuple(
            MemberView(visible(member.cluster), status_label(member.status, texts)) for member in row.members
        )
        if len({member.status for member in row.members}) > 1
        else (),
    )


def _why(row: ControlRow, texts: Texts) -> str:
    fleet = row.fleet
    clauses = [reason_text(reason, row, texts) for reason in fleet.reasons or (fleet.reason,)]
    waits = fleet.reason in {Reason.STATEMENT_OPEN, Reason.STATEMENT_EXPIRED}
    if waits and any(item.decides and item.passed for item in fleet.evidence):
        clauses.append(texts.gettext("technical evidence supports"))
    text = "; ".join(clauses)
    if fleet.statement_text:
        text += f": {visible_block(fleet.statement_text, 300).rstrip('.')}"
    held = fleet.held_back_clusters
    if fleet.status is not ControlStatus.SATISFIED and held and len(held) < len(row.members):
        text += ". " + texts.gettext("Held back by {clusters}").format(
            clusters=", ".join(visible(cluster) for cluster in held[:6])
        )
    return text[:1].upper() + text[1:]


def _evidence(item: RuleEvidence, entry: MappingEntry | None, anchors: Anchors) -> EvidenceView:
    anchor = anchors.rule(item.rule)
    return EvidenceView(
        rule=visible(item.rule),
        href=f"#{anchor}" if anchor else "",
        decides=item.decides,
        evidence=item,
        rationale=visible_block(entry.rationale, 600) if entry else "",
        limits=visible_block(entry.limits, 600) if entry else "",
        author=f"{visible(entry.author, 80)}, {entry.date.isoformat()}" if entry else "",
    )
