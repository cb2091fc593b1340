"""Policies in CEL: Kyverno's ValidatingPolicy and Kubernetes' ValidatingAdmissionPolicy."""

from __future__ import annotations

import pytest

from tests.kyverno.conftest import Judge, pod

pytestmark = pytest.mark.tools


def validating(
    name: str,
    expression: str = "object.spec.containers.all(c, !c.image.endsWith(':latest'))",
    *,
    kind: str = "ValidatingPolicy",
    group: str = "",
    resources: str = "pods",
    head: str = "",
    spec: str = "",
    constraints: str = "",
) -> str:
    return f"""
---
apiVersion: policies.kyverno.io/v1
kind: {kind}
metadata:
  name: {name}
{head}spec:
{spec}  matchConstraints:
{constraints}    resourceRules:
    - {{apiGroups: ["{group}"], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [{resources}]}}
  validations:
  - expression: "{expression}"
    message: no latest
"""


DEPLOYMENT = """
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec: {template: {spec: {containers: [{name: main, image: "nginx:latest"}]}}}
"""


def test_validating_policies_judge_pods_and_their_controllers(judge: Judge) -> None:
    found = judge(validating("tags"), pod("good") + pod("bad", "nginx:latest") + DEPLOYMENT)
    assert found.outcome("tags/validate", "good") == "pass"
    assert found.outcome("tags/validate", "bad") == "fail"
    assert found.outcome("tags/validate", "web") == "fail"
    assert found.of("tags/validate", "web").violations[0].message == "no latest"


def test_controllers_can_be_chosen(judge: Judge) -> None:
    spec = "  autogen: {podControllers: {controllers: [statefulsets]}}\n"
    found = judge(validating("tags", spec=spec), pod("bad", "nginx:latest") + DEPLOYMENT)
    assert found.outcome("tags/validate", "bad") == "fail"
    assert found.answers[1] == []


def test_match_conditions_that_do_not_hold_are_a_skip(judge: Judge) -> None:
    spec = "  matchConditions: [{name: shop, expression: \"object.metadata.namespace == 'shop'\"}]\n"
    found = judge(
        validating("tags", spec=spec), pod("in", "nginx:latest") + pod("out", "nginx:latest", "bank")
    )
    assert found.outcome("tags/validate", "in") == "fail"
    assert found.outcome("tags/validate", "out") == "skip conditions_not_met"


def test_an_expression_that_fails_is_an_error(judge: Judge) -> None:
    found = judge(validating("tags", "object.spec.nothing == 1"), pod("p"))
    assert found.outcome("tags/validate", "p") == "error kyverno_error"
    assert "nothing" in found.of("tags/validate", "p").message


def test_a_policy_that_does_not_compile_takes_no_other_with_it(judge: Judge) -> None:
    typo = validating("typo").replace("validations:", "validatons:")
    found = judge(validating("bad", "object.spec..") + typo + validating("tags"), pod("p", "nginx:latest"))
    assert found.outcome("tags/validate", "p") == "fail"
    reasons = sorted(found.gaps)
    assert len(reasons) == 2
    assert "ValidatingPolicy bad" in reasons[0]
    assert "failed to compile policy bad" in reasons[0]
    assert "spec.validatons: no such field" in reasons[1]


def test_a_namespaced_policy_judges_its_namespace_only(judge: Judge) -> None:
    text = validating("tags", kind="NamespacedValidatingPolicy", head="  namespace: shop\n")
    found = judge(text, pod("in", "nginx:latest") + pod("out", "nginx:latest", "bank"))
    assert found.outcome("shop:tags/validate", "in") == "fail"
    assert found.outcome("shop:tags/validate", "out") == "skip not_selected"


