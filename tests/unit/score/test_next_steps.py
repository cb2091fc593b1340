"""The steps offered, and that each gives exactly the ratio it promises when it is really made."""

from __future__ import annotations

from dataclasses import replace

import msgspec
from hypothesis import given, settings

from audit.model.acceptance import Claim
from audit.model.assessment import NextStep
from audit.model.control import EvidenceKind, Profile, ProfileName
from audit.model.finding import Outcome
from audit.score import ScoreInputs, score
from tests import builders as b
from tests.unit.score.worlds import RULES, Pair, World, control, link, said, worlds

ONE, TWO, THREE = RULES[:3]


def passes(rule: str, kind: str = "Pod", cluster: str = "one") -> Pair:
    return Pair(rule, cluster, kind, Outcome.PASS)


def fails(rule: str, kind: str = "Pod", cluster: str = "one") -> Pair:
    return Pair(rule, cluster, kind, Outcome.FAIL)


def make(world: World, step: NextStep) -> World:
    """Really do what a step says."""
    if step.kind == "statements":
        given_now = tuple(said(name, Claim.MET, date=b.NOW.date()) for name in step.controls)
        return replace(world, statements=(*world.statements, *given_now))
    if step.kind == "fix_rule":
        mended = tuple(
            replace(pair, outcome=Outcome.PASS)
            if pair.rule in step.rules and pair.outcome is Outcome.FAIL and not pair.waived
            else pair
            for pair in world.pairs
        )
        return replace(world, pairs=mended)
    assert step.kind == "close_gap"
    return replace(world, gaps=tuple(gap for n, gap in enumerate(world.gaps) if n not in step.gaps))


@settings(max_examples=150, deadline=None)
@given(worlds())
def test_every_step_gives_what_it_promises(world: World) -> None:
    found = world.score()
    assert len(found.next_steps) <= 5
    for step in found.next_steps:
        assert (
            step.gives.numerator * found.strict.denominator > found.strict.numerator * step.gives.denominator
        )
        if step.kind != "build_check":
            rows, after = make(world, step).judged()
            assert after.strict == step.gives, step
            status = {row.id: row.fleet.status.value for row in rows}
            assert all(status[name] == "satisfied" for name in step.controls)


def test_open_and_ended_statements_are_one_step() -> None:
    world = World(
        controls=(control(1, EvidenceKind.PARTIAL), control(2, EvidenceKind.ATTESTATION), control(3)),
        links=(link("CTL 1.1", ONE), link("CTL 1.3", TWO)),
        pairs=(passes(ONE), fails(TWO, "Service")),
        statements=(said("CTL 1.2", Claim.MET, live=False),),
    )
    found = world.score()
    assert found.held_back.statement_open == found.held_back.statement_expired == 1
    statements = next(step for step in found.next_steps if step.kind == "statements")
    assert statements.controls == ("CTL 1.1", "CTL 1.2")
    assert (statements.gives, statements.certain) == (b.fraction(2, 3), False)


def test_a_fix_is_offered_only_where_it_is_the_last_blocker() -> None:
    world = World(
        controls=(control(1), control(2), control(3, EvidenceKind.PARTIAL)),
        links=(link("CTL 1.1", ONE), link("CTL 1.2", ONE), link("CTL 1.2", TWO), link("CTL 1.3", THREE)),
        pairs=(fails(ONE), fails(TWO, "Service"), fails(TWO, "Service"), fails(THREE)),
    )
    steps = [(step.kind, step.rules, step.controls, step.gives) for step in world.score().next_steps]
    assert steps == [
        ("fix_rule", (ONE,), ("CTL 1.1",), b.fraction(1, 3)),
        ("fix_rule", (ONE, TWO), ("CTL 1.1", "CTL 1.2"), b.fraction(2, 3)),
    ], "CTL 1.3 would still wait for its statement, so fixing rule 2 alone gives nothing"


def test_the_cheapest_step_comes_first() -> None:
    world = World(
        controls=(control(1), control(2)),
        links=(link("CTL 1.1", ONE), link("CTL 1.2", TWO)),
        pairs=(*[fails(ONE)] * 9, fails(TWO, "Service")),
    )
    assert [step.rules for step in world.score().next_steps] == [(TWO,), (ONE,)]


def test_gaps_that_hold_the_same_controls_are_closed_together() -> None:
    world = World(
        controls=(control(1), control(2)),
        links=(link("CTL 1.1", ONE), link("CTL 1.2", TWO)),
        pairs=(passes(ONE), passes(TWO, "Service")),
        gaps=(
            b.gap(cluster="one", kinds=("Pod",)),
            b.gap(cluster="one", kinds=("Pod",)),
            b.gap(cluster="elsewhere"),
        ),
    )
    (step,) = [step for step in world.score().next_steps if step.gaps == (2,)]
    assert step.controls == ("CTL 1.2",)
    assert not step.certain, "what a gap hides may fail"
    everything = [step for step in world.score().next_steps if step.gaps == (0, 1, 2)]
    assert [step.gives for step in everything] == [b.fraction(2, 2)]


def test_missing_checks_are_the_last_resort() -> None:
    world = World(
        controls=(control(1), control(2)), links=(link("CTL 1.1", ONE),), pairs=(fails(ONE), fails(ONE))
    )
    assert [step.kind for step in world.score().next_steps] == ["fix_rule", "build_check"]
    assert not world.score().next_steps[-1].certain


def test_never_more_than_five_and_never_a_waiver() -> None:
    world = World(
        controls=tuple(control(number) for number in range(1, 10)),
        links=tuple(link(f"CTL 1.{number}", RULES[number % 4]) for number in range(1, 10)),
        pairs=tuple(fails(rule) for rule in RULES),
    )
    assert len(world.score().next_steps) == 4
    waived = replace(world, pairs=tuple(replace(pair, waived=True) for pair in world.pairs))
    assert waived.score().next_steps == (), "a waiver is no step, and cannot be renewed into a better ratio"


def test_without_what_if_there_are_no_steps() -> None:
    world = World(controls=(control(1),), links=(link("CTL 1.1", ONE),), pairs=(fails(ONE),))
    rows, with_steps = world.judged()
    inputs = ScoreInputs(
        catalogs=(world.catalog,),
        controls=rows,
        profile=Profile(name=ProfileName.CUSTOM, controls={}),
        pairs_due=1,
    )
    assert score(inputs)[0] == msgspec.structs.replace(with_steps, next_steps=())
