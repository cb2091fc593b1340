"""A result as the rows that are kept of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from audit.compare.denominators import Basis
from audit.errors import HistoryError
from audit.harmless import reversibly_escaped
from audit.history.chain import digest_of_details, digest_of_ratios
from audit.history.model import ControlState, Details, Entry, GroupState, Ratio, RunRow
from audit.model.assessment import Fraction, FrameworkScore
from audit.model.canonical import canonical_json
from audit.model.expiry import moment_of
from audit.model.finding import FindingGroup, Outcome
from audit.model.result import AssessmentResult
from audit.model.run import RunRecord


def entry_of(result: AssessmentResult, exit_code: int) -> Entry:
    """The rows of a sealed result.

    Args:
        result: with its digest filled in.
        exit_code: what the run ended with, before the history was written.

    Raises:
        HistoryError: the time of the result is none.
    """
    record = result.record
    try:
        moment_of(record.state_time)
    except ValueError:
        raise HistoryError("the result doesn't say when it was judged") from None
    ratios = tuple(ratio for score in result.scores for ratio in _ratios(score))
    details = Details(
        cluster_ratios=tuple(ratio for score in result.scores for ratio in _cluster_ratios(score)),
        controls=tuple(_controls(result)),
        groups=tuple(map(_group, result.group_source.groups())),
        record=_without_inputs(record),
    )
    counts, basis, denominator = result.group_source.counts(), Basis.of(result), record.denominator
    run = RunRow(
        title=reversibly_escaped(result.title),
        state_time=record.state_time,
        started=reversibly_escaped(record.started),
        finished=reversibly_escaped(record.finished),
        fleetaudit=reversibly_escaped(record.fleetaudit),
        exit_code=exit_code,
        complete=result.complete,
        clusters=len(record.clusters),
        reached=sum(cluster.reached for cluster in record.clusters),
        objects=denominator.objects,
        rules=denominator.rules,
        pairs_due=denominator.pairs_due,
        pairs_answered=denominator.pairs_answered,
        gaps=len(result.gaps),
        open_critical=counts.open["critical"],
        open_high=counts.open["high"],
        open_medium=counts.open["medium"],
        open_low=counts.open["low"],
        open_info=counts.open["info"],
        waived_groups=counts.waived,
        error_groups=counts.errors,
        scope_sha256=basis.scope,
        rules_sha256=basis.rules,
        catalogs_sha256=basis.catalogs,
        mappings_sha256=basis.mappings,
        profile_sha256=basis.profile,
        result_sha256=record.result_sha256,
        population_sha256=record.population_sha256,
        ratios_sha256=digest_of_ratios(ratios),
        details_sha256=digest_of_details(details),
    )
    return Entry(run=run, ratios=ratios, details=details)


def _ratios(score: FrameworkScore) -> Iterator[Ratio]:
    measures = {
        "strict": score.strict,
        "high": score.high,
        "with_waivers": score.with_waivers,
        "coverage": score.evidence_coverage,
        "technical_only": score.technical_only,
        "attested": score.attested,
        "classic": _sum(function.classic for function in score.functions),
    }
    for measure, fraction in measures.items():
        yield _ratio(score, "", measure, fraction)
    for function in score.functions:
        yield _ratio(score, function.function, "strict", function.strict)
        yield _ratio(score, function.function, "classic", function.classic)


def _cluster_ratios(score: FrameworkScore) -> Iterator[Ratio]:
    for cluster, fraction in sorted(score.cluster_strict.items()):
        yield _ratio(score, cluster, "strict", fraction)


def _ratio(score: FrameworkScore, part: str, measure: str, fraction: Fraction) -> Ratio:
    return Ratio(
        framework=score.framework,
        title=reversibly_escaped(score.title),
        profile=score.profile.value,
        part=reversibly_escaped(part),
        measure=measure,
        numerator=fraction.numerator,
        denominator=fraction.denominator,
    )


def _sum(fractions: Iterable[Fraction]) -> Fraction:
    """Counts of disjoint parts, added as counts: no mean."""
    parts = list(fractions)
    return Fraction(
        numerator=sum(part.numerator for part in parts), denominator=sum(part.denominator for part in parts)
    )


def _controls(result: AssessmentResult) -> Iterator[ControlState]:
    for row in result.controls:
        yield ControlState(
            framework=row.framework,
            control=reversibly_escaped(row.id),
            status=row.fleet.status.value,
            reason=row.fleet.reason.value,
            in_profile=row.fleet.in_profile,
            held_back=len(row.fleet.held_back_clusters),
        )


def _group(group: FindingGroup) -> GroupState:
    status = group.outcome.value
    if group.outcome is Outcome.FAIL:
        status = "open" if group.waived < group.total else "waived"
    return GroupState(
        id=group.id,
        rule=reversibly_escaped(group.rule),
        severity=group.severity.value,
        status=status,
        owner=reversibly_escaped(group.owner),
        container=reversibly_escaped(group.container),
        path=reversibly_escaped(group.path),
        clusters=canonical_json(group.clusters).decode(),
        total=group.total,
        waived=group.waived,
    )


def _without_inputs(record: RunRecord) -> str:
    """Inputs are as many as files: they are in the sealed report, and once is enough."""
    kept = msgspec.structs.replace(record, inputs=())
    return canonical_json(kept).decode()
