"""Policies over an AdmissionReview: what a decision means, what is not a decision, and what a policy does not see."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from audit.library.foreign.load import ForeignLoad
from audit.model.finding import Outcome
from audit.model.foreign import ForeignProgram, Shape
from audit.native.evaluator import Evaluator
from tests.foreign.conftest import Write
from tests.foreign.foreign_runs import ask, load
from tests.foreign.objects import binding, deployment, pod

CLASSIC = Path(__file__).parent / "policies" / "cluster_admin"
ALLOW = "own:kubernetes.admission/allow"
DENY = "own:kubernetes.admission/deny"
HEAD = "package kubernetes.admission\n\nimport rego.v1\n\n"


def program(result: ForeignLoad) -> ForeignProgram:
    assert not result.gaps, result.gaps
    (only,) = result.programs
    assert only.shape is Shape.ADMISSION
    return only


def notes(result: ForeignLoad) -> dict[str, str]:
    return {notice.code: notice.message for notice in result.notices}


def outcomes(evaluator: Evaluator, found: ForeignProgram, rule: str, *objects: object) -> list[Outcome]:
    return [each[rule].outcome for each in ask(evaluator, found, objects)[: len(objects)]]  # type: ignore[arg-type]


def test_the_classic_policy_runs_unchanged_and_its_four_faults_are_named(evaluator: Evaluator) -> None:
    result = load(evaluator, CLASSIC)
    said = notes(result)
    assert "allow is true for faulty samples" in said["allow_means_violation"]
    assert "true is taken for the violation" in said["allow_means_violation"]
    assert (
        "reads namespace at the root of objects, where no object has it: metadata.namespace is meant"
        in (said["field_of_no_object"])
    )
    assert said["field_of_no_object"].endswith("its condition on namespace kube-system never holds")
    assert (
        "sees subjects of kind User and lets Group, ServiceAccount have the role cluster-admin"
        in (said["subjects_not_covered"])
    )
    assert "sees RoleBinding to cluster-admin and not ClusterRoleBinding" in said["kinds_not_covered"]
    places = {notice.code: (notice.source, notice.line) for notice in result.notices}
    assert places["field_of_no_object"] == ("cluster_admin/cluster_admin.rego", 11)
    assert places["allow_means_violation"] == ("cluster_admin/cluster_admin.rego", 6)


def test_the_classic_policy_gives_its_own_verdicts(evaluator: Evaluator) -> None:
    found = program(load(evaluator, CLASSIC))
    text = (CLASSIC / "cluster_admin.rego").read_text()
    assert hashlib.sha256(found.modules["cluster_admin/cluster_admin.rego"].encode()).digest() == (
        hashlib.sha256(text.encode()).digest()
    )
    user = binding("RoleBinding", "cluster-admin", "User")
    excluded = binding("RoleBinding", "cluster-admin", "User", namespace="kube-system")
    group = binding("RoleBinding", "cluster-admin", "Group")
    everywhere = binding("ClusterRoleBinding", "cluster-admin", "User")
    view = binding("RoleBinding", "view", "User")
    assert outcomes(evaluator, found, ALLOW, user, excluded, group, everywhere, view) == [
        Outcome.FAIL,
        Outcome.FAIL,  # the exclusion never holds
        Outcome.PASS,
        Outcome.PASS,
        Outcome.PASS,
    ]
    (one,) = found.asks
    assert "synthetic_request" in one.rule.caveats


def test_an_undefined_allow_is_an_error_whatever_it_means(evaluator: Evaluator, write: Write) -> None:
    text = (CLASSIC / "cluster_admin.rego").read_text().replace("default allow = false\n", "")
    result = load(evaluator, write({"p.rego": text}))
    assert "allow_means_violation" in notes(result)
    user, view = binding("RoleBinding", "cluster-admin", "User"), binding("RoleBinding", "view", "User")
    answers = ask(evaluator, program(result), [user, view])
    assert answers[0][ALLOW].outcome is Outcome.FAIL
    assert (answers[1][ALLOW].outcome, answers[1][ALLOW].reason) == (Outcome.ERROR, "undefined")
    assert (
        answers[1][ALLOW].message == "kubernetes.admission.allow is undefined for this object: not evaluated"
    )


PERMITS = HEAD + (
    "default allow := false\n\n"
    'allow if input.request.kind.kind != "Pod"\n\n'
    'allow if {\n\tsome c in input.request.object.spec.containers\n\tnot endswith(c.image, ":latest")\n}\n'
)


def test_an_allow_that_permits_is_found_out(evaluator: Evaluator, write: Write) -> None:
    result = load(evaluator, write({"p.rego": PERMITS}))
    assert not {"allow_means_violation", "allow_unconfirmed"} & set(notes(result))
    fixed = pod(containers=[{"name": "c", "image": "nginx:1.27"}])
    assert outcomes(evaluator, program(result), ALLOW, pod(), fixed, deployment("d")) == [
        Outcome.FAIL,
        Outcome.PASS,
        Outcome.PASS,
    ]


def test_an_allow_that_no_sample_meets_is_taken_for_permission_and_said(
    evaluator: Evaluator, write: Write
) -> None:
    text = (
        HEAD + 'default allow := false\n\nallow if input.request.object.metadata.labels["x-secret"] == "1"\n'
    )
    result = load(evaluator, write({"p.rego": text}))
    assert "true is taken for permission" in notes(result)["allow_unconfirmed"]
    marked = pod(labels={"x-secret": "1"})
    assert outcomes(evaluator, program(result), ALLOW, pod(), marked) == [Outcome.FAIL, Outcome.PASS]


def test_configuration_decides_what_allow_means(evaluator: Evaluator, write: Write) -> None:
    result = load(evaluator, CLASSIC, allow="permits")
    assert "allow_means_violation" not in notes(result)
    assert outcomes(
        evaluator, program(result), ALLOW, binding("RoleBinding", "cluster-admin", "User"), pod()
    ) == [
        Outcome.PASS,
        Outcome.FAIL,
    ]
    flags = load(evaluator, write({"p.rego": PERMITS}), allow="flags")
    assert outcomes(evaluator, program(flags), ALLOW, pod()) == [Outcome.PASS]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ('deny contains "no pods" if input.request.kind.kind == "Pod"', "no pods"),
        ('deny contains {"msg": "no pods"} if input.request.kind.kind == "Pod"', "no pods"),
        ('deny := "no pods" if input.request.kind.kind == "Pod"', "no pods"),
        ('deny := ["no pods"] if input.request.kind.kind == "Pod"', "no pods"),
        ('deny if input.request.kind.kind == "Pod"', "kubernetes.admission.deny is true"),
    ],
)
def test_deny_in_all_its_forms(evaluator: Evaluator, write: Write, rule: str, message: str) -> None:
    found = program(load(evaluator, write({"p.rego": HEAD + rule + "\n"})))
    answers = ask(evaluator, found, [pod(), deployment("d")])
    assert [v.message for v in answers[0][DENY].violations] == [message]
    assert answers[1][DENY].outcome is Outcome.PASS


def test_an_answer_of_another_form_is_an_error(evaluator: Evaluator, write: Write) -> None:
    found = program(load(evaluator, write({"p.rego": HEAD + 'allow := "yes" if input.request.object\n'})))
    answer = ask(evaluator, found, [pod()])[0][ALLOW]
    assert (answer.outcome, answer.reason) == (Outcome.ERROR, "bad_answer")
    assert "gives no truth value" in answer.message


MAIN = """\
package system

