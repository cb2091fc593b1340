"""A ratio over nothing is not stated: neither 0 nor 100."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from audit.model.acceptance import Claim
from audit.model.assessment import FrameworkScore
from audit.model.control import EvidenceKind, Profile, ProfileName
from audit.model.finding import Outcome
from audit.score import ScoreInputs, score
from tests import builders as b
from tests.unit.score.worlds import Pair, World, control, link, said


def scored(world: World, pairs_due: int) -> FrameworkScore:
    inputs = ScoreInputs(
        catalogs=(world.catalog,),
        controls=world.judged()[0],
        profile=Profile(name=ProfileName.FULL, controls={}),
        pairs_due=pairs_due,
        what_if=world.assessor().status_after,
    )
    return score(inputs)[0]


WORLD = World(
    controls=(control(1), control(2, EvidenceKind.ATTESTATION)),
    links=(link("CTL 1.1", "family/rule-0"),),
    pairs=(),
    statements=(said("CTL 1.2", Claim.MET),),
)
RATIOS = ("strict", "high", "with_waivers", "evidence_coverage", "technical_only", "attested")


@pytest.mark.parametrize("clusters", [{"one": False}, {"one": True}, {}])
def test_with_no_pair_due_no_ratio_is_stated(clusters: dict[str, bool]) -> None:
    found = scored(replace(WORLD, clusters=clusters), pairs_due=0)
    for name in RATIOS:
        ratio = getattr(found, name)
        assert (ratio.numerator, ratio.denominator, ratio.value) == (0, 0, None), name
    assert found.functions == ()
    assert found.cluster_strict == {}
    assert found.next_steps == ()
    assert found.in_profile == 2, "the controls are listed all the same"


def test_null_in_json_never_nan() -> None:
    found = scored(WORLD, pairs_due=0)
    text = msgspec.json.encode({name: getattr(found, name).value for name in RATIOS}).decode()
    assert text.count("null") == len(RATIOS)
    assert "NaN" not in text


def test_everything_not_applicable_is_not_stated_either() -> None:
    world = World(controls=(control(1),), links=(link("CTL 1.1", "family/rule-0"),), pairs=())
    found = scored(world, pairs_due=7)
    assert found.not_applicable == 1
    assert found.strict.value is None
    assert found.strict.percent_truncated is None


def test_a_fleet_of_nothing_leaves_controls_undecided() -> None:
    (row, _), _ = replace(WORLD, clusters={}).judged()
    assert row.members == ()
    assert (row.fleet.status.value, row.fleet.reason.value) == ("indeterminate", "no_evidence")


def test_an_attested_share_of_nothing_is_not_stated() -> None:
    failing = replace(WORLD, statements=(), pairs=(Pair("family/rule-0", "one", "Pod", Outcome.FAIL),))
    assert scored(failing, pairs_due=1).attested == b.fraction(0, 0)
