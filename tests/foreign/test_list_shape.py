"""Rules over a list of objects, Kubescape's folders first: one object at a time, or all of a cluster where it takes that."""

from __future__ import annotations

import json
from typing import Any

from audit.library.foreign.load import ForeignLoad
from audit.model.finding import Outcome, render_path
from audit.model.foreign import ForeignProgram, Shape
from audit.model.rule import Severity
from audit.native.evaluator import Evaluator
from tests.foreign.conftest import Write
from tests.foreign.foreign_runs import ask, load
from tests.foreign.objects import deployment, pod, service

POD_MATCH = [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["Pod"]}]
ALERT = """\
	msga := {
		"alertMessage": sprintf("%v is wrong", [wl.metadata.name]),
		"failedPaths": FAILED,
		"reviewPaths": [],
		"fixPaths": FIX,
		"alertObject": {"k8sApiObjects": [wl]},
	}
}
"""
HEAD = "package armo_builtins\n\nimport rego.v1\n\n"


def raw(body: str = "", *, failed: str = "[]", fix: str = "[]", name: str = "deny") -> str:
    start = f'{HEAD}{name} contains msga if {{\n\twl := input[_]\n\twl.kind == "Pod"\n{body}'
    return start + ALERT.replace("FAILED", failed).replace("FIX", fix)


def metadata(match: Any = None, **more: Any) -> str:
    content = {
        "name": "r",
        "match": POD_MATCH if match is None else match,
        "description": "What it asks.",
        "attributes": {},
    }
    return json.dumps({**content, **more})


def folder(name: str, rego: str, meta: str, **files: str) -> dict[str, str]:
    return {f"{name}/raw.rego": rego, f"{name}/rule.metadata.json": meta} | {
        f"{name}/{file}.rego": text for file, text in files.items()
    }


def program(result: ForeignLoad) -> ForeignProgram:
    assert not result.gaps, result.gaps
    (only,) = result.programs
    assert only.shape is Shape.LIST
    return only


def notes(result: ForeignLoad) -> dict[str, str]:
    return {notice.code: notice.message for notice in result.notices}


def test_a_rule_folder_is_a_rule(evaluator: Evaluator, write: Write) -> None:
    paths = '["spec.containers[0].image", "metadata.labels[app.kubernetes.io/name]"]'
    fix = '[{"path": "spec.hostNetwork", "value": "false"}]'
    result = load(evaluator, write(folder("no-pods", raw(failed=paths, fix=fix), metadata())))
    (one,) = program(result).asks
    assert (one.rule.id, one.rule.kinds) == ("own:no-pods/deny", ("Pod",))
    assert (one.rule.title, one.rule.description) == ("no pods", "What it asks.")
    answers = ask(evaluator, program(result), [pod("x"), service("s")])
    found = {(v.message, render_path(v.path), v.expected) for v in answers[0]["own:no-pods/deny"].violations}
    assert found == {
        ("x is wrong", "spec.containers[0].image", None),
        ("x is wrong", 'metadata.labels["app.kubernetes.io/name"]', None),
        ("x is wrong", "spec.hostNetwork", "false"),
    }
    assert answers[1] == {}


def test_rules_with_the_same_package_never_meet(evaluator: Evaluator, write: Write) -> None:
    other = raw(name="untrusted").replace("is wrong", "is untrusted")
    files = folder("first", raw(), metadata()) | folder("second", other, metadata())
    answers = ask(evaluator, program(load(evaluator, write(files))), [pod("x")])[0]
    assert {id_: [v.message for v in a.violations] for id_, a in answers.items()} == {
        "own:first/deny": ["x is wrong"],
        "own:second/untrusted": ["x is untrusted"],
    }


def test_a_filter_says_what_a_rule_is_about(evaluator: Evaluator, write: Write) -> None:
    chosen = raw('\twl.metadata.labels.app == "web"\n')
    files = folder("r", raw(), metadata(), filter=chosen)
    answers = ask(
        evaluator, program(load(evaluator, write(files))), [pod("x"), pod("y", labels={"app": "web"})]
    )
    assert (answers[0]["own:r/deny"].outcome, answers[0]["own:r/deny"].reason) == (
        Outcome.SKIP,
        "not_selected_by_filter",
    )
    assert answers[1]["own:r/deny"].outcome is Outcome.FAIL