import rego.v1

import data.kubernetes.admission

main := {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}

default response := {"allowed": true}

response := {"allowed": false, "status": {"message": reason}} if {
	reason := concat(", ", admission.deny)
	reason != ""
	input.request.namespace != "exempt"
}
"""


def test_main_is_asked_as_the_server_asks_it(evaluator: Evaluator, write: Write) -> None:
    deny = HEAD + 'deny contains "no pods" if input.request.kind.kind == "Pod"\n'
    result = load(evaluator, write({"main.rego": MAIN, "deny.rego": deny}))
    found = program(result)
    assert {one.rule.id for one in found.asks} == {"own:system/main"}
    assert "main collects it" in notes(result)["rule_not_asked"]
    answers = ask(evaluator, found, [pod(), pod(namespace="exempt"), deployment("d")])
    assert [v.message for v in answers[0]["own:system/main"].violations] == ["no pods"]
    assert [each["own:system/main"].outcome for each in answers[1:3]] == [Outcome.PASS, Outcome.PASS]


def test_the_request_is_a_create_by_nobody(evaluator: Evaluator, write: Write) -> None:
    text = HEAD + 'deny contains {"msg": "x", "review": object.remove(input.request, ["object"])} if true\n'
    found = program(load(evaluator, write({"p.rego": text})))
    answers = ask(evaluator, found, [deployment("d")])
    request = answers[0][DENY].violations[0].seen["review"]
    assert request["kind"] == {"group": "apps", "version": "v1", "kind": "Deployment"}
    assert request["resource"] == {"group": "apps", "version": "v1", "resource": "deployments"}
    assert (request["operation"], request["namespace"], request["name"]) == ("CREATE", "team", "d")
    assert request["userInfo"] == {"username": "", "uid": "", "groups": []}
    assert request["oldObject"] is None


def test_a_namespace_is_filled_in_as_the_server_does_and_it_is_marked(
    evaluator: Evaluator, write: Write
) -> None:
    text = HEAD + 'deny contains "not here" if input.request.object.metadata.namespace == "default"\n'
    found = program(load(evaluator, write({"p.rego": text})))
    answers = ask(evaluator, found, [pod(namespace=None), pod(namespace="default"), pod()])
    assert [each[DENY].outcome for each in answers[:3]] == [Outcome.FAIL, Outcome.FAIL, Outcome.PASS]
    assert [each[DENY].caveats for each in answers[:2]] == [("namespace_assumed",), ()]


def test_pods_inside_workloads_that_a_policy_does_not_see_are_named(
    evaluator: Evaluator, write: Write
) -> None:
    text = HEAD + (
        'deny contains "moving tag" if {\n\tinput.request.kind.kind == "Pod"\n'
        '\tsome c in input.request.object.spec.containers\n\tendswith(c.image, ":latest")\n}\n'
    )
    said = notes(load(evaluator, write({"p.rego": text})))
    assert (
        "sees Pods and not the pods that CronJob, DaemonSet, Deployment, Job, StatefulSet make"
        in (said["kinds_not_covered"])
    )


def test_a_policy_that_takes_too_long_is_not_tried(write: Write) -> None:
    from audit.native.evaluator import EvalLimits

    text = (
        HEAD + 'deny contains "x" if {\n\tsome x in numbers.range(1, 50000000)\n\tx < 0\n\tinput.request\n}\n'
    )
    with Evaluator(jobs=1, limits=EvalLimits(object_seconds=0.2)) as quick:
        result = load(quick, write({"p.rego": text}))
    assert "takes too long" in notes(result)["not_tried"]
    assert program(result).asks