def test_an_object_selector_is_asked_about_the_object_only(judge: Judge) -> None:
    selector = "    objectSelector: {matchExpressions: [{key: exempt, operator: DoesNotExist}]}\n"
    exempt = pod("exempt", "nginx:latest").replace(
        "namespace: shop}", "namespace: shop, labels: {exempt: 'yes'}}"
    )
    found = judge(validating("tags", constraints=selector), exempt + pod("bad", "nginx:latest"))
    assert found.outcome("tags/validate", "exempt") == "skip not_selected"
    assert found.outcome("tags/validate", "bad") == "fail"


def test_namespace_labels_reach_selectors_and_expressions(judge: Judge) -> None:
    seen = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {tier: gold}}\n"
    selector = "    namespaceSelector: {matchLabels: {tier: gold}}\n"
    reads = "namespaceObject.metadata.labels['tier'] == 'silver'"
    text = validating("selected", constraints=selector) + validating("reads", reads)
    found = judge(text, pod("in", "nginx:latest") + pod("lost", "nginx:latest", "nowhere"), seen=seen)
    assert found.outcome("selected/validate", "in") == "fail"
    assert found.outcome("selected/validate", "lost") == "error namespace_unknown"
    assert found.outcome("reads/validate", "in") == "fail"
    assert found.outcome("reads/validate", "lost").startswith("error")


WIDGET = """
---
apiVersion: shop.example/v1
kind: Mouse
metadata: {name: m, namespace: shop}
spec: {tail: short}
"""
DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: mice.shop.example}
spec:
  group: shop.example
  scope: Namespaced
  names: {plural: mice, singular: mouse, kind: Mouse}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
"""


def test_an_irregular_plural_needs_its_definition(judge: Judge) -> None:
    text = validating("tails", "object.spec.tail == 'long'", group="shop.example", resources="mice")
    with_definition = judge(text, WIDGET, seen=DEFINITION)
    assert with_definition.outcome("tails/validate", "m") == "fail"
    without = judge(text, WIDGET)
    assert without.outcome("tails/validate", "m") == "skip not_selected"  # "mouses" are not "mice"


def test_objects_are_read_from_the_inventory(judge: Judge) -> None:
    seen = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: allowed, namespace: shop}\ndata: {image: 'nginx:1'}\n"
    get = "resource.Get('v1', 'configmaps', object.metadata.namespace, 'allowed').data.image == object.spec.containers[0].image"
    whole = "resource.List('v1', 'configmaps', '').items.size() > 0"
    text = (
        validating("get", get)
        + validating("whole", whole)
        + validating("post", "http.Get('http://example.com').ok")
    )
    found = judge(
        text, pod("good", "nginx:1") + pod("bad", "nginx:2") + pod("lost", "nginx:1", "bank"), seen=seen
    )
    assert found.outcome("get/validate", "good") == "pass"
    assert found.outcome("get/validate", "bad") == "fail"
    assert found.outcome("get/validate", "lost") == "error kyverno_error"
    assert found.outcome("whole/validate", "good") == "error needs_api_server"
    assert found.outcome("post/validate", "good") == "error needs_network"


def test_image_policies_are_errors_only_where_an_image_is_meant(judge: Judge) -> None:
    text = """
apiVersion: policies.kyverno.io/v1
kind: ImageValidatingPolicy
metadata: {name: signed}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  matchImageReferences: [{glob: "registry.example/*"}]
  attestors: [{name: a, cosign: {key: {data: x}}}]
  validations: [{expression: "images.containers.map(i, verifyImageSignatures(i, [attestors.a])).all(n, n > 0)", message: unsigned}]
