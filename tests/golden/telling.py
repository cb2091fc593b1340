"""Run an example by the real engine, and say what came out without digests and versions: what golden files hold."""

from __future__ import annotations

import datetime as dt
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from audit import wiring
from audit.cli.progress import SilentProgress
from audit.config.effective import effective_config
from audit.config.environment import Environment
from audit.config.overrides import Overrides
from audit.model.assessment import Fraction
from audit.model.finding import Finding, FindingGroup, Outcome
from audit.model.result import AssessmentResult

CHECKOUT = Path(__file__).resolve().parents[2]


@contextmanager
def judged(overrides: Overrides, now: dt.datetime) -> Iterator[AssessmentResult]:
    """One run from the top of the checkout, at a moment of the machine's clock."""
    before = Path.cwd()
    os.chdir(CHECKOUT)
    try:
        config = effective_config(overrides, Environment(), Path())
        with wiring.build(config, progress=SilentProgress(), clock=wiring.FixedClock(now)) as audit:
            yield audit.run(threading.Event())
    finally:
        os.chdir(before)


def compare(expected: Path, found: dict[str, Any]) -> None:
    """Hold what was found against the file, or write the file when that is asked for."""
    found = json.loads(json.dumps(found))
    if os.environ.get("FLEETAUDIT_UPDATE_GOLDEN"):
        expected.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    wanted = json.loads(expected.read_text(encoding="utf-8"))
    assert set(found) == set(wanted)
    for part in wanted:
        assert found[part] == wanted[part], part


def told(result: AssessmentResult, groups: list[FindingGroup], example: str) -> dict[str, Any]:
    """The verdicts, without digests and versions.

    Args:
        result: of the run.
        groups: its findings.
        example: folder that places are told from.
    """
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
                "members": [row(member, example) for member in group.members],
            }
            for group in groups
        ],
    }


def written(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"


def row(member: Finding, example: str) -> str:
    place = "derived" if member.place is None else f"{member.place.file}:{member.place.line}"
    waived = f" [{member.waiver}]" if member.waiver else ""
    return f"{place.removeprefix(f'{example}/')} {member.violation.message}{member.error}{waived}"


def tally(result: AssessmentResult) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for rule, _, outcome, waived, number in result.tally.to_rows():
        name = f"{outcome}, waived" if waived else outcome
        of_rule = counts.setdefault(rule, {})
        of_rule[name] = of_rule.get(name, 0) + number
    return counts
