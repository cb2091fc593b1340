"""The example fleet, judged by the real engine at a fixed moment, against `expected.json`.

`make golden` writes the file again. Read the diff: each line in it is a claim about a manifest, and somebody has to believe it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pytest

from audit.config.overrides import Overrides
from audit.model.finding import FindingGroup, Outcome
from audit.model.result import AssessmentResult
from tests.golden.telling import CHECKOUT, compare, judged, told

EXPECTED = Path(__file__).with_name("expected.json")
NOW = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
"""Noon on the day the example was written."""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AssessmentResult]:
    overrides = Overrides(
        config="examples/fleet/fleetaudit.yaml", folder=str(tmp_path_factory.mktemp("out")), jobs=2
    )
    with judged(overrides, NOW) as found:
        yield found


@pytest.fixture(scope="module")
def groups(result: AssessmentResult) -> list[FindingGroup]:
    return list(result.group_source.groups())


def test_the_run_is_complete(result: AssessmentResult) -> None:
    assert (result.complete, result.incomplete_reasons, result.gaps) == (True, (), ())
    assert result.record.denominator.pairs_due == result.record.denominator.pairs_answered


def test_everything_is_as_expected(result: AssessmentResult, groups: list[FindingGroup]) -> None:
    compare(EXPECTED, told(result, groups, "examples/fleet"))


def test_every_family_has_a_hit_and_a_pass(result: AssessmentResult) -> None:
    """An example that shows only one of the two explains nothing.

    `manifest` is the exception: its only rule asks for duplicate keys, and an object with one can't be judged, so the
    example would no longer be complete. `sbom` asks about images only once a bill of materials is among the inputs, and
    the example has none yet.
    """
    seen: dict[str, set[Outcome]] = {}
    for key, number in result.tally.counts.items():
        if number:
            seen.setdefault(key.rule.partition("/")[0], set()).add(key.outcome)
    lacking = {family for family, outcomes in seen.items() if not {Outcome.PASS, Outcome.FAIL} <= outcomes}
    assert lacking == {"manifest", "sbom"}
    assert Outcome.PASS in seen["manifest"]


def test_no_secret_of_the_manifests_is_in_any_finding(groups: list[FindingGroup]) -> None:
    for secret in (
        "hf_MadeUpForThisExampleOnly00000000000",
        "made-up-password",
        "sk-made-up-for-this-example-000000",
    ):
        assert any(secret in path.read_text(encoding="utf-8") for path in manifests())
        assert secret not in repr(groups)


def test_every_place_leads_to_a_line_of_the_file(groups: list[FindingGroup]) -> None:
    placed = [member for group in groups for member in group.members if not member.subject.derived]
    assert placed
    for member in placed:
        assert member.place is not None
        assert member.place.line is not None
        lines = (CHECKOUT / member.place.file).read_text(encoding="utf-8").splitlines()
        assert lines[member.place.line - 1].strip()


def manifests() -> list[Path]:
    fleet = CHECKOUT / "examples" / "fleet"
    return sorted(
        path for folder in ("eu-central-01", "us-east-02") for path in (fleet / folder).rglob("*.*")
    )
