"""A pod specification of the wrong shape is told as such: rules would find nothing in it to fail."""

from __future__ import annotations

import json
from typing import Any

import pytest

from audit.model.finding import render_path
from tests.native.reading import objects, read
from tests.native.tables import shipped_table

CONTAINER = {"name": "c", "image": "i"}
TEXT, NUMBER, NOTHING, EMPTY = "a text", "a number", "nothing", "an empty list"
LIST, MAPPING, TRUTH = "a list", "a mapping", "true or false"


def faults(api_version: str, kind: str, **fields: Any) -> list[tuple[str, str, str]]:
    """(path, expected, found) of one object."""
    text = json.dumps({"apiVersion": api_version, "kind": kind, "metadata": {"name": "n"}, **fields})
    [event] = objects(read(text, pod_template_table=shipped_table()))
    return [(render_path(fault.path), fault.expected, fault.found) for fault in event.faults]


@pytest.mark.parametrize(
    ("fields", "path", "expected", "found"),
    [
        ({}, "spec", MAPPING, NOTHING),
        ({"spec": None}, "spec", MAPPING, NOTHING),
        ({"spec": "hello"}, "spec", MAPPING, TEXT),
        ({"spec": []}, "spec", MAPPING, EMPTY),
        ({"spec": 5}, "spec", MAPPING, NUMBER),
        ({"spec": {}}, "spec.containers", "a list of containers", NOTHING),
        ({"spec": {"containers": None}}, "spec.containers", "a list of containers", NOTHING),
        ({"spec": {"containers": []}}, "spec.containers", "a list of containers", EMPTY),
        ({"spec": {"containers": {}}}, "spec.containers", LIST, MAPPING),
        ({"spec": {"containers": "x"}}, "spec.containers", LIST, TEXT),
        ({"spec": {"containers": ["x"]}}, "spec.containers[0]", MAPPING, TEXT),
        ({"spec": {"containers": [CONTAINER, None]}}, "spec.containers[1]", MAPPING, NOTHING),
    ],
)
def test_pod_without_readable_containers(fields: Any, path: str, expected: str, found: str) -> None:
    assert faults("v1", "Pod", **fields) == [(path, expected, found)]


@pytest.mark.parametrize(
    ("kind", "steps"),
    [
        ("v1 PodTemplate", ["template"]),
        ("v1 ReplicationController", ["spec", "template"]),
        ("apps/v1 Deployment", ["spec", "template"]),
        ("apps/v1 StatefulSet", ["spec", "template"]),
        ("apps/v1 DaemonSet", ["spec", "template"]),
        ("apps/v1 ReplicaSet", ["spec", "template"]),
        ("batch/v1 Job", ["spec", "template"]),
        ("batch/v1 CronJob", ["spec", "jobTemplate", "spec", "template"]),
    ],
)
def test_every_step_to_the_pod_of_a_builtin_workload(kind: str, steps: list[str]) -> None:
    api_version, name = kind.split()
    for number, step in enumerate([*steps, "spec"]):
        upper = steps[:number]
        for value, found in ((None, NOTHING), ("x", TEXT), (True, TRUTH)):
            fields: Any = {step: value}
            for above in reversed(upper):
                fields = {above: fields}
            assert faults(api_version, name, **fields) == [(".".join([*upper, step]), MAPPING, found)]


@pytest.mark.parametrize(
    ("pod", "path", "expected", "found"),
    [
        ({"initContainers": "x"}, "initContainers", LIST, TEXT),
        ({"initContainers": [5]}, "initContainers[0]", MAPPING, NUMBER),
        ({"ephemeralContainers": {}}, "ephemeralContainers", LIST, MAPPING),
        ({"volumes": "x"}, "volumes", LIST, TEXT),
        ({"volumes": ["x"]}, "volumes[0]", MAPPING, TEXT),
        ({"securityContext": "x"}, "securityContext", MAPPING, TEXT),
        ({"securityContext": {"sysctls": {}}}, "securityContext.sysctls", LIST, MAPPING),
        ({"containers": [{"name": 5}]}, "containers[0].name", TEXT, NUMBER),
        ({"containers": [{"image": ["i"]}]}, "containers[0].image", TEXT, LIST),
        ({"containers": [{"securityContext": []}]}, "containers[0].securityContext", MAPPING, EMPTY),
        (
            {"containers": [{"securityContext": {"capabilities": ["ALL"]}}]},
            "containers[0].securityContext.capabilities",
            MAPPING,
            LIST,
        ),
        ({"containers": [{"env": {"A": "b"}}]}, "containers[0].env", LIST, MAPPING),
        ({"containers": [{"env": [{"valueFrom": "x"}]}]}, "containers[0].env[0].valueFrom", MAPPING, TEXT),
        ({"containers": [{"args": "--x"}]}, "containers[0].args", LIST, TEXT),
        ({"containers": [{"ports": [80]}]}, "containers[0].ports[0]", MAPPING, NUMBER),
        ({"containers": [{"resources": {"limits": "1"}}]}, "containers[0].resources.limits", MAPPING, TEXT),
        ({"containers": [{"livenessProbe": True}]}, "containers[0].livenessProbe", MAPPING, TRUTH),
    ],
)
def test_fields_that_rules_look_into(pod: Any, path: str, expected: str, found: str) -> None:
    spec = {"containers": [CONTAINER]} | pod
    assert faults("apps/v1", "Deployment", spec={"template": {"spec": spec}}) == [
        (f"spec.template.spec.{path}", expected, found)
    ]
    rollout = {"strategy": {}, "template": {"spec": spec}}
    assert faults("argoproj.io/v1alpha1", "Rollout", spec=rollout) == [
        (f"spec.template.spec.{path}", expected, found)
    ]


