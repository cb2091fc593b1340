"""Gatekeeper's suites: what gator says of them, and where gator passes what nothing looked at.

FLEETAUDIT_GATOR names a gator to hold the expectations against; FLEETAUDIT_PUBLIC_POLICIES a folder with a checkout of
gatekeeper-library.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit.testing.cases import CaseOutcome
from tests.foreign.templates import constraint, template
from tests.testing.conftest import Suites

# Says something of every field that a case can set.
REGO = """\
package k8srequiredlabels

violation[{"msg": msg}] {
  required := {wanted | wanted := input.parameters.labels[_]}
  missing := required - {given | input.review.object.metadata.labels[given]}
  missing[label]
  msg := sprintf("%v is missing", [label])
}

violation[{"msg": "same host", "details": {"other": name}}] {
  other := data.inventory.namespace[_][_].Ingress[name]
  other.spec.host == input.review.object.spec.host
}

violation[{"msg": "moved"}] {
  input.review.operation == "UPDATE"
  input.review.oldObject.spec.host != input.review.object.spec.host
}

violation[{"msg": "gone"}] {
  input.review.operation == "DELETE"
  input.review.object.metadata.name == "kept"
}

violation[{"msg": "no namespace"}] {
  input.review.object.metadata.name == "nowhere"
  not input.review.object.metadata.namespace
}

