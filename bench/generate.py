"""Mixed Kubernetes objects for the benchmarks: deterministic, valid in shape, about a third of the questions failing."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

Json = dict[str, Any]

_IMAGES = (
    "registry.example.internal/serve/vllm:0.11.0",
    "registry.example.internal/serve/vllm@sha256:" + "ab" * 32,
    "docker.io/library/nginx",
    "ghcr.io/example/gateway:latest",
    "registry.example.internal:5000/tools/exporter:1.4.2",
)


def objects(count: int, seed: int = 7) -> Iterator[Json]:
    """`count` objects: 40 % Pods, 25 % Deployments, 10 % each Services and RoleBindings, 5 % each of three others."""
    rng = random.Random(seed)
    makers = (
        [_pod] * 8
        + [_deployment] * 5
        + [_service] * 2
        + [_role_binding] * 2
        + [_role]
        + [_config_map]
        + [_cron_job]
    )
    for index in range(count):
        yield makers[rng.randrange(len(makers))](index, rng)


def pods(count: int, seed: int = 11) -> Iterator[Json]:
    """Only Pods, for the fifteen-rule comparison."""
    rng = random.Random(seed)
    for index in range(count):
        yield _pod(index, rng)


def write_yaml(items: Iterator[Json], folder: Path, per_file: int) -> list[Path]:
    """Multi-document YAML files of `per_file` objects. PyYAML's dumper, block style as people write."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    batch: list[Json] = []

    def flush() -> None:
        if batch:
            path = folder / f"part-{len(written):05d}.yaml"
            path.write_text(yaml.dump_all(batch, Dumper=yaml.CSafeDumper, sort_keys=False))
            written.append(path)
            batch.clear()

    for item in items:
        batch.append(item)
        if len(batch) == per_file:
            flush()
    flush()
    return written


def write_json(items: Iterator[Json], folder: Path) -> int:
    """One JSON file per object, the form `opa exec` reads fastest."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for count, item in enumerate(items, start=1):
        (folder / f"{count:06d}.json").write_text(json.dumps(item))
    return count


def _meta(kind: str, index: int, rng: random.Random) -> Json:
    return {
        "name": f"{kind}-{index:06d}",
        "namespace": f"team-{rng.randrange(40):02d}",
        "labels": {
            "app.kubernetes.io/name": f"{kind}-{index % 200}",
            "app.kubernetes.io/part-of": "serving",
            "team": f"t{rng.randrange(40)}",
        },
        "annotations": {
            "example.com/owner": f"team-{index % 17}@example.com",
            "example.com/ticket": f"OPS-{index}",
        },
    }


def _container(name: str, rng: random.Random) -> Json:
    container: Json = {
        "name": name,
        "image": rng.choice(_IMAGES),
        "args": ["--port=8000", "--max-model-len=8192", "--served-model-name=assistant"],
        "env": [{"name": "LOG_LEVEL", "value": "info"}, {"name": "HF_HOME", "value": "/models"}],
        "ports": [{"containerPort": 8000, "name": "http"}],
        "volumeMounts": [{"name": "models", "mountPath": "/models"}],
    }
    if rng.random() < 0.7:
        container["resources"] = {
            "requests": {"cpu": "2", "memory": "8Gi"},
            "limits": {"memory": "8Gi", "nvidia.com/gpu": "1"},
        }
    if rng.random() < 0.6:
        container["securityContext"] = {
            "allowPrivilegeEscalation": False,
            "runAsNonRoot": True,
            "readOnlyRootFilesystem": rng.random() < 0.5,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        }
    elif rng.random() < 0.2:
        container["securityContext"] = {"privileged": True}
    if rng.random() < 0.6:
        probe = {"httpGet": {"path": "/health", "port": "http"}, "periodSeconds": 10}
        container["livenessProbe"] = container["readinessProbe"] = probe
    return container


def _pod_spec(rng: random.Random) -> Json:
    spec: Json = {
        "serviceAccountName": "serve",
        "automountServiceAccountToken": rng.random() < 0.4,
        "containers": [_container("server", rng)],
        "volumes": [{"name": "models", "persistentVolumeClaim": {"claimName": "models"}}],
    }
    if rng.random() < 0.3:
        spec["containers"].append(_container("sidecar", rng))
    if rng.random() < 0.3:
        spec["initContainers"] = [_container("fetch", rng)]
    if rng.random() < 0.1:
        spec["hostNetwork"] = True
    if rng.random() < 0.1:
        spec["volumes"].append({"name": "host", "hostPath": {"path": "/var/lib/data"}})
    return spec


def _pod(index: int, rng: random.Random) -> Json:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": _meta("pod", index, rng), "spec": _pod_spec(rng)}


def _deployment(index: int, rng: random.Random) -> Json:
    labels = {"app.kubernetes.io/name": f"deployment-{index % 200}"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": _meta("deployment", index, rng),
        "spec": {
            "replicas": rng.choice((1, 2, 3)),
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": _pod_spec(rng)},
        },
    }


def _cron_job(index: int, rng: random.Random) -> Json:
    template = {"spec": {**_pod_spec(rng), "restartPolicy": "OnFailure"}}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": _meta("cronjob", index, rng),
        "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": template}}},
    }


def _service(index: int, rng: random.Random) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _meta("service", index, rng),
        "spec": {
            "type": rng.choice(("ClusterIP", "ClusterIP", "LoadBalancer", "NodePort")),
            "selector": {"app.kubernetes.io/name": f"deployment-{index % 200}"},
            "ports": [{"name": "http", "port": 80, "targetPort": 8000}],
        },
    }


def _role_binding(index: int, rng: random.Random) -> Json:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": _meta("rolebinding", index, rng),
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": rng.choice(("view", "edit", "cluster-admin")),
        },
        "subjects": [
            {"kind": "ServiceAccount", "name": rng.choice(("default", "serve")), "namespace": "team-01"},
            {"kind": "Group", "name": f"team-{index % 40}", "apiGroup": "rbac.authorization.k8s.io"},
        ],
    }


def _role(index: int, rng: random.Random) -> Json:
    rules: list[Json] = [
        {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "list", "watch"]}
    ]
    if rng.random() < 0.3:
        rules.append({"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]})
    if rng.random() < 0.2:
        rules.append({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]})
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": _meta("role", index, rng),
        "rules": rules,
    }


def _config_map(index: int, rng: random.Random) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": _meta("config", index, rng),
        "data": {f"key-{number}": "value " * 20 for number in range(8)} | {"seed": str(rng.randrange(1000))},
    }
