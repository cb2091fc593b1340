"""Policies that the CLI skips, half-reads or applies to more than they say: each is found out and named."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.evaluate.kyverno import KyvernoOptions, build_kyverno
from audit.evaluate.kyverno.binary import KyvernoCli
from audit.library.kyverno import load_kyverno
from audit.library.rules import PolicySource
from audit.model.rule import Severity
from tests.kyverno.conftest import NO_LATEST, NOW, Judge, pod, policy

pytestmark = pytest.mark.tools
LATEST = policy("tags", NO_LATEST)
DEPLOYMENT = """
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {template: {spec: {containers: [{name: main, image: "nginx:latest"}]}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: shop}
spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: main, image: "nginx:latest"}]}}}}}
"""


def test_generated_rules_are_folded_into_the_rule_they_come_from(judge: Judge) -> None:
    found = judge(LATEST, DEPLOYMENT + pod("p"))
    assert [rule.id for rule in found.build.rules] == ["kyverno:tags/no-latest"]
    assert found.outcome("tags/no-latest", "web") == "fail"
    path = found.of("tags/no-latest", "web").violations[0].path
    assert path == ("spec", "template", "spec", "containers", 0, "image")
    nightly = found.of("tags/no-latest", "nightly").violations[0]
    assert nightly.path[:4] == ("spec", "jobTemplate", "spec", "template")
    assert nightly.container == "main"


def test_the_controllers_annotation_limits_the_kinds(judge: Judge) -> None:
    head = "  annotations: {pod-policies.kyverno.io/autogen-controllers: 'DaemonSet,CronJob'}\n"
    found = judge(policy("tags", NO_LATEST, head=head), DEPLOYMENT)
    assert found.answers[0] == []  # Deployment: not one of the rule's kinds
    assert found.outcome("tags/no-latest", "nightly") == "fail"


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (LATEST.replace("pattern:", "patern:").replace("name: tags", "name: typo"), "no such field"),
        (LATEST.replace("name: no-latest", "name: n").replace("name: tags", "name: typo"), "spec.rules.0.name"),
        (LATEST.replace("kind: ClusterPolicy", "kind: ClusterPolcy"), "ClusterPolcy is no kind of kyverno.io"),
        (LATEST.replace("kyverno.io/v1", "kyverno.io/v7"), "kyverno.io has no version v7"),
        (LATEST.replace("name: tags", "name: typo").replace("Pod", "Pod, Deployment").replace("kinds: [", "kinds: ["
            ).replace("pattern: {spec", "pattern: {spec"), ""),
        ("---\nkind: [\n", "is not YAML"),
    ],
    ids=["unknown field", "rule called n", "kind", "version", "control", "no YAML"],
)  # fmt: skip
def test_one_bad_policy_is_one_gap_and_the_others_are_judged(judge: Judge, broken: str, says: str) -> None:
    found = judge(policy("fine", NO_LATEST) + broken, pod("p", "nginx:latest"))
    assert found.outcome("fine/no-latest", "p") == "fail"
    if says:
        (gap,) = found.build.gaps
        assert says in gap.reason
        assert gap.kind.value == "policy"
        assert gap.kinds == ()
        assert gap.source == "policies.yaml"
    else:
        assert found.gaps == []


def test_a_context_variable_called_n_is_found_by_the_trial(judge: Judge) -> None:
    rule = NO_LATEST.replace("  validate:", "  context: [{name: n, variable: {value: 1}}]\n  validate:")
    found = judge(policy("bad", rule) + LATEST, pod("p", "nginx:latest"))
    (gap,) = found.gaps
    assert "ClusterPolicy bad" in gap
    assert "boolean" in gap
    assert found.outcome("tags/no-latest", "p") == "fail"


def test_an_invalid_policy_is_named_with_kyvernos_reason(judge: Judge) -> None:
    rule = NO_LATEST.replace('message: "The tag latest is not allowed."', 'message: "{{nobody}}"')
    found = judge(policy("bad", rule) + LATEST, pod("p"))
    (gap,) = found.gaps
    assert "variable nobody must match" in gap
    assert [rule.id for rule in found.build.rules] == ["kyverno:tags/no-latest"]


def test_a_wildcard_policy_with_background_is_a_gap(judge: Judge) -> None:
    found = judge(policy("wild", NO_LATEST.replace("[Pod]", '["*"]')) + LATEST, pod("p"))
    (gap,) = found.gaps
    assert "wildcard policy not allowed in background mode" in gap


def test_mutating_and_generating_rules_change_nothing_and_are_named(judge: Judge) -> None:
    rules = (
        NO_LATEST
        + """
