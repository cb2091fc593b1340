"""A profile speaks for the pair: a twin that fails with the rule passes with it, one that fails alone does not."""

from __future__ import annotations

import datetime as dt
import json

import pytest

from audit.evaluate.components import ComponentProfiles
from audit.evaluate.runner import Doubts, judge
from audit.evaluate.twins import TwinPairs
from audit.model.component import Component, ComponentImage, ComponentNeed
from audit.model.finding import Outcome, PairAnswer, Violation
from audit.model.subject import SubjectRef
from audit.model.twin import Twin
from audit.ports import CollectedObject
from tests.unit.evaluate.test_runner import Scripted, rule

MAIN, TWIN, LONE = "x/main", "x/twin", "x/lone"
PLUGIN = Component(
    id="plugin",
    version=3,
    title="t",
    source="s",
    reviewed=dt.date(2026, 11, 30),
    reviewer="r",
    kinds=("Pod",),
    namespaces=("ml",),
    images=(ComponentImage(repository="a/plugin"),),
    needs=(ComponentNeed(rule=MAIN, values=(True,), why="w"), ComponentNeed(rule=LONE, values=(1,), why="w")),
)
POD = CollectedObject(
    ref=SubjectRef(cluster="a", group="", version="v1", kind="Pod", namespace="ml", name="p"),
    controller=("DaemonSet", "d"),
    raw=json.dumps(
        {"spec": {"containers": [{"name": "c", "image": f"a/plugin@sha256:{'0' * 64}"}]}}
    ).encode(),
)


def failed(name: str, seen: object = None) -> PairAnswer:
    return PairAnswer(rule=name, outcome=Outcome.FAIL, violations=(Violation(path=("spec", "x"), seen=seen),))


def passed(name: str) -> PairAnswer:
    return PairAnswer(rule=name, outcome=Outcome.PASS)


def judged(*answers: PairAnswer) -> tuple[dict[str, PairAnswer], ComponentProfiles, TwinPairs]:
    names = [answer.rule for answer in answers]
    engine = Scripted(tuple(rule(name.removeprefix("x/")) for name in names), {"p": list(answers)})
    profiles = ComponentProfiles([PLUGIN])
    twins = TwinPairs([Twin(rule=MAIN, others=(TWIN,))], names)
    (found,) = judge("a", [POD], [engine], inventory=b"{}", doubts=Doubts(), twins=twins, components=profiles)
    return {answer.rule: answer for answer in found.answers}, profiles, twins


def test_what_the_profile_covers_passes_for_both_and_is_counted_once() -> None:
    found, profiles, twins = judged(failed(MAIN, True), failed(TWIN), passed(LONE))
    assert (found[MAIN].outcome, found[MAIN].reason) == (Outcome.PASS, "component:plugin@3")
    assert TWIN not in found
    assert profiles.passed == {("plugin@3", MAIN): 1}
    assert [count.differing for count in twins.counts()] == [0]


@pytest.mark.parametrize(
    "answers",
    [
        (failed(MAIN, False), failed(TWIN)),
        (passed(MAIN), failed(TWIN)),
        (PairAnswer(rule=MAIN, outcome=Outcome.ERROR, reason="timeout"), failed(TWIN)),
        (PairAnswer(rule=MAIN, outcome=Outcome.SKIP), failed(TWIN)),
    ],
    ids=[
        "more than the profile names",
        "the rule found nothing",
        "the rule could not judge",
        "it does not apply",
    ],
)
def test_otherwise_the_twin_s_failure_stands(answers: tuple[PairAnswer, ...]) -> None:
    found, profiles, _ = judged(*answers, passed(LONE))
    assert found[MAIN].outcome is Outcome.FAIL
    assert not profiles.passed


def test_a_twin_s_error_is_no_failure_that_a_profile_mends() -> None:
    broken = PairAnswer(rule=TWIN, outcome=Outcome.ERROR, reason="timeout")
    found, _, _ = judged(failed(MAIN, True), broken, passed(LONE))
    assert found[MAIN].outcome is Outcome.ERROR


def test_a_rule_that_is_no_twin_is_not_taken_along() -> None:
    found, _, _ = judged(failed(MAIN, True), failed(TWIN), failed(LONE, 2))
    assert (found[MAIN].outcome, found[LONE].outcome) == (Outcome.PASS, Outcome.FAIL)