violation[{"msg": "no message", "x": 1}] { input.review.object.metadata.name == "number"; false }
violation[{"text": "x"}] { input.review.object.metadata.name == "silent" }
violation[{"msg": msg}] { input.review.object.metadata.name == "divides"; msg := sprintf("%v", [1 / input.review.object.zero]) }
"""
POD: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {}}
INGRESS = {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress"}


def pod(name: str = "a", **metadata: Any) -> dict[str, Any]:
    return {**POD, "metadata": {"name": name, **metadata}}


def ingress(name: str, host: str, namespace: str = "shop") -> dict[str, Any]:
    return {
        **INGRESS,
        "metadata": {"name": name, "namespace": namespace, "labels": {"owner": "x"}},
        "spec": {"host": host},
    }


def request(operation: str, **objects: Any) -> dict[str, Any]:
    return {
        "apiVersion": "admission.k8s.io/v1beta1",
        "kind": "AdmissionReview",
        "request": {"operation": operation, **objects},
    }


def suite(cases: str, *, more: str = "", test: str = "") -> str:
    """A suite with one test."""
    lines = [
        "apiVersion: test.gatekeeper.sh/v1alpha1",
        "kind: Suite",
        "metadata: {name: s}",
        *more.splitlines(),
        "tests:",
        "- name: labels",
        "  template: template.yaml",
        "  constraint: constraint.yaml",
        *(f"  {line}" for line in test.splitlines()),
    ]
    if cases:
        lines += ["  cases:", *(f"  {line}" for line in cases.splitlines())]
    return "\n".join(lines) + "\n"


def case(name: str, *assertions: str, object: str = "", inventory: str = "", more: str = "") -> str:  # noqa: A002  # the field's name
    lines = [f"- name: {name}", f"  object: {object or name + '.yaml'}"]
    if inventory:
        lines.append(f"  inventory: [{inventory}]")
    lines += more.splitlines()
    lines += ["  assertions:", *(f"  - {assertion}" for assertion in assertions)]
    return "\n".join(lines)


def prepared(suites: Suites, cases: str, objects: dict[str, Any], **given: Any) -> None:
    """A suite with its policy and objects."""
    files = {
        "template.yaml": given.pop("template", template(rego=REGO)),
        "constraint.yaml": given.pop("constraint", constraint("all", match=given.pop("match", None))),
        "suite.yaml": suite(cases, **given),
    }
    for name, value in objects.items():
        documents = value if isinstance(value, list) else [value]
        files[f"{name}.yaml"] = yaml.safe_dump_all(documents)
    for name, text in files.items():
        (suites.root / name).write_text(text)


def gator_says(root: Path) -> dict[str, str] | None:
    """Verdicts of the real gator, where there is one."""
    program = os.environ.get("FLEETAUDIT_GATOR")
    if program is None:
        return None
    done = subprocess.run(
        [program, "verify", ".", "-v"], capture_output=True, text=True, cwd=root, check=False
    )
    found: dict[str, str] = {}
    inside: dict[str, str] = {}
    for indent, verdict, name in re.findall(
        r"^( *)--- (PASS|FAIL|SKIP): (.*?)(?:\t.*)?$", done.stdout, re.MULTILINE
    ):
        if indent:
            inside[name] = verdict
        else:
            found |= {f"{name}/{inner}": each for inner, each in inside.items()} or {name: verdict}
            inside = {}
    return found


OBJECTS: dict[str, Any] = {
    "good": pod(labels={"owner": "x"}),
    "bad": pod(),
    "nowhere": pod("nowhere", labels={"owner": "x"}),
    "silent": pod("silent", labels={"owner": "x"}),
    "divides": {**pod("divides", labels={"owner": "x"}), "zero": 0},
    "host": ingress("a", "h"),
    "others": [ingress("b", "h"), ingress("c", "h", "far"), ingress("d", "other")],
    "update": request("UPDATE", object=ingress("a", "new"), oldObject=ingress("a", "old")),
    "update-unseen": request("UPDATE", object=ingress("a", "new")),
    "delete": request("DELETE", oldObject=pod("kept", labels={"owner": "x"})),
    "shop": {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"tier": "a"}}},
}
# (case, outcome here, what gator says); the object has the case's name unless another one is given
SAID: dict[str, tuple[str, str, str]] = {
    "none": (case("none", "violations: no", object="good.yaml"), "pass", "PASS"),
    "none-in-quotes": (case("none-in-quotes", 'violations: "no"', object="good.yaml"), "pass", "PASS"),
    "some": (case("some", "violations: yes", object="bad.yaml"), "pass", "PASS"),
    "by-default": (case("by-default", "message: owner", object="bad.yaml"), "pass", "PASS"),
    "number": (case("number", "violations: 1", object="bad.yaml"), "pass", "PASS"),
    "wrong-number": (case("wrong-number", "violations: 2", object="bad.yaml"), "fail violations", "FAIL"),
    "zero": (case("zero", "violations: 0", object="good.yaml"), "pass", "PASS"),
    "expression": (
        case("expression", '{violations: 1, message: "^own.r is mis+ing$"}', object="bad.yaml"),
        "pass",
        "PASS",
    ),
    "of-go": (
        case("of-go", r'{violations: 1, message: "(?i)\\AOWNER\\b"}', object="bad.yaml"),
        "pass",
        "PASS",
    ),
    "other-message": (
        case("other-message", "{violations: yes, message: team}", object="bad.yaml"),
        "fail violations",
        "FAIL",
    ),
    "none-of-message": (
        case("none-of-message", "{violations: no, message: team}", object="bad.yaml"),
        "pass",
        "PASS",
    ),
    "every-assertion": (
        case("every-assertion", "violations: 1", "violations: no", object="bad.yaml"),
        "fail violations",
        "FAIL",
    ),
    "inventory": (
        case("inventory", "{violations: 2, message: same host}", object="host.yaml", inventory="others.yaml"),
        "pass",
        "PASS",
    ),
    "no-inventory": (case("no-inventory", "violations: no", object="host.yaml"), "pass", "PASS"),
    "as-written": (
        case("as-written", "{violations: 1, message: no namespace}", object="nowhere.yaml"),
        "pass",
        "PASS",
    ),
    "update": (case("update", "{violations: 1, message: moved}"), "pass", "PASS"),
    "update-unseen": (case("update-unseen", "{violations: no, message: moved}"), "pass", "PASS"),
    "delete": (case("delete", "{violations: 1, message: gone}"), "pass", "PASS"),
    "put-off": (
        case("put-off", "violations: yes", object="good.yaml", more="  skip: true"),
        "skipped skip",
        "SKIP",
    ),
    "bad-violations": (
        case("bad-violations", "violations: maybe", object="good.yaml"),
        "error bad_case",
        "FAIL",
    ),
    "negative": (case("negative", "violations: -1", object="good.yaml"), "error bad_case", "FAIL"),
    "bad-expression": (case("bad-expression", '{message: "("}', object="bad.yaml"), "error bad_case", "FAIL"),
    "no-file": (case("no-file", "violations: no"), "error bad_case", "FAIL"),
    "no-inventory-file": (
        case("no-inventory-file", "violations: no", object="good.yaml", inventory="nothing.yaml"),
        "error bad_case",
        "FAIL",
    ),
    "two-objects": (case("two-objects", "violations: no", object="others.yaml"), "error bad_case", "FAIL"),
    "no-assertion": ("- name: no-assertion\n  object: good.yaml", "error bad_case", "FAIL"),
    # Where gator passes, and nothing was looked at or nobody can tell.
    "silent": (case("silent", "violations: no"), "error bad_answer", "PASS"),
    "misspelt": (
        case("misspelt", "{violations: yes, mesage: team}", object="bad.yaml"),
        "error bad_case",
        "PASS",
    ),
}


def test_cases_are_told_as_gator_tells_them(suites: Suites) -> None:
    prepared(suites, "\n".join(text for text, _, _ in SAID.values()), OBJECTS)
    assert suites.outcomes() == {f"labels/{name}": ours for name, (_, ours, _) in SAID.items()}
    theirs = gator_says(suites.root)
    if theirs is not None:
        told = {name: verdict for name, (_, _, verdict) in SAID.items() if verdict != "SKIP"}
        assert theirs == {f"labels/{name}": verdict for name, verdict in told.items()}


def test_a_builtin_that_fails_in_a_template_is_no_violation(suites: Suites) -> None:
    """As in Gatekeeper, whose rules are asked without strict errors."""
    prepared(suites, case("divides", "violations: no"), OBJECTS)
    assert suites.outcomes() == {"labels/divides": "pass"}


MATCHES: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "kind": ({"kinds": [{"apiGroups": [""], "kinds": ["Pod"]}]}, pod(), True),
    "other kind": ({"kinds": [{"apiGroups": [""], "kinds": ["Service"]}]}, pod(), False),
    "other group": ({"kinds": [{"apiGroups": ["apps"], "kinds": ["Pod"]}]}, pod(), False),
    "any group": ({"kinds": [{"apiGroups": ["*"], "kinds": ["Pod"]}]}, pod(), True),
    "any kind": ({"kinds": [{"apiGroups": [""], "kinds": ["*"]}]}, pod(), True),
    "no kinds in an entry": ({"kinds": [{"apiGroups": [""]}]}, pod(), True),
    "second entry": ({"kinds": [{"kinds": ["Service"]}, {"kinds": ["Pod"]}]}, pod(), True),
    "namespace": ({"namespaces": ["shop"]}, pod(namespace="shop"), True),
    "other namespace": ({"namespaces": ["shop"]}, pod(namespace="far"), False),
    "no namespace written": ({"namespaces": ["shop"]}, pod(), True),
    "excluded": ({"excludedNamespaces": ["kube-*"]}, pod(namespace="kube-system"), False),
    "excluded elsewhere": ({"excludedNamespaces": ["kube-*"]}, pod(namespace="shop"), True),
    "labels": ({"labelSelector": {"matchLabels": {"a": "b"}}}, pod(labels={"a": "b"}), True),
    "other labels": ({"labelSelector": {"matchLabels": {"a": "b"}}}, pod(labels={"a": "c"}), False),
    "name": ({"name": "a*"}, pod(), True),
    "other name": ({"name": "b*"}, pod(), False),
    "cluster scope": ({"scope": "Cluster"}, pod(), True),
    "namespaced scope, as written": ({"scope": "Namespaced"}, pod(), False),
    "namespaced scope": ({"scope": "Namespaced"}, pod(namespace="shop"), True),
    "generated": ({"source": "Generated"}, pod(), False),
    "original": ({"source": "Original"}, pod(), True),
}


@pytest.mark.parametrize("name", MATCHES)
def test_what_a_constraint_does_not_match_is_not_evaluated(suites: Suites, name: str) -> None:
    match, subject, matches = MATCHES[name]
    cases = "\n".join(
        [
            case("expects-some", "violations: yes", object="x.yaml"),
            case("expects-none", "violations: no", object="x.yaml"),
        ]
    )
    prepared(suites, cases, {"x": subject}, match=match)
    some, none = ("pass", "fail violations") if matches else ("fail not_matched", "not_evaluated not_matched")
    assert suites.outcomes() == {"labels/expects-some": some, "labels/expects-none": none}
    theirs = gator_says(suites.root)
    if theirs is not None:
        assert theirs == {
            "labels/expects-some": "PASS" if matches else "FAIL",
            "labels/expects-none": "FAIL" if matches else "PASS",
        }


def test_a_namespace_that_is_selected_by_labels_must_be_there(suites: Suites) -> None:
    cases = [
        case("unknown", "violations: yes", object="x.yaml"),
        case("known", "violations: yes", object="x.yaml", inventory="shop.yaml"),
    ]
    prepared(
        suites,
        "\n".join(cases),
        {"x": pod(namespace="shop"), "shop": OBJECTS["shop"]},
        match={"namespaceSelector": {"matchLabels": {"tier": "a"}}},
    )
    # gator counts that it cannot tell as a violation.
    assert suites.outcomes() == {
        "labels/unknown": "not_evaluated namespace_unknown",
        "labels/known": "pass",
    }
    theirs = gator_says(suites.root)
    assert theirs in (None, {"labels/unknown": "PASS", "labels/known": "PASS"})


def test_requests_are_matched_by_either_object(suites: Suites) -> None:
    prepared(
        suites,
        "\n".join(case(name, "{violations: 1, message: moved}") for name in ("new", "old", "neither")),
        {
            "new": request("UPDATE", object=ingress("a", "x"), oldObject=ingress("b", "y")),
            "old": request("UPDATE", object=ingress("b", "x"), oldObject=ingress("a", "y")),
            "neither": request("UPDATE", object=ingress("b", "x"), oldObject=ingress("b", "y")),
        },
        match={"name": "a"},
    )
    assert suites.outcomes() == {
        "labels/new": "pass",
        "labels/old": "pass",
        "labels/neither": "fail not_matched",
    }
    theirs = gator_says(suites.root)
    assert theirs in (None, {"labels/new": "PASS", "labels/old": "PASS", "labels/neither": "FAIL"})


WRONG_REQUESTS = {
    "nothing": {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"},
    "no object": request("CREATE"),
    "unknown field": request("CREATE", object=pod(), objekt=1),
    "nothing to delete": request("DELETE", object=pod()),
}


@pytest.mark.parametrize("name", WRONG_REQUESTS)
def test_requests_that_no_server_sends_are_errors(suites: Suites, name: str) -> None:
    prepared(suites, case("x", "violations: no"), {"x": WRONG_REQUESTS[name]})
    assert suites.outcomes() == {"labels/x": "error bad_case"}
    theirs = gator_says(suites.root)
    assert theirs in (None, {"labels/x": "FAIL"})


def test_constraints_that_must_be_refused(suites: Suites) -> None:
    wrong = constraint("all", parameters={"labels": "owner"})
    prepared(suites, "", {}, constraint=wrong, test="invalid: true")
    assert suites.outcomes() == {"labels": "pass"}
    prepared(suites, "", {}, test="invalid: true")
    assert suites.outcomes() == {"labels": "fail constraint_valid"}
    prepared(suites, case("x", "violations: no"), {"x": pod()}, constraint=wrong)
    found = suites.run()
    assert {name: one.outcome for name, one in found.items()} == {
        "(labels)": CaseOutcome.ERROR,
        "labels/x": CaseOutcome.NOT_EVALUATED,
    }
    assert found["(labels)"].place.startswith("constraint.yaml:")


CEL = """\
apiVersion: templates.gatekeeper.sh/v1
kind: ConstraintTemplate
metadata: {name: k8srequiredlabels}
spec:
  crd: {spec: {names: {kind: K8sRequiredLabels}}}
  targets:
  - target: admission.k8s.gatekeeper.sh
    code:
    - engine: K8sNativeValidation
      source: {validations: [{expression: "false", message: no}]}