@pytest.mark.parametrize(
    ("kind", "spec", "path"),
    [
        ("ray.io/v1 RayCluster", None, "spec"),
        ("ray.io/v1 RayCluster", "x", "spec"),
        ("ray.io/v1 RayCluster", {"headGroupSpec": "x"}, "spec.headGroupSpec"),
        (
            "ray.io/v1 RayCluster",
            {"headGroupSpec": {"template": {"spec": {}}}},
            "spec.headGroupSpec.template.spec.containers",
        ),
        ("ray.io/v1 RayCluster", {"workerGroupSpecs": "x"}, "spec.workerGroupSpecs"),
        ("ray.io/v1 RayCluster", {"workerGroupSpecs": [1]}, "spec.workerGroupSpecs[0]"),
        ("tekton.dev/v1 Task", {"steps": ["x"]}, "spec.steps[0]"),
        ("serving.kserve.io/v1beta1 InferenceService", {"predictor": {"model": "m"}}, "spec.predictor.model"),
        ("argoproj.io/v1alpha1 Workflow", {"templates": [{"container": "x"}]}, "spec.templates[0].container"),
        ("argoproj.io/v1alpha1 Workflow", {"templates": [{"sidecars": "x"}]}, "spec.templates[0].sidecars"),
    ],
)
def test_custom_kinds_have_faults_where_something_wrong_stands(kind: str, spec: Any, path: str) -> None:
    api_version, name = kind.split()
    assert [fault[0] for fault in faults(api_version, name, spec=spec)] == [path]


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        (
            "v1 Pod",
            {"containers": [CONTAINER], "initContainers": None, "volumes": None, "securityContext": None},
        ),
        ("argoproj.io/v1alpha1 Rollout", {"workloadRef": {"name": "d"}}),
        ("argoproj.io/v1alpha1 Workflow", {"workflowTemplateRef": {"name": "w"}}),
        ("ray.io/v1 RayCluster", {"workerGroupSpecs": []}),
        ("tekton.dev/v1 TaskRun", {"taskRef": {"name": "t"}}),
        (
            "serving.kserve.io/v1beta1 InferenceService",
            {"predictor": {"model": {"modelFormat": {"name": "x"}}}},
        ),
        ("v1 ConfigMap", "anything"),
        ("example.com/v1 Widget", {"containers": "x"}),
    ],
)
def test_absence_that_means_something_is_no_fault(kind: str, spec: Any) -> None:
    api_version, name = kind.split()
    assert faults(api_version, name, spec=spec) == []


PATCH = '{"hostNetwork": true}'
STEP = {"name": "main", "container": CONTAINER}


@pytest.mark.parametrize(
    ("kind", "spec", "path"),
    [
        ("Workflow", {"podSpecPatch": PATCH, "templates": [STEP]}, "spec.podSpecPatch"),
        ("WorkflowTemplate", {"podSpecPatch": {"hostPID": True}, "templates": [STEP]}, "spec.podSpecPatch"),
        ("Workflow", {"templates": [{**STEP, "podSpecPatch": PATCH}]}, "spec.templates[0].podSpecPatch"),
        (
            "Workflow",
            {"templateDefaults": {"podSpecPatch": PATCH}, "templates": [STEP]},
            "spec.templateDefaults.podSpecPatch",
        ),
        (
            "CronWorkflow",
            {"workflowSpec": {"podSpecPatch": PATCH, "templates": [STEP]}},
            "spec.workflowSpec.podSpecPatch",
        ),
    ],
)
def test_a_patch_that_nobody_can_read_is_told(kind: str, spec: Any, path: str) -> None:
    """Rules see the pod without it, so what they pass may be privileged when it runs."""
    assert [fault[0] for fault in faults("argoproj.io/v1alpha1", kind, spec=spec)] == [path]


@pytest.mark.parametrize("patch", ["", None, {}])
def test_a_patch_that_changes_nothing_is_none(patch: Any) -> None:
    spec = {"podSpecPatch": patch, "templates": [{**STEP, "podSpecPatch": patch}]}
    assert faults("argoproj.io/v1alpha1", "Workflow", spec=spec) == []


def test_faults_are_capped_and_never_quote_a_value() -> None:
    spec = {"containers": ["hunter2"] * 1000}
    told = faults("v1", "Pod", spec=spec)
    assert len(told) == 20
    assert "hunter2" not in str(told)
