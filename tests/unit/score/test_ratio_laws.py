"""The nine laws of the ratio, over invented fleets in which one piece of evidence at a time is changed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as Exact

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.model.assessment import ControlStatus, Fraction, FrameworkScore
from audit.model.finding import Outcome
from audit.model.tally import Tally
from tests import builders as b
from tests.unit.score.recomputed import recomputed
from tests.unit.score.worlds import Pair, World, control, link, worlds

MANY = settings(max_examples=100, deadline=None)


def classic(score: FrameworkScore) -> Fraction:
    return Fraction(
        numerator=sum(row.complies for row in score.functions),
        denominator=sum(row.scanned for row in score.functions),
    )


def exact(fraction: Fraction) -> Exact:
    """Not stated counts as nothing: from there no ratio may rise above zero by losing evidence."""
    return Exact(fraction.numerator, fraction.denominator) if fraction.denominator else Exact(0)


def not_raised(before: Fraction, after: Fraction) -> bool:
    return not after.denominator or exact(after) <= exact(before)


def _nothing_raised(before: FrameworkScore, after: FrameworkScore) -> None:
    assert not_raised(before.strict, after.strict)
    assert not_raised(before.with_waivers, after.with_waivers)
    assert not_raised(before.evidence_coverage, after.evidence_coverage)
    assert not_raised(classic(before), classic(after))
    assert not_raised(before.technical_only, after.technical_only)


@MANY
@given(worlds())
def test_1_buckets_sum_to_the_profile(world: World) -> None:
    score = world.score()
    total = score.satisfied + score.failed + score.waived + score.indeterminate + score.not_applicable
    assert total == score.in_profile == len(world.controls)
    in_functions = sum(
        row.satisfied + row.failed + row.waived + row.indeterminate + row.not_applicable
        for row in score.functions
    )
    assert in_functions == total
    assert sum(msgspec.structs.astuple(score.held_back)) == score.failed + score.waived + score.indeterminate
    assert sum(msgspec.structs.astuple(score.held_back)) == score.strict.denominator - score.strict.numerator


@MANY
@given(worlds())
def test_2_every_ratio_lies_between_low_and_high(world: World) -> None:
    score = world.score()
    assert 0 <= exact(score.strict) <= exact(score.high) <= 1
    assert exact(score.strict) <= exact(score.with_waivers) <= 1
    for fraction in (score.evidence_coverage, score.technical_only, score.attested, classic(score)):
        assert 0 <= exact(fraction) <= 1


PAIRED = worlds(pairs_at_least=1)


def _lose(world: World, index: int, how: str) -> World:
    pair = world.pairs[index]
    if how == "error":
        return world.with_pair(index, replace(pair, outcome=Outcome.ERROR, waived=False))
    if how == "no answer":
        return world.with_pair(index, replace(pair, outcome=None, waived=False))
    if how == "unreached":
        lost = replace(world, clusters={**world.clusters, pair.cluster: False})
        return replace(lost, pairs=tuple(other for other in world.pairs if other.cluster != pair.cluster))
    kinds = (pair.kind,) if how == "known gap" else None
    cluster = "" if how == "gap anywhere" else pair.cluster
    return replace(world.without_pair(index), gaps=(*world.gaps, b.gap(cluster=cluster, kinds=kinds)))


WAYS = ["error", "no answer", "known gap", "unknown gap", "gap anywhere", "unreached"]


@MANY
@given(PAIRED, st.integers(0, 7), st.sampled_from(Outcome), st.sampled_from(WAYS))
def test_3_losing_evidence_raises_nothing_but_the_upper_end(
    world: World, index: int, outcome: Outcome, how: str
) -> None:
    index %= len(world.pairs)
    world = world.with_pair(index, replace(world.pairs[index], outcome=outcome, waived=False))
    _nothing_raised(world.score(), _lose(world, index, how).score())


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("outcome", Outcome)
def test_3_in_the_smallest_fleet_in_which_it_could_break(outcome: Outcome, how: str) -> None:
    rest = [Pair("family/rule-0", cluster, "Pod", Outcome.PASS) for cluster in ("one", "two")]
    world = World(
        controls=(control(1),),
        links=(link("CTL 1.1", "family/rule-0"),),
        pairs=(Pair("family/rule-0", "two", "Pod", outcome), *rest),
        clusters={"one": True, "two": True},
    )
    lost = _lose(world, 0, how).score()
    _nothing_raised(world.score(), lost)
    assert classic(lost) == b.fraction(0, 1), "what could not be asked does not comply"


@MANY
@given(worlds(), st.sampled_from(["family/rule-1", "family/rule-2", "family/rule-3"]))
def test_3_deselecting_a_rule_raises_nothing_either(world: World, rule: str) -> None:
    left = replace(
        world,
        deselected=world.deselected | {rule},
        pairs=tuple(pair for pair in world.pairs if pair.rule != rule),
    )
    _nothing_raised(world.score(), left.score())


def _failing(world: World, index: int, *, waived: bool) -> FrameworkScore:
    """The score when one of the pairs failed."""
    index %= len(world.pairs)
    return world.with_pair(index, replace(world.pairs[index], outcome=Outcome.FAIL, waived=waived)).score()


@MANY
@given(PAIRED, st.integers(0, 7))
def test_4_a_waiver_never_raises_strict_or_coverage(world: World, index: int) -> None:
    unwaived, waived = _failing(world, index, waived=False), _failing(world, index, waived=True)
    assert not_raised(unwaived.strict, waived.strict)
    assert not_raised(unwaived.evidence_coverage, waived.evidence_coverage)


@MANY
@given(PAIRED, st.integers(0, 7))
def test_5_the_end_of_a_waiver_never_raises_strict_or_with_waivers(world: World, index: int) -> None:
    live, ended = _failing(world, index, waived=True), _failing(world, index, waived=False)
    assert not_raised(live.strict, ended.strict)
    assert not_raised(live.with_waivers, ended.with_waivers)


@MANY
@given(PAIRED, st.integers(0, 7))
def test_6_one_more_pass_never_mends_a_failing_control(world: World, index: int) -> None:
    model = world.pairs[index % len(world.pairs)]
    more = replace(world, pairs=(*world.pairs, Pair(model.rule, model.cluster, model.kind, Outcome.PASS)))
    after = {row.id: row.fleet.status for row in more.judged()[0]}
    for row in world.judged()[0]:
        if row.fleet.status is ControlStatus.NOT_SATISFIED:
            assert after[row.id] is ControlStatus.NOT_SATISFIED


@MANY
@given(worlds(), st.randoms(use_true_random=False), st.integers(2, 5))
def test_7_order_repetition_and_sharding_change_nothing(world: World, random: object, shards: int) -> None:
    rows, score = world.judged()
    shuffled = list(world.pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert replace(world, pairs=tuple(shuffled)).judged() == (rows, score)

    merged = Tally()
    for part in range(shards):
        merged.merge(replace(world, pairs=tuple(shuffled[part::shards])).tally())
    assert world.judged(merged) == (rows, score)

    twice_rows, twice = world.judged(world.tally(2))
    assert [(row.id, row.fleet.status, row.fleet.reasons) for row in twice_rows] == [
        (row.id, row.fleet.status, row.fleet.reasons) for row in rows
    ]
    assert (twice.strict, twice.functions, twice.held_back) == (
        score.strict,
        score.functions,
        score.held_back,
    )


@MANY
@given(worlds())
def test_8_every_number_can_be_recomputed_from_the_exported_rows(world: World) -> None:
    rows, score = world.judged()
    exported = msgspec.json.decode(msgspec.json.encode({"controls": rows, "score": score}))
    assert recomputed(exported["controls"], exported["score"]["framework"]) == {
        name: exported["score"][name]
        for name in recomputed(exported["controls"], exported["score"]["framework"])
    }


@MANY
@given(worlds())
def test_9_never_100_percent_while_anything_is_missing(world: World) -> None:
    score = world.score()
    if score.failed + score.waived + score.indeterminate:
        assert score.strict.percent_truncated != "100.0"


@given(st.integers(1, 10**9), st.data())
def test_9_truncation_never_rounds_up(denominator: int, data: st.DataObject) -> None:
    numerator = data.draw(st.integers(0, denominator - 1))
    shown = Fraction(numerator=numerator, denominator=denominator).percent_truncated
    assert shown is not None
    assert Exact(shown) <= Exact(100 * numerator, denominator) < Exact(shown) + Exact(1, 10)


def test_rounding_differs_where_the_page_says_so() -> None:
    assert b.fraction(11, 12).percent_rounded == "91.7"
    assert b.fraction(11, 12).percent_truncated == "91.6"
    assert b.fraction(41, 58).percent_truncated == "70.6"
    assert b.fraction(1, 16).percent_rounded == "6.3", "6.25 rounds half up"
    assert (
        b.fraction(0, 0).percent_rounded
        is b.fraction(0, 0).percent_truncated
        is b.fraction(0, 0).value
        is None
    )
