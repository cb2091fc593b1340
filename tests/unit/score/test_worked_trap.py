"""One cluster for which three scanners print three headlines, counted openly.

Ten controls: four pass with 100 resources each, two have no resource, two are for people, one fails on 1 of 1,000 pods,
one rests on a waiver for 50 of 100 resources. Averaging shares gives 79.99 there; counting what never ran as passed
gives nine of ten.
"""

from __future__ import annotations

import pytest

from audit.assess import AssessInputs, Assessor
from audit.library.catalogs import resolve_profile
from audit.model.assessment import ControlRow, FrameworkScore, HeldBack
from audit.model.control import EvidenceKind
from audit.model.finding import Outcome
from audit.model.result import RuleState
from audit.model.tally import Tally
from audit.score import ScoreInputs, score
from tests import builders as b

CLUSTER = "only"
KINDS = {
    **{f"TRAP 1.{number}": EvidenceKind.AUTO for number in (1, 2, 3, 4, 5, 6, 9, 10)},
    **{f"TRAP 1.{number}": EvidenceKind.ATTESTATION for number in (7, 8)},
}
PAIRS = {
    **{f"TRAP 1.{number}": {Outcome.PASS: 100} for number in (1, 2, 3, 4)},
    "TRAP 1.5": {},
    "TRAP 1.6": {},
    "TRAP 1.9": {Outcome.PASS: 999, Outcome.FAIL: 1},
    "TRAP 1.10": {Outcome.PASS: 50, "waived": 50},
}


def trap(profile: str) -> FrameworkScore:
    return trap_result(profile)[1]


def trap_result(profile: str, *, pairs_due: int = 1_500) -> tuple[tuple[ControlRow, ...], FrameworkScore]:
    catalog = b.catalog(
        *(b.control(name, function="TRAP", evidence_kind=kind) for name, kind in KINDS.items()), id="trap"
    )
    tally = Tally()
    for name, outcomes in PAIRS.items():
        for outcome, number in outcomes.items():
            tally.add_due(f"trap/{name}", CLUSTER, number)
            waived = outcome == "waived"
            tally.add(
                f"trap/{name}", CLUSTER, Outcome.FAIL if waived else outcome, waived=waived, number=number
            )
    chosen = resolve_profile(profile, [catalog])
    assessor = Assessor(
        AssessInputs(
            catalogs=(catalog,),
            mappings=tuple(b.mapping(framework="trap", control=name, rule=f"trap/{name}") for name in PAIRS),
            checks=(),
            rules=tuple(RuleState(rule=b.rule(f"trap/{name}"), selected=True) for name in PAIRS),
            tally=tally,
            gaps=(),
            statements=(),
            clusters={CLUSTER: True},
            profile=chosen,
            now=b.NOW,
        )
    )
    rows = assessor.assess()
    inputs = ScoreInputs(catalogs=(catalog,), controls=rows, profile=chosen, pairs_due=pairs_due)
    return rows, score(inputs)[0]


def test_all_ten_counted_openly() -> None:
    full = trap("full")
    buckets = (full.satisfied, full.failed, full.waived, full.indeterminate, full.not_applicable)
    assert buckets == (4, 1, 1, 2, 2)
    assert full.strict == b.fraction(4, 8)
    assert full.evidence_coverage == b.fraction(6, 8), "six of the eight that apply are decided"
    assert full.with_waivers == b.fraction(5, 8)
    assert full.high == b.fraction(6, 8)
    assert full.held_back == HeldBack(failing=1, waived=1, statement_open=2)


def test_four_of_six_without_the_two_for_people() -> None:
    technical = trap("technical")
    assert technical.strict == b.fraction(4, 6)
    assert technical.strict.percent_truncated == "66.6", "the headline truncates"
    assert technical.strict.percent_rounded == "66.7"
    assert technical.evidence_coverage == b.fraction(6, 6)
    assert (technical.waived, technical.not_applicable, technical.in_profile) == (1, 2, 8)


@pytest.mark.parametrize("profile", ["technical", "full"])
def test_the_classic_table_counts_the_waiver_apart(profile: str) -> None:
    (row,) = trap(profile).functions
    assert (row.scanned, row.complies, row.by_waiver) == (6, 5, 1)
    assert row.classic.percent_rounded == "83.3"
