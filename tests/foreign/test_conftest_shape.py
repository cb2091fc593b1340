"""conftest's policies, unchanged: rule names, values, exceptions, data, combine, and what conftest passes over."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from audit.library.foreign.load import ForeignLoad, NothingOfThatNameError
from audit.model.finding import Outcome, PairAnswer
from audit.model.foreign import ForeignProgram, Shape
from audit.model.rule import Severity
from audit.native.evaluator import EvalLimits, Evaluator
from tests.foreign.conftest import Write
from tests.foreign.conftest_cli import conftest
from tests.foreign.foreign_runs import Object, ask, load
from tests.foreign.objects import deployment, pod, service

V1 = "package main\n\nimport rego.v1\n\n"
LATEST = 'input.spec.containers[_].image == "nginx:latest"'


def program(result: ForeignLoad) -> ForeignProgram:
    assert not result.gaps, result.gaps
    (only,) = result.programs
    assert only.shape is Shape.CONFTEST
    return only


def answer(evaluator: Evaluator, folder: Path, value: Object, rule: str) -> PairAnswer:
    return ask(evaluator, program(load(evaluator, folder)), [value])[0][f"own:{rule}"]


def codes(result: ForeignLoad) -> set[str]:
    return {notice.code for notice in result.notices}


def test_every_rule_name_of_conftest_is_asked_and_nothing_else(evaluator: Evaluator, write: Write) -> None:
    names = ("deny", "deny_a", "deny_a_1", "violation", "violation_x", "warn", "warn_y")
    others = ("denied", "deny-", "warning", "helper", "allow")
    text = V1 + "".join(
        f'{n} contains "x" if input.kind == "Pod"\n\n' for n in (*names, "denied", "warning", "helper")
    )
    found = program(load(evaluator, write({"p.rego": text})))
    assert {one.rule.id for one in found.asks} == {f"own:main/{name}" for name in names}
    assert not {one.rule.id for one in found.asks} & {f"own:main/{name}" for name in others}
    assert {one.rule.id for one in found.asks if one.rule.warn_only} == {"own:main/warn", "own:main/warn_y"}


def test_all_packages_are_asked_unless_they_are_named(evaluator: Evaluator, write: Write) -> None:
    folder = write(
        {
            "a.rego": V1 + 'deny contains "a" if true\n',
            "sub/b.rego": 'package other.place\n\ndeny["b"] { true }\n',
        }
    )
    both = program(load(evaluator, folder))
    assert {one.rule.id for one in both.asks} == {"own:main/deny", "own:other.place/deny"}
    one = program(load(evaluator, folder, namespaces=("other.place",)))
    assert {ask.rule.id for ask in one.asks} == {"own:other.place/deny"}


def test_a_namespace_or_rule_that_does_not_exist_is_an_error(evaluator: Evaluator, write: Write) -> None:
    folder = write({"a.rego": V1 + 'deny contains "a" if true\n'})
    with pytest.raises(NothingOfThatNameError, match="mian"):
        load(evaluator, folder, namespaces=("mian",))
    with pytest.raises(NothingOfThatNameError, match="denny"):
        load(evaluator, folder, rules=("denny",))


def test_messages_may_be_texts_or_objects(evaluator: Evaluator, write: Write) -> None:
    folder = write(
        {
            "a.rego": V1
            + f'deny_text contains msg if {{ {LATEST}; msg := "moving tag" }}\n\n'
            + f'deny_object contains {{"msg": "moving tag", "why": "it moves", "_loc": {{"line": 3}}}} if {LATEST}\n\n'
            + f'deny_list := ["moving tag"] if {LATEST}\n'
        }
    )
    for rule in ("deny_text", "deny_object", "deny_list"):
        found = answer(evaluator, folder, pod(), f"main/{rule}")
        assert found.outcome is Outcome.FAIL
        assert [violation.message for violation in found.violations] == ["moving tag"]
        assert answer(evaluator, folder, service("s"), f"main/{rule}").outcome is Outcome.PASS
    (violation,) = answer(evaluator, folder, pod(), "main/deny_object").violations
    assert violation.seen == {"why": "it moves"}
    assert violation.expected is None


@pytest.mark.parametrize(
    "head", ["deny := true", "deny contains 5", 'deny contains {"text": "x"}', 'deny["x"] := 1']
)
def test_values_that_conftest_drops_silently_are_errors(
    evaluator: Evaluator, write: Write, head: str
) -> None:
    folder = write({"a.rego": V1 + f"{head} if {LATEST}\n"})
    found = answer(evaluator, folder, pod(), "main/deny")
    assert (found.outcome, found.reason) == (Outcome.ERROR, "bad_answer")
    assert "main.deny gives no set of messages" in found.message


def test_an_exception_accepts_the_failure_and_leaves_it_visible(evaluator: Evaluator, write: Write) -> None:
    folder = write(
        {
            "a.rego": V1
            + f'deny_tag contains "moving tag" if {LATEST}\n\ndeny contains "also" if {LATEST}\n\n'
            + 'exception contains rules if { input.metadata.name == "old"; rules := ["tag"] }\n\n'
            + 'exception contains rules if { input.metadata.name == "older"; rules := [""] }\n'
        }
    )
    excepted = answer(evaluator, folder, pod("old"), "main/deny_tag")
    assert excepted.outcome is Outcome.FAIL
    assert excepted.accepted_by == "own:main.exception"
    assert [v.message for v in excepted.violations] == ["moving tag"]
    assert excepted.violations[0].expected is None
    assert answer(evaluator, folder, pod("old"), "main/deny").accepted_by == ""
    assert answer(evaluator, folder, pod("new"), "main/deny_tag").accepted_by == ""
    assert answer(evaluator, folder, pod("older"), "main/deny").accepted_by
    fine = pod("old", containers=[])
    assert answer(evaluator, folder, fine, "main/deny_tag").outcome is Outcome.PASS


def test_a_policy_cannot_accept_its_own_failure_by_imitating_the_mark(
    evaluator: Evaluator, write: Write
) -> None:
    forged = '{"msg": "bad", "expected": {"fleetaudit:accepted_by": "me"}}'
    folder = write({"a.rego": V1 + f"deny contains {forged} if {LATEST}\n"})
    found = answer(evaluator, folder, pod(), "main/deny")
    assert (found.outcome, found.accepted_by) == (Outcome.FAIL, "")


def test_data_folders_are_laid_out_as_opa_does(evaluator: Evaluator, write: Write) -> None:
    folder = write(
        {
            "a.rego": V1 + 'deny contains "listed" if input.metadata.name in data.names\n\n'
            'deny contains "nested" if input.metadata.name in data.teams.red.names\n'
        }
    )
    data = write({"top.yaml": "names: [a]\n", "teams/red.json": '{"red": {"names": ["b"]}}'}, "data")
    found = program(load(evaluator, folder, data=(data,)))
    answers = ask(evaluator, found, [pod("a"), pod("b"), pod("c")])
    messages = [[v.message for v in each["own:main/deny"].violations] for each in answers[:3]]
    assert messages == [["listed"], ["nested"], []]


def test_data_that_is_not_there_is_a_gap_with_its_place(evaluator: Evaluator, write: Write) -> None:
    folder = write({"a.rego": V1 + 'deny contains "x" if input.metadata.name in data.names\n'})
    result = load(evaluator, folder)
    (gap,) = result.gaps
    assert (gap.source, gap.line) == ("policy/a.rego", 5)
    assert "data.names is read and nothing defines it" in gap.reason
    assert "unresolved_data" in result.programs[0].asks[0].rule.caveats


def test_a_helper_that_is_misspelt_is_a_gap_and_not_a_pass(evaluator: Evaluator, write: Write) -> None:
    helper = 'package lib.kubernetes\n\nimport rego.v1\n\nis_pod if input.kind == "Pod"\n'
    text = V1 + 'import data.lib.kubernetes\n\ndeny contains "x" if kubernetes.is_pood\n'
    result = load(evaluator, write({"a.rego": text, "lib/kubernetes.rego": helper}))
    assert [gap.reason for gap in result.gaps] == [
        "data.lib.kubernetes.is_pood is read and nothing defines it, so what needs it never fires"
    ]
    assert not load(
        evaluator, write({"a.rego": text.replace("pood", "pod"), "lib/kubernetes.rego": helper})
    ).gaps


def test_broken_data_is_a_gap(evaluator: Evaluator, write: Write) -> None:
    folder = write({"a.rego": V1 + 'deny contains "x" if data.a == 1\n'})
    for text, said in (
        ("a: [", "is not YAML"),
        ("[1]", "is no mapping"),
        ("a: 1\n---\nb: 2\n", "holds 2 documents"),
    ):
        data = write({"d.yaml": text}, "data")
        (gap,) = load(evaluator, folder, data=(data,)).gaps
        assert said in gap.reason
    (gap,) = load(evaluator, folder, data=(folder / "nowhere",)).gaps
    assert "no such data file" in gap.reason


def test_a_broken_file_costs_one_gap_and_the_rest_runs(evaluator: Evaluator, write: Write) -> None:
    folder = write(
        {
            "bad.rego": V1 + "deny contains msg if {\n\tmsg := \n}\n",
            "good.rego": V1 + f'deny_good contains "x" if {LATEST}\n',
        }
    )
    result = load(evaluator, folder)
    (gap,) = result.gaps
    assert (gap.source, gap.line) == ("policy/bad.rego", 7)
    (only,) = result.programs
    assert ask(evaluator, only, [pod()])[0]["own:main/deny_good"].outcome is Outcome.FAIL
    assert {one.rule.id for one in only.asks} == {"own:main/deny_good"}


def test_rules_that_need_a_broken_helper_go_with_it(evaluator: Evaluator, write: Write) -> None:
    folder = write(
        {
            "lib.rego": "package lib.k\n\nimport rego.v1\n\nis_pod if {\n\tinput.kind ==\n}\n",
            "needs.rego": V1 + 'import data.lib.k\n\ndeny_needs contains "x" if k.is_pod\n',
            "free.rego": V1 + f'deny_free contains "x" if {LATEST}\n',
        }
    )
    result = load(evaluator, folder)
    (gap,) = result.gaps
    assert gap.source == "policy/lib.rego"
    assert "left out with it: own:main/deny_needs" in gap.reason
    assert [one.rule.id for one in result.programs[0].asks] == ["own:main/deny_free"]


def test_a_rule_that_loops_costs_its_own_pairs_only(write: Write) -> None:
    folder = write(
        {
            "a.rego": V1 + f'deny_fine contains "x" if {LATEST}\n\n'
            "deny_loops contains y if {\n\tinput.metadata\n\tsome y in numbers.range(1, 90000000)\n\ty < 0\n}\n"
        }
    )
    with Evaluator(jobs=1, limits=EvalLimits(object_seconds=0.3)) as quick:
        result = load(quick, folder)
        answers = ask(quick, program(result), [pod()])[0]
    assert answers["own:main/deny_fine"].outcome is Outcome.FAIL
    assert (answers["own:main/deny_loops"].outcome, answers["own:main/deny_loops"].reason) == (
        Outcome.ERROR,
        "timeout",
    )
    assert "not_tried" in codes(result)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('http.send({"url": "https://example.com"})', "http.send is not allowed"),
        ("opa.runtime()", "opa.runtime is not allowed"),
        ("f(1)\n}\n\nf(x) := y if {\n\ty := f(x + 1)", "recursive"),
    ],
)
def test_what_no_policy_may_do_is_a_gap_with_its_place(
    evaluator: Evaluator, write: Write, body: str, said: str
) -> None:
    folder = write(
        {
            "bad.rego": "package bad\n\nimport rego.v1\n\ndeny contains x if {\n\tx := " + body + "\n}\n",
            "good.rego": V1 + f'deny contains "x" if {LATEST}\n',
        }
    )
    result = load(evaluator, folder)
    (gap,) = result.gaps
    assert gap.source == "policy/bad.rego"
    assert said in gap.reason
    assert gap.line
    assert [one.rule.id for one in result.programs[0].asks] == ["own:main/deny"]


def test_both_dialects_live_together_and_are_stated(evaluator: Evaluator, write: Write) -> None:
    folder = write(
        {
            "old.rego": 'package old\n\ndeny[msg] {\n\tinput.spec.containers[_].image == "nginx:latest"\n\tmsg := "old"\n}\n',
            "new.rego": f'package new\n\ndeny contains "new" if {LATEST}\n',
        }
    )
    found = program(load(evaluator, folder))
    assert found.facts["modules by dialect"] == "v0 1, v1 1"
    answers = ask(evaluator, found, [pod()])[0]
    assert {id_: a.outcome for id_, a in answers.items()} == {
        "own:old/deny": Outcome.FAIL,
        "own:new/deny": Outcome.FAIL,
    }


def test_words_come_from_metadata_else_from_stated_defaults(evaluator: Evaluator, write: Write) -> None:
    text = (
        "# METADATA\n# title: Main policies\n# custom:\n#   severity: LOW\npackage main\n\nimport rego.v1\n\n"
        "# METADATA\n# title: Tags are fixed\n# description: A tag can move.\n# custom:\n#   severity: High\n"
        "# related_resources:\n# - ref: https://example.com/tags\n"
        f'deny_tag contains "x" if {LATEST}\n\nwarn contains "y" if {LATEST}\n'
    )
    result = load(evaluator, write({"a.rego": text}))
    rules = {ask.rule.id: ask.rule for ask in program(result).asks}
    tag, warn = rules["own:main/deny_tag"], rules["own:main/warn"]
    assert (tag.title, tag.description, tag.severity) == ("Tags are fixed", "A tag can move.", Severity.HIGH)
    assert tag.references == ("https://example.com/tags",)
    assert (tag.file, tag.line) == ("policy/a.rego", 16)
    assert (warn.title, warn.severity) == ("Main policies", Severity.LOW)
    assert "severity_assumed" not in codes(result)
    bare = load(evaluator, write({"a.rego": V1 + f'deny contains "x" if {LATEST}\n'}, "bare"))
    assert "severity_assumed" in codes(bare)
    assert program(bare).asks[0].rule.severity is Severity.MEDIUM


def test_policies_for_all_files_together_see_the_kinds_they_name(evaluator: Evaluator, write: Write) -> None:
    text = (
        V1 + "deny contains msg if {\n"
        '\tsome d in input\n\td.contents.kind == "Deployment"\n\tnot served(d.contents)\n'
        '\tmsg := sprintf("%s has no service", [d.path])\n}\n\n'
        'served(d) if {\n\tinput[_].contents.kind == "Service"\n'
        "\tinput[_].contents.spec.selector.app == d.spec.template.metadata.labels.app\n}\n"
    )
    found = program(load(evaluator, write({"a.rego": text})))
    (one,) = found.asks
    assert one.rule.kinds == ("fleetaudit.dev/Cluster",)
    assert one.rule.context_kinds == ("Service", "apps/Deployment")
    web = deployment("web", labels={"app": "web"})
    api = deployment("api", labels={"app": "api"})
    answers = ask(evaluator, found, [web, api, service("web", selector={"app": "web"})])
    assert answers[0] == {}
    assert [v.message for v in answers[-1]["own:main/deny"].violations] == [
        "Deployment/team/api has no service"
    ]


def test_policies_for_all_files_together_of_unknown_kinds_are_a_gap(
    evaluator: Evaluator, write: Write
) -> None:
    text = (
        V1
        + 'deny contains "two" if {\n\tsome i, j\n\ti != j\n\tinput[i].contents.metadata.name == input[j].contents.metadata.name\n}\n'
    )
    folder = write({"a.rego": text})
    result = load(evaluator, folder)
    (gap,) = result.gaps
    assert "looks at all objects together" in gap.reason
    assert "kinds" in gap.hint
    assert not result.programs
    named = program(load(evaluator, folder, kinds=("Service",)))
    answers = ask(evaluator, named, [service("a", namespace="x"), service("a", namespace="y")])
    assert answers[-1]["own:main/deny"].outcome is Outcome.FAIL


def test_kinds_narrow_what_is_asked_and_must_exist(evaluator: Evaluator, write: Write) -> None:
    folder = write({"a.rego": V1 + f'deny contains "x" if {LATEST}\n'})
    found = program(load(evaluator, folder, kinds=("Pod", "*/Deployment")))
    answers = ask(evaluator, found, [pod(), service("s"), deployment("d")])
    assert [list(each) for each in answers[:3]] == [["own:main/deny"], [], ["own:main/deny"]]
    with pytest.raises(NothingOfThatNameError, match="Kubernetes has no kind Deployment"):
        load(evaluator, folder, kinds=("Deployment",))


def test_a_rule_nobody_asks_is_said(evaluator: Evaluator, write: Write) -> None:
    text = V1 + 'deny contains "x" if false\n\ndenny contains "y" if true\n\nallow if input.kind == "Pod"\n'
    result = load(evaluator, write({"a.rego": text}))
    said = sorted(notice.message for notice in result.notices if notice.code == "rule_not_asked")
    assert said == [
        "allow of package main is not asked; name it under rules to ask it",
        "denny of package main is never asked; was deny, warn or violation meant?",
    ]


def test_a_source_without_a_decision_is_a_gap(evaluator: Evaluator, write: Write) -> None:
    result = load(evaluator, write({"a.rego": V1 + 'denny contains "y" if true\n'}))
    assert not result.programs
    assert "no rule that is asked" in result.gaps[0].reason
    assert "holds no .rego file" in load(evaluator, write({"a.txt": "x"}, "empty")).gaps[0].reason


def test_packages_of_the_adapters_are_not_for_policies(evaluator: Evaluator, write: Write) -> None:
    hijack = "package fleetaudit_foreign.said\n\nmessages(_) := set() if true\n"
    result = load(evaluator, write({"a.rego": V1 + f'deny contains "x" if {LATEST}\n', "b.rego": hijack}))
    assert [gap.source for gap in result.gaps] == ["policy/b.rego"]
    assert ask(evaluator, result.programs[0], [pod()])[0]["own:main/deny"].outcome is Outcome.FAIL


@pytest.mark.tools
def test_the_real_conftest_agrees(evaluator: Evaluator, write: Write, tmp_path: Path) -> None:
    binary = shutil.which("conftest")
    if binary is None:
        pytest.skip("conftest is not installed")
    folder = write(
        {
            "a.rego": V1
            + f'deny_tag contains msg if {{ {LATEST}; msg := sprintf("%s: tag", [input.metadata.name]) }}\n\n'
            + 'violation contains {"msg": "no labels"} if { input.kind == "Pod"; not input.metadata.labels }\n\n'
            + 'warn contains "a service" if input.kind == "Service"\n\n'
            + 'exception contains rules if { input.metadata.name == "old"; rules := ["tag"] }\n',
            "b.rego": 'package other\n\nimport rego.v1\n\ndeny contains "no namespace" if not input.metadata.namespace\n',
        }
    )
    objects = [
        pod("new"),
        pod("old", labels={"a": "b"}),
        pod("bare", namespace=None, containers=[]),
        service("s"),
    ]
    file = tmp_path / "objects.yaml"
    import yaml

    file.write_text(yaml.safe_dump_all(objects))
    said = conftest(binary, folder, [file])
    answers = [a for each in ask(evaluator, program(load(evaluator, folder)), objects) for a in each.values()]
    failing = {
        v.message for a in answers if a.outcome is Outcome.FAIL and not a.accepted_by for v in a.violations
    }
    assert failing == said.failures
    assert {v.message for a in answers if a.outcome is Outcome.WARN for v in a.violations} == said.warnings
    assert sum(bool(a.accepted_by) for a in answers) == said.exceptions == 1


def test_a_pass_of_a_rule_whose_data_is_missing_is_no_pass(evaluator: Evaluator, write: Write) -> None:
    rego = (
        V1
        + 'deny contains "host" if input.spec.hostNetwork == data.cfg.x\n\ndeny contains "bad" if '
        + LATEST
        + "\n"
    )
    result = load(evaluator, write({"p.rego": rego}))
    assert len(result.gaps) == 1
    quiet, loud = ask(
        evaluator, result.programs[0], [pod(containers=[{"name": "c", "image": "nginx:1"}]), pod()]
    )[:2]
    assert quiet["own:main/deny"].outcome is Outcome.ERROR
    assert "nothing defines" in quiet["own:main/deny"].message
    assert loud["own:main/deny"].outcome is Outcome.FAIL


@pytest.mark.parametrize("head", ['deny(x) := "bad" if x', 'denied contains "bad" if input.x'])
def test_a_source_whose_only_rule_is_never_asked_is_a_gap(
    evaluator: Evaluator, write: Write, head: str
) -> None:
    result = load(evaluator, write({"p.rego": V1 + head + "\n"}))
    (gap,) = result.gaps
    assert "has no rule that is asked" in gap.reason
    assert not result.programs


def test_admission_policies_of_kubernetes_are_another_loaders(evaluator: Evaluator, write: Write) -> None:
    for kind in ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"):
        text = f"apiVersion: admissionregistration.k8s.io/v1\nkind: {kind}\nmetadata: {{name: p}}\n"
        assert load(evaluator, write({"p.yaml": text}, folder=kind)).gaps == ()
    (gap,) = load(evaluator, write({"p.yaml": "kind: ConfigMap\n"}, folder="other")).gaps
    assert "holds no .rego file" in gap.reason
