"""Asking another engine the same question never changes what is counted, and never raises what the ratio claims."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from audit.evaluate.twins import TwinPairs
from audit.model.finding import Outcome, PairAnswer
from audit.model.subject import SubjectRef
from audit.model.twin import Twin
from tests.unit.score.test_ratio_laws import MANY, classic, not_raised
from tests.unit.score.worlds import RULES, Pair, World, worlds

REF = SubjectRef(cluster="one", group="", version="v1", kind="Pod", name="p")
TWIN_OF = {f"twin:{rule}": rule for rule in RULES}
ASKED = (*RULES, *TWIN_OF)
Said = tuple[Outcome, bool] | None


def folded(pair: Pair, twin: Said) -> Pair:
    """The pair when a twin was asked too; None: it was not."""
    own = PairAnswer(pair.rule, pair.outcome or Outcome.ERROR, accepted_by="W" if pair.waived else "")
    if twin is None:
        return replace(pair, outcome=own.outcome)
    outcome, accepted = twin
    other = PairAnswer(
        f"twin:{pair.rule}", outcome, accepted_by="E" if accepted and outcome is Outcome.FAIL else ""
    )
    pairs = TwinPairs([Twin(rule=rule, others=(name,)) for name, rule in TWIN_OF.items()], ASKED)
    (answer,) = pairs.fold(REF, [own, other])
    assert answer.rule == pair.rule
    return replace(pair, outcome=answer.outcome, waived=bool(answer.accepted_by))


ANSWERS = st.none() | st.tuples(st.sampled_from(Outcome), st.booleans())


@MANY
@given(worlds(), st.lists(ANSWERS, min_size=8, max_size=8))
def test_a_twin_changes_no_denominator_and_raises_no_ratio(world: World, twins: list[Said]) -> None:
    alone = replace(world, pairs=tuple(folded(pair, None) for pair in world.pairs))
    both = replace(world, pairs=tuple(map(folded, world.pairs, twins)))
    assert both.tally().due == alone.tally().due
    before, after = alone.score(), both.score()
    assert not_raised(before.strict, after.strict)
    assert not_raised(before.technical_only, after.technical_only)
    assert not_raised(classic(before), classic(after))
    if not any(twin is not None and twin[0] is Outcome.FAIL for twin in twins):
        # A failure that only the twin finds is evidence that was not there: then these two may tell of more.
        assert not_raised(before.evidence_coverage, after.evidence_coverage)
        assert not_raised(before.with_waivers, after.with_waivers)


@MANY
@given(worlds())
def test_a_twin_that_agrees_changes_nothing(world: World) -> None:
    alone = replace(world, pairs=tuple(folded(pair, None) for pair in world.pairs))
    same = replace(
        world, pairs=tuple(folded(pair, (pair.outcome or Outcome.ERROR, pair.waived)) for pair in world.pairs)
    )
    assert same.pairs == alone.pairs
