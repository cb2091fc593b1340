"""Objects that policies are asked about."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def pod(
    name: str = "p", *, namespace: str | None = "team", labels: dict[str, str] | None = None, **spec: Any
) -> Object:
    metadata: Object = {"name": name}
    if namespace is not None:
        metadata["namespace"] = namespace
    if labels is not None:
        metadata["labels"] = labels
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [{"name": "c", "image": "nginx:latest"}], **spec},
    }


def namespace(name: str, **labels: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def binding(kind: str, role: str, subject: str, *, name: str = "b", namespace: str = "team") -> Object:
    metadata = {"name": name} | ({"namespace": namespace} if kind == "RoleBinding" else {})
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": subject, "name": "alice"}],
    }


def service(name: str, *, namespace: str | None = "team", selector: dict[str, str] | None = None) -> Object:
    metadata: Object = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"selector": selector or {}}}


def deployment(name: str, *, labels: dict[str, str] | None = None) -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "team"},
        "spec": {
            "template": {
                "metadata": {"labels": labels or {}},
                "spec": {"containers": [{"name": "c", "image": "nginx:1"}]},
            }
        },
    }
