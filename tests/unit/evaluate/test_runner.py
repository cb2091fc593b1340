"""The runner: every due pair is answered once, and doubt never makes a pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from audit.evaluate.runner import (
    AMBIGUOUS_DOCUMENT,
    MALFORMED_DOCUMENT,
    MISSING_ANSWER,
    Doubts,
    DuePairs,
    complete,
    doubts_about,
    judge,
)
from audit.model.finding import CONTEXT_INCOMPLETE, MANIFEST_NOT_COLLECTED, Outcome, PairAnswer
from audit.model.gap import Gap, GapKind
from audit.model.rule import ContextNeed, Rule, Severity
from audit.model.run import EngineVersion
from audit.model.subject import SubjectRef
from audit.native.events import DuplicateKey, Fault
from audit.normalise.context import ClusterContext
from audit.ports import CollectedObject


def rule(name: str, **changes: object) -> Rule:
    fields: dict[str, object] = {
        "id": f"x/{name}",
        "engine": "rego",
        "title": "t",
        "description": "d",
        "severity": Severity.LOW,
        "remediation": "r",
        "kinds": ("Pod",),
    }
    return Rule(**(fields | changes))  # type: ignore[arg-type]  # a builder: keyword values are checked by Rule


def pod(name: str = "p", **changes: object) -> CollectedObject:
    ref = SubjectRef(cluster="a", group="", version="v1", kind="Pod", namespace="ml", name=name)
    return CollectedObject(ref=ref, raw=b"{}", **changes)  # type: ignore[arg-type]  # as above


class Scripted:
    """A fake engine of the port's shape that gives the answers it is told to give."""

    def __init__(self, rules: tuple[Rule, ...], script: dict[str, list[PairAnswer]]) -> None:
        self._rules = rules
        self._script = script

    def version(self) -> EngineVersion:
        return EngineVersion(name="scripted", version="1")

    def rules(self) -> tuple[Rule, ...]:
        return self._rules

    def evaluate(
        self, cluster: str, objects: Iterable[CollectedObject], inventory: bytes
    ) -> Iterator[list[PairAnswer]]:
        for item in objects:
            if item.ref.name in self._script:
                yield self._script[item.ref.name]

    def close(self) -> None:
        pass


def passed(name: str) -> PairAnswer:
    return PairAnswer(rule=f"x/{name}", outcome=Outcome.PASS)


def failed(name: str) -> PairAnswer:
    return PairAnswer(rule=f"x/{name}", outcome=Outcome.FAIL)


def test_missing_answer_is_an_error() -> None:
    answers = complete(("x/a", "x/b"), [passed("b")])
    assert [(a.rule, a.outcome, a.reason) for a in answers] == [
        ("x/a", Outcome.ERROR, MISSING_ANSWER),
        ("x/b", Outcome.PASS, ""),
    ]


@pytest.mark.parametrize("order", [["pass", "fail"], ["fail", "pass"]])
def test_two_answers_keep_the_worse(order: list[str]) -> None:
    given = [passed("a") if outcome == "pass" else failed("a") for outcome in order]
    assert [a.outcome for a in complete(("x/a",), given)] == [Outcome.FAIL]


def test_unasked_answer_is_dropped() -> None:
    assert complete(("x/a",), [passed("a"), failed("b")]) == [passed("a")]


def test_engine_that_stops_early_leaves_errors_not_silence() -> None:
    engine = Scripted((rule("a"),), {"one": [passed("a")]})
    judged = list(judge("a", [pod("one"), pod("two")], [engine], inventory=b"{}", doubts=Doubts()))
    assert [j.answers[0].outcome for j in judged] == [Outcome.PASS, Outcome.ERROR]
    assert [j.due for j in judged] == [1, 1]


def test_engines_answer_side_by_side() -> None:
    engines = [
        Scripted((rule("a"),), {"one": [passed("a")]}),
        Scripted((rule("b"),), {"one": [failed("b")]}),
    ]
    (judged,) = judge("a", [pod("one")], engines, inventory=b"{}", doubts=Doubts())
    assert [(a.rule, a.outcome) for a in judged.answers] == [("x/a", Outcome.PASS), ("x/b", Outcome.FAIL)]


def test_duplicate_keys_turn_passes_into_errors_and_leave_fails() -> None:
    twice = pod("one", duplicates=(DuplicateKey(key="k", path=(), lines=(1, 2)),))
    engine = Scripted((rule("a"), rule("b")), {"one": [passed("a"), failed("b")]})
    (judged,) = judge("a", [twice], [engine], inventory=b"{}", doubts=Doubts())
    assert [(a.outcome, a.reason) for a in judged.answers] == [
        (Outcome.ERROR, AMBIGUOUS_DOCUMENT),
        (Outcome.FAIL, ""),
    ]


def test_wrong_shape_leaves_no_pass_and_no_skip_but_fails_and_rules_about_the_text() -> None:
    fault = Fault(path=("spec", "containers"), expected="a list", found="a text")
    engine = Scripted(
        (rule("a"), rule("b"), rule("c"), rule("d")),
        {
            "one": [
                passed("a"),
                failed("b"),
                PairAnswer("x/c", Outcome.SKIP, reason="no_containers"),
                passed("d"),
            ]
        },
    )
    doubts = Doubts(textual=frozenset({"x/d"}))
    (judged,) = judge("a", [pod("one", faults=(fault,))], [engine], inventory=b"{}", doubts=doubts)
    message = "spec.containers holds a text, not a list"
    assert [(a.outcome, a.reason, a.message) for a in judged.answers] == [
        (Outcome.ERROR, MALFORMED_DOCUMENT, message),
        (Outcome.FAIL, "", ""),
        (Outcome.ERROR, MALFORMED_DOCUMENT, message),
        (Outcome.PASS, "", ""),
    ]


