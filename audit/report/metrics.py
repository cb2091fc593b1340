"""``fleetaudit.prom``: the numbers of a run as Prometheus metrics, for the textfile collector of the node exporter.

A ratio of 0/0 isn't stated, so its series is absent: a dashboard shows "no data" and never a zero or a hundred. Labels
hold identifiers from a closed set (frameworks, functions, statuses, outcomes) and names of clusters, never names of
objects, so their number doesn't grow with the fleet.

Source: Prometheus, "Exposition formats", text-based format 0.0.4.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from audit.model.assessment import ControlStatus, Fraction, FrameworkScore
from audit.model.finding import Outcome
from audit.model.gap import Gap
from audit.model.result import AssessmentResult
from audit.report.files import METRICS_MARK
from audit.report.one_file import OneFileWriter

Sample = tuple[dict[str, str], float]


class MetricsWriter(OneFileWriter):
    """Writes ``fleetaudit.prom``. The file appears whole: a scrape never reads half of it."""

    name = "prometheus"
    file_name = "fleetaudit.prom"

    def render_to(self, result: AssessmentResult, stream: BinaryIO) -> None:
        """Write the same bytes to an open stream."""
        stream.write(METRICS_MARK + b"\n")
        stream.writelines(line.encode("utf-8", "backslashreplace") for line in _lines(result))


def _lines(result: AssessmentResult) -> Iterator[str]:
    record = result.record
    yield from _gauge(
        "build_info",
        "Version of fleetaudit that wrote this file.",
        [({"version": record.fleetaudit}, 1)],
    )
    judged_at = _seconds(record.state_time)
    yield from _gauge("run_timestamp_seconds", "The moment the run was judged at.", [({}, judged_at)])
    yield from _gauge(
        "complete", "1 when nothing was left unlooked at that is not tolerated.", [({}, result.complete)]
    )
    yield from _gauge(
        "gate_met",
        "Gates asked for: 1 met, 0 missed; undecided ones are absent.",
        [({"condition": gate.condition}, gate.met) for gate in result.gates if gate.met is not None],
    )
    yield from _scores(result.scores)
    yield from _evidence(result)


def _scores(scores: Iterable[FrameworkScore]) -> Iterator[str]:
    listed = [(_labels(score), score) for score in scores]
    yield from _gauge(
        "compliance_ratio",
        "Strict ratio: satisfied controls of those that apply.",
        _stated((labels, score.strict) for labels, score in listed),
    )
    yield from _gauge(
        "compliance_ratio_possible",
        "What the strict ratio could be at most.",
        _stated((labels, score.high) for labels, score in listed),
    )
    yield from _gauge(
        "coverage_ratio",
        "Controls with a decided status, of those that apply.",
        _stated((labels, score.evidence_coverage) for labels, score in listed),
    )
    yield from _gauge(
        "controls",
        "Controls by status.",
        [
            (labels | {"status": status.value}, number)
            for labels, score in listed
            for status, number in (
                (ControlStatus.SATISFIED, score.satisfied),
                (ControlStatus.NOT_SATISFIED, score.failed),
                (ControlStatus.WAIVED, score.waived),
                (ControlStatus.INDETERMINATE, score.indeterminate),
                (ControlStatus.NOT_APPLICABLE, score.not_applicable),
            )
        ],
    )
    yield from _gauge(
        "function_compliance_ratio",
        "Strict ratio of one function or family.",
        _stated(
            (labels | {"function": row.function}, row.strict)
            for labels, score in listed
            for row in score.functions
        ),
    )


def _labels(score: FrameworkScore) -> dict[str, str]:
    return {"framework": score.framework, "profile": score.profile.value}


def _evidence(result: AssessmentResult) -> Iterator[str]:
    d, counts = result.record.denominator, result.group_source.counts()
    yield from _gauge("objects", "Objects in scope.", [({}, d.objects)])
    yield from _gauge("objects_judged", "Objects that were handed to the rules.", [({}, d.objects_judged)])
    yield from _gauge("pairs_due", "Pairs of rule and object that were due.", [({}, d.pairs_due)])
    yield from _gauge(
        "pairs",
        "Answered pairs by outcome; waived failures are counted apart.",
        [
            *(({"outcome": outcome.value}, result.tally.total(outcome, waived=False)) for outcome in Outcome),
            ({"outcome": "waived"}, result.tally.total(Outcome.FAIL, waived=True)),
        ],
    )
    yield from _gauge(
        "open_groups",
        "Groups of findings with an unwaived failure, by severity.",
        [({"severity": severity}, number) for severity, number in sorted(counts.open.items())],
    )
    yield from _gauge("gaps", "What was not looked at, by kind.", _gaps(result.gaps))
    yield from _gauge(
        "cluster_reached",
        "1 for a registered cluster that was reached, 0 for one that was not.",
        [({"cluster": cluster.name}, cluster.reached) for cluster in result.record.clusters],
    )


def _gaps(gaps: Iterable[Gap]) -> list[Sample]:
    counts: dict[tuple[str, str], int] = {}
    for gap in gaps:
        key = gap.kind.value, "true" if gap.allowed else "false"
        counts[key] = counts.get(key, 0) + 1
    return [
        ({"kind": kind, "allowed": allowed}, number) for (kind, allowed), number in sorted(counts.items())
    ]


def _stated(fractions: Iterable[tuple[dict[str, str], Fraction]]) -> list[Sample]:
    return [(labels, value) for labels, fraction in fractions if (value := fraction.value) is not None]


def _gauge(name: str, help_text: str, samples: Iterable[Sample]) -> Iterator[str]:
    full = f"fleetaudit_{name}"
    yield f"# HELP {full} {help_text}\n# TYPE {full} gauge\n"
    for labels, value in samples:
        shown = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
        yield f"{full}{{{shown}}} {float(value)!r}\n" if shown else f"{full} {float(value)!r}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _seconds(moment: str) -> float:
    return dt.datetime.fromisoformat(moment).timestamp()
