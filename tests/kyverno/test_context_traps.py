"""Rules that read more than their subject: namespace labels, other objects, users, the network."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from audit.errors import ConfigError
from audit.evaluate.kyverno import KyvernoOptions
from audit.evaluate.kyverno.request import Request, load_request
from tests.kyverno.conftest import NO_LATEST, Judge, pod, policy

pytestmark = pytest.mark.tools
NAMESPACES = """
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {tier: gold}}
---
apiVersion: v1
kind: Namespace
metadata: {name: bank}
"""
GOLD = NO_LATEST.replace("kinds: [Pod]", "kinds: [Pod], namespaceSelector: {matchLabels: {tier: gold}}")


def test_namespace_labels_come_from_collected_namespaces(judge: Judge) -> None:
    pods = (
        pod("in", "nginx:latest")
        + pod("out", "nginx:latest", "bank")
        + pod("lost", "nginx:latest", "nowhere")
    )
    found = judge(policy("gold", GOLD), pods, seen=NAMESPACES)
    assert found.outcome("gold/no-latest", "in") == "fail"
    assert found.outcome("gold/no-latest", "out") == "skip not_selected"
    assert found.outcome("gold/no-latest", "lost") == "error namespace_unknown"
    assert [need.kinds for need in found.build.rules[0].context] == [("Namespace",)]


def test_a_namespaces_own_name_label_is_always_known(judge: Judge) -> None:
    rule = GOLD.replace("{tier: gold}", "{kubernetes.io/metadata.name: nowhere}")
    pods = pod("here", "nginx:latest", "nowhere") + pod("there", "nginx:latest", "elsewhere")
    found = judge(policy("name", rule), pods)
    assert found.outcome("name/no-latest", "there") == "skip not_selected"
    # Selected, says the label, but offline the CLI has no labels at all: a missing row, and so an error.
    assert found.outcome("name/no-latest", "here") == "error missing_row"


def test_a_configmap_is_read_from_the_inventory_and_missed_loudly(judge: Judge) -> None:
    rule = """
- name: allowed
  match: {any: [{resources: {kinds: [Pod]}}]}
  context: [{name: allowed, configMap: {name: "%s", namespace: policies}}]
  validate:
    message: "allowed is {{allowed.data.image}}"
    deny: {conditions: {any: [{key: "{{request.object.spec.containers[0].image}}", operator: NotEquals, value: "{{allowed.data.image || 'nginx:1.27'}}"}]}}
"""
    seen = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: known, namespace: policies}\ndata: {image: 'nginx:1.27'}\n"
    text = (
        policy("known", rule % "known")
        + policy("missing", rule % "gone")
        + policy("computed", rule % "{{request.object.metadata.labels.list || 'known'}}")
    )
    found = judge(text, pod("good") + pod("bad", "nginx:1.26"), seen=seen)
    assert found.outcome("known/allowed", "good") == "pass"
    assert found.outcome("known/allowed", "bad") == "fail"
    assert "allowed is nginx:1.27" in found.of("known/allowed", "bad").violations[0].message
    assert found.outcome("computed/allowed", "bad") == "fail"
    # The fallback after || would have made a pass of it.
    assert found.outcome("missing/allowed", "good") == "error kyverno_error"
    assert "not found" in found.of("missing/allowed", "good").message


COUNT = """
- name: count
  match: {any: [{resources: {kinds: [Pod]}}]}
  context: [{name: number, apiCall: {urlPath: "%s", jmesPath: "items | length(@)"}}]
  validate:
    message: "there are {{number}}"
    deny: {conditions: {any: [{key: "{{number}}", operator: LessThan, value: 1}]}}
"""
SERVICE = "---\napiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: shop}\nspec: {}\n"


def test_api_calls_are_answered_from_the_inventory(judge: Judge) -> None:
    path = "/api/v1/namespaces/{{request.namespace}}/services"
    found = judge(policy("svc", COUNT % path), pod("with") + pod("without", namespace="bank"), seen=SERVICE)
    assert found.outcome("svc/count", "with") == "pass"
    assert found.outcome("svc/count", "without") == "fail"
    assert found.build.rules[0].context[0].kinds == ("Service",)


def test_a_kind_of_which_there_is_nothing_does_not_panic(judge: Judge) -> None:
    path = "/apis/policy/v1/namespaces/{{request.namespace}}/poddisruptionbudgets"
    whole = "/apis/policy/v1/poddisruptionbudgets"
    found = judge(policy("here", COUNT % path) + policy("all", COUNT % whole), pod("p"))
    assert found.outcome("here/count", "p") == "fail"
    assert found.outcome("all/count", "p") == "error context_empty"
    assert found.runs == 2


def test_a_judged_object_that_is_also_context_is_handed_over_once(judge: Judge) -> None:
    path = "/api/v1/namespaces/{{request.namespace}}/pods"
    found = judge(policy("pods", COUNT % path), pod("a") + pod("b"))
    assert [found.outcome("pods/count", name) for name in ("a", "b")] == ["pass", "pass"]


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ("apiCall: {urlPath: '/apis/{{request.object.metadata.name}}/v1/things'}", "needs_api_server"),
        (
            "apiCall: {urlPath: /apis/authorization.k8s.io/v1/subjectaccessreviews, method: POST, data: []}",
            "needs_api_server",
        ),
        (
            "apiCall: {method: POST, data: [], service: {url: 'https://example.com', caBundle: x}}",
            "needs_network",
        ),
        ("imageRegistry: {reference: 'nginx:1'}", "needs_network"),
        ("globalReference: {name: nowhere}", "needs_global_context"),
    ],
    ids=["computed kind", "post", "service", "registry", "global"],
)
def test_what_no_offline_run_can_answer_is_an_error_and_never_runs(
    judge: Judge, entry: str, code: str
) -> None:
    rule = NO_LATEST.replace("  validate:", f"  context: [{{name: found, {entry}}}]\n  validate:")
    rule = rule.replace("The tag latest is not allowed.", "{{found || 'x'}}")
    found = judge(
        policy("needs", rule + NO_LATEST.replace("name: no-latest", "name: plain")), pod("p", "nginx:latest")
    )
    assert found.outcome("needs/no-latest", "p") == f"error {code}"
    assert "can't answer this offline" in found.of("needs/no-latest", "p").message
    assert found.outcome("needs/plain", "p") == "fail"


def test_global_context_entries_over_objects_are_answered(judge: Judge) -> None:
    entry = """
