"""What a run says of its policies: vacuous rules, rules without a control, controls without a rule."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from audit.model.control import EvidenceKind
from audit.model.finding import Outcome
from audit.model.tally import Tally
from audit.score.quality import policy_quality
from tests import builders as b

RULES = ("pod/one", "pod/two")
counts = st.dictionaries(st.sampled_from(list(Outcome)), st.integers(0, 3))
tallies = st.dictionaries(st.sampled_from(RULES), st.tuples(counts, st.integers(0, 2)))


def tally(made: dict[str, tuple[dict[Outcome, int], int]]) -> Tally:
    """Answers of rules, and how many pairs of each got none."""
    found = Tally()
    for rule, (answers, missing) in made.items():
        for outcome, number in answers.items():
            found.add(rule, "east", outcome, number=number)
        found.add_due(rule, "east", sum(answers.values()) + missing)
    return found


@given(tallies)
def test_a_rule_is_vacuous_when_every_due_pair_was_skipped_and_never_otherwise(
    made: dict[str, tuple[dict[Outcome, int], int]],
) -> None:
    states = [b.rule_state(rule) for rule in RULES]
    for use in policy_quality(states, (), (), tally(made)).rules:
        answers, missing = made.get(use.rule, ({}, 0))
        judged = answers.get(Outcome.PASS, 0) + answers.get(Outcome.FAIL, 0) + answers.get(Outcome.WARN, 0)
        assert use.applied == judged
        assert use.due == sum(answers.values()) + missing
        assert use.vacuous == (judged + answers.get(Outcome.ERROR, 0) + missing == 0)


@given(tallies, tallies)
def test_shards_add_up_and_more_answers_make_no_rule_vacuous(
    one: dict[str, tuple[dict[Outcome, int], int]], other: dict[str, tuple[dict[Outcome, int], int]]
) -> None:
    states = [b.rule_state(rule) for rule in RULES]
    whole = tally(one)
    whole.merge(tally(other))
    first, second, both = (policy_quality(states, (), (), t).rules for t in (tally(one), tally(other), whole))
    for left, right, sum_ in zip(first, second, both, strict=True):
        assert sum_.applied == left.applied + right.applied
        assert sum_.vacuous == (left.vacuous and right.vacuous)


def test_deselected_rules_and_twins_are_not_vacuous() -> None:
    states = [b.rule_state("pod/one", selected=False), b.rule_state("pod/two")]
    twin = b.rule_state("kyverno/two", engine="kyverno")
    twin = type(twin)(rule=twin.rule, selected=True, twin_of="pod/two")
    found = policy_quality([*states, twin], (), (), Tally())
    assert found.vacuous == ("pod/two",)


def test_a_waived_failure_is_something_a_rule_applied_to() -> None:
    found = Tally()
    found.add_due("pod/one", "east")
    found.add("pod/one", "east", Outcome.FAIL, waived=True)
    (use,) = policy_quality([b.rule_state("pod/one")], (), (), found).rules
    assert (use.due, use.applied, use.vacuous) == (1, 1, False)


def test_rules_and_controls_that_miss_each_other() -> None:
    twin = b.rule_state("kyverno/one")
    twin = type(twin)(rule=twin.rule, selected=True, twin_of="pod/one")
    states = [b.rule_state("pod/one"), b.rule_state("pod/two"), twin]
    rows = (
        b.control_row("MAP 1.1"),
        b.control_row("MAP 1.2", evidence_kind=EvidenceKind.ATTESTATION),
        b.control_row("MAP 1.3"),
    )
    mappings = (
        b.mapping(rule="pod/one", control="MAP 1.1", framework=rows[0].framework),
        b.mapping(rule="gone/rule", control="MAP 1.3", framework=rows[0].framework),
    )
    found = policy_quality(states, mappings, rows, Tally())
    assert found.unused == ("pod/two",), "a twin is used through its partner"
    assert [(item.control, item.evidence_kind) for item in found.unserved] == [
        ("MAP 1.2", EvidenceKind.ATTESTATION),
        ("MAP 1.3", rows[2].evidence_kind),
    ], "a mapping of a rule that is not loaded serves nothing"
