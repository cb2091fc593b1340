"""The comparison: weaker, wider, missing, extra, and what nobody can say."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.consistency.expectation import (
    ClusterPattern,
    ClusterTraits,
    Expectation,
    Expected,
    Ignored,
    PolicyPattern,
)
from audit.consistency.kinds import WANTED
from audit.model.consistency import ConsistencyState as State
from audit.model.gap import Gap, GapKind
from audit.native.events import DuplicateKey, Redaction
from tests.unit.consistency import world as w
from tests.unit.consistency.test_form import edited

WEAKER: tuple[tuple[str, tuple[str, Any]], ...] = (
    (w.KYVERNO, ("spec.validationFailureAction", "Audit")),
    (w.KYVERNO, ("spec.failurePolicy", "Ignore")),
    (w.KYVERNO, ("spec.admission", False)),
    (w.CONSTRAINT, ("spec.enforcementAction", "warn")),
    (w.CONSTRAINT, ("spec.enforcementAction", "dryrun")),
    (w.ADMISSION, ("spec.failurePolicy", "Ignore")),
    (w.BINDING, ("spec.validationActions", ["Warn", "Audit"])),
    (w.BINDING, ("spec.validationActions", ["Audit"])),
    (w.PEER, ("spec.mtls.mode", "PERMISSIVE")),
    (w.SERVER, ("spec.accessPolicy", "audit")),
    (w.CILIUM, ("spec.enableDefaultDeny.ingress", False)),
)
WIDER: tuple[tuple[str, tuple[str, Any]], ...] = (
    (w.KYVERNO, ("spec.rules.0.exclude.any.0.resources.namespaces", ["kube-system", "dev"])),
    (w.KYVERNO, ("spec.rules.0.match.any.0.resources.kinds", ["Pod"])),
    (w.KYVERNO, ("spec.rules.0.preconditions", {"all": [{"key": "a", "operator": "Equals", "value": "b"}]})),
    (w.KYVERNO, ("spec.validationFailureActionOverrides", [{"action": "audit", "namespaces": ["dev"]}])),
    (w.KYVERNO, ("spec.rules", [])),
    (w.CONSTRAINT, ("spec.match.excludedNamespaces", ["kube-system", "dev"])),
    (w.CONSTRAINT, ("spec.match.namespaces", ["prod"])),
    (w.CONSTRAINT, ("spec.match.namespaceSelector", {"matchLabels": {"strict": "yes"}})),
    (w.ADMISSION, ("spec.matchConditions", [{"name": "x", "expression": "false"}])),
    (w.ADMISSION, ("spec.matchConstraints.resourceRules.0.operations", ["CREATE"])),
    (w.ADMISSION, ("spec.validations", [])),
    (
        w.ADMISSION,
        (
            "spec.matchConstraints.namespaceSelector",
            {
                "matchExpressions": [
                    {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["dev"]}
                ]
            },
        ),
    ),
    (
        w.BINDING,
        (
            "spec.matchResources",
            {
                "resourceRules": [
                    {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["*"]}
                ]
            },
        ),
    ),
    (w.ROLE, ("rules.0.verbs", ["get", "list", "delete"])),
    (w.ROLE_BINDING, ("subjects", [*w.read(w.ROLE_BINDING)["subjects"], {"kind": "Group", "name": "*"}])),
    (w.NETWORK, ("spec.ingress.0.from", [])),
    (w.NETWORK, ("spec.policyTypes", ["Ingress"])),
    (w.EXCEPTION, ("spec.match.any.0.resources.namespaces", ["legacy", "prod"])),
)


@pytest.mark.parametrize(
    ("text", "edit", "state"),
    [*((*case, State.WEAKENED) for case in WEAKER), *((*case, State.WIDENED) for case in WIDER)],
)
@pytest.mark.parametrize("against", ["baseline", "clusters"])
def test_weaker_and_wider_are_told_apart(
    text: str, edit: tuple[str, Any], state: State, against: str
) -> None:
    good, bad = w.read(text), edited(text, edit)
    baseline = [good] if against == "baseline" else None
    found = w.compared({"a": [good], "b": [bad]}, baseline=baseline)
    (row,) = found.rows
    assert row.against == against
    assert {one.cluster: row.state_on(one.cluster) for one in found.clusters} == {"a": State.SAME, "b": state}
    (cell,) = row.cells
    assert cell.changes[0].kind == state.value
    # The other way round, the stricter one is no weaker and no wider: it is only another version.
    (other,) = w.compared({"b": [good]}, baseline=[bad]).rows
    assert other.state_on("b") is State.OTHER_VERSION


def test_a_wildcard_that_covers_what_stood_there_is_no_widening_of_a_match() -> None:
    wide = edited(w.CONSTRAINT, ("spec.match.kinds", [{"apiGroups": ["*"], "kinds": ["*"]}]))
    found = w.compared({"a": [wide]}, baseline=[w.read(w.CONSTRAINT)])
    assert w.states(found, "K8sRequired owner") == {"a": State.OTHER_VERSION}


def test_the_stricter_one_of_two_is_the_same_and_the_weaker_one_differs_whoever_comes_first() -> None:
    weak = edited(w.BINDING, ("spec.validationActions", ["Audit"]))
    found = w.compared({"a": [weak], "b": [w.read(w.BINDING)]})
    assert w.states(found, "ValidatingAdmissionPolicyBinding replicas") == {
        "a": State.WEAKENED,
        "b": State.SAME,
    }


def test_two_of_which_neither_is_right_are_both_other_versions() -> None:
    other = edited(w.ADMISSION, ("spec.validations.0.message", "too many"))
    found = w.compared({"a": [w.read(w.ADMISSION)], "b": [other]})
    assert set(w.states(found, "ValidatingAdmissionPolicy replicas").values()) == {State.OTHER_VERSION}


def test_missing_and_extra_follow_the_baseline_and_else_most_clusters() -> None:
    policy, other = w.read(w.KYVERNO), edited(w.KYVERNO, ("metadata.name", "other"))
    found = w.compared({"a": [policy], "b": [other]}, baseline=[policy])
    assert w.states(found, "ClusterPolicy signed") == {"a": State.SAME, "b": State.MISSING}
    assert w.states(found, "ClusterPolicy other") == {"a": State.NOT_DUE, "b": State.EXTRA}
    found = w.compared({"a": [policy], "b": [policy], "c": [other]})
    assert w.states(found, "ClusterPolicy signed")["c"] is State.MISSING
    assert w.states(found, "ClusterPolicy other") == {
        "a": State.NOT_DUE,
        "b": State.NOT_DUE,
        "c": State.EXTRA,
    }


def test_kinds_of_which_the_baseline_says_nothing_are_compared_between_clusters() -> None:
    found = w.compared({"a": [w.read(w.ROLE)], "b": []}, baseline=[w.read(w.KYVERNO)])
    (row,) = (row for row in found.rows if row.kind == "ClusterRole")
    assert row.against == "clusters"
    assert row.state_on("b") is State.MISSING


def gap(cluster: str, kinds: tuple[str, ...] | None, kind: GapKind = GapKind.FORBIDDEN, **more: Any) -> Gap:
    return Gap(kind=kind, cluster=cluster, source="x", reason="refused", kinds=kinds, **more)


CLUSTER_POLICY = "kyverno.io/ClusterPolicy"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"gaps": [gap("b", (CLUSTER_POLICY,))]}, "forbidden"),
        ({"gaps": [gap("b", None, GapKind.UNREADABLE)]}, "unreadable"),
        ({"gaps": [gap("b", ("kyverno.io/*",), GapKind.NOT_COLLECTED)]}, "not_collected"),
        ({"asked": {"b": ["Pod"]}}, "not_asked"),
        ({"unreached": ["b"]}, "not_reached"),
    ],
)
@pytest.mark.parametrize("baseline", [True, False])
def test_what_was_not_seen_is_not_comparable_and_never_the_same(
    more: dict[str, Any], reason: str, baseline: bool
) -> None:
    policy = w.read(w.KYVERNO)
    found = w.compared({"a": [policy], "b": []}, baseline=[policy] if baseline else None, **more)
    (row,) = found.rows
    (cell,) = row.cells
    assert (cell.cluster, cell.state, cell.reason) == ("b", State.NOT_COMPARABLE, reason)
    assert found.count(State.NOT_COMPARABLE) == found.clusters[1].not_comparable == found.gaps == 1
    assert not found.differs


def test_a_gap_of_another_kind_hides_nothing_and_a_tolerated_one_is_still_not_comparable() -> None:
    policy = w.read(w.KYVERNO)
    found = w.compared({"a": [policy], "b": []}, gaps=[gap("b", ("Pod",))])
    assert w.states(found, "ClusterPolicy signed")["b"] is State.MISSING
    found = w.compared({"a": [policy], "b": []}, gaps=[gap("b", (CLUSTER_POLICY,), allowed=True)])
    assert w.states(found, "ClusterPolicy signed")["b"] is State.NOT_COMPARABLE
    assert found.gaps == 0


def test_a_kind_that_a_server_does_not_know_is_its_own_answer() -> None:
    found = w.compared(
        {"a": [w.read(w.CONSTRAINT)], "b": []},
        asked={"a": WANTED, "b": WANTED},
        not_served={"b": ["templates.gatekeeper.sh/ConstraintTemplate"]},
    )
    assert w.states(found, "K8sRequired owner")["b"] is State.NOT_SERVED
    assert found.differs


def test_a_baseline_that_could_not_be_read_as_a_whole_makes_nothing_extra() -> None:
    policy, other = w.read(w.KYVERNO), edited(w.KYVERNO, ("metadata.name", "other"))
    found = w.compared({"a": [policy, other]}, baseline=[policy], gaps=[gap("", None, GapKind.UNREADABLE)])
    (row,) = (row for row in found.rows if row.name == "other")
    assert (row.cells[0].state, row.cells[0].reason) == (State.NOT_COMPARABLE, "baseline")


def test_ambiguous_and_redacted_ones_are_never_the_same() -> None:
    policy = w.read(w.KYVERNO)
    twice = w.item(policy, "b", duplicates=(DuplicateKey("spec", ("spec",), (3, 9)),))
    hidden = w.item(policy, "c", redactions=(Redaction(("spec", "rules", 0), "token"),))
    applied = w.item(policy, "d", redactions=(Redaction(("metadata", "annotations", "x"), "last_applied"),))
    found = w.compared({"a": [policy], "b": [twice], "c": [hidden], "d": [applied]})
    (row,) = found.rows
    assert {cell.cluster: cell.reason for cell in row.cells} == {"b": "ambiguous", "c": "redacted"}
    two = w.compared({"a": [policy, edited(w.KYVERNO, ("spec.background", False))]}, baseline=[policy])
    assert two.rows[0].cells[0].reason == "ambiguous"


def test_expected_sets_follow_tier_and_region() -> None:
    expectation = Expectation(
        expected=(
            Expected(
                policies=(PolicyPattern(kind=CLUSTER_POLICY, name="signed"),),
                on=ClusterPattern(tier="production", region="eu-*"),
            ),
        )
    )
    traits = [
        ClusterTraits(name="a", tier="production", region="eu-1"),
        ClusterTraits(name="b", tier="production", region="us-1"),
        ClusterTraits(name="c", tier="test", region="eu-1"),
    ]
    policy = w.read(w.KYVERNO)
    found = w.compared({"a": [], "b": [], "c": [policy]}, expectation=expectation, traits=traits)
    assert w.states(found, "ClusterPolicy signed") == {
        "a": State.MISSING,
        "b": State.NOT_DUE,
        "c": State.EXTRA,
    }


def test_what_is_expected_by_name_is_missing_even_where_nobody_has_it() -> None:
    expectation = Expectation(
        expected=(Expected(policies=(PolicyPattern(kind=CLUSTER_POLICY, name="signed"),)),)
    )
    found = w.compared({"a": [], "b": []}, expectation=expectation)
    assert set(w.states(found, "ClusterPolicy signed").values()) == {State.MISSING}


def test_what_is_ignored_is_counted_with_its_reason() -> None:
    expectation = Expectation(
        ignored=(Ignored(policies=PolicyPattern(kind="ClusterRole"), reason="by the cloud"),)
    )
    found = w.compared({"a": [w.read(w.ROLE)], "b": []}, expectation=expectation)
    assert not found.rows
    assert [(one.count, one.reason) for one in found.ignored] == [(1, "by the cloud")]


def test_roles_that_servers_make_are_not_compared_and_who_is_bound_to_them_is() -> None:
    label = ("metadata.labels", {"kubernetes.io/bootstrapping": "rbac-defaults"})
    role = edited(w.ROLE, label)
    binding = edited(w.ROLE_BINDING, label)
    more = edited(w.ROLE_BINDING, label, ("subjects.0.name", "mallory"))
    found = w.compared({"a": [role, binding], "b": [binding], "c": [more]})
    assert found.built_in == 1
    assert w.states(found, "RoleBinding ml/team")["c"] is State.WIDENED
    # They are in no baseline, and that says nothing.
    found = w.compared({"a": [binding]}, baseline=[edited(w.ROLE_BINDING, ("metadata.name", "own"))])
    assert w.states(found, "RoleBinding ml/team") == {"a": State.SAME}


def test_role_bindings_are_counted_or_not_known() -> None:
    found = w.compared(
        {"a": [w.read(w.ROLE_BINDING)], "b": []},
        gaps=[gap("b", ("rbac.authorization.k8s.io/ClusterRoleBinding",))],
    )
    assert [one.role_bindings for one in found.clusters] == [1, None]


VARIANTS = [
    w.read(w.KYVERNO),
    edited(w.KYVERNO, ("spec.validationFailureAction", "Audit")),
    edited(w.KYVERNO, ("spec.rules.0.exclude.any.0.resources.namespaces", ["a", "b"])),
    edited(w.KYVERNO, ("spec.rules.0.validate.message", "other")),
]


@given(
    has=st.lists(st.sampled_from([None, *range(len(VARIANTS))]), min_size=2, max_size=6),
    hidden=st.sets(st.integers(0, 5)),
    baseline=st.sampled_from([None, 0, 1]),
    data=st.data(),
)
def test_order_of_clusters_makes_no_difference_and_every_place_is_counted_once(
    has: list[int | None], hidden: set[int], baseline: int | None, data: st.DataObject
) -> None:
    names = [f"c{number}" for number in range(len(has))]
    clusters = {
        name: [] if which is None else [VARIANTS[which]] for name, which in zip(names, has, strict=True)
    }
    gaps = [gap(names[number], (CLUSTER_POLICY,)) for number in hidden if number < len(names)]
    expected = None if baseline is None else [VARIANTS[baseline]]
    found = w.compared(clusters, baseline=expected, gaps=gaps)
    order = data.draw(st.permutations(names))
    other = w.compared({name: clusters[name] for name in order}, baseline=expected, gaps=gaps)
    for row, same in itertools.zip_longest(found.rows, other.rows):
        assert all(row.state_on(name) is same.state_on(name) for name in names)
        assert len(row.cells) + row.rest_clusters == len(names)
    by_name = {one.cluster: one for one in other.clusters}
    assert all(by_name[one.cluster] == one for one in found.clusters)
    # What nobody saw is never the same.
    for row in found.rows:
        for number in hidden:
            if number < len(names) and has[number] is None:
                assert row.state_on(names[number]) is State.NOT_COMPARABLE


@given(st.sampled_from(VARIANTS), st.sampled_from(VARIANTS))
def test_weaker_one_way_is_not_weaker_the_other_way(one: w.Document, two: w.Document) -> None:
    def changes(here: w.Document, reference: w.Document) -> set[str]:
        (row,) = w.compared({"a": [here]}, baseline=[reference]).rows
        return {change.kind for cell in row.cells for change in cell.changes}

    there, back = changes(one, two), changes(two, one)
    assert ("weakened" in there) == ("stricter" in back)
    assert not there == back == {"weakened"}
    assert bool(there) == bool(back) == (one != two)


def test_one_more_rule_with_an_exclusion_of_its_own_is_no_widening() -> None:
    rules = w.read(w.KYVERNO)["spec"]["rules"]
    more = edited(w.KYVERNO, ("spec.rules", [*rules, {**rules[0], "name": "further"}]))
    found = w.compared({"a": [more]}, baseline=[w.read(w.KYVERNO)])
    assert w.states(found, "ClusterPolicy signed") == {"a": State.OTHER_VERSION}
    found = w.compared({"a": [more], "b": [w.read(w.KYVERNO)]})
    assert w.states(found, "ClusterPolicy signed") == {"a": State.SAME, "b": State.WIDENED}


def test_a_kind_that_nobody_could_list_is_said_although_it_has_no_row() -> None:
    gaps = [gap(name, (CLUSTER_POLICY,)) for name in ("a", "b")]
    found = w.compared({"a": [w.read(w.ROLE)], "b": [w.read(w.ROLE)]}, gaps=gaps)
    assert [row.kind for row in found.rows] == ["ClusterRole"]
    (unseen,) = found.unseen
    assert (unseen.reason, unseen.kinds, unseen.clusters) == ("forbidden", (CLUSTER_POLICY,), ("a", "b"))
    (all_of_it,) = w.compared({"a": [], "b": []}, unreached=["b"]).unseen
    assert (all_of_it.kinds, all_of_it.clusters) == (("*/*",), ("b",))


def test_a_baseline_that_says_two_things_decides_nothing() -> None:
    policy, other = w.read(w.KYVERNO), edited(w.KYVERNO, ("spec.background", False))
    found = w.compared({"a": [policy]}, baseline=[policy, other])
    (cell,) = found.rows[0].cells
    assert (cell.state, cell.reason) == (State.NOT_COMPARABLE, "baseline")
