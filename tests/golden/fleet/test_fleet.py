"""The example fleet, judged by the real engine at a fixed moment, against `expected.json`.

`make golden` writes the file again. Read the diff: each line in it is a claim about a manifest, and somebody has to believe it.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit import wiring
from audit.cli.progress import SilentProgress
from audit.config.effective import effective_config
from audit.config.environment import Environment
from audit.config.overrides import Overrides
from audit.model.assessment import Fraction
from audit.model.finding import Finding, FindingGroup, Outcome
from audit.model.result import AssessmentResult

CHECKOUT = Path(__file__).resolve().parents[3]
EXPECTED = Path(__file__).with_name("expected.json")
NOW = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)


class FrozenClock:
    """Always noon on the day the example was written."""

    def now(self) -> dt.datetime:
        return NOW


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AssessmentResult]:
    overrides = Overrides(
        config="examples/fleet/fleetaudit.yaml", folder=str(tmp_path_factory.mktemp("out")), jobs=2
    )
    before = Path.cwd()
    os.chdir(CHECKOUT)
    try:
        config = effective_config(overrides, Environment(), Path())
        with wiring.build(config, progress=SilentProgress(), clock=FrozenClock()) as audit:
            yield audit.run(threading.Event())
    finally:
        os.chdir(before)


@pytest.fixture(scope="module")
def groups(result: AssessmentResult) -> list[FindingGroup]:
    return list(result.group_source.groups())


def test_the_run_is_complete(result: AssessmentResult) -> None:
    assert (result.complete, result.incomplete_reasons, result.gaps) == (True, (), ())
    assert result.record.denominator.pairs_due == result.record.denominator.pairs_answered


def test_everything_is_as_expected(result: AssessmentResult, groups: list[FindingGroup]) -> None:
    found = json.loads(json.dumps(told(result, groups)))
    if os.environ.get("FLEETAUDIT_UPDATE_GOLDEN"):
        EXPECTED.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    expected = json.loads(EXPECTED.read_text(encoding="utf-8"))
    assert set(found) == set(expected)
    for part in expected:
        assert found[part] == expected[part], part


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


def told(result: AssessmentResult, groups: list[FindingGroup]) -> dict[str, Any]:
    """What the golden file holds: the verdicts, without digests and versions."""
    proof = result.record.denominator
    return {
        "totals": {
            name: getattr(proof, name)
            for name in ("files", "documents", "objects", "derived", "not_objects", "in_gaps", "excluded")
        },
        "outcomes": {outcome.value: result.tally.total(outcome) for outcome in Outcome},
        "ratios": {
            score.framework: {
                "strict": written(score.strict),
                "high": written(score.high),
                "with_waivers": written(score.with_waivers),
                "coverage": written(score.evidence_coverage),
                "technical_only": written(score.technical_only),
                "attested": written(score.attested),
                "functions": {
                    row.function: [written(row.strict), written(row.classic)] for row in score.functions
                },
                "clusters": {name: written(value) for name, value in score.cluster_strict.items()},
            }
            for score in result.scores
        },
        "controls": {
            f"{row.framework} {row.id}": [f"{row.fleet.status.value}: {row.fleet.reason.value}"]
            + [f"{member.cluster} {member.status.value}: {member.reason.value}" for member in row.members]
            for row in result.controls
        },
        "waivers": {
            state.waiver.id: f"{'live' if state.live else 'expired'}, {state.matched} pairs, {state.warning}"
            for state in result.waivers
        },
        "statements": {
            state.statement.id: f"{'live' if state.live else 'expired'}, {'counted' if state.counted else 'not counted'}"
            for state in result.statements
        },
        "policies": {
            "vacuous": result.quality.vacuous,
            "in no control": result.quality.unused,
            "served by no rule": [f"{item.framework} {item.control}" for item in result.quality.unserved],
        },
        "tally": tally(result),
        "groups": [
            {
                "id": group.id,
                "says": f"{group.severity.value} {group.outcome.value} {group.rule}",
                "of": f"{group.owner} {group.container}".strip(),
                "path": group.path,
                "members": [row(member) for member in group.members],
            }
            for group in groups
        ],
    }


def written(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"


def row(member: Finding) -> str:
    place = "derived" if member.place is None else f"{member.place.file}:{member.place.line}"
    waived = f" [{member.waiver}]" if member.waiver else ""
    return f"{place.removeprefix('examples/fleet/')} {member.violation.message}{member.error}{waived}"


def tally(result: AssessmentResult) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for rule, _, outcome, waived, number in result.tally.to_rows():
        name = f"{outcome}, waived" if waived else outcome
        of_rule = counts.setdefault(rule, {})
        of_rule[name] = of_rule.get(name, 0) + number
    return counts
