"""What can't be judged is never a pass: containers in odd shapes, and pods of the wrong shape, through the real command."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import Run, run


def audited(tmp_path: Path, *objects: Any) -> Run:
    source = tmp_path / "in.yaml"
    source.write_text("\n---\n".join(map(json.dumps, objects)))
    return run(tmp_path / "out", source, "--format", "json")


def outcomes(done: Run, name: str) -> dict[str, str]:
    """Rule to outcome of one object, from the population file."""
    text = gzip.decompress((done.folder / "population.csv.gz").read_bytes()).decode()
    return {row["rule"]: row["outcome"] for row in csv.DictReader(io.StringIO(text)) if row["name"] == name}


def thing(kind: str, name: str, **fields: Any) -> dict[str, Any]:
    api_version, _, short = kind.rpartition("/")
    return {
        "apiVersion": api_version,
        "kind": short,
        "metadata": {"name": name, "namespace": "ml"},
        **fields,
    }


MALFORMED = {
    "text": thing("v1/Pod", "text", spec="hello"),
    "null": thing("v1/Pod", "null", spec=None),
    "absent": thing("v1/Pod", "absent"),
    "containers-text": thing("v1/Pod", "containers-text", spec={"containers": "x"}),
    "containers-mapping": thing(
        "apps/v1/Deployment", "containers-mapping", spec={"template": {"spec": {"containers": {}}}}
    ),
    "no-template": thing("apps/v1/StatefulSet", "no-template", spec={"replicas": 1}),
    "cron": thing("batch/v1/CronJob", "cron", spec={"jobTemplate": {"spec": {"template": None}}}),
    "ray": thing("ray.io/v1/RayCluster", "ray", spec={"headGroupSpec": {"template": []}}),
}


def test_pod_of_the_wrong_shape_passes_no_rule_about_pods(tmp_path: Path) -> None:
    done = audited(tmp_path, *MALFORMED.values())
    assert done.code == 3, done.out + done.err
    for name in MALFORMED:
        answered = outcomes(done, name)
        assert "pod/privileged" in answered
        assert {rule for rule, outcome in answered.items() if outcome in ("pass", "skip")} == {
            "manifest/duplicate-key"
        }
    errors = done.findings("pod/privileged", "error")
    assert {e["subject"]["name"]: e["error"] for e in errors} == dict.fromkeys(
        MALFORMED, "malformed_document"
    )
    assert all("holds" in e["violation"]["message"] for e in errors)


def test_fails_of_a_malformed_object_stand(tmp_path: Path) -> None:
    spec = {"hostNetwork": True, "containers": [{"name": "c", "image": "i", "securityContext": "x"}]}
    done = audited(tmp_path, thing("v1/Pod", "p", spec=spec))
    assert outcomes(done, "p")["pod/host-namespaces"] == "fail"
    assert outcomes(done, "p")["pod/privileged"] == "error"


PRIVILEGED = {"image": "i", "securityContext": {"privileged": True}}


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("tekton.dev/v1/Task", {"steps": [PRIVILEGED]}),
        ("tekton.dev/v1/Task", {"steps": [{"image": "i"}], "sidecars": [PRIVILEGED]}),
        ("tekton.dev/v1/Task", {"steps": [{"image": "i"}], "stepTemplate": PRIVILEGED}),
        ("tekton.dev/v1beta1/StepAction", PRIVILEGED),
        ("tekton.dev/v1/TaskRun", {"taskSpec": {"steps": [PRIVILEGED]}}),
        ("tekton.dev/v1/Pipeline", {"tasks": [{"taskSpec": {"steps": [PRIVILEGED]}}]}),
        ("tekton.dev/v1/Pipeline", {"finally": [{"taskSpec": {"sidecars": [PRIVILEGED]}}]}),
        ("tekton.dev/v1/PipelineRun", {"pipelineSpec": {"tasks": [{"taskSpec": {"steps": [PRIVILEGED]}}]}}),
        ("ray.io/v1/RayCluster", {"autoscalerOptions": PRIVILEGED}),
        ("ray.io/v1/RayService", {"rayClusterConfig": {"autoscalerOptions": PRIVILEGED}}),
        ("serving.kserve.io/v1alpha1/ClusterStorageContainer", {"container": PRIVILEGED}),
        (
            "argoproj.io/v1alpha1/AnalysisTemplate",
            {
                "metrics": [
                    {"provider": {"job": {"spec": {"template": {"spec": {"containers": [PRIVILEGED]}}}}}}
                ]
            },
        ),
        (
            "argoproj.io/v1alpha1/Experiment",
            {"templates": [{"template": {"spec": {"containers": [PRIVILEGED]}}}]},
        ),
    ],
)
def test_known_shapes_are_judged(tmp_path: Path, kind: str, spec: Any) -> None:
    done = audited(tmp_path, thing(kind, "x", spec=spec))
    assert outcomes(done, "x")["pod/privileged"] == "fail"
    assert done.gaps == []


@pytest.mark.parametrize("where", ["podTemplate", "taskRunTemplate"])
def test_pod_settings_of_a_tekton_run_are_judged(tmp_path: Path, where: str) -> None:
    template = {"hostNetwork": True, "volumes": [{"name": "v", "hostPath": {"path": "/"}}]}
    spec = {where: template if where == "podTemplate" else {"podTemplate": template}}
    answered = outcomes(audited(tmp_path, thing("tekton.dev/v1/PipelineRun", "r", spec=spec)), "r")
    assert answered["pod/host-namespaces"] == "fail"
    assert answered["pod/host-path-volume"] == "fail"


@pytest.mark.parametrize(
    ("kind", "spec", "path"),
    [
        (
            "sparkoperator.k8s.io/v1beta2/SparkApplication",
            {"driver": {"image": "i", "cores": 1, "env": []}},
            "spec.driver",
        ),
        ("sparkoperator.k8s.io/v1beta2/SparkApplication", {"image": "i", "mainClass": "m"}, "spec"),
        ("example.com/v1/Widget", {"container": {"image": "i"}}, "spec.container"),
        ("example.com/v1/Widget", {"containers": {"a": {"image": "i"}}}, "spec.containers"),
        ("example.com/v1/Widget", {"containers": [{"image": "i"}]}, "its root"),
    ],
)
def test_other_shapes_are_gaps_that_name_the_place(tmp_path: Path, kind: str, spec: Any, path: str) -> None:
    done = audited(tmp_path, thing(kind, "x", spec=spec))
    assert done.code == 3
    [gap] = done.gaps
    assert gap["kind"] == "unknown_pod_template"
    assert gap["kinds"] is None
    assert f"runs containers at {path} that no table names" in gap["reason"]
