"""The JSON report as data: its shape (``fleetaudit.dev/report/v1``), and the way to and from a result.

The shape is the model's own, with three additions: ``schema`` in front, each fraction's ``percent`` (truncated,
null for 0/0) so that nobody divides by zero, and the tally as rows. Groups come last, so that they can be streamed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, cast

import msgspec

from audit.model.assessment import ControlRow, Fraction, FrameworkScore
from audit.model.consistency import PolicyConsistency
from audit.model.control import Check, MappingEntry
from audit.model.finding import FindingGroup, Outcome
from audit.model.gap import Gap, Notice
from audit.model.gate import Gate, IncompleteReason
from audit.model.quality import PolicyQuality
from audit.model.result import (
    AssessmentResult,
    GroupCounts,
    RuleState,
    StatementState,
    WaiverState,
)
from audit.model.run import RunRecord
from audit.model.tally import Tally

SCHEMA_NAME: Literal["fleetaudit.dev/report/v1"] = "fleetaudit.dev/report/v1"


class TallyRow(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs of one rule on one cluster with one outcome."""

    rule: str
    cluster: str
    outcome: Outcome
    waived: bool
    pairs: int


class DueRow(msgspec.Struct, frozen=True, kw_only=True):
    """Pairs that were due for one rule on one cluster, counted before anything was asked."""

    rule: str
    cluster: str
    pairs: int


class ReportDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One whole report, in the order of the file."""

    schema: Literal["fleetaudit.dev/report/v1"]
    title: str
    complete: bool
    incomplete_reasons: tuple[IncompleteReason, ...]
    may_be_called_compliant: bool
    gates: tuple[Gate, ...]
    record: RunRecord
    scores: tuple[FrameworkScore, ...]
    controls: tuple[ControlRow, ...]
    rules: tuple[RuleState, ...]
    mappings: tuple[MappingEntry, ...]
    checks: tuple[Check, ...]
    gaps: tuple[Gap, ...]
    notices: tuple[Notice, ...]
    waivers: tuple[WaiverState, ...]
    statements: tuple[StatementState, ...]
    tally: tuple[TallyRow, ...]
    due: tuple[DueRow, ...]
    quality: PolicyQuality
    consistency: PolicyConsistency | None
    group_counts: GroupCounts
    groups: tuple[FindingGroup, ...]


class StoredGroups:
    """Groups of a loaded report: in memory, in the order they were written."""

    def __init__(self, groups: tuple[FindingGroup, ...], counts: GroupCounts) -> None:
        self._groups = groups
        self._counts = counts

    def groups(self) -> Iterator[FindingGroup]:
        """The groups, as often as asked."""
        return iter(self._groups)

    def counts(self) -> GroupCounts:
        """Their totals."""
        return self._counts


def head(result: AssessmentResult) -> ReportDocument:
    """The document of a result without its groups, which the writer streams after it."""
    return ReportDocument(
        schema=SCHEMA_NAME,
        title=result.title,
        complete=result.complete,
        incomplete_reasons=result.incomplete_reasons,
        may_be_called_compliant=result.may_be_called_compliant,
        gates=result.gates,
        record=result.record,
        scores=result.scores,
        controls=result.controls,
        rules=result.rules,
        mappings=result.mappings,
        checks=result.checks,
        gaps=result.gaps,
        notices=result.notices,
        waivers=result.waivers,
        statements=result.statements,
        tally=tuple(
            TallyRow(rule=rule, cluster=cluster, outcome=Outcome(outcome), waived=waived, pairs=pairs)
            for rule, cluster, outcome, waived, pairs in result.tally.to_rows()
        ),
        due=tuple(
            DueRow(rule=rule, cluster=cluster, pairs=pairs)
            for (rule, cluster), pairs in sorted(result.tally.due.items())
        ),
        quality=result.quality,
        consistency=result.consistency,
        group_counts=result.group_source.counts(),
        groups=(),
    )


def to_result(document: ReportDocument) -> AssessmentResult:
    """The result a document was written from."""
    tally = Tally.from_rows(
        ((r.rule, r.cluster, r.outcome.value, r.waived, r.pairs) for r in document.tally),
        {(r.rule, r.cluster): r.pairs for r in document.due},
    )
    return AssessmentResult(
        title=document.title,
        record=document.record,
        tally=tally,
        scores=document.scores,
        controls=document.controls,
        rules=document.rules,
        mappings=document.mappings,
        checks=document.checks,
        gaps=document.gaps,
        notices=document.notices,
        waivers=document.waivers,
        statements=document.statements,
        gates=document.gates,
        complete=document.complete,
        incomplete_reasons=document.incomplete_reasons,
        quality=document.quality,
        consistency=document.consistency,
        group_source=StoredGroups(document.groups, document.group_counts),
    )


def plain(document: ReportDocument) -> dict[str, Any]:
    """The document as JSON-ready data, each fraction with its percent."""
    data = cast("dict[str, Any]", msgspec.to_builtins(document, order="deterministic"))
    _add_percent(data["scores"])
    _add_percent(data["gates"])
    return data


def _add_percent(node: object) -> None:
    """Give every fraction below `node` its truncated percent."""
    if isinstance(node, list | tuple):
        for item in node:
            _add_percent(item)
    elif isinstance(node, dict):
        if node.keys() == {"numerator", "denominator"}:
            node["percent"] = Fraction(**node).percent_truncated
            return
        for item in node.values():
            _add_percent(item)