- name: mutate
  match: {any: [{resources: {kinds: [Pod]}}]}
  mutate: {patchStrategicMerge: {spec: {containers: [{(name): "*", image: "nginx:1"}]}}}
- name: generate
  match: {any: [{resources: {kinds: [Namespace]}}]}
  generate: {apiVersion: v1, kind: ConfigMap, name: c, namespace: "{{request.object.metadata.name}}", data: {data: {a: b}}}
"""
    )
    others = """
---
apiVersion: kyverno.io/v2
kind: ClusterCleanupPolicy
metadata: {name: clean}
spec: {}
---
apiVersion: policies.kyverno.io/v1
kind: MutatingPolicy
metadata: {name: mutating}
spec: {}
---
apiVersion: policies.kyverno.io/v1
kind: DeletingPolicy
metadata: {name: deleting}
spec: {}
---
apiVersion: policies.kyverno.io/v1
kind: GeneratingPolicy
metadata: {name: generating}
spec: {}
"""
    found = judge(policy("tags", rules) + others, pod("p", "nginx:latest"))
    # Mutated first, as in an admission, the image would pass: the object itself is judged.
    assert found.outcome("tags/no-latest", "p") == "fail"
    assert found.gaps == []
    named = [notice.message for notice in found.build.notices if notice.code == "not_an_audit_rule"]
    assert len(named) == 5
    assert any("2 of its rules change or create objects" in text for text in named)
    for name in ("clean", "mutating", "deleting", "generating"):
        assert any(name in text for text in named)


def test_words_come_from_annotations(judge: Judge) -> None:
    head = """  annotations:
    policies.kyverno.io/title: No latest
    policies.kyverno.io/category: Best Practices
    policies.kyverno.io/severity: HIGH
    policies.kyverno.io/description: >-
      The tag latest
      moves.
"""
    found = judge(policy("tags", NO_LATEST, head=head) + policy("bare", NO_LATEST), pod("p"))
    rules = {rule.id: rule for rule in found.build.rules}
    told = rules["kyverno:tags/no-latest"]
    assert (told.title, told.category, told.severity) == ("No latest", "Best Practices", Severity.HIGH)
    assert told.description == "The tag latest moves."
    assert told.remediation == "The tag latest is not allowed."
    assert (told.engine, told.file, told.builtin) == ("kyverno", "policies.yaml", False)
    assert rules["kyverno:bare/no-latest"].severity is Severity.MEDIUM
    (assumed,) = [notice for notice in found.build.notices if notice.code == "severity_assumed"]
    assert assumed.count == 1
    assert "medium" in assumed.message


def test_unscored_policies_warn(judge: Judge) -> None:
    head = "  annotations: {policies.kyverno.io/scored: 'false'}\n"
    found = judge(policy("tags", NO_LATEST, head=head), pod("p", "nginx:latest"))
    assert found.outcome("tags/no-latest", "p") == "warn"
    assert found.build.rules[0].warn_only


def test_enforce_and_audit_fail_alike(judge: Judge) -> None:
    text = policy("audit", NO_LATEST, spec="  validationFailureAction: Audit\n") + policy(
        "enforce", NO_LATEST, spec="  validationFailureAction: Enforce\n"
    )
    found = judge(text, pod("p", "nginx:latest"))
    assert found.outcome("audit/no-latest", "p") == found.outcome("enforce/no-latest", "p") == "fail"


def test_namespaced_policies_judge_their_namespace(judge: Judge) -> None:
    head = "  namespace: shop\n"
    text = (
        policy("tags", NO_LATEST, kind="Policy", head=head)
        + policy("bare", NO_LATEST, kind="Policy")
        + LATEST
    )
    objects = (
        pod("in", "nginx:latest") + pod("out", "nginx:latest", "bank") + pod("d", "nginx:latest", "default")
    )
    found = judge(text, objects)
    assert found.outcome("shop:tags/no-latest", "in") == "fail"
    assert found.outcome("shop:tags/no-latest", "out") == "skip not_selected"
    assert found.outcome("bare/no-latest", "d") == "fail"
    assert found.outcome("bare/no-latest", "in") == "skip not_selected"
    assert found.outcome("tags/no-latest", "out") == "fail"  # printed in another report of the same stream


def test_a_loop_over_nothing_is_a_skip_and_not_a_hole(judge: Judge) -> None:
    rule = """
