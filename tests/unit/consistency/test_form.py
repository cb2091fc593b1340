"""What counts as the same: the form and its digest."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.consistency.defaults import defaults_of
from audit.consistency.form import digest_of, form_of
from audit.consistency.kinds import WANTED, family_of
from audit.model.subject import kind_key
from tests.unit.consistency import world as w


def digest(document: w.Document) -> str:
    key = kind_key(document["apiVersion"].rpartition("/")[0], document["kind"])
    return digest_of(form_of(document, key), key)


def edited(text: str, *edits: tuple[str, Any]) -> w.Document:
    """The object with values set at dotted paths; None takes a key away."""
    document = w.read(text)
    for path, value in edits:
        node: Any = document
        *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        for step in steps:
            node = node[step] if isinstance(step, int) else node.setdefault(step, {})
        if value is None:
            node.pop(last, None)
        else:
            node[last] = value
    return document


SAME: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...] = (
    (w.KYVERNO, (("spec.background", True), ("spec.admission", True), ("spec.emitWarning", False))),
    (w.KYVERNO, (("spec.validationFailureAction", "enforce"), ("spec.failurePolicy", "Fail"))),
    (
        w.KYVERNO,
        (("spec.validationFailureAction", None), ("spec.rules.0.validate.failureAction", "Enforce")),
    ),
    (
        w.KYVERNO,
        (("spec.validationFailureAction", "Audit"), ("spec.rules.0.validate.failureAction", "Enforce")),
    ),
    (w.KYVERNO, (("spec.rules.0.match", {"resources": {"kinds": ["Deployment", "Pod"]}}),)),
    (w.KYVERNO, (("spec.rules.0.match", {"all": [{"resources": {"kinds": ["Pod", "Deployment"]}}]}),)),
    (w.KYVERNO, (("spec.webhookConfiguration", {"failurePolicy": "Fail", "timeoutSeconds": 10}),)),
    (w.CONSTRAINT, (("spec.enforcementAction", "deny"), ("spec.match.scope", "*"))),
    (
        w.ADMISSION,
        (
            ("spec.failurePolicy", "Fail"),
            ("spec.matchConstraints.matchPolicy", "Equivalent"),
            ("spec.matchConstraints.namespaceSelector", {}),
            ("spec.matchConstraints.objectSelector", {}),
            ("spec.matchConstraints.resourceRules.0.scope", "*"),
            ("spec.matchConstraints.resourceRules.0.operations", ["UPDATE", "CREATE"]),
        ),
    ),
    (w.BINDING, (("spec.matchResources", {"matchPolicy": "Equivalent", "namespaceSelector": {}}),)),
    (
        w.ROLE,
        (
            (
                "rules",
                [
                    {"apiGroups": ["apps"], "resources": ["deployments", "pods"], "verbs": ["list", "get"]},
                    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]},
                    {"apiGroups": [""], "resources": ["deployments"], "verbs": ["list", "get"]},
                    {"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "get"]},
                ],
            ),
        ),
    ),
    (w.ROLE_BINDING, (("subjects.0.apiGroup", None), ("subjects.1.apiGroup", ""))),
    (w.NETWORK, (("spec.ingress.0.ports.0.protocol", "TCP"), ("spec.policyTypes", ["Egress", "Ingress"]))),
    (w.PEER, (("metadata.labels", {"helm.sh/chart": "x"}),)),
    (w.SERVER, (("spec.proxyProtocol", "unknown"), ("spec.accessPolicy", None))),
)
DIFFERENT: tuple[tuple[str, tuple[tuple[str, Any], ...]], ...] = (
    (w.KYVERNO, (("spec.validationFailureAction", None),)),
    (w.KYVERNO, (("spec.background", False),)),
    (w.KYVERNO, (("metadata.annotations", {"pod-policies.kyverno.io/autogen-controllers": "none"}),)),
    (w.KYVERNO, (("spec.rules.0.exclude", None),)),
    (w.CONSTRAINT, (("spec.parameters.labels", ["cost", "owner"]),)),
    (w.ADMISSION, (("spec.failurePolicy", "Ignore"),)),
    (w.ADMISSION, (("spec.matchConstraints.resourceRules.0.scope", "Namespaced"),)),
    (w.BINDING, (("spec.validationActions", ["Deny", "Audit"]),)),
    (w.ROLE, (("rules.0.verbs", ["get", "list", "watch"]),)),
    (w.ROLE, (("metadata.labels", {"rbac.authorization.k8s.io/aggregate-to-admin": "true"}),)),
    (w.NETWORK, (("spec.ingress", [{}]),)),
    # An empty selector of namespaces is all of them, a missing one is this one.
    (w.NETWORK, (("spec.ingress.0.from", [{"podSelector": {}, "namespaceSelector": {}}]),)),
    (w.PEER, (("metadata.annotations", {"istio.io/dry-run": "true"}),)),
    # No endpoint at all is not any endpoint.
    (w.CILIUM, (("spec.ingress", [{"fromEndpoints": []}]),)),
)


@pytest.mark.parametrize(("text", "edits"), SAME)
def test_two_ways_to_say_the_same(text: str, edits: tuple[tuple[str, Any], ...]) -> None:
    assert digest(edited(text, *edits)) == digest(w.read(text))


@pytest.mark.parametrize(("text", "edits"), DIFFERENT)
def test_what_decides_is_not_dropped(text: str, edits: tuple[tuple[str, Any], ...]) -> None:
    assert digest(edited(text, *edits)) != digest(w.read(text))


def test_generated_rules_go_and_rules_that_look_like_them_stay() -> None:
    document = w.read(w.KYVERNO)
    (rule,) = document["spec"]["rules"]
    generated = [{**rule, "name": name} for name in ("autogen-signed", "autogen-cronjob-signed")]
    assert digest(edited(w.KYVERNO, ("spec.rules", [rule, *generated]))) == digest(document)
    written = {**rule, "name": "autogen-other"}
    assert digest(edited(w.KYVERNO, ("spec.rules", [rule, written]))) != digest(document)


def test_an_aggregated_role_is_its_rule_and_not_what_a_server_filled_in() -> None:
    role = edited(w.ROLE, ("aggregationRule", {"clusterRoleSelectors": [{"matchLabels": {"x": "y"}}]}))
    emptied = copy.deepcopy(role)
    emptied["rules"] = []
    assert digest(role) == digest(emptied)


SERVER_SET = {
    "uid": "0f1e",
    "resourceVersion": "12",
    "generation": 3,
    "creationTimestamp": "2026-11-30T00:00:00Z",
    "selfLink": "/x",
    "managedFields": [{"manager": "kubectl"}],
    "ownerReferences": [{"kind": "Application", "name": "policies"}],
}


@given(
    text=st.sampled_from(w.ALL),
    kept=st.sets(st.sampled_from(sorted(SERVER_SET))),
    status=st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3),
    applied=st.text(max_size=20),
)
def test_what_a_server_adds_makes_no_difference(text: str, kept: set[str], status: Any, applied: str) -> None:
    document = w.read(text)
    before = digest(document)
    served = copy.deepcopy(document)
    served["metadata"] |= {name: SERVER_SET[name] for name in kept}
    served["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": applied}
    served["status"] = status
    served["metadata"]["labels"] = {"app.kubernetes.io/managed-by": applied}
    assert digest(served) == before


def filled(node: Any, path: list[str], value: Any) -> None:
    """Sets a default where its surroundings are and it isn't."""
    first, rest = path[0], path[1:]
    if first == "[]":
        for child in node if isinstance(node, list) else ():
            filled(child, rest, value)
    elif isinstance(node, dict) and not rest:
        node.setdefault(first, copy.deepcopy(value))
    elif isinstance(node, dict) and first in node:
        filled(node[first], rest, value)


