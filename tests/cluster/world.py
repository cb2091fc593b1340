"""What the API server of the tests holds."""

from __future__ import annotations

from typing import Any

from tests.cluster.server import ApiServer

CANARY = "hunter2-canary-value"
SERVICES = 1203
READER_KINDS = [
    (
        "",
        [
            "namespaces",
            "services",
            "pods",
            "serviceaccounts",
            "persistentvolumeclaims",
            "limitranges",
            "resourcequotas",
        ],
    ),
    ("apps", ["deployments", "daemonsets", "replicasets", "statefulsets"]),
]


def namespace(name: str, **labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def deployment(name: str, image: str = "registry.example.com/app:1", **pod: Any) -> dict[str, Any]:
    labels = {"app": name}
    spec = {"containers": [{"name": "main", "image": image}], **pod}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "ml", "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def service(number: int) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": f"s{number:05}", "namespace": "many"},
        "spec": {"clusterIP": "None", "ports": [{"port": 80}]},
    }


WORLD: tuple[dict[str, Any], ...] = (
    namespace("ml", team="llm"),
    namespace("many"),
    deployment("good"),
    deployment("host", hostNetwork=True),
    {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "deny", "namespace": "ml"},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
    },
    {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "token", "namespace": "ml", "labels": {"app": "x"}},
        "stringData": {"password": CANARY},
    },
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "large", "namespace": "ml"},
        "data": {"text": "x" * 900_000},
    },
    {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "reader"},
        "rules": [
            {"apiGroups": [group], "resources": resources, "verbs": ["get", "list"]}
            for group, resources in READER_KINDS
        ],
    },
    {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "reader"}],
    },
)


def fill(server: ApiServer) -> None:
    """Create everything."""
    server.create(*WORLD)
    server.create(*(service(number) for number in range(SERVICES)))
