"""Gatekeeper's templates and constraints, unchanged: what they are given, what they say, what would be refused."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from audit.library.foreign.load import ForeignLoad
from audit.model.finding import Outcome, PairAnswer
from audit.model.foreign import ForeignProgram, Shape
from audit.native.evaluator import Evaluator
from tests.foreign.conftest import Write
from tests.foreign.foreign_runs import ask, load
from tests.foreign.objects import deployment, namespace, pod, service
from tests.foreign.templates import LABELS_V0, constraint, template

POD_KIND = {"kinds": [{"apiGroups": [""], "kinds": ["Pod"]}]}
ID = "own:K8sRequiredLabels/all"
SYNC = "metadata.gatekeeper.sh/requires-sync-data"


def program(result: ForeignLoad) -> ForeignProgram:
    assert not result.gaps, result.gaps
    (only,) = result.programs
    assert only.shape is Shape.GATEKEEPER
    return only


def judged(
    evaluator: Evaluator, write: Write, files: dict[str, str], *objects: Any
) -> list[dict[str, PairAnswer]]:
    return ask(evaluator, program(load(evaluator, write(files))), objects)


def reasons(result: ForeignLoad) -> list[str]:
    return [gap.reason for gap in result.gaps]


def notes(result: ForeignLoad, code: str) -> list[str]:
    return [notice.message for notice in result.notices if notice.code == code]


def test_a_constraint_is_a_rule_with_its_parameters_and_kinds(evaluator: Evaluator, write: Write) -> None:
    files = {"t.yaml": template(), "c.yaml": constraint(match=POD_KIND, parameters={"labels": ["team"]})}
    found = program(load(evaluator, write(files)))
    rule = found.asks[0].rule
    assert (rule.id, rule.kinds, rule.parameters) == (ID, ("Pod",), {"labels": ["team"]})
    assert (rule.file, rule.line, rule.shape) == ("policy/c.yaml", 1, "gatekeeper")
    assert rule.description.endswith("Enforcement action: deny.")
    answers = ask(evaluator, found, [pod(), pod(labels={"team": "a"}), service("s")])
    assert answers[0][ID].outcome is Outcome.FAIL
    (violation,) = answers[0][ID].violations
    assert (violation.message, violation.seen) == ('missing: {"team"}', {"details": {"missing": ["team"]}})
    assert answers[1][ID].outcome is Outcome.PASS
    assert answers[2] == {}


def test_defaults_of_the_schema_are_applied_as_the_api_server_does(
    evaluator: Evaluator, write: Write
) -> None:
    answers = judged(evaluator, write, {"t.yaml": template(), "c.yaml": constraint()}, pod())
    assert answers[0][ID].violations[0].message == 'missing: {"owner"}'
    # Only into parameters that are there.
    without = judged(evaluator, write, {"t.yaml": template(), "c.yaml": constraint(parameters=None)}, pod())
    assert without[0][ID].outcome is Outcome.PASS


def test_template_forms_old_code_and_v1(evaluator: Evaluator, write: Write) -> None:
    modern = LABELS_V0.replace(
        'violation[{"msg": msg, "details": {"missing": missing}}] {',
        'violation contains {"msg": msg, "details": {"missing": missing}} if {',
    )
    for number, text in enumerate(
        (
            template(legacy_form=True),
            template(rego=modern, version="v1"),
            template(rego="package k8srequiredlabels\n\nimport rego.v1\n" + modern.partition("\n")[2]),
        )
    ):
        folder = write({"t.yaml": text, "c.yaml": constraint()}, f"policy{number}")
        assert ask(evaluator, program(load(evaluator, folder)), [pod()])[0][ID].outcome is Outcome.FAIL


def test_the_dialect_must_be_the_declared_one(evaluator: Evaluator, write: Write) -> None:
    modern = LABELS_V0.replace("violation[", "violation contains ").replace("}}] {", "}} if {")
    undeclared = load(evaluator, write({"t.yaml": template(rego=modern), "c.yaml": constraint()}))
    assert reasons(undeclared) == ["is written in Rego v1, and the template does not say so"]
    wrongly = load(evaluator, write({"t.yaml": template(version="v1"), "c.yaml": constraint()}, "other"))
    assert reasons(wrongly) == ["declares Rego v1 and is written in v0"]
    assert not undeclared.programs
    assert not wrongly.programs


def test_libraries_of_two_templates_never_meet(evaluator: Evaluator, write: Write) -> None:
    def using(answer: str) -> tuple[str, tuple[str, ...]]:
        main = 'package same\n\nimport data.lib.words\n\nviolation[{"msg": words.word}] { true }\n'
        return main, (f'package lib.words\n\nword = "{answer}" {{ true }}\n',)

    one, two = using("one"), using("two")
    files = {
        "t.yaml": template("First", one[0], libs=one[1]) + "---\n" + template("Second", two[0], libs=two[1]),
        "c.yaml": constraint("a", "First") + "---\n" + constraint("a", "Second"),
    }
    (answers, _) = judged(evaluator, write, files, pod())
    assert [v.message for v in answers["own:First/a"].violations] == ["one"]
    assert [v.message for v in answers["own:Second/a"].violations] == ["two"]


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ({}, "pod other unset labelled"),
        ({"namespaces": ["team"]}, "pod unset"),
        ({"namespaces": ["te*"]}, "pod unset"),
        ({"namespaces": ["*am"]}, "pod unset"),
        ({"excludedNamespaces": ["*ea*"]}, "other unset labelled"),
        ({"labelSelector": {"matchLabels": {"app": "web"}}}, "labelled"),
        (
            {"labelSelector": {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}},
            "pod other unset",
        ),
        (
            {
                "labelSelector": {
                    "matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "db"]}]
                }
            },
            "labelled",
        ),
        ({"labelSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]}}, "labelled"),
        (
            {"labelSelector": {"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}},
            "pod other unset",
        ),
        ({"namespaceSelector": {"matchLabels": {"tier": "prod"}}}, "other unset"),
        ({"scope": "Cluster"}, ""),
        ({"scope": "Namespaced"}, "pod other unset labelled"),
        ({"name": "p"}, "pod"),
        ({"name": "o*"}, "other"),
        ({"source": "Original"}, "pod other unset labelled"),
        ({"source": "Generated"}, ""),
    ],
    ids=str,
)
def test_match_blocks(evaluator: Evaluator, write: Write, match: dict[str, Any], expected: str) -> None:
    objects = {
        "pod": pod("p"),
        "other": pod("other", namespace="elsewhere"),
        "unset": pod("unset", namespace=None),
        "labelled": pod("labelled", namespace="third", labels={"app": "web"}),
    }
    known = [namespace("team", tier="test"), namespace("elsewhere", tier="prod"), namespace("third")]
    files = {"t.yaml": template(), "c.yaml": constraint(match={**POD_KIND, **match})}
    found = program(load(evaluator, write(files)))
    answers = ask(evaluator, found, list(objects.values()), known)
    failing = {name for name, each in zip(objects, answers, strict=False) if each[ID].outcome is Outcome.FAIL}
    skipped = {name for name, each in zip(objects, answers, strict=False) if each[ID].outcome is Outcome.SKIP}
    assert failing == set(expected.split())
    assert skipped == set(objects) - failing
    assert all(
        each[ID].reason == "not_matched_by_constraint"
        for each in answers[:4]
        if each[ID].outcome is Outcome.SKIP
    )


def test_namespaces_match_by_their_own_name_and_labels(evaluator: Evaluator, write: Write) -> None:
    match = {"namespaces": ["team"], "namespaceSelector": {"matchLabels": {"tier": "prod"}}}
    files = {"t.yaml": template(), "c.yaml": constraint(match=match)}
    answers = judged(
        evaluator,
        write,
        files,
        namespace("team", tier="prod"),
        namespace("team"),
        namespace("x", tier="prod"),
    )
    assert [each[ID].outcome for each in answers[:3]] == [Outcome.FAIL, Outcome.SKIP, Outcome.SKIP]


def test_labels_of_a_namespace_that_is_not_there_cannot_be_told(evaluator: Evaluator, write: Write) -> None:
    files = {
        "t.yaml": template(),
        "c.yaml": constraint(match={"namespaceSelector": {"matchLabels": {"a": "b"}}}),
    }
    found = program(load(evaluator, write(files)))
    assert found.asks[0].rule.context_kinds == ("Namespace",)
    answer = ask(evaluator, found, [pod()])[0][ID]
    assert (answer.outcome, answer.reason) == (Outcome.ERROR, "undefined")
    assert "Namespace was not collected" in answer.message


@pytest.mark.parametrize(
    ("spec", "outcome", "said"),
    [
        ({"enforcementAction": "deny"}, Outcome.FAIL, "deny"),
        ({"enforcementAction": "warn"}, Outcome.WARN, "warn"),
        ({"enforcementAction": "dryrun"}, Outcome.WARN, "dryrun"),
        (
            {
                "enforcementAction": "scoped",
                "scopedEnforcementActions": [
                    {"action": "warn", "enforcementPoints": [{"name": "audit.gatekeeper.sh"}]},
                    {"action": "deny", "enforcementPoints": [{"name": "validation.gatekeeper.sh"}]},
                ],
            },
            Outcome.FAIL,
            "scoped: deny at validation.gatekeeper.sh, warn at audit.gatekeeper.sh",
        ),
    ],
    ids=["deny", "warn", "dryrun", "scoped"],
)
def test_enforcement_actions(
    evaluator: Evaluator, write: Write, spec: dict[str, Any], outcome: Outcome, said: str
) -> None:
    found = program(load(evaluator, write({"t.yaml": template(), "c.yaml": constraint(**spec)})))
    assert found.asks[0].rule.description.endswith(f"Enforcement action: {said}.")
    assert ask(evaluator, found, [pod()])[0][ID].outcome is outcome


UNIQUE = """\
package unique

