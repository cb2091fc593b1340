"""Metrics for dashboards: read back by the reference parser, equal to the result, bounded in number."""

from __future__ import annotations

import io
from collections.abc import Iterable

import pytest
from prometheus_client.parser import text_string_to_metric_families

from audit.model.assessment import Fraction
from audit.model.finding import Outcome
from audit.model.result import AssessmentResult
from audit.model.run import ClusterRecord
from audit.report.metrics import MetricsWriter
from tests import builders as b
from tests.unit.report.story import story

Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


def series(result: AssessmentResult) -> Series:
    stream = io.BytesIO()
    MetricsWriter().render_to(result, stream)
    families = text_string_to_metric_families(stream.getvalue().decode())
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def key(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    return f"fleetaudit_{name}", frozenset(labels.items())


def names(found: Iterable[tuple[str, object]]) -> set[str]:
    return {name for name, _ in found}


def test_numbers_are_those_of_the_result() -> None:
    result = story()
    found = series(result)
    for score in result.scores:
        labels = {"framework": score.framework, "profile": score.profile.value}
        assert found[key("compliance_ratio", **labels)] == score.strict.value
        assert found[key("compliance_ratio_possible", **labels)] == score.high.value
        assert found[key("coverage_ratio", **labels)] == score.evidence_coverage.value
        assert found[key("controls", status="indeterminate", **labels)] == score.indeterminate
    pairs = sum(value for (name, _), value in found.items() if name == "fleetaudit_pairs")
    assert pairs == result.record.denominator.pairs_answered
    assert found[key("pairs", outcome="waived")] == result.tally.total(Outcome.FAIL, waived=True)
    for severity, number in result.group_source.counts().open.items():
        assert found[key("open_groups", severity=severity)] == number
    assert found[key("complete")] == 0.0
    assert sum(value for (name, _), value in found.items() if name == "fleetaudit_gaps") == len(result.gaps)


def test_a_ratio_of_nothing_is_absent() -> None:
    nothing = Fraction(numerator=0, denominator=0)
    found = series(b.result(scores=(b.score(strict=nothing, high=nothing),)))
    assert not {"fleetaudit_compliance_ratio", "fleetaudit_compliance_ratio_possible"} & names(found)
    assert "fleetaudit_controls" in names(found)


@pytest.mark.parametrize("name", ['a"b', "a\\", "a\nfleetaudit_complete 1", 'x"} 1\n# EOF'])
def test_names_of_clusters_can_not_forge_a_series(name: str) -> None:
    record = b.record(clusters=(ClusterRecord(name=name, kind="manifests", reached=False, subjects=0),))
    found = series(b.result(record=record))
    assert found[key("cluster_reached", cluster=name)] == 0.0
    assert [number for (told, _), number in found.items() if told == "fleetaudit_complete"] == [1.0]


def test_the_number_of_series_does_not_grow_with_the_findings() -> None:
    assert len(series(story(many=1))) == len(series(story(many=60)))
