"""Context of one cluster: what rules may see, and what absence is asked of."""

from __future__ import annotations

import json

import pytest

from audit.model.subject import SubjectRef
from audit.normalise.context import ClusterContext
from audit.normalise.identity import top_owner
from audit.ports import CollectedObject


def item(
    kind: str, name: str, namespace: str = "", *, group: str = "", projection: bytes = b""
) -> CollectedObject:
    ref = SubjectRef(cluster="a", group=group, version="v1", kind=kind, namespace=namespace, name=name)
    return CollectedObject(ref=ref, raw=b"{}", projection=projection)


def test_inventory_has_every_declared_kind_and_indexes_by_namespace() -> None:
    context = ClusterContext("a", {"networking.k8s.io/NetworkPolicy", "Namespace"})
    for name, namespace in (("one", "ml"), ("two", "ml"), ("three", "web")):
        projection = json.dumps({"metadata": {"name": name}}).encode()
        context.see(item("NetworkPolicy", name, namespace, group="networking.k8s.io", projection=projection))
    inventory = json.loads(context.inventory())
    assert inventory["Namespace"] == {}
    policies = inventory["networking.k8s.io/NetworkPolicy"]
    assert {ns: [o["metadata"]["name"] for o in found] for ns, found in policies.items()} == {
        "ml": ["one", "two"],
        "web": ["three"],
    }


def test_a_whole_group_is_collected_under_its_star() -> None:
    context = ClusterContext("a", {"constraints.gatekeeper.sh/*", "constraints.gatekeeper.sh/Labels"})
    for kind, group in (
        ("Labels", "constraints.gatekeeper.sh"),
        ("Repos", "constraints.gatekeeper.sh"),
        ("Pod", ""),
    ):
        projection = json.dumps({"kind": kind}).encode()
        context.see(item(kind, "one", group=group, projection=projection))
    inventory = json.loads(context.inventory())
    assert inventory["constraints.gatekeeper.sh/*"] == {"": [{"kind": "Labels"}, {"kind": "Repos"}]}
    assert inventory["constraints.gatekeeper.sh/Labels"] == {"": [{"kind": "Labels"}]}


def test_namespaces_used_but_not_declared_are_derived() -> None:
    context = ClusterContext("eu", ())
    context.see(item("Pod", "p", "ml"))
    context.see(item("Pod", "p", "web"))
    context.see(item("Namespace", "web"))
    derived = list(context.derived())
    assert [(d.ref.kind_key, d.ref.name, d.ref.derived) for d in derived] == [
        ("fleetaudit.dev/Cluster", "eu", True),
        ("Namespace", "ml", True),
    ]
    assert json.loads(derived[1].raw)["metadata"]["name"] == "ml"


def test_workload_without_a_namespace_is_asked_for_in_default() -> None:
    context = ClusterContext("eu", (), workload_kinds=frozenset({"Pod"}))
    context.see(item("ClusterRole", "r", group="rbac.authorization.k8s.io"))
    assert [d.ref.name for d in context.derived()] == ["eu"]
    context.see(item("Pod", "p"))
    assert [d.ref.name for d in context.derived()] == ["eu", "default"]


def test_inventory_over_its_bound_says_so() -> None:
    context = ClusterContext("a", {"Pod"}, max_bytes=10)
    context.see(item("Pod", "p", "ml", projection=b'{"a":1}'))
    assert not context.overflowed
    context.see(item("Pod", "q", "ml", projection=b'{"a":1}'))
    assert context.overflowed
    json.loads(context.inventory())


@pytest.mark.parametrize(
    ("kind", "name", "controller", "owner"),
    [
        ("Deployment", "web", ("", ""), ("Deployment", "web")),
        ("Pod", "web-6d4b75cb6d-x2x7k", ("ReplicaSet", "web-6d4b75cb6d"), ("Deployment", "web")),
        ("Job", "nightly-29401234", ("CronJob", "nightly"), ("CronJob", "nightly")),
        ("Pod", "nightly-29401234-abcde", ("Job", "nightly-29401234"), ("CronJob", "nightly")),
        ("Pod", "train-0", ("PyTorchJob", "train"), ("PyTorchJob", "train")),
        ("Pod", "x", ("ReplicaSet", "made-by-hand"), ("ReplicaSet", "made-by-hand")),
    ],
)
def test_owner_is_the_workload_people_know(
    kind: str, name: str, controller: tuple[str, str], owner: tuple[str, str]
) -> None:
    assert top_owner(kind, name, *controller) == owner