violation[{"msg": msg}] {
  other := data.inventory.namespace[input.review.object.metadata.namespace][_]["Service"][name]
  name != input.review.object.metadata.name
  other.spec.selector == input.review.object.spec.selector
  msg := sprintf("same selector as %v", [name])
}
"""


def test_referential_templates_see_whole_objects_of_their_kinds(evaluator: Evaluator, write: Write) -> None:
    annotation = '"[[{\\"groups\\": [\\"\\"], \\"versions\\": [\\"v1\\"], \\"kinds\\": [\\"Service\\"]}]]"'
    files = {
        "t.yaml": template("Unique", UNIQUE, schema=None, annotations={SYNC: yaml.safe_load(annotation)}),
        "c.yaml": constraint("one", "Unique", match={"kinds": [{"apiGroups": [""], "kinds": ["Service"]}]}),
    }
    found = program(load(evaluator, write(files)))
    assert found.asks[0].rule.context_kinds == ("Service",)
    same = {"app": "web"}
    services = [service("a", selector=same), service("b", selector=same), service("c", selector={"app": "x"})]
    elsewhere = [service("d", namespace="other", selector=same)]
    answers = ask(evaluator, found, [*services, *elsewhere])
    messages = [[v.message for v in each["own:Unique/one"].violations] for each in answers[:4]]
    assert messages == [["same selector as b"], ["same selector as a"], [], []]


def test_a_manifest_without_a_namespace_stands_in_default_and_says_so(
    evaluator: Evaluator, write: Write
) -> None:
    files = {"t.yaml": template("Unique", UNIQUE, schema=None), "c.yaml": constraint("one", "Unique")}
    found = program(load(evaluator, write(files)))
    same = {"app": "web"}
    first, second = (
        service("a", namespace=None, selector=same),
        service("b", namespace="default", selector=same),
    )
    answers = ask(evaluator, found, [first, second])
    assert answers[0]["own:Unique/one"].caveats == ("namespace_assumed",)
    assert answers[1]["own:Unique/one"].caveats == ()
    assert [each["own:Unique/one"].outcome for each in answers[:2]] == [Outcome.FAIL, Outcome.FAIL]


def test_kinds_that_are_read_come_from_config_syncset_or_the_rego(evaluator: Evaluator, write: Write) -> None:
    config = yaml.safe_dump(
        {
            "apiVersion": "config.gatekeeper.sh/v1alpha1",
            "kind": "Config",
            "metadata": {"name": "config"},
            "spec": {
                "sync": {"syncOnly": [{"group": "apps", "version": "v1", "kind": "Deployment"}]},
                "match": [{"excludedNamespaces": ["kube-*"], "processes": ["audit"]}],
            },
        }
    )
    syncset = yaml.safe_dump(
        {
            "apiVersion": "syncset.gatekeeper.sh/v1alpha1",
            "kind": "SyncSet",
            "metadata": {"name": "s"},
            "spec": {"gvks": [{"group": "", "version": "v1", "kind": "Service"}]},
        }
    )
    files = {"t.yaml": template("Unique", UNIQUE, schema=None), "c.yaml": constraint("one", "Unique")}
    listed = load(evaluator, write({**files, "config.yaml": config, "s.yaml": syncset}))
    assert program(listed).asks[0].rule.context_kinds == ("Service", "apps/Deployment")
    assert notes(listed, "namespaces_excluded") == ["keeps the audit out of kube-*"]
    answers = ask(evaluator, program(listed), [service("a", namespace="kube-system")])
    assert answers[0]["own:Unique/one"].outcome is Outcome.SKIP
    inferred = load(evaluator, write(files, "bare"))
    assert program(inferred).asks[0].rule.context_kinds == ("Service",)
    assert notes(inferred, "inventory_inferred") == ["Unique does not say what it reads: Service"]
    vague = UNIQUE.replace('["Service"]', "[input.review.kind.kind]")
    text = template("Unique", vague, schema=None)
    untold = load(evaluator, write({**files, "t.yaml": text}, "vague"))
    (gap,) = untold.gaps
    assert "cannot be told of which kinds" in gap.reason
    assert "data.inventory" in text.splitlines()[(gap.line or 0) - 1]


def test_the_review_is_that_of_an_audit(evaluator: Evaluator, write: Write) -> None:
    rego = 'package dump\n\nviolation[{"msg": "x", "details": {"review": r}}] { r := object.remove(input.review, ["object"]) }\n'
    files = {"t.yaml": template("Dump", rego, schema=None), "c.yaml": constraint("x", "Dump")}
    found = program(load(evaluator, write(files)))
    answers = ask(evaluator, found, [deployment("d")])
    assert answers[0]["own:Dump/x"].violations[0].seen["details"]["review"] == {
        "uid": "",
        "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "resource": {"group": "", "version": "", "resource": ""},
        "name": "d",
        "namespace": "team",
        "operation": "",
        "userInfo": {},
        "oldObject": None,
        "options": None,
        "namespaceObject": None,
    }


def test_the_namespace_object_is_handed_over(evaluator: Evaluator, write: Write) -> None:
    rego = (
        'package owned\n\nviolation[{"msg": msg}] '
        "{ msg := input.review.namespaceObject.metadata.labels.owner }\n"
    )
    files = {"t.yaml": template("Owned", rego, schema=None), "c.yaml": constraint("x", "Owned")}
    found = program(load(evaluator, write(files)))
    (answers, _) = ask(evaluator, found, [pod()], [namespace("team", owner="red")])
    assert [v.message for v in answers["own:Owned/x"].violations] == ["red"]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"parameters": {"labels": "owner"}}, "parameters.labels: "),
        ({"parameters": {"lables": ["owner"]}}, "parameters.lables: the template's schema has no such field"),
        ({"parameters": {"mode": "hard"}}, "parameters.mode: "),
        ({"match": {"namespace": ["a"]}}, "spec.match.namespace: no such field"),
        ({"match": {"namespaces": ["a*b"]}}, "a * stands only at its beginning or end"),
        (
            {"match": {"kinds": [{"apiGroup": [""], "kinds": ["Pod"]}]}},
            "spec.match.kinds[0].apiGroup: no such field",
        ),
        ({"match": {"scope": "Namespace"}}, "spec.match.scope: Namespace is no scope"),
        (
            {"match": {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}},
            "operator In does not go with 0 values",
        ),
        ({"enforcementAction": "audit"}, "spec.enforcementAction: audit is none of"),
        ({"enforcementAction": "scoped"}, "so it is never enforced"),
        ({"matches": {}}, "spec.matches: no such field"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_gatekeeper_refuses_is_a_gap(
    evaluator: Evaluator, write: Write, spec: dict[str, Any], said: str
) -> None:
    result = load(evaluator, write({"t.yaml": template(), "c.yaml": constraint(**spec)}))
    (gap,) = result.gaps
    assert said in gap.reason
    assert (gap.source, gap.line) == ("policy/c.yaml", 1)
    assert not result.programs


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (template(name="wrong"), "must be called k8srequiredlabels"),
        (template().replace("admission.k8s.gatekeeper.sh", "other"), "targets other"),
        (template(rego="package x\n\nviolations[msg] { msg := 1 }\n"), "defines no violation"),
        (template(rego=LABELS_V0 + "\nx { data.secrets.a }\n"), "data.secrets may not be read in a template"),
        (template(libs=("package helpers\n\nx = 1\n",)), "a library's package must begin with lib"),
        (
            template(annotations={SYNC: "not json"}, rego=UNIQUE.replace("unique", "k8srequiredlabels")),
            "cannot be read",
        ),
    ],
    ids=lambda value: str(value)[-40:],
)
def test_templates_that_gatekeeper_refuses_are_gaps(
    evaluator: Evaluator, write: Write, text: str, said: str
) -> None:
    result = load(evaluator, write({"t.yaml": text, "c.yaml": constraint()}))
    (gap,) = result.gaps
    assert said in gap.reason
    assert gap.source == "policy/t.yaml"


def test_an_error_in_embedded_rego_has_the_line_of_the_yaml(evaluator: Evaluator, write: Write) -> None:
    bad = LABELS_V0.replace("count(missing) > 0", "unknown(missing)")
    text = template() + "---\n" + template("Bad", bad, schema=None)
    files = {"t.yaml": text, "c.yaml": constraint() + "---\n" + constraint("b", "Bad")}
    result = load(evaluator, write(files))
    (gap,) = result.gaps
    assert gap.source == "policy/t.yaml"
    assert "undefined function unknown" in gap.reason
    assert "left out with it: own:Bad/b" in gap.reason
    assert text.splitlines()[(gap.line or 0) - 1].strip() == "unknown(missing)"
    assert [one.rule.id for one in result.programs[0].asks] == [ID]


def test_cel_templates_are_gaps_that_say_so(evaluator: Evaluator, write: Write) -> None:
    cel = template().replace("engine: Rego", "engine: K8sNativeValidation")
    result = load(evaluator, write({"t.yaml": cel, "c.yaml": constraint()}))
    assert reasons(result) == ["is written in CEL (K8sNativeValidation), which is not judged here"]
    both = template().replace(
        "      code:\n", "      code:\n        - engine: K8sNativeValidation\n          source: {}\n"
    )
    beside = load(evaluator, write({"t.yaml": both, "c.yaml": constraint()}, "both"))
    assert notes(beside, "cel_beside_rego")
    assert program(beside).asks


def test_what_asks_nothing_is_said(evaluator: Evaluator, write: Write) -> None:
    alone = load(evaluator, write({"t.yaml": template()}))
    assert notes(alone, "no_constraint") == ["K8sRequiredLabels has no constraint, so it is never asked"]
    orphan = load(
        evaluator, write({"t.yaml": template(), "c.yaml": constraint(kind="K8sRequiredLabel")}, "orphan")
    )
    assert "kind: no ConstraintTemplate defines the kind K8sRequiredLabel" in reasons(orphan)
    assert any("K8sRequiredLabels" in gap.hint for gap in orphan.gaps)
    match = {
        "kinds": [
            {"apiGroups": [""], "kinds": ["Pods", "Deployment"]},
            {"apiGroups": ["apps"], "kinds": ["*"]},
        ]
    }
    typo = load(evaluator, write({"t.yaml": template(), "c.yaml": constraint(match=match)}, "typo"))
    assert notes(typo, "matches_unknown_kind") == [
        "K8sRequiredLabels/all matches Pods, which does not exist; did you mean Pod?",
        "K8sRequiredLabels/all matches Deployment, which does not exist; did you mean apps/Deployment?",
    ]
    core = {"kinds": [{"apiGroups": ["core"], "kinds": ["Pod"]}]}
    named = load(evaluator, write({"t.yaml": template(), "c.yaml": constraint(match=core)}, "core"))
    assert notes(named, "matches_unknown_kind") == [
        "K8sRequiredLabels/all matches core/Pod and nothing else, which does not exist; did you mean Pod?"
    ]
    custom = {"kinds": [{"apiGroups": ["ray.io", "*"], "kinds": ["RayCluster"]}]}
    fine = load(evaluator, write({"t.yaml": template(), "c.yaml": constraint(match=custom)}, "fine"))
    assert not notes(fine, "matches_unknown_kind")


def test_definitions_that_contradict_each_other_are_gaps(evaluator: Evaluator, write: Write) -> None:
    same = {"t.yaml": template(), "again.yaml": template(), "c.yaml": constraint(), "d.yaml": constraint()}
    assert program(load(evaluator, write(same)))
    other = {**same, "d.yaml": constraint(parameters={"labels": ["x"]})}
    result = load(evaluator, write(other, "other"))
    assert reasons(result) == ["K8sRequiredLabels/all is already defined in other/c.yaml, differently"]


def test_rego_of_a_template_without_its_template_is_a_gap(evaluator: Evaluator, write: Write) -> None:
    result = load(evaluator, write({"src.rego": LABELS_V0}))
    assert reasons(result) == ["is the Rego of a Gatekeeper template, and no ConstraintTemplate is here"]
    beside = load(
        evaluator, write({"src.rego": LABELS_V0, "t.yaml": template(), "c.yaml": constraint()}, "beside")
    )
    assert notes(beside, "template_source")
    assert program(beside).asks


def test_lists_and_broken_yaml(evaluator: Evaluator, write: Write) -> None:
    items = [yaml.safe_load(template()), yaml.safe_load(constraint())]
    text = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items})
    result = load(evaluator, write({"all.yaml": text, "bad.yaml": "kind: [\n# gatekeeper.sh\n"}))
    assert [gap.source for gap in result.gaps] == ["policy/bad.yaml"]
    assert [one.rule.id for one in result.programs[0].asks] == [ID]