"""
NOT_EVALUATED: dict[str, tuple[dict[str, Any], str]] = {
    "cel": ({"template": CEL}, "cel_template"),
    "expansion": ({"test": "expansion: expansion.yaml"}, "expansion"),
    "scoped elsewhere": (
        {
            "constraint": constraint(
                enforcementAction="scoped",
                scopedEnforcementActions=[
                    {"action": "deny", "enforcementPoints": [{"name": "audit.gatekeeper.sh"}]}
                ],
            )
        },
        "not_enforced",
    ),
}


@pytest.mark.parametrize("name", NOT_EVALUATED)
def test_what_is_not_judged_here_is_said(suites: Suites, name: str) -> None:
    given, reason = NOT_EVALUATED[name]
    prepared(suites, case("x", "violations: no"), {"x": pod(labels={"owner": "x"})}, **given)
    assert suites.outcomes() == {"labels/x": f"not_evaluated {reason}"}


def test_tests_without_cases_and_suites_without_tests(suites: Suites) -> None:
    prepared(suites, "", {})
    assert suites.outcomes() == {"labels": "not_evaluated no_cases"}
    suites.write({"suite.yaml": "apiVersion: test.gatekeeper.sh/v1alpha1\nkind: Suite\n"})
    assert suites.outcomes() == {"(suite)": "error bad_suite"}


def test_tests_and_suites_that_are_put_off(suites: Suites) -> None:
    prepared(suites, case("x", "violations: yes"), {"x": pod()}, test="skip: true")
    assert suites.outcomes() == {"labels/x": "skipped skip"}
    prepared(suites, case("x", "violations: yes"), {"x": pod()}, more="skip: true")
    assert suites.outcomes() == {"labels/x": "skipped skip"}


BAD: dict[str, tuple[str, str, int | None]] = {
    "no yaml": ("apiVersion: test.gatekeeper.sh/v1alpha1\nkind: Suite\ntests: [\n", "suite.yaml", 4),
    "tests are no list": (
        "apiVersion: test.gatekeeper.sh/v1alpha1\nkind: Suite\ntests: {a: b}\n",
        "suite.yaml",
        3,
    ),
    "unknown field": ("apiVersion: test.gatekeeper.sh/v1alpha1\nkind: Suite\ntest: []\n", "suite.yaml", 3),
    "template is missing": (
        suite(case("x", "violations: no")).replace("template.yaml", "no.yaml"),
        "suite.yaml",
        6,
    ),
    "no template named": (
        suite(case("x", "violations: no")).replace("  template: template.yaml\n", ""),
        "suite.yaml",
        5,
    ),
    "test has a typing error": (suite(case("x", "violations: no"), test="invallid: true"), "suite.yaml", 8),
}


@pytest.mark.parametrize("name", BAD)
def test_a_broken_suite_is_one_error_with_its_place(suites: Suites, name: str) -> None:
    text, file, line = BAD[name]
    prepared(suites, "", {"x": pod()})
    (suites.root / "suite.yaml").write_text(text)
    good = "apiVersion: test.gatekeeper.sh/v1alpha1\nkind: Suite\ntests:\n- {name: t, template: template.yaml, constraint: constraint.yaml, cases: [{name: y, object: x.yaml, assertions: [{violations: yes}]}]}\n"
    suites.write({"other.yaml": good})
    cases = suites.report().cases
    errors = [case for case in cases if case.outcome is CaseOutcome.ERROR]
    assert [(case.file, case.line) for case in errors] == [(file, line)]
    assert [case.name for case in cases if case.outcome is CaseOutcome.PASS] == ["t/y"]


def test_templates_that_do_not_compile_are_told_by_the_templates_line(suites: Suites) -> None:
    prepared(
        suites,
        case("x", "violations: no"),
        {"x": pod()},
        template=template(rego=REGO + "\nbroken { y == 1 }\n"),
    )
    found = suites.run()
    error = found["(labels)"]
    text = (suites.root / "template.yaml").read_text().splitlines()
    assert error.file == "template.yaml"
    assert error.line is not None
    assert "broken { y == 1 }" in text[error.line - 1]
    assert found["labels/x"].outcome is CaseOutcome.NOT_EVALUATED


def test_an_endless_template_costs_its_case(suites: Suites) -> None:
    loop = "a := numbers.range(1, 9000)[_]; b := numbers.range(1, 9000)[_]; a * b == -1"
    rego = f'package k8srequiredlabels\n\nviolation[{{"msg": "x"}}] {{ input.review.object.metadata.name == "slow"; {loop} }}\n'
    prepared(
        suites,
        "\n".join([case("slow", "violations: no"), case("quick", "violations: no")]),
        {"slow": pod("slow"), "quick": pod("quick")},
        template=template(rego=rego),
    )
    assert suites.outcomes(seconds=0.5) == {"labels/slow": "error timeout", "labels/quick": "pass"}


def test_places_are_those_of_cases_and_assertions(suites: Suites) -> None:
    prepared(
        suites,
        "\n".join(
            [case("x", "violations: yes"), case("y", "violations: 1", "violations: no", object="x.yaml")]
        ),
        {"x": pod()},
    )
    text = (suites.root / "suite.yaml").read_text().splitlines()
    found = suites.run()
    for name, what in (("labels/x", "- name: x"), ("labels/y", "- violations: no")):
        line = found[name].line
        assert line is not None
        assert text[line - 1].strip() == what


@pytest.mark.corpora
def test_gatekeepers_library_passes_as_with_gator(suites: Suites) -> None:
    root = (
        Path(os.environ.get("FLEETAUDIT_PUBLIC_POLICIES") or "/nonexistent")
        / "gatekeeper-library"
        / "library"
    )
    if not root.exists():
        pytest.skip("FLEETAUDIT_PUBLIC_POLICIES has no gatekeeper-library")
    cases = [case for case in suites.report(str(root)).cases if case.kind.value == "gatekeeper"]
    counted = Counter(case.outcome for case in cases)
    print(f"gatekeeper-library: {dict(counted)}")
    assert set(counted) == {CaseOutcome.PASS}
    assert len(cases) > 250
