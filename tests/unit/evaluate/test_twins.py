"""Twins are one pair: counted once, never better than the rule alone, both answers kept."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from audit.evaluate.runner import Doubts, judge
from audit.evaluate.twins import TWINS_DIFFER, TwinPairs
from audit.model.finding import Outcome, PairAnswer, Violation
from audit.model.subject import SubjectRef
from audit.model.twin import Twin
from tests.unit.evaluate.test_runner import Scripted, pod, rule

REF = SubjectRef(cluster="a", group="", version="v1", kind="Pod", namespace="ml", name="p")
MAIN, CLASSIC, CEL, OTHER = "x/main", "k/classic", "k/cel", "x/other"
TWINS = (Twin(rule=MAIN, others=(CLASSIC,)), Twin(rule=MAIN, others=(CEL,)))
ASKED = (MAIN, OTHER, CLASSIC, CEL)
# What a control makes of a pair, worst first: not satisfied, undecided, waived, undecided if alone, satisfied or no concern.
ORDER = ("fail", "error", "accepted", "warn", "clean")


def said(rule_id: str, outcome: Outcome, text: str = "", *, accepted: bool = False) -> PairAnswer:
    violations = (Violation(message=text),) if outcome in (Outcome.FAIL, Outcome.WARN) else ()
    return PairAnswer(rule_id, outcome, violations, reason=text, accepted_by="E" if accepted else "")


def standing(answer: PairAnswer) -> int:
    if answer.outcome is Outcome.FAIL:
        return ORDER.index("accepted" if answer.accepted_by else "fail")
    return ORDER.index({Outcome.ERROR: "error", Outcome.WARN: "warn"}.get(answer.outcome, "clean"))


def answers(rule_id: str) -> st.SearchStrategy[PairAnswer]:
    return st.builds(
        lambda outcome, accepted: said(
            rule_id, outcome, rule_id, accepted=accepted and outcome is Outcome.FAIL
        ),
        st.sampled_from(Outcome),
        st.booleans(),
    )


@given(answers(MAIN), st.lists(st.sampled_from([CLASSIC, CEL]), unique=True), st.data())
def test_a_twin_never_makes_an_answer_better_nor_a_pair_more(
    main: PairAnswer, others: list[str], data: st.DataObject
) -> None:
    given_answers = [main, said(OTHER, Outcome.PASS), *(data.draw(answers(other)) for other in others)]
    pairs = TwinPairs(TWINS, ASKED)
    folded = pairs.fold(REF, given_answers)
    assert [answer.rule for answer in folded] == [MAIN, OTHER], "one pair per question, in the order given"
    assert pairs.due([answer.rule for answer in given_answers]) == 2
    own = folded[0]
    assert standing(own) == min(standing(answer) for answer in given_answers if answer.rule != OTHER)
    assert standing(own) <= standing(main)
    if standing(own) == standing(main):
        assert (own.outcome, own.violations, own.reason) == (main.outcome, main.violations, main.reason)
    assert [one.rule for one in own.said] == ([MAIN, *sorted(others, reverse=True)] if others else [])


@given(
    st.permutations([said(MAIN, Outcome.PASS), said(CLASSIC, Outcome.FAIL, "bad"), said(CEL, Outcome.SKIP)])
)
def test_the_order_of_engines_changes_nothing(given_answers: list[PairAnswer]) -> None:
    (folded,) = TwinPairs(TWINS, ASKED).fold(REF, given_answers)
    assert (folded.rule, folded.outcome, folded.violations[0].message) == (MAIN, Outcome.FAIL, "bad")
    assert {one.rule: one.outcome.value for one in folded.said} == {
        MAIN: "pass",
        CLASSIC: "fail",
        CEL: "skip",
    }


def test_the_same_failure_of_two_engines_is_one_violation() -> None:
    given_answers = [said(MAIN, Outcome.FAIL, "in Rego's words"), said(CLASSIC, Outcome.FAIL, "in Kyverno's")]
    (folded,) = TwinPairs(TWINS[:1], ASKED).fold(REF, given_answers)
    assert [violation.message for violation in folded.violations] == ["in Rego's words"]
    assert [one.text for one in folded.said] == ["in Rego's words", "in Kyverno's"]


def test_a_question_of_which_a_part_is_not_asked_is_not_folded() -> None:
    together = Twin(rule=MAIN, others=(CLASSIC, CEL))
    given_answers = [said(MAIN, Outcome.PASS), said(CLASSIC, Outcome.FAIL, "bad")]
    assert TwinPairs([together], [MAIN, CLASSIC]).fold(REF, given_answers) == given_answers
    assert TwinPairs([together], [MAIN, CLASSIC]).rule_of == {}


def test_two_rules_that_together_ask_the_same_are_compared_together() -> None:
    together = TwinPairs([Twin(rule=MAIN, others=(CLASSIC, CEL))], ASKED)
    together.fold(
        REF, [said(MAIN, Outcome.FAIL, "x"), said(CLASSIC, Outcome.PASS), said(CEL, Outcome.FAIL, "y")]
    )
    (count,) = together.counts()
    assert (count.compared, count.differing) == (1, 0)


def test_a_twin_asked_of_what_its_rule_is_not_asked_of_stays_a_pair_of_its_own() -> None:
    pairs = TwinPairs(TWINS, ASKED)
    given_answers = [said(CLASSIC, Outcome.FAIL, "bad")]
    assert pairs.fold(REF, given_answers) == given_answers
    assert pairs.due([CLASSIC]) == 1


def test_differences_are_counted_told_and_not_confused_with_what_could_not_be_judged() -> None:
    pairs = TwinPairs(TWINS[:1], ASKED)
    heard: list[tuple[str, bool]] = []
    pairs.tell = lambda ref, comparison: heard.append((ref.name, comparison.judged))
    for main, other in (
        (Outcome.PASS, Outcome.SKIP),
        (Outcome.PASS, Outcome.FAIL),
        (Outcome.WARN, Outcome.SKIP),
        (Outcome.WARN, Outcome.FAIL),
        (Outcome.ERROR, Outcome.FAIL),
        (Outcome.PASS, Outcome.ERROR),
    ):
        pairs.fold(REF, [said(MAIN, main), said(CLASSIC, other)])
    (count,) = pairs.counts()
    assert (count.compared, count.differing, count.unjudged) == (4, 2, 2)
    assert heard == [("p", True), ("p", True), ("p", False), ("p", False)]
    (notice,) = pairs.notices()
    assert (notice.code, notice.count) == (TWINS_DIFFER, 2)
    assert "differ on 2 of 4 objects: Pod ml/p" in notice.message


def test_the_runner_counts_a_folded_pair_once() -> None:
    rego = Scripted(
        (rule("main"), rule("other")), {"p": [said("x/main", Outcome.PASS), said("x/other", Outcome.PASS)]}
    )
    kyverno = Scripted((rule("twin"),), {"p": [said("x/twin", Outcome.FAIL, "bad")]})
    twins = TwinPairs([Twin(rule="x/main", others=("x/twin",))], ["x/main", "x/other", "x/twin"])
    (judged,) = judge("a", [pod()], [rego, kyverno], inventory=b"{}", doubts=Doubts(), twins=twins)
    assert judged.due == len(judged.answers) == 2
    assert [(answer.rule, answer.outcome.value) for answer in judged.answers] == [
        ("x/main", "fail"),
        ("x/other", "pass"),
    ]


def test_an_engine_that_gives_no_answer_is_an_error_of_the_pair() -> None:
    rego = Scripted((rule("main"),), {"p": [said("x/main", Outcome.PASS)]})
    silent = Scripted((rule("twin"),), {})
    twins = TwinPairs([Twin(rule="x/main", others=("x/twin",))], ["x/main", "x/twin"])
    (judged,) = judge("a", [pod()], [rego, silent], inventory=b"{}", doubts=Doubts(), twins=twins)
    assert [(answer.rule, answer.outcome.value) for answer in judged.answers] == [("x/main", "error")]
