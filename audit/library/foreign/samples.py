"""Sample objects that policies are tried on: sound ones, faulty ones, and siblings of faulty ones.

They find out what a policy means by `allow`, and which neighbours of a violation it does not see. They decide nothing.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from audit.model.subject import kind_key

Object = dict[str, Any]

_UNLIKELY = frozenset("%{}/ ,;=<>()\\\n\t\"'")
"""Signs that stand in messages and patterns, not in names of roles."""
_LABELS = {
    "app": "sample",
    "app.kubernetes.io/name": "sample",
    "app.kubernetes.io/instance": "sample",
    "app.kubernetes.io/version": "1.0.0",
    "app.kubernetes.io/component": "server",
    "app.kubernetes.io/part-of": "sample",
    "app.kubernetes.io/managed-by": "hand",
    "owner": "team-a",
    "team": "team-a",
    "env": "test",
    "environment": "test",
    "cost-center": "1",
}
_DIGEST = "sha256:" + "a" * 64
_RBAC = "rbac.authorization.k8s.io"
_RESOURCES = {"cpu": "100m", "memory": "128Mi", "ephemeral-storage": "1Gi"}
WORKLOADS = {
    "apps/v1/Deployment": ("spec", "template"),
    "apps/v1/StatefulSet": ("spec", "template"),
    "apps/v1/DaemonSet": ("spec", "template"),
    "batch/v1/Job": ("spec", "template"),
    "batch/v1/CronJob": ("spec", "jobTemplate", "spec", "template"),
}
"""API version and kind to where the pods stand."""
SUBJECTS = ("User", "Group", "ServiceAccount")


class Sample(msgspec.Struct, frozen=True):
    """An object to try."""

    value: Object
    sound: bool

    @property
    def key(self) -> str:
        """Its kind key."""
        return key_of(self.value)


def key_of(value: Object) -> str:
    """Kind key of an object."""
    group, _, _ = str(value["apiVersion"]).rpartition("/")
    return kind_key(group, value["kind"])


def samples(words: Iterable[str]) -> list[Sample]:
    """Sound and faulty objects.

    Args:
        words: texts from the policy; roles, subjects and namespaces are tried under these names too.
    """
    names = sorted(
        {word for word in words if 0 < len(word) <= 63 and word.isascii() and not set(word) & _UNLIKELY}
    )[:40]
    return [
        *(Sample(value, sound=True) for value in _sound()),
        *(Sample(value, sound=False) for value in _faulty()),
        *(
            Sample(binding(kind, role, subject), sound=False)
            for kind in ("RoleBinding", "ClusterRoleBinding")
            for role in dict.fromkeys(["cluster-admin", *names])
            for subject in SUBJECTS
        ),
    ]


def binding(kind: str, role: str, subject: str, *, namespace: str = "sample") -> Object:
    """A role binding."""
    who: Object = {"kind": subject, "name": "sample"}
    if subject == "ServiceAccount":
        who["namespace"] = "sample"
    else:
        who["apiGroup"] = _RBAC
    metadata: Object = {"name": "sample", "labels": _LABELS}
    if kind == "RoleBinding":
        metadata["namespace"] = namespace
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": kind,
        "metadata": metadata,
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [who],
    }


def workloads_of(pod: Object) -> Iterator[Object]:
    """The same pod inside the kinds that make pods."""
    for kind, place in WORKLOADS.items():
        version, _, name = kind.rpartition("/")
        metadata = copy.deepcopy(pod["metadata"])
        value: Object = {"apiVersion": version, "kind": name, "metadata": metadata, "spec": {}}
        inner = value
        for step in place:
            inner = inner.setdefault(step, {})
        inner["metadata"] = {"labels": metadata.get("labels", {})}
        inner["spec"] = copy.deepcopy(pod["spec"])
        value["spec"].setdefault("selector", {"matchLabels": metadata.get("labels", {})})
        yield value


def _sound() -> Iterator[Object]:
    pod = _pod(_container())
    yield pod
    yield from workloads_of(pod)
    yield _object("v1", "ConfigMap", data={"key": "value"})
    yield _object(
        "v1", "Service", spec={"type": "ClusterIP", "selector": {"app": "sample"}, "ports": [{"port": 80}]}
    )
    yield _object("v1", "ServiceAccount", automountServiceAccountToken=False)
    yield _object("v1", "Namespace")
    yield _object(
        "v1", "PersistentVolumeClaim", spec={"accessModes": ["ReadWriteOnce"], "storageClassName": "standard"}
    )
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"], "resourceNames": ["sample"]}
    yield _object(f"{_RBAC}/v1", "Role", rules=[rule])
    yield _object(f"{_RBAC}/v1", "ClusterRole", rules=[rule])
    yield binding("RoleBinding", "view", "ServiceAccount")
    yield binding("ClusterRoleBinding", "view", "ServiceAccount")
    yield _ingress("sample.example.com", [{"hosts": ["sample.example.com"], "secretName": "sample"}])
    yield _object(
        "networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": {}, "policyTypes": ["Ingress"]}
    )


def _faulty() -> Iterator[Object]:
    changes: list[Object] = [
        {"image": "nginx:latest"},
        {"image": "docker.io/library/nginx"},
        {"resources": {}},
        {"securityContext": {"privileged": True}},
        {"securityContext": {"runAsUser": 0, "runAsNonRoot": False, "allowPrivilegeEscalation": True}},
        {"ports": [{"containerPort": 80, "hostPort": 80}]},
        {"livenessProbe": None, "readinessProbe": None},
    ]
    for change in changes:
        yield _pod(_container() | change)
    changes = [
        {"hostNetwork": True, "hostPID": True, "hostIPC": True},
        {"volumes": [{"name": "host", "hostPath": {"path": "/"}}]},
        {"serviceAccountName": "default", "automountServiceAccountToken": True},
    ]
    for change in changes:
        pod = _pod(_container())
        pod["spec"] |= change
        yield pod
    bare = _pod({"name": "sample", "image": "nginx"})
    bare["metadata"] = {"name": "sample", "namespace": "default"}
    yield bare
    yield from workloads_of(bare)
    for kind in ("LoadBalancer", "NodePort"):
        yield _object(
            "v1", "Service", spec={"type": kind, "ports": [{"port": 80}], "externalIPs": ["203.0.113.1"]}
        )
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
    secrets = {"apiGroups": [""], "resources": ["secrets", "pods/exec"], "verbs": ["get", "list", "create"]}
    for kind in ("Role", "ClusterRole"):
        yield _object(f"{_RBAC}/v1", kind, rules=[everything])
        yield _object(f"{_RBAC}/v1", kind, rules=[secrets])
    yield _ingress("*.example.com", [])
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "sample"}}


def _object(version: str, kind: str, **fields: Any) -> Object:
    metadata: Object = {"name": "sample", "labels": dict(_LABELS), "annotations": dict(_LABELS)}
    if kind not in ("Namespace", "ClusterRole"):
        metadata["namespace"] = "sample"
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def _pod(container: Object) -> Object:
    return _object(
        "v1",
        "Pod",
        spec={
            "serviceAccountName": "sample",
            "automountServiceAccountToken": False,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 10001,
                "fsGroup": 10001,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "containers": [container],
        },
    )


def _container() -> Object:
    probe = {"httpGet": {"path": "/", "port": 8080}}
    return {
        "name": "sample",
        "image": f"registry.example.com/sample:1.0.0@{_DIGEST}",
        "resources": {"requests": _RESOURCES, "limits": _RESOURCES},
        "livenessProbe": probe,
        "readinessProbe": probe,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 10001,
            "readOnlyRootFilesystem": True,
            "allowPrivilegeEscalation": False,
            "privileged": False,
            "capabilities": {"drop": ["ALL"]},
        },
    }


def _ingress(host: str, tls: list[Object]) -> Object:
    backend = {"service": {"name": "sample", "port": {"number": 80}}}
    rule = {"host": host, "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}
    return _object(
        "networking.k8s.io/v1", "Ingress", spec={"ingressClassName": "nginx", "rules": [rule], "tls": tls}
    )