@given(text=st.sampled_from(w.ALL), data=st.data())
def test_any_set_of_defaults_makes_no_difference(text: str, data: st.DataObject) -> None:
    document = w.read(text)
    key = kind_key(document["apiVersion"].rpartition("/")[0], document["kind"])
    defaults = defaults_of(key)
    chosen = data.draw(st.sets(st.integers(0, len(defaults) - 1))) if defaults else set()
    other = copy.deepcopy(document)
    for index in sorted(chosen):
        path, value = defaults[index]
        filled(other, path.replace("[]", ".[]").split("."), value)
    assert digest(other) == digest(document)


@given(text=st.sampled_from((w.ROLE, w.ROLE_BINDING, w.NETWORK, w.PEER, w.CILIUM, w.SERVER)), data=st.data())
def test_order_in_sets_makes_no_difference(text: str, data: st.DataObject) -> None:
    def shuffled(node: Any) -> Any:
        if isinstance(node, dict):
            return {name: shuffled(node[name]) for name in data.draw(st.permutations(sorted(node)))}
        if isinstance(node, list):
            items = [shuffled(child) for child in node]
            return [items[index] for index in data.draw(st.permutations(range(len(items))))]
        return node

    document = w.read(text)
    other = {**shuffled(document), "apiVersion": document["apiVersion"]}
    assert digest(other) == digest(document)


def test_every_kind_that_is_asked_for_is_used() -> None:
    assert all(
        family_of(key) or key == "apps/Deployment" or "karmada" in key or "open-cluster" in key
        for key in WANTED
    )


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "spec",
                        "rules",
                        "match",
                        "exclude",
                        "any",
                        "all",
                        "resources",
                        "kinds",
                        "validate",
                        "subjects",
                        "name",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    ),
    st.sampled_from([key for key in WANTED if family_of(key) and "*" not in key]),
)
def test_nothing_of_any_shape_breaks_it(value: Any, key: str) -> None:
    """A policy that a server would refuse costs nothing but its own row."""
    from audit.consistency.strength import strength_of

    for name in ("spec", "rules", "subjects"):
        form = form_of({"metadata": {"name": "x"}, name: value}, key)
        assert form_of({"metadata": {"name": "x"}, name: value}, key) == form
        strength_of(form, key)
