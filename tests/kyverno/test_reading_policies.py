"""Reading policies without a CLI: Go's YAML, kinds, generated forms, needs."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from audit.cli.main import main
from audit.errors import ContentError
from audit.library.kyverno import load_kyverno
from audit.library.kyverno.go_yaml import read_documents, resolve
from audit.library.kyverno.needs import object_need
from audit.library.rules import PolicySource
from audit.model.kind_selector import parse_kind_selector
from audit.model.kyverno import LoadedPolicies
from tests.kyverno.conftest import NO_LATEST, policy


def load(tmp_path: Path, text: str, *, builtin: bool = False) -> LoadedPolicies:
    file = tmp_path / "policies.yaml"
    file.write_text(text, encoding="utf-8")
    return load_kyverno([PolicySource(path=file, label="policies.yaml", builtin=builtin)])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("y", True), ("No", False), ("off", False), ("yEs", "yEs"), ("~", None), ("", None), ("null", None),
        ("0777", 511), ("0o17", 15), ("0x1F", 31), ("0b101", 5), ("089", 89), ("1_000", 1000), ("-12", -12),
        ("+1", 1), ("1:30", "1:30"), ("2026-01-01", "2026-01-01"), ("1.0", 1), ("1.5", 1.5), (".5", 0.5),
        ("1e3", 1000), ("1.2.3", "1.2.3"), ("-", "-"), (".", "."), ("18446744073709551615", 18446744073709551615),
        ("99999999999999999999", 1e20), ("10.0.0.1", "10.0.0.1"), ("<<", "<<"), ("0", 0), ("00", 0), ("08", 8),
    ],
)  # fmt: skip
def test_scalars_are_what_go_makes_of_them(text: str, value: object) -> None:
    found = resolve(text)
    assert found == value
    assert type(found) is type(value)


def test_infinity_can_not_become_json() -> None:
    with pytest.raises(ValueError, match="can't be written as JSON"):
        resolve(".inf")


def test_keys_tags_quotes_and_merges() -> None:
    text = "n: 1\n12: x\n'n': y\nq: \"y\"\ns: !!str 7\ni: !!int '7'\nb: &b {x: 1, y: 2}\nm: {<<: *b, x: 3}\nl: {<<: [*b, {z: 4}]}\n"
    (document,) = read_documents(text, "f")
    assert document.value == {
        "false": 1, "12": "x", "n": True, "q": "y", "s": "7", "i": 7, "b": {"x": 1, "true": 2},
        "m": {"x": 3, "true": 2}, "l": {"x": 1, "true": 2, "z": 4},
    }  # fmt: skip


def test_documents_know_their_lines_and_break_alone() -> None:
    text = "# head\n%YAML 1.1\n---\na: 1\n--- # next\nb: [\n---\n\n\nc: 3\n"
    found = list(read_documents(text, "f.yaml"))
    assert [document.line for document in found] == [4, 5, 10]
    assert found[1].error is not None
    assert found[1].error.place.startswith("f.yaml:")
    assert [document.value for document in found if document.error is None] == [{"a": 1}, {"c": 3}]


def test_an_alias_bomb_is_refused() -> None:
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9))
    (document,) = read_documents(f"a0: &a0 [x, x]\n{levels}", "f")
    assert document.error is not None
    assert "unfolds to more than a policy can hold" in document.error.message


@pytest.mark.parametrize(
    ("selector", "parts"),
    [
        ("Pod", ("*", "*", "Pod", "")),
        ("v1/Pod", ("*", "v1", "Pod", "")),
        ("Pod/exec", ("*", "*", "Pod", "exec")),
        ("Pod.status", ("*", "*", "Pod", "status")),
        ("*/*", ("*", "*", "*", "*")),
        ("*/scale", ("*", "*", "*", "scale")),
        ("apps/v1/Deployment", ("apps", "v1", "Deployment", "")),
        ("v1beta1/Foo/status", ("*", "v1beta1", "Foo", "status")),
        ("apps/*/Deployment/scale", ("apps", "*", "Deployment", "scale")),
        ("a/b/c/d/e", ("", "", "", "")),
    ],
)
def test_kind_selectors(selector: str, parts: tuple[str, str, str, str]) -> None:
    assert parse_kind_selector(selector) == parts


@pytest.mark.parametrize(
    ("kinds", "listed"),
    [
        ("[Service]", ("*/Service",)),
        ("[apps/v1/Deployment]", ("apps/Deployment",)),
        ("['*']", ()),
        ("[shop.example/*/*]", ("shop.example/*",)),
        ("['*Set']", ()),
        ("[Node/status]", ("Node/status",)),
    ],
)
def test_rule_kinds(tmp_path: Path, kinds: str, listed: tuple[str, ...]) -> None:
    loaded = load(tmp_path, policy("p", NO_LATEST.replace("[Pod]", kinds)))
    assert loaded.rules[0].kinds == listed


def test_pod_rules_list_their_controllers(tmp_path: Path) -> None:
    (rule,) = load(tmp_path, policy("p", NO_LATEST)).rules
    assert rule.kinds == (
        "*/Pod", "*/ReplicationController", "apps/DaemonSet", "apps/Deployment", "apps/ReplicaSet", "apps/StatefulSet",
        "batch/CronJob", "batch/Job",
    )  # fmt: skip
    assert rule.matches("apps/Deployment")
    assert rule.matches("Pod")
    assert not rule.matches("Service")


@pytest.mark.parametrize(
    "unfit",
    [
        "kinds: [Pod], name: web",
        "kinds: [Pod], selector: {matchLabels: {a: b}}",
        "kinds: [Pod, Service]",
        "kinds: [v1/Pod]",
        "kinds: [Pod], annotations: {a: b}",
    ],
)
def test_rules_that_kyverno_does_not_generate_from(tmp_path: Path, unfit: str) -> None:
    loaded = load(tmp_path, policy("p", NO_LATEST.replace("kinds: [Pod]", unfit)))
    (rule,) = loaded.policies[0].rules
    assert [variant.row for variant in rule.variants] == ["no-latest"]


def test_one_unfit_rule_stops_generation_for_all(tmp_path: Path) -> None:
    rules = NO_LATEST + NO_LATEST.replace("name: no-latest", "name: second").replace(
        "[Pod]", "[Pod], names: [web]"
    )
    loaded = load(tmp_path, policy("p", rules))
    assert all(len(rule.variants) == 1 for rule in loaded.policies[0].rules)


def test_long_generated_names_are_cut_as_kyverno_cuts_them(tmp_path: Path) -> None:
    name = "x" * 60
    loaded = load(tmp_path, policy("p", NO_LATEST.replace("name: no-latest", f"name: {name}")))
    rows = {variant.row for variant in loaded.policies[0].rules[0].variants}
    assert rows == {name, f"autogen-{name}"[:63], f"autogen-cronjob-{name}"[:63]}


def test_the_annotation_is_split_as_literally_as_kyverno_does(tmp_path: Path) -> None:
    head = "  annotations: {pod-policies.kyverno.io/autogen-controllers: 'Deployment, Job,all'}\n"
    loaded = load(tmp_path, policy("p", NO_LATEST, head=head))
    kinds = {kind for variant in loaded.policies[0].rules[0].variants for kind in variant.kinds}
    assert "Deployment" in kinds
    assert "Job" not in kinds


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("/api/v1/namespaces/{{request.namespace}}/pods", ("", "v1", "Pod", False)),
        ('/api/v1/namespaces/{{a."b/c"}}/services/{{x}}', ("", "v1", "Service", False)),
        ("/apis/apps/v1/deployments?labelSelector=a%3Db", ("apps", "v1", "Deployment", True)),
        ("/api/v1/namespaces", ("", "v1", "Namespace", True)),
        ("/api/v1/namespaces/{{ns}}", ("", "v1", "Namespace", False)),
        ("/apis/{{g}}/v1/things", None),
        ("/apis/shop.example/v1/widgets", None),
        ("/version", None),
        ("", None),
    ],
)
def test_api_paths(url: str, found: tuple[str, str, str, bool] | None) -> None:
    need = object_need(url)
    assert (need and (need.group, need.version, need.kind, need.whole_cluster)) == found


def test_ids_have_one_slash_whatever_the_names(tmp_path: Path) -> None:
    odd = NO_LATEST.replace("name: no-latest", 'name: "Check / the: tag!"')
    loaded = load(tmp_path, policy("p", odd, kind="Policy", head="  namespace: shop\n"))
    assert [rule.id for rule in loaded.rules] == ["kyverno:shop:p/Check-the-tag"]


def test_a_shipped_policy_that_is_wrong_stops_the_load(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match=r"no kind of kyverno\.io") as raised:
        load(tmp_path, policy("p", NO_LATEST).replace("ClusterPolicy", "ClusterPolicies"), builtin=True)
    assert "did you mean ClusterPolicy?" in str(raised.value)


def test_policies_of_other_projects_are_passed_over(tmp_path: Path) -> None:
    others = [
        {"apiVersion": "config.kio.kasten.io/v1alpha1", "kind": "Policy", "metadata": {"name": "a"}},
        {"apiVersion": "cli.kyverno.io/v1alpha1", "kind": "Test", "metadata": {"name": "b"}},
        {"apiVersion": "kyverno.io/v2", "kind": "UpdateRequest", "metadata": {"name": "c"}},
        {"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy", "metadata": {"name": "d"}},
        {"apiVersion": "example.com/v1", "kind": "CleanupPolicy", "metadata": {"name": "e"}},
        {"just": "data"},
    ]
    loaded = load(tmp_path, yaml.safe_dump_all(others))
    assert (loaded.policies, loaded.gaps, loaded.notices) == ((), (), ())


@pytest.mark.parametrize("written", ["kyvrno.io/v1", "kyverno.io", "v1", "policies.kyverno.io/v1"])
def test_a_slip_in_the_group_is_a_gap(tmp_path: Path, written: str) -> None:
    loaded = load(tmp_path, policy("p", NO_LATEST).replace("kyverno.io/v1", written, 1))
    (gap,) = loaded.gaps
    other = "ClusterPolicy is no kind of policies.kyverno.io but of kyverno.io"
    assert (other if written.startswith("policies") else "ClusterPolicy has no apiVersion") in gap.reason


def test_a_missing_file_is_a_gap(tmp_path: Path) -> None:
    loaded = load_kyverno([PolicySource(path=tmp_path / "none.yaml", label="none.yaml", builtin=False)])
    assert [gap.reason for gap in loaded.gaps] == ["no such policy file or folder"]


def test_a_rego_file_is_no_yaml(tmp_path: Path) -> None:
    file = tmp_path / "one.rego"
    file.write_text("package main\n\ndeny contains msg if {\n\tmsg := {\n}\n", encoding="utf-8")
    loaded = load_kyverno([PolicySource(path=file, label="one.rego", builtin=False)])
    assert (loaded.policies, loaded.gaps) == ((), ())


_CEL = """
apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations: [{expression: "true"}]
"""
_ADMISSION = _CEL.replace("policies.kyverno.io", "admissionregistration.k8s.io").replace(
    "ValidatingPolicy", "ValidatingAdmissionPolicy"
)


@pytest.mark.parametrize(
    ("found", "written", "says", "hint"),
    [
        ("rules:", "rule:", "spec.rule: no such field", "did you mean rules?"),
        ("validate:", "validat:", "spec.rules.0.validat: no such field", "did you mean validate?"),
        ("match:", "matches:", "spec.rules.0.matches: no such field", "did you mean match?"),
        ("any:", "anyy:", "spec.rules.0.match.anyy: no such field", "did you mean any?"),
        ("kinds:", "kind:", "spec.rules.0.match.any.0.resources.kind: no such field", "did you mean kinds?"),
        ("pattern:", "patern:", "spec.rules.0.validate.patern: no such field", "did you mean pattern?"),
        ("[Pod]", "[Pods]", "Kubernetes has no kind Pods", "did you mean Pod?"),
        ("[Pod]", "[pod]", "'pod' is no kind", "did you mean Pod?"),
        ("[Pod]", "[apps/v1/Pod]", "group apps has no kind Pod", "did you mean Pod?"),
        ("[Pod]", "[core/v1/Pod]", "there is no API group 'core'", "did you mean Pod?"),
    ],
)
def test_what_a_classic_policy_would_never_ask_is_a_gap(
    tmp_path: Path, found: str, written: str, says: str, hint: str
) -> None:
    text = policy("p", NO_LATEST)
    assert load(tmp_path, text).gaps == ()
    loaded = load(tmp_path, text.replace(found, written))
    (gap,) = loaded.gaps
    assert says in gap.reason
    assert hint.rstrip("?") in gap.hint
    assert gap.line is not None
    assert not loaded.policies
    # Nothing of it changes or creates objects, and nobody says so.
    assert not [notice for notice in loaded.notices if notice.code == "not_an_audit_rule"]


def test_a_policy_without_rules_and_a_rule_without_an_action_are_gaps(tmp_path: Path) -> None:
    head = "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\n"
    (gap,) = load(tmp_path, head + "spec: {rules: []}\n").gaps
    assert "no rules" in gap.reason
    (gap,) = load(tmp_path, head + "spec: {rules: [{name: a, match: {any: []}}]}\n").gaps
    assert "does nothing" in gap.reason


@pytest.mark.parametrize(
    "kinds",
    [
        "example.com/v1/Pods", "NodePool", "policy/v1beta1/PodSecurityPolicy", "IPAddressPool", "GlobalNetworkPolicy",
        "extensions/v1beta1/Ingress", "Pod/exec", "'*'", "PodExecOptions", "serving.knative.dev/v1/Service",
    ],
)  # fmt: skip
def test_kinds_that_may_be_somewhere_are_asked(tmp_path: Path, kinds: str) -> None:
    loaded = load(tmp_path, policy("p", NO_LATEST.replace("[Pod]", f"[{kinds}]")))
    assert loaded.gaps == ()
    assert len(loaded.rules) == 1


@pytest.mark.parametrize("text", [_CEL, _ADMISSION], ids=["vpol", "vap"])
@pytest.mark.parametrize(
    ("found", "written", "says"),
    [
        ("validations:", "validation:", "spec.validation: no such field"),
        ('[{expression: "true"}]', "[]", "without validations the policy asks nothing"),
        ("resourceRules:", "resourceRule:", "spec.matchConstraints.resourceRule: no such field"),
        ("operations: [CREATE]", "operations: []", "without operations it matches nothing"),
        ('apiGroups: [""]', "apiGroups: [core]", "there is no API group 'core'"),
        ("resources: [pods]", "resources: [pod]", "has no resource pod"),
        ('apiGroups: [""]', "apiGroups: [apps]", "group apps has no resource pods"),
    ],
)
def test_what_a_policy_in_cel_would_never_ask_is_a_gap(
    tmp_path: Path, text: str, found: str, written: str, says: str
) -> None:
    assert load(tmp_path, text).gaps == ()
    (gap,) = load(tmp_path, text.replace(found, written)).gaps
    assert says in gap.reason


def test_resources_that_one_of_the_groups_has_are_asked(tmp_path: Path) -> None:
    text = _CEL.replace('apiGroups: [""]', 'apiGroups: ["", apps]').replace("[pods]", "[pods, deployments]")
    assert load(tmp_path, text).gaps == ()


def test_bindings_and_policies_that_miss_each_other_are_told(tmp_path: Path) -> None:
    binding = "\n---\n" + "".join(
        f"{line}\n"
        for line in (
            "apiVersion: admissionregistration.k8s.io/v1",
            "kind: ValidatingAdmissionPolicyBinding",
            "metadata: {name: b}",
            "spec: {policyName: policy-one, validationActions: [Deny]}",
        )
    )
    text = _ADMISSION.replace("{name: p}", "{name: policy-one}")
    bound = load(tmp_path, text + binding)
    assert bound.gaps == ()
    assert not [notice for notice in bound.notices if notice.code == "unbound"]
    alone = load(tmp_path, text)
    assert alone.gaps == ()
    assert [notice.code for notice in alone.notices if notice.code == "unbound"] == ["unbound"]
    (gap,) = load(tmp_path, text + binding.replace("policy-one", "policy-on")).gaps
    assert "names the policy policy-on, which is not here" in gap.reason
    assert gap.hint == "did you mean policy-one?"


def test_validate_says_what_a_kyverno_policy_would_never_ask(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(policy("p", NO_LATEST.replace("[Pod]", "[Pods]")))
    assert main(["validate", "--policy", str(file)]) == 2
    said = capsys.readouterr()
    assert "Kubernetes has no kind Pods" in said.out + said.err
