"""What controllers made, as a running cluster shows it: one thing to mend is one group, in whatever order it is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.command import run
from tests.shared_data import shared_dir

SPEC: dict[str, Any] = {
    "restartPolicy": "Never",
    "automountServiceAccountToken": True,
    "containers": [
        {"name": "eval", "image": "registry.example.test/eval:1.2", "securityContext": {"privileged": True}}
    ],
    "volumes": [{"name": "sock", "hostPath": {"path": "/run/containerd"}}],
}


def made(kind: str, name: str, spec: dict[str, Any], owner: tuple[str, str] | None = None) -> dict[str, Any]:
    group = {"Pod": "v1", "Job": "batch/v1", "CronJob": "batch/v1"}.get(kind, "apps/v1")
    metadata: dict[str, Any] = {"name": name, "namespace": "ml", "labels": {"app": "eval"}}
    if owner:
        metadata["ownerReferences"] = [
            {"apiVersion": "v1", "kind": owner[0], "name": owner[1], "uid": "aa01", "controller": True}
        ]
    return {"apiVersion": group, "kind": kind, "metadata": metadata, "spec": spec}


TEMPLATE = {"metadata": {"labels": {"app": "eval"}}, "spec": SPEC}
SELECTOR = {"matchLabels": {"app": "eval"}}
CRON = [
    made("CronJob", "nightly", {"schedule": "1 3 * * *", "jobTemplate": {"spec": {"template": TEMPLATE}}}),
    made("Job", "nightly-29312000", {"template": TEMPLATE}, ("CronJob", "nightly")),
    made("Pod", "nightly-29312000-x7k2p", SPEC, ("Job", "nightly-29312000")),
]
WEB = [
    made("Deployment", "web", {"selector": SELECTOR, "template": TEMPLATE}),
    made("ReplicaSet", "web-6b7f8c9d4f", {"selector": SELECTOR, "template": TEMPLATE}, ("Deployment", "web")),
    made("Pod", "web-6b7f8c9d4f-x7k2p", SPEC, ("ReplicaSet", "web-6b7f8c9d4f")),
]


def groups(folder: Path, *objects: dict[str, Any]) -> set[tuple[str, str, str, str, str]]:
    """Failing groups about pods."""
    file = folder / "objects.yaml"
    file.write_text(yaml.safe_dump_all(objects))
    done = run(folder / "out", file, "--no-cache", "--rule", "pod/*", "--rule", "serviceaccount/*")
    assert done.code == 0, done.err
    return {
        (group["id"], group["rule"], group["owner"], group["container"], group["path"])
        for group in done.report["groups"]
        if group["outcome"] == "fail"
    }


@pytest.mark.parametrize("family", [CRON, WEB], ids=["CronJob", "Deployment"])
def test_a_whole_family_has_the_groups_of_its_controller(
    tmp_path: Path, family: list[dict[str, Any]]
) -> None:
    alone = groups(tmp_path, family[0])
    assert {"pod/privileged", "pod/host-path-volume"} <= {rule for _, rule, _, _, _ in alone}
    for objects in (family, family[::-1], [family[2], family[0], family[1]]):
        assert groups(tmp_path, *objects) == alone


def test_what_an_owned_pod_has_beyond_its_controller_is_told(tmp_path: Path) -> None:
    sidecar = {
        "name": "proxy",
        "image": "registry.example.test/proxy:1",
        "securityContext": {"privileged": True},
    }
    pod = made(
        "Pod",
        "web-x7k2p",
        {**SPEC, "containers": [*SPEC["containers"], sidecar]},
        ("ReplicaSet", "web-6b7f8c9d4f"),
    )
    found = groups(tmp_path, pod, *WEB[:1])
    assert {
        c for _, rule, owner, c, _ in found if (rule, owner) == ("pod/privileged", "Deployment ml/web")
    } == {
        "eval",
        "proxy",
    }


@pytest.mark.corpora
def test_the_shared_case_of_a_job_that_a_live_cronjob_owns(tmp_path: Path) -> None:
    case = shared_dir("cases", "05-cronjob-nested-template")
    cron = yaml.safe_load((case / "cronjob.yaml").read_text())
    job = yaml.safe_load((case / "live-job.json").read_text())
    told = {(rule, path) for _, rule, _, _, path in groups(tmp_path, cron)}
    for objects in ((cron, job), (job, cron)):
        both = groups(tmp_path, *objects)
        again = [
            path
            for _, rule, owner, _, path in both
            if owner == "CronJob ml/nightly-eval" and (rule, path) in told
        ]
        assert len(again) == len(told), "once each"
        assert {owner for _, _, owner, _, _ in both} == {"CronJob ml/nightly-eval"}
