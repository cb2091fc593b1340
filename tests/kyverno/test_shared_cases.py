"""Cases that every engine must stand: containers of all kinds, nesting in a CronJob, nothing evaluated."""

from __future__ import annotations

import json

import pytest

from tests.kyverno.conftest import Judge, policy
from tests.kyverno.objects import from_file
from tests.shared_data import shared_dir

pytestmark = [pytest.mark.tools, pytest.mark.corpora]

PRIVILEGED = """
- name: privileged
  match: {any: [{resources: {kinds: [Pod]}}]}
  validate:
    message: no privileged container
    pattern:
      spec:
        "=(ephemeralContainers)": [{"=(securityContext)": {"=(privileged)": "false"}}]
        "=(initContainers)": [{"=(securityContext)": {"=(privileged)": "false"}}]
        containers: [{"=(securityContext)": {"=(privileged)": "false"}}]
"""
LOOP = """
- name: privileged
  match: {any: [{resources: {kinds: [Pod]}}]}
  validate:
    message: no privileged container
    foreach:
    - list: "%s"
      deny: {conditions: {any: [{key: "{{element.securityContext.privileged || `false`}}", operator: Equals, value: true}]}}
"""


def test_04_every_kind_of_container_is_looked_at(judge: Judge) -> None:
    items = from_file(shared_dir("cases", "04-init-and-ephemeral-containers") / "pod.yaml")
    lists = {
        "containers": "request.object.spec.containers",
        "init": "request.object.spec.initContainers",
        "ephemeral": "request.object.spec.ephemeralContainers",
    }
    text = policy("all", PRIVILEGED) + "".join(policy(name, LOOP % path) for name, path in lists.items())
    found = judge(text, items)
    name = items[0].ref.name
    assert found.outcome("all/privileged", name) == "fail"
    assert found.of("all/privileged", name).violations[0].container not in ("", "main")
    assert {key: found.outcome(f"{key}/privileged", name) for key in lists} == {
        "containers": "pass",
        "init": "fail",
        "ephemeral": "fail",
    }


def test_05_a_cronjob_is_judged_three_levels_down(judge: Judge) -> None:
    folder = shared_dir("cases", "05-cronjob-nested-template")
    items = from_file(folder / "cronjob.yaml")
    value = json.loads(items[0].raw)
    spec = value["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    key, wrong = next((k, v) for k, v in spec.items() if isinstance(v, bool))
    rule = f"""
- name: setting
  match: {{any: [{{resources: {{kinds: [Pod]}}}}]}}
  validate: {{message: not so, pattern: {{spec: {{{key}: "{str(not wrong).lower()}"}}}}}}
"""
    found = judge(policy("nested", rule), items)
    answer = found.of("nested/setting", items[0].ref.name)
    assert answer.outcome.value == "fail"
    assert answer.violations[0].path == ("spec", "jobTemplate", "spec", "template", "spec", key)
    assert len(found.answers[0]) == 1  # once, whatever Kyverno generates


def test_11_an_absent_field_is_never_a_silent_pass(judge: Judge) -> None:
    items = from_file(shared_dir("cases", "04-init-and-ephemeral-containers") / "pod.yaml")
    rule = """
- name: owner
  match: {any: [{resources: {kinds: [Pod]}}]}
  validate:
    message: an owner is needed
    deny: {conditions: {any: [{key: "{{request.object.metadata.labels.nobodyhasthis}}", operator: Equals, value: ""}]}}
"""
    found = judge(policy("absent", rule), items)
    answer = found.of("absent/owner", items[0].ref.name)
    assert answer.outcome.value == "error"
    assert "nobodyhasthis" in answer.message


def test_12_no_object_of_the_kind_gives_no_answer_at_all(judge: Judge) -> None:
    items = from_file(shared_dir("cases", "12-nothing-evaluated-is-not-100") / "configmap-only.yaml")
    found = judge(policy("all", PRIVILEGED), items)
    assert found.answers == [[] for _ in items]
    assert found.runs == 1  # the trial; nothing is due, so nothing is run
