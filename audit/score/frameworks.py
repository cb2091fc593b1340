"""Scores every framework: its ratios, what holds them back, its functions, its clusters and its next steps. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from audit.model.assessment import (
    ControlRow,
    ControlStatus,
    Fraction,
    FrameworkScore,
    FunctionRow,
    Reason,
)
from audit.model.control import Catalog
from audit.score.held_back import held_back
from audit.score.inputs import ScoreInputs
from audit.score.next_steps import StepFinder
from audit.score.ratio import NOT_STATED, Buckets, count


def score(inputs: ScoreInputs) -> tuple[FrameworkScore, ...]:
    """One score per catalog, in catalog order. Frameworks are never averaged or added."""
    rows: dict[str, list[ControlRow]] = {catalog.id: [] for catalog in inputs.catalogs}
    for row in inputs.controls:
        rows[row.framework].append(row)
    return tuple(_score(inputs, catalog, rows[catalog.id]) for catalog in inputs.catalogs)


def _score(inputs: ScoreInputs, catalog: Catalog, rows: Sequence[ControlRow]) -> FrameworkScore:
    chosen = [row for row in rows if row.fleet.in_profile]
    buckets = count(row.fleet.status for row in chosen)
    stated = inputs.pairs_due > 0
    steps = StepFinder(chosen, inputs.what_if).steps() if stated and inputs.what_if else ()

    def shown(fraction: Fraction) -> Fraction:
        return fraction if stated else NOT_STATED

    return FrameworkScore(
        framework=catalog.id,
        title=catalog.title,
        edition=catalog.edition,
        profile=inputs.profile.name,
        catalog_total=len(rows),
        in_profile=len(chosen),
        satisfied=buckets.satisfied,
        failed=buckets.failed,
        waived=buckets.waived,
        indeterminate=buckets.indeterminate,
        not_applicable=buckets.not_applicable,
        strict=shown(buckets.strict),
        high=shown(buckets.high),
        with_waivers=shown(buckets.with_waivers),
        evidence_coverage=shown(buckets.coverage),
        technical_only=shown(_technical(chosen).strict),
        attested=shown(_attested(chosen, buckets)),
        held_back=held_back(row.fleet for row in chosen),
        functions=tuple(_functions(catalog, chosen)) if stated else (),
        next_steps=steps,
        cluster_strict=_clusters(chosen) if stated else {},
    )


def _technical(rows: Sequence[ControlRow]) -> Buckets:
    return count(row.fleet.technical_status or ControlStatus.INDETERMINATE for row in rows)


def _attested(rows: Sequence[ControlRow], buckets: Buckets) -> Fraction:
    resting = sum(
        row.fleet.status is ControlStatus.SATISFIED and Reason.STATEMENT_MET in row.fleet.reasons
        for row in rows
    )
    return Fraction(numerator=resting, denominator=buckets.satisfied)


def _functions(catalog: Catalog, rows: Sequence[ControlRow]) -> list[FunctionRow]:
    by_function: dict[str, list[ControlRow]] = {function: [] for function in catalog.functions}
    for row in rows:
        by_function[row.function].append(row)
    return [_function(name, members) for name, members in by_function.items()]


def _function(name: str, rows: Sequence[ControlRow]) -> FunctionRow:
    buckets = count(row.fleet.status for row in rows)
    return FunctionRow(
        function=name,
        satisfied=buckets.satisfied,
        failed=buckets.failed,
        waived=buckets.waived,
        indeterminate=buckets.indeterminate,
        not_applicable=buckets.not_applicable,
        scanned=sum(row.fleet.technical_scanned for row in rows),
        complies=sum(row.fleet.technical_complies for row in rows),
        by_waiver=sum(row.fleet.technical_by_waiver for row in rows),
    )


def _clusters(rows: Sequence[ControlRow]) -> dict[str, Fraction]:
    """Strict ratio of each registered cluster alone, in the order registered."""
    statuses: dict[str, list[ControlStatus]] = {}
    for row in rows:
        for member in row.members:
            statuses.setdefault(member.cluster, []).append(member.status)
    return {cluster: count(found).strict for cluster, found in statuses.items()}
