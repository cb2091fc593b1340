"""Engines by their images, and hubs that say what they gave to whom."""

from __future__ import annotations

from typing import Any

import pytest

from audit.consistency.kinds import WANTED
from audit.model.consistency import ConsistencyState as State
from audit.model.consistency import EngineState
from audit.model.gap import Gap, GapKind
from tests.unit.consistency import world as w
from tests.unit.consistency.test_form import edited


def deployment(image: str, *, replicas: int = 1, name: str = "controller") -> w.Document:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "system"},
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [{"name": "c", "image": image}]}}},
    }


def engine(clusters: dict[str, list[w.Document]], **more: Any) -> dict[str, EngineState]:
    (row,) = w.compared(clusters, **more).engines
    return {cell.cluster: cell.state for cell in row.cells}


NEW, OLD = (
    deployment("ghcr.io/kyverno/kyverno:v1.19.1"),
    deployment("registry.local:5000/kyverno/kyverno:v1.9.0"),
)


def test_older_stopped_missing_and_unknown() -> None:
    digest = deployment("ghcr.io/kyverno/kyverno@sha256:" + "a" * 64)
    stopped = deployment("ghcr.io/kyverno/kyverno:v1.19.1", replicas=0)
    found = engine({"a": [NEW], "b": [OLD], "c": [], "d": [digest], "e": [stopped], "f": [NEW]})
    assert found == {
        "a": EngineState.SAME,
        "b": EngineState.OLDER,
        "c": EngineState.MISSING,
        "d": EngineState.UNKNOWN,
        "e": EngineState.STOPPED,
        "f": EngineState.SAME,
    }


def test_the_baseline_says_which_version() -> None:
    assert engine({"a": [OLD]}, baseline=[NEW]) == {"a": EngineState.OLDER}
    assert engine({"a": [NEW]}, baseline=[OLD]) == {"a": EngineState.SAME}


@pytest.mark.parametrize(
    ("older", "newer"), [("1.9.0", "v1.10.0"), ("v3.20.0-rc.1", "v3.20.0"), ("v3.9", "v3.20.1")]
)
def test_versions_are_ordered_as_numbers(older: str, newer: str) -> None:
    images = [deployment(f"openpolicyagent/gatekeeper:{tag}") for tag in (older, newer)]
    assert engine({"a": [images[0]], "b": [images[1]]}) == {"a": EngineState.OLDER, "b": EngineState.SAME}


def test_policies_on_a_server_without_their_engine() -> None:
    asked = {"a": WANTED, "b": WANTED}
    found = engine({"a": [w.read(w.CONSTRAINT)], "b": []}, asked=asked)
    assert found == {"a": EngineState.MISSING, "b": EngineState.NOT_DUE}
    # Files with policies alone say nothing of where their engine is installed.
    assert w.compared({"a": [w.read(w.CONSTRAINT)], "b": []}).engines == ()


def test_deployments_that_were_not_seen_are_no_missing_engine() -> None:
    refused = Gap(kind=GapKind.FORBIDDEN, cluster="b", source="x", reason="no", kinds=("apps/Deployment",))
    found = w.compared({"a": [NEW], "b": []}, gaps=[refused])
    assert [cell.state for cell in found.engines[0].cells] == [EngineState.SAME, EngineState.UNKNOWN]
    assert found.gaps == 1
    assert [one.engines for one in found.clusters] == [0, None]
    # Also where no engine is known at all.
    nothing = w.compared({"a": [], "b": []}, gaps=[refused])
    assert [one.engines for one in nothing.clusters] == [0, None]


KARMADA = """
apiVersion: work.karmada.io/v1alpha2
kind: ClusterResourceBinding
metadata: {name: signed-clusterpolicy}
spec:
  resource: {apiVersion: kyverno.io/v1, kind: ClusterPolicy, name: signed}
  clusters: [{name: a}, {name: b}, {name: c}, {name: elsewhere}]
status:
  aggregatedStatus:
  - {clusterName: a, applied: true}
  - {clusterName: b, applied: true}
  - {clusterName: c, applied: false}
"""
OCM = """
apiVersion: policy.open-cluster-management.io/v1
kind: Policy
metadata: {name: admission, namespace: policies}
spec:
  policy-templates:
  - objectDefinition:
      apiVersion: policy.open-cluster-management.io/v1
      kind: ConfigurationPolicy
      metadata: {name: admission}
      spec:
        object-templates:
        - complianceType: musthave
          objectDefinition: {apiVersion: kyverno.io/v1, kind: ClusterPolicy, metadata: {name: signed}}
        - complianceType: mustnothave
          objectDefinition: {apiVersion: kyverno.io/v1, kind: ClusterPolicy, metadata: {name: banned}}
status:
  status:
  - {clustername: a, clusternamespace: a, compliant: Compliant}
  - {clustername: b, clusternamespace: b, compliant: Compliant}
  - {clustername: c, clusternamespace: c, compliant: Pending}
"""


@pytest.mark.parametrize(
    ("hub", "agrees"),
    [
        (KARMADA, {"a": True, "b": False, "c": False, "elsewhere": None}),
        (OCM, {"a": True, "b": False, "c": None}),
    ],
)
def test_the_member_is_believed_and_the_disagreement_listed(hub: str, agrees: dict[str, bool | None]) -> None:
    policy, weak = w.read(w.KYVERNO), edited(w.KYVERNO, ("spec.validationFailureAction", "Audit"))
    clusters = {"hub": [w.read(hub)], "a": [policy], "b": [weak], "c": [policy]}
    found = w.compared(clusters, baseline=[policy])
    assert {claim.cluster: claim.agrees for claim in found.claims} == agrees
    assert {claim.policy for claim in found.claims} == {"ClusterPolicy signed"}
    assert w.states(found, "ClusterPolicy signed")["b"] is State.WEAKENED
    assert found.claims[0].agrees is False


def test_a_hub_is_not_believed_where_the_member_was_not_seen() -> None:
    policy = w.read(w.KYVERNO)
    found = w.compared(
        {"hub": [w.read(KARMADA)], "a": [policy], "b": [], "c": [policy]}, baseline=[policy], unreached=["b"]
    )
    (claim,) = (claim for claim in found.claims if claim.cluster == "b")
    assert (claim.says, claim.shows, claim.agrees) == ("applied", State.NOT_COMPARABLE, None)