- name: volumes
  match: {any: [{resources: {kinds: [Pod]}}]}
  validate:
    message: no host paths
    foreach: [{list: "request.object.spec.volumes", deny: {conditions: {any: [{key: "{{element.hostPath || ''}}", operator: NotEquals, value: ""}]}}}]
"""
    bad = pod("bad") + "  volumes: [{name: v, hostPath: {path: /}}]\n"
    good = pod("good") + "  volumes: [{name: v, emptyDir: {}}]\n"
    found = judge(policy("loop", rule), bad + good + pod("none"))
    assert found.outcome("loop/volumes", "bad") == "fail"
    assert found.outcome("loop/volumes", "good") == "pass"
    assert found.outcome("loop/volumes", "none") == "skip no_elements"


def test_only_the_first_applied_rule_answers_under_apply_one(judge: Judge) -> None:
    rules = NO_LATEST + NO_LATEST.replace("name: no-latest", "name: second")
    found = judge(policy("one", rules, spec="  applyRules: One\n"), pod("p"))
    assert found.outcome("one/no-latest", "p") == "pass"
    assert found.outcome("one/second", "p") == "skip another_rule_applied"


def test_conditions_outside_the_rules_are_asked_for(judge: Judge) -> None:
    spec = """  webhookConfiguration:
    matchConditions: [{name: only-shop, expression: "object.metadata.namespace == 'shop'"}]
"""
    one = policy("one", NO_LATEST, spec=f"  applyRules: One\n{spec}")
    pods = pod("in", "nginx:latest") + pod("out", "nginx:latest", "bank")
    found = judge(policy("tags", NO_LATEST, spec=spec) + one, pods)
    for name in ("tags", "one"):
        assert found.outcome(f"{name}/no-latest", "in") == "fail"
        assert found.outcome(f"{name}/no-latest", "out") == "skip conditions_not_met"


def test_a_status_that_would_silence_the_rule_is_not_handed_over(judge: Judge) -> None:
    rule = """
- name: tags
  match: {any: [{resources: {kinds: [Pod]}}]}
  validate: {cel: {expressions: [{expression: "object.spec.containers.all(c, !c.image.endsWith(':latest'))", message: no latest}]}}
"""
    text = (
        policy("cel", rule)
        + "status: {validatingadmissionpolicy: {generated: true, message: ''}, autogen: {}}\n"
    )
    found = judge(text, pod("p", "nginx:latest"))
    assert found.outcome("cel/tags", "p") == "fail"


def test_preconditions_not_met_are_a_skip(judge: Judge) -> None:
    rule = NO_LATEST.replace(
        "  validate:", "  preconditions: {all: [{key: a, operator: Equals, value: b}]}\n  validate:"
    )
    assert judge(policy("pre", rule), pod("p")).outcome("pre/no-latest", "p") == "skip conditions_not_met"


def test_rules_about_users_and_operations_are_marked(judge: Judge) -> None:
    user = """