"""
    found = judge(text, pod("ours", "registry.example/app:1") + pod("other"))
    assert found.outcome("signed/verify-images", "ours") == "error needs_network"
    assert found.outcome("signed/verify-images", "other") == "skip no_matching_image"


def test_other_evaluation_modes_are_named(judge: Judge) -> None:
    found = judge(validating("json", spec="  evaluation: {mode: JSON}\n") + validating("tags"), pod("p"))
    assert any("judges JSON payloads" in notice.message for notice in found.build.notices)
    assert [rule.id for rule in found.build.rules] == ["kyverno:tags/validate"]


def admission(name: str, *, bindings: str = "", params: str = "", expression: str = "") -> str:
    rule = expression or "object.spec.containers.all(c, !c.image.endsWith(':latest'))"
    return f"""
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: {name}}}
spec:
  failurePolicy: Fail
{params}  matchConstraints:
    resourceRules: [{{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}}]
  validations: [{{expression: "{rule}", message: no latest}}]
{bindings}"""


def binding(name: str, policy: str, extra: str = "") -> str:
    return f"""---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: {name}}}
spec:
  policyName: {policy}
  validationActions: [Deny]
{extra}"""


CONFIG = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop}\ndata: {}\n"


def test_an_admission_policys_own_constraints_hold_with_a_binding(judge: Judge) -> None:
    every = (
        "    resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*']}]\n"
    )
    text = admission("tags", bindings=binding("b", "tags", f"  matchResources:\n{every}"))
    found = judge(text, pod("good") + pod("bad", "nginx:latest") + CONFIG)
    assert found.outcome("tags/admission", "good") == "pass"
    assert found.outcome("tags/admission", "bad") == "fail"
    assert found.answers[2] == []  # a ConfigMap is none of its kinds, whatever the CLI makes of it
    assert found.build.rules[0].caveats == ()


def test_every_binding_counts_not_only_the_last(judge: Judge) -> None:
    one = binding("one", "tags", "  matchResources: {namespaceSelector: {matchLabels: {tier: gold}}}\n")
    two = binding("two", "tags", "  matchResources: {namespaceSelector: {matchLabels: {tier: none}}}\n")
    seen = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {tier: gold}}\n"
    found = judge(admission("tags", bindings=one + two), pod("bad", "nginx:latest"), seen=seen)
    assert found.outcome("tags/admission", "bad") == "fail"
    assert len(found.answers[0]) == 1


def test_an_unbound_admission_policy_is_marked(judge: Judge) -> None:
    found = judge(admission("tags"), pod("bad", "nginx:latest"))
    assert found.outcome("tags/admission", "bad") == "fail"
    assert found.build.rules[0].caveats == ("unbound",)


def test_an_admission_expression_that_fails_is_an_error(judge: Judge) -> None:
    text = admission("broken", expression="object.spec.nothing == 1", bindings=binding("b", "broken"))
    found = judge(text, pod("p"))
    assert found.outcome("broken/admission", "p").startswith("error")


def test_parameters_come_from_the_inventory(judge: Judge) -> None:
    params = "  paramKind: {apiVersion: v1, kind: ConfigMap}\n"
    ref = "  paramRef: {name: limits, namespace: shop, parameterNotFoundAction: Deny}\n"
    text = admission(
        "tags",
        params=params,
        expression="object.spec.containers[0].image == params.data.image",
        bindings=binding("b", "tags", ref),
    )
    seen = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: limits, namespace: shop}\ndata: {image: 'nginx:1'}\n"
    found = judge(text, pod("good", "nginx:1") + pod("bad", "nginx:2"), seen=seen)
    assert found.outcome("tags/admission", "good") == "pass"
    assert found.outcome("tags/admission", "bad") == "fail"


def test_a_kind_the_cli_can_not_map_does_not_abort_the_rest(judge: Judge) -> None:
    every = admission("tags").replace('apiGroups: [""]', 'apiGroups: ["*"]').replace("[v1]", '["*"]')
    every = every.replace("[pods]", "['*']").replace(
        "object.spec.containers.all(c, !c.image.endsWith(':latest'))", "object.metadata.name != 'm'"
    )
    found = judge(every, pod("p") + WIDGET)
    assert found.outcome("tags/admission", "p") == "pass"
    assert found.outcome("tags/admission", "m") == "error unknown_kind"