RELATED = (
    (
        HEAD + 'deny contains msga if {\n\twl := input[_]\n\twl.kind == "Deployment"\n\tsvc := input[_]\n'
        '\tsvc.kind == "Service"\n\tsvc.spec.selector.app == wl.spec.template.metadata.labels.app\n' + ALERT
    )
    .replace("FAILED", "[]")
    .replace("FIX", "[]")
)
BOTH = [
    {"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["Deployment"]},
    {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["Service"]},
]


def test_a_rule_that_relates_objects_sees_the_whole_cluster(evaluator: Evaluator, write: Write) -> None:
    found = program(load(evaluator, write(folder("exposed", RELATED, metadata(BOTH)))))
    (one,) = found.asks
    assert one.rule.kinds == ("fleetaudit.dev/Cluster",)
    assert one.rule.context_kinds == ("Service", "apps/Deployment")
    web = deployment("web", labels={"app": "web"})
    exposed = ask(evaluator, found, [web, deployment("db"), service("s", selector={"app": "web"})])
    assert [v.message for v in exposed[-1]["own:exposed/deny"].violations] == ["web is wrong"]
    alone = ask(evaluator, found, [web])
    assert alone[-1]["own:exposed/deny"].outcome is Outcome.PASS
    assert alone[0] == {}


def test_a_count_over_the_list_sees_the_whole_cluster_too(evaluator: Evaluator, write: Write) -> None:
    body = raw('\tcount([x | x := input[_]; x.kind == "Pod"]) > 1\n')
    found = program(load(evaluator, write(folder("many", body, metadata()))))
    assert ask(evaluator, found, [pod("a")])[-1]["own:many/deny"].outcome is Outcome.PASS
    assert ask(evaluator, found, [pod("a"), pod("b")])[-1]["own:many/deny"].outcome is Outcome.FAIL


def test_a_relating_rule_over_unknown_kinds_is_a_gap(evaluator: Evaluator, write: Write) -> None:
    every = [{"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}]
    (gap,) = load(evaluator, write(folder("exposed", RELATED, metadata(every)))).gaps
    assert "cannot be told of which kinds" in gap.reason


def test_what_only_kubescape_can_judge_is_said(evaluator: Evaluator, write: Write) -> None:
    files = (
        folder("aggregated", raw(), metadata(attributes={"resourcesAggregator": "subject-role-rolebinding"}))
        | folder("scanned", raw(), metadata(attributes={"imageScanRelated": True}))
        | folder("by-hand", raw(), metadata([{"apiGroups": [], "apiVersions": [], "resources": []}]))
        | folder("older", raw(), metadata(attributes={"useUntilKubescapeVersion": "v2.3.8"}))
        | folder("broken-metadata", raw(), "{")
        | folder("silent", HEAD + "helper := 1\n", metadata())
    )
    result = load(evaluator, write(files))
    assert {gap.source: gap.reason.partition(":")[0] for gap in result.gaps} == {
        "policy/aggregated/raw.rego": "aggregated needs Kubescape's resource aggregator subject-role-rolebinding",
        "policy/scanned/raw.rego": "scanned needs the results of Kubescape's image scan",
        "policy/broken-metadata/rule.metadata.json": "cannot be read",
        "policy/silent/raw.rego": "no rule of it raises an alert",
    }
    assert notes(result)["matches_nothing"] == "by-hand matches no kind of object: it is reviewed by hand"
    assert notes(result)["rule_superseded"] == "older is only for Kubescape before v2.3.8"
    assert not result.programs


def test_libraries_settings_and_severities_beside_the_rules(evaluator: Evaluator, write: Write) -> None:
    text = raw("\tcautils.is_it(wl)\n\twl.metadata.name in data.postureControlInputs.names\n").replace(
        "import rego.v1\n", "import rego.v1\n\nimport data.cautils\n"
    )
    root = write(folder("rules/r", text, metadata()), "library")
    library = write({"cautils.rego": "package cautils\n\nis_it(x) { x.kind }\n"}, "libs")
    (root / "default-config-inputs.json").write_text(
        json.dumps({"settings": {"postureControlInputs": {"names": ["x"]}}})
    )
    (root / "controls").mkdir()
    (root / "controls" / "c.json").write_text(json.dumps({"baseScore": 8.0, "rulesNames": ["r"]}))
    result = load(evaluator, root / "rules", libraries=(library,))
    assert notes(result)["default_inputs"]
    (one,) = program(result).asks
    assert one.rule.severity is Severity.HIGH
    assert [v.message for v in ask(evaluator, program(result), [pod("x")])[0]["own:r/deny"].violations] == [
        "x is wrong"
    ]
    without = load(evaluator, root / "rules")
    assert "undefined function data.cautils.is_it" in without.gaps[0].reason
    assert len(without.gaps) == 1


def test_a_broken_rule_costs_itself(evaluator: Evaluator, write: Write) -> None:
    files = folder("bad", raw("\tnope(wl)\n"), metadata()) | folder("good", raw(), metadata())
    result = load(evaluator, write(files))
    (gap,) = result.gaps
    assert (gap.source, gap.line) == ("policy/bad/raw.rego", 8)
    assert [one.rule.id for one in result.programs[0].asks] == ["own:good/deny"]


def test_plain_rego_over_a_list_without_metadata(evaluator: Evaluator, write: Write) -> None:
    text = 'package rules\n\ndeny[msg] {\n\to := input[_]\n\to.kind == "Pod"\n\tmsg := o.metadata.name\n}\n'
    found = program(load(evaluator, write({"a.rego": text})))
    answers = ask(evaluator, found, [pod("x"), service("s")])
    assert [v.message for v in answers[0]["own:rules/deny"].violations] == ["x"]
    assert answers[1]["own:rules/deny"].outcome is Outcome.PASS