- name: bob
  match: {any: [{resources: {kinds: [Pod]}, subjects: [{kind: User, name: bob}]}]}
  validate: {message: refused, deny: {}}
"""
    update = """
- name: update
  match: {any: [{resources: {kinds: [Pod], operations: [UPDATE, DELETE]}}]}
  validate: {message: refused, deny: {}}
"""
    text = policy("users", user, spec="  background: false\n") + policy(
        "ops", update, spec="  background: false\n"
    )
    found = judge(text + LATEST, pod("p"))
    rules = {rule.id: rule.caveats for rule in found.build.rules}
    assert rules["kyverno:users/bob"] == ("depends_on_user", "admission_only")
    assert rules["kyverno:ops/update"] == ("depends_on_operation", "admission_only")
    assert rules["kyverno:tags/no-latest"] == ()
    assert (
        found.outcome("users/bob", "p") == "fail"
    )  # without a user the CLI ignores the filter, hence the mark
    assert found.outcome("ops/update", "p") == "skip not_selected"


def test_folders_hidden_files_json_and_lists(cli: KyvernoCli, tmp_path: Path) -> None:
    import json

    import yaml

    one, two = (yaml.safe_load(policy(name, NO_LATEST)) for name in ("one", "two"))
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "one.json").write_text(json.dumps(one), encoding="utf-8")
    listed = {"apiVersion": "v1", "kind": "List", "items": [two]}
    (tmp_path / "list.yml").write_text(yaml.safe_dump(listed), encoding="utf-8")
    (tmp_path / ".hidden.yaml").write_text(policy("three", NO_LATEST), encoding="utf-8")
    (tmp_path / "resource.yaml").write_text(pod("not-a-policy"), encoding="utf-8")
    (tmp_path / "broken.yaml").write_bytes(b"\xff\xfe\x00")
    loaded = load_kyverno([PolicySource(path=tmp_path, label=".", builtin=False)])
    hidden = load_kyverno([PolicySource(path=tmp_path / ".hidden.yaml", label="h", builtin=False)])
    build = build_kyverno(loaded, NOW, KyvernoOptions(jobs=1))
    build.close()
    assert [rule.id for rule in build.rules] == ["kyverno:one/no-latest", "kyverno:two/no-latest"]
    (gap,) = build.gaps
    assert gap.source == "./broken.yaml"
    assert [rule.id for rule in hidden.rules] == ["kyverno:three/no-latest"]


def test_rules_of_one_id_are_refused(judge: Judge) -> None:
    found = judge(LATEST + LATEST, pod("p"))
    (gap,) = found.gaps
    assert "kyverno:tags/no-latest is already defined in policies.yaml" in gap
    assert found.outcome("tags/no-latest", "p") == "pass"


def test_subresource_rules_concern_no_stored_object(judge: Judge) -> None:
    rule = NO_LATEST.replace("[Pod]", "[Node/status]")
    found = judge(policy("sub", rule) + LATEST, pod("p"))
    assert found.answers[0][0].rule == "kyverno:tags/no-latest"
    assert len(found.answers[0]) == 1


def test_equal_inputs_give_equal_answers(judge: Judge) -> None:
    rule = """
- name: restricted
  match: {any: [{resources: {kinds: [Pod]}}]}
  validate: {podSecurity: {level: restricted, version: latest}}
"""
    text = pod("p") + pod("q", "nginx:latest")
    first, second = (judge(policy("pss", rule) + LATEST, text) for _ in range(2))
    assert first.answers == second.answers
    assert first.outcome("pss/restricted", "p") == "fail"