---
apiVersion: kyverno.io/v2alpha1
kind: GlobalContextEntry
metadata: {name: services}
spec: {kubernetesResource: {version: v1, resource: services, namespace: shop}}
"""
    rule = """
- name: count
  match: {any: [{resources: {kinds: [Pod]}}]}
  context: [{name: number, globalReference: {name: services, jmesPath: "length(@)"}}]
  validate:
    message: "there are {{number}}"
    deny: {conditions: {any: [{key: "{{number}}", operator: GreaterThan, value: 0}]}}
"""
    found = judge(policy("global", rule) + entry, pod("p"), seen=SERVICE)
    assert found.outcome("global/count", "p") == "fail", found.of("global/count", "p").message
    assert "there are 1" in found.of("global/count", "p").violations[0].message


def test_images_that_are_not_meant_need_no_registry(judge: Judge) -> None:
    rule = """
- name: signed
  match: {any: [{resources: {kinds: [Pod]}}]}
  verifyImages: [{imageReferences: ["registry.example/*"], attestors: [{entries: [{keys: {publicKeys: "k8s://a/b"}}]}]}]
"""
    found = judge(policy("signed", rule), pod("ours", "registry.example/app:1") + pod("other"))
    assert found.outcome("signed/signed", "ours") == "error needs_network"
    assert found.outcome("signed/signed", "other") == "skip no_matching_image"
    assert found.runs == 0  # nothing is left for the CLI


def test_values_and_a_user_may_be_given(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text(
        yaml.safe_dump(
            {
                "apiVersion": "cli.kyverno.io/v1alpha1",
                "kind": "Values",
                "globalValues": {"request.operation": "UPDATE"},
                "policies": [
                    {
                        "name": "given",
                        "rules": [{"name": "no-latest", "values": {"found.tag": "nginx:latest"}}],
                    }
                ],
                "namespaceSelector": [{"name": "nowhere", "labels": {"tier": "gold"}}],
            }
        ),
        encoding="utf-8",
    )
    (tmp_path / "user.yaml").write_text(
        yaml.safe_dump(
            {"apiVersion": "cli.kyverno.io/v1alpha1", "kind": "UserInfo", "userInfo": {"username": "alice"}}
        ),
        encoding="utf-8",
    )
    request = load_request(tmp_path / "values.yaml", tmp_path / "user.yaml")
    given = """
- name: no-latest
  match: {any: [{resources: {kinds: [Pod]}}]}
  context: [{name: found, imageRegistry: {reference: "x"}}]
  validate: {message: m, deny: {conditions: {any: [{key: "{{request.object.spec.containers[0].image}}", operator: Equals, value: "{{found.tag}}"}]}}}
"""
    update = NO_LATEST.replace("kinds: [Pod]", "kinds: [Pod], operations: [UPDATE]")
    create = NO_LATEST.replace("kinds: [Pod]", "kinds: [Pod], operations: [CREATE]")
    bob = NO_LATEST.replace("kinds: [Pod]}", "kinds: [Pod]}, subjects: [{kind: User, name: bob}]")
    alice = bob.replace("bob", "al*")
    quiet = "  background: false\n"
    text = (
        policy("given", given) + policy("update", update, spec=quiet) + policy("create", create, spec=quiet)
    )
    text += policy("bob", bob, spec=quiet) + policy("alice", alice, spec=quiet) + policy("gold", GOLD)
    found = judge(text, pod("p", "nginx:latest", "nowhere"), options=KyvernoOptions(jobs=1, request=request))
    outcomes = {
        name: found.outcome(f"{name}/no-latest", "p")
        for name in ("given", "update", "create", "bob", "alice", "gold")
    }
    assert outcomes == {
        "given": "fail",
        "update": "fail",
        "create": "skip not_selected",
        "bob": "skip not_selected",
        "alice": "fail",
        "gold": "fail",
    }


def test_a_broken_request_file_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text("- a\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="must be a mapping"):
        load_request(tmp_path / "values.yaml")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_request(tmp_path / "missing.yaml")
    assert load_request() == Request()