CONTEXT_RULE = rule("c", context=(ContextNeed(group="networking.k8s.io", kinds=("NetworkPolicy",)),))


@pytest.mark.parametrize(
    ("kinds", "doubtful"),
    [(None, True), (("networking.k8s.io/NetworkPolicy",), True), (("Secret",), False), ((), False)],
)
def test_gap_in_a_context_kind_makes_its_rules_doubtful(
    kinds: tuple[str, ...] | None, doubtful: bool
) -> None:
    gap = Gap(kind=GapKind.FORBIDDEN, cluster="a", source="a", reason="403", kinds=kinds)
    doubts = doubts_about([rule("a"), CONTEXT_RULE], [gap], ClusterContext("a", ()), frozenset())
    assert doubts.incomplete_context == (frozenset({"x/c"}) if doubtful else frozenset())
    engine = Scripted((rule("a"), CONTEXT_RULE), {"one": [passed("a"), failed("c")]})
    (judged,) = judge("a", [pod("one")], [engine], inventory=b"{}", doubts=doubts)
    assert judged.answers[0].outcome is Outcome.PASS
    assert (judged.answers[1].reason == CONTEXT_INCOMPLETE) is doubtful


NEEDS = (ContextNeed(kinds=("ResourceQuota",)),)
NAMESPACE_RULES = (
    rule("own", kinds=("Namespace",)),
    rule("labels", kinds=("Namespace",), match_derived=True),
    rule("exists", kinds=("Namespace",), match_derived=True, context=NEEDS),
    rule("any", kinds=()),
    rule("pod"),
)


def namespace(*, derived: bool) -> CollectedObject:
    ref = SubjectRef(cluster="a", group="", version="v1", kind="Namespace", name="ml", derived=derived)
    return CollectedObject(ref=ref, raw=b"{}")


def test_a_namespace_without_a_manifest_is_due_for_every_rule_that_names_namespaces() -> None:
    due = DuePairs(NAMESPACE_RULES)
    assert due.of(namespace(derived=False)) == ("x/own", "x/labels", "x/exists", "x/any")
    assert due.of(namespace(derived=True)) == ("x/own", "x/labels", "x/exists")
    cluster = SubjectRef(cluster="a", group="g", version="v1", kind="Cluster", name="a", derived=True)
    rules = [rule("c", kinds=("g/Cluster",)), rule("d", kinds=("g/Cluster",), match_derived=True)]
    assert DuePairs(rules).of(CollectedObject(ref=cluster, raw=b"{}")) == ("x/d",)


def test_a_rule_that_is_part_of_another_leaves_a_namespace_without_a_manifest_to_it() -> None:
    due = DuePairs(NAMESPACE_RULES, folded={"x/own": "y/own", "x/labels": "y/labels"})
    assert due.of(namespace(derived=False)) == ("x/own", "x/labels", "x/exists", "x/any")
    assert due.of(namespace(derived=True)) == ("x/labels", "x/exists")


@pytest.mark.parametrize("outcome", [Outcome.PASS, Outcome.FAIL, Outcome.WARN])
def test_what_is_the_namespaces_own_is_undecided_without_its_manifest(outcome: Outcome) -> None:
    given = [PairAnswer(rule=f"x/{name}", outcome=outcome) for name in ("labels", "exists")]
    engine = Scripted(NAMESPACE_RULES, {"ml": given})
    (judged,) = judge("a", [namespace(derived=True)], [engine], inventory=b"{}", doubts=Doubts())
    assert [(a.rule, a.outcome, a.reason) for a in judged.answers] == [
        ("x/own", Outcome.ERROR, MANIFEST_NOT_COLLECTED),
        ("x/labels", Outcome.ERROR, MANIFEST_NOT_COLLECTED),
        ("x/exists", outcome, ""),
    ]
    assert "ml" in judged.answers[0].message
    assert judged.due == 3


@pytest.mark.parametrize(
    ("outcome", "reason"), [(Outcome.SKIP, "exempt_namespace"), (Outcome.ERROR, "timeout")]
)
def test_exemptions_and_faults_of_the_engine_stand_without_the_manifest(
    outcome: Outcome, reason: str
) -> None:
    given = [PairAnswer(rule="x/labels", outcome=outcome, reason=reason)]
    engine = Scripted(NAMESPACE_RULES[1:2], {"ml": given})
    (judged,) = judge("a", [namespace(derived=True)], [engine], inventory=b"{}", doubts=Doubts())
    assert judged.answers == given


def test_an_engine_that_is_silent_about_a_rule_it_was_asked_is_at_fault() -> None:
    engine = Scripted(NAMESPACE_RULES[1:3], {"ml": []})
    (judged,) = judge("a", [namespace(derived=True)], [engine], inventory=b"{}", doubts=Doubts())
    assert [a.reason for a in judged.answers] == [MISSING_ANSWER, MISSING_ANSWER]


def test_a_declared_namespace_is_judged_as_answered() -> None:
    given = [passed("own"), failed("labels"), passed("exists"), passed("any")]
    engine = Scripted(NAMESPACE_RULES, {"ml": given})
    (judged,) = judge("a", [namespace(derived=False)], [engine], inventory=b"{}", doubts=Doubts())
    assert judged.answers == given
