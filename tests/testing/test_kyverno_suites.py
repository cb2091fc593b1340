"""Kyverno's suites through the real CLI: each of its ways to pass what nothing looked at is told apart from a pass."""

from __future__ import annotations

import os
import stat
import sys
import textwrap
from pathlib import Path

import pytest
import yaml

from audit.evaluate.kyverno.binary import KyvernoCli
from audit.testing.cases import CaseOutcome
from tests.kyverno.conftest import NO_LATEST, pod, policy
from tests.testing.conftest import Suites

pytestmark = pytest.mark.tools

HEAD = "apiVersion: cli.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: t}\n"
CEL = """
apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: {name: cel}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations: [{expression: "object.spec.containers.all(c, !c.image.endsWith(':latest'))", message: no latest}]
"""
RULES = (
    NO_LATEST
    + """
- name: services-only
  match: {any: [{resources: {kinds: [Service]}}]}
  validate: {message: "no", deny: {}}
- name: with-precondition
  match: {any: [{resources: {kinds: [Pod]}}]}
  preconditions: {all: [{key: "{{ request.object.metadata.name }}", operator: Equals, value: other}]}
  validate: {message: "no", deny: {}}
"""
)
GENERATE = """
- name: quota
  match: {any: [{resources: {kinds: [Namespace]}}]}
  generate:
    apiVersion: v1
    kind: ConfigMap
    name: made
    namespace: "{{ request.object.metadata.name }}"
    synchronize: false
    data: {data: {a: b}}
"""
NAMESPACES = "".join(
    f"---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n" for name in ("one", "two")
)


def entry(rule: str, resources: str, result: str, **more: str) -> str:
    fields = {
        "policy": "p",
        "rule": rule,
        "kind": "Pod",
        "resources": f"[{resources}]",
        "result": result,
        **more,
    }
    return "- {" + ", ".join(f"{key}: {value}" for key, value in fields.items() if value) + "}\n"


def suite(*entries: str, **more: str) -> str:
    lists = {"policies": "[policy.yaml]", "resources": "[pods.yaml]", **more}
    return (
        HEAD + "".join(f"{key}: {value}\n" for key, value in lists.items()) + "results:\n" + "".join(entries)
    )


def prepared(suites: Suites, text: str, folder: str = ".", rules: str = RULES, objects: str = "") -> None:
    root = suites.root / folder
    root.mkdir(parents=True, exist_ok=True)
    (root / "policy.yaml").write_text(policy("p", rules))
    (root / "pods.yaml").write_text(objects or pod("good") + pod("bad", "nginx:latest"))
    (root / "kyverno-test.yaml").write_text(text)


TOLD: dict[str, tuple[str, str]] = {
    # (entry, outcome)
    "p/no-latest good": (entry("no-latest", "good", "pass"), "pass"),
    "p/no-latest bad": (entry("no-latest", "bad", "fail"), "pass"),
    "p/no-latest shop/good": (entry("no-latest", "shop/good", "fail"), "fail wrong_result"),
    "p/no-latest shop/bad": (entry("no-latest", "shop/bad", "skip"), "fail wrong_result"),
    # "Excluded", which the CLI passes whatever was wanted.
    "p/services-only good": (entry("services-only", "good", "fail"), "not_evaluated not_matched"),
    "p/services-only bad": (entry("services-only", "bad", "skip"), "pass"),
    "p/no-lattest good": (entry("no-lattest", "good", "fail"), "not_evaluated unknown_rule"),
    "p/no-lattest bad": (entry("no-lattest", "bad", "skip"), "not_evaluated unknown_rule"),
    # Its preconditions do not hold: a row of its own.
    "p/with-precondition good": (entry("with-precondition", "good", "skip"), "pass"),
    "p/with-precondition bad": (entry("with-precondition", "bad", "pass"), "not_evaluated rule_skipped"),
    # Names that are nowhere: the CLI leaves the row out, or judges everything instead.
    "p/no-latest gone": (entry("no-latest", "gone", "pass"), "not_evaluated unknown_resource"),
    "q/no-latest good": (entry("no-latest", "good", "pass", policy="q"), "not_evaluated unknown_policy"),
}


def test_rows_are_told_by_what_stands_behind_them(suites: Suites, cli: KyvernoCli) -> None:
    prepared(suites, suite(*(text for text, _ in TOLD.values())))
    assert suites.outcomes() == {name: outcome for name, (_, outcome) in TOLD.items()}


def test_messages_and_places(suites: Suites, cli: KyvernoCli) -> None:
    prepared(suites, suite(*(text for text, _ in TOLD.values())))
    text = (suites.root / "kyverno-test.yaml").read_text().splitlines()
    found = suites.run()
    for name, case in found.items():
        policy_name, rest = name.split("/", 1)
        rule, resource = rest.split(" ")
        assert case.line is not None
        assert f"policy: {policy_name}, rule: {rule}," in text[case.line - 1]
        assert f"[{resource}]" in text[case.line - 1]
    assert (
        found["p/no-latest shop/good"].message == "wanted fail, got pass: validation rule 'no-latest' passed."
    )
    assert "no-latest" in found["p/no-lattest good"].hint
    assert "others in its place" in found["p/no-latest gone"].message


def test_one_name_of_several_that_is_nowhere_is_named(suites: Suites, cli: KyvernoCli) -> None:
    prepared(suites, suite(entry("no-latest", "good, goood", "pass"), entry("no-latest", "bad", "fail")))
    assert suites.outcomes() == {
        "p/no-latest good": "pass",
        "p/no-latest goood": "not_evaluated unknown_resource",
        "p/no-latest bad": "pass",
    }


def test_entries_without_resources_are_about_all_of_them(suites: Suites, cli: KyvernoCli) -> None:
    text = suite(
        "- {policy: p, rule: no-latest, kind: Pod, result: pass}\n", entry("no-latest", "bad", "fail")
    )
    prepared(suites, text)
    assert suites.outcomes() == {
        "p/no-latest Pod shop/good": "pass",
        "p/no-latest Pod shop/bad": "fail wrong_result",
        "p/no-latest bad": "pass",
    }


def test_two_kinds_of_one_name(suites: Suites, cli: KyvernoCli) -> None:
    service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: good, namespace: shop}\n"
    prepared(suites, suite(entry("no-latest", "good", "pass")), objects=pod("good") + service)
    assert suites.outcomes() == {
        "p/no-latest good [Pod shop/good, no-latest]": "pass",
        "p/no-latest good [Service shop/good, no-latest]": "not_evaluated not_matched",
    }


def test_rules_that_generate_are_dealt_out_by_their_entries(suites: Suites, cli: KyvernoCli) -> None:
    (suites.root / "made.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made, namespace: one}\ndata: {a: b}\n"
    )
    (suites.root / "wrong.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made, namespace: two}\ndata: {a: c}\n"
    )
    text = suite(
        entry("quota", "one", "pass", kind="Namespace", generatedResource="made.yaml"),
        entry("quota", "two", "pass", kind="Namespace", generatedResource="wrong.yaml"),
    )
    prepared(suites, text, rules=GENERATE, objects=NAMESPACES)
    assert suites.outcomes() == {"p/quota one": "pass", "p/quota two": "fail resource_diff"}


def test_policies_in_cel_have_no_rule_names(suites: Suites, cli: KyvernoCli) -> None:
    (suites.root / "cel.yaml").write_text(CEL)
    text = suite(
        entry("", "good", "pass", policy="cel", isValidatingPolicy="true"),
        entry("", "bad", "fail", policy="cel", isValidatingPolicy="true"),
        policies="[cel.yaml]",
    )
    prepared(suites, text)
    assert suites.outcomes() == {"cel good": "pass", "cel bad": "pass"}


def test_several_documents_in_one_file(suites: Suites, cli: KyvernoCli) -> None:
    text = (
        suite(entry("no-latest", "good", "pass"))
        + "---\n# nothing\n---\n"
        + suite(entry("no-latest", "bad", "pass"))
    )
    prepared(suites, text)
    assert suites.outcomes() == {"p/no-latest good": "pass", "p/no-latest bad": "fail wrong_result"}


GOOD = suite(entry("no-latest", "good", "pass"))
BROKEN: dict[str, tuple[str, int | None, str]] = {
    "no YAML": (HEAD + "policies: [\n", 5, "is not YAML"),
    "empty": ("", None, "is empty"),
    "results are no list": (HEAD + "results: {a: b}\n", 4, "must be a list"),
    "no policy file": (GOOD.replace("policy.yaml", "no.yaml"), 4, "there is no file x/no.yaml"),
    "no resource file": (GOOD.replace("pods.yaml", "no.yaml"), 5, "there is no file x/no.yaml"),
    "no values": (GOOD.replace("results:", "variables: no.yaml\nresults:"), 6, "there is no file x/no.yaml"),
    "unknown field": (GOOD.replace("results:", "polices: []\nresults:"), None, 'unknown field "polices"'),
    "old form": (GOOD.replace("apiVersion: cli.kyverno.io/v1alpha1\n", ""), None, "deprecated schema"),
    "an address": (GOOD.replace("policy.yaml", '"https://192.0.2.1/a/b/"'), 4, "there is no file x/https:/"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_suite_is_one_error_and_the_rest_runs(suites: Suites, cli: KyvernoCli, name: str) -> None:
    text, line, said = BROKEN[name]
    for folder, content in (("a", GOOD), ("x", text), ("z", GOOD)):
        prepared(suites, content, folder)
    cases = suites.report().cases
    errors = [case for case in cases if case.outcome is CaseOutcome.ERROR]
    assert [(case.suite, case.line) for case in errors] == [("x/kyverno-test.yaml", line)]
    assert said in errors[0].message
    assert errors[0].hint
    passed = [case.suite for case in cases if case.outcome is CaseOutcome.PASS]
    assert passed == ["a/kyverno-test.yaml", "z/kyverno-test.yaml"]
    left = [case for case in cases if case.outcome is CaseOutcome.NOT_EVALUATED]
    known = name not in ("no YAML", "empty", "results are no list")
    assert [case.name for case in left] == (["p/no-latest good"] if known else [])


def test_a_suite_that_expects_nothing_is_no_pass(suites: Suites, cli: KyvernoCli) -> None:
    prepared(suites, HEAD + "policies: [policy.yaml]\nresources: [pods.yaml]\n")
    assert suites.outcomes() == {"(suite)": "not_evaluated no_results"}


WRONG_POLICIES = {
    "unknown field": policy("p", RULES).replace("spec:\n", "spec:\n  foo: 1\n"),
    "no YAML": "a: [\n",
    "wrong type": policy("p", NO_LATEST.replace('"The tag latest is not allowed."', "no")),
    "no rule": policy("p", "- name: no-latest\n  match: {any: [{resources: {kinds: [Pod]}}]}\n"),
    "no policy": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: p}\n",
}


@pytest.mark.parametrize("name", WRONG_POLICIES)
def test_policies_that_kyverno_refuses_are_never_passes(suites: Suites, cli: KyvernoCli, name: str) -> None:
    prepared(suites, suite(entry("no-latest", "good", "pass"), entry("no-latest", "bad", "skip")))
    (suites.root / "policy.yaml").write_text(WRONG_POLICIES[name])
    outcomes = [case.outcome for case in suites.report().cases]
    assert CaseOutcome.ERROR in outcomes
    assert set(outcomes) <= {CaseOutcome.ERROR, CaseOutcome.NOT_EVALUATED}


def test_suites_inside_the_folder_of_another_one(suites: Suites, cli: KyvernoCli) -> None:
    for folder in (".", "a", "a/b"):
        prepared(suites, GOOD, folder)
    cases = suites.report().cases
    assert [(case.suite, case.outcome) for case in cases] == [
        (f"{folder}kyverno-test.yaml", CaseOutcome.PASS) for folder in ("a/b/", "a/", "")
    ]


def test_a_suite_whose_folder_holds_a_broken_one_says_so(suites: Suites, cli: KyvernoCli) -> None:
    """The CLI looks into folders by itself: it cannot be kept from running the broken suite first."""
    prepared(suites, GOOD.replace("results:", "polices: []\nresults:"), "a")
    prepared(suites, GOOD)
    prepared(suites, GOOD, "z")
    errors = {case.suite: case.message for case in suites.report().cases if case.outcome is CaseOutcome.ERROR}
    assert set(errors) == {"a/kyverno-test.yaml", "kyverno-test.yaml"}
    assert "a/kyverno-test.yaml" in errors["kyverno-test.yaml"]
    assert [case.suite for case in suites.report("z").cases] == ["z/kyverno-test.yaml"]


def test_other_names_for_suites(suites: Suites, cli: KyvernoCli) -> None:
    prepared(suites, GOOD)
    (suites.root / "kyverno-test.yaml").rename(suites.root / "kyverno-test.yml")
    assert suites.outcomes() == {"p/no-latest good": "pass"}
    (suites.root / "kyverno-test.yml").rename(suites.root / "mine.yaml")
    assert suites.outcomes() == {}
    assert suites.outcomes("mine.yaml") == {"p/no-latest good": "pass"}


def stand_in(suites: Suites, cli: KyvernoCli, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """A program in front of the CLI: `body` is Python; `real()` runs the CLI, `said` is what it printed."""
    text = f"""
    import os, subprocess, sys, time
    if sys.argv[1:2] != ["test"]:
        os.execv({cli.path!r}, sys.argv)
    done = subprocess.run([{cli.path!r}, *sys.argv[1:]], capture_output=True, text=True)
    said, code = done.stdout, done.returncode
    """
    end = "\nsys.stdout.write(said); sys.stderr.write(done.stderr); sys.exit(code)\n"
    script = suites.root.parent / f"{suites.root.name}-kyverno"
    script.write_text(f"#!{sys.executable}" + textwrap.dedent(text) + textwrap.dedent(body) + end)
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("FLEETAUDIT_KYVERNO", str(script))


X = 'if any(a.endswith("/x") for a in sys.argv):\n    at = said.index("/x/"); '
TROUBLE = {
    "a panic": X + 'said = said[: said.index("Checking", at)]; code = 2; done.stderr = "panic: boom"',
    "killed": X + "sys.stdout.write(said[:at]); sys.stdout.flush(); os.kill(os.getpid(), 9)",
    "half an array": X + 'said = said[: said.index("RESOURCE", at)]',
    "no output": X + 'said = ""',
}


@pytest.mark.parametrize("name", TROUBLE)
def test_a_suite_that_ends_the_cli_costs_itself(
    suites: Suites, cli: KyvernoCli, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for folder in ("a", "x", "z"):
        prepared(suites, GOOD, folder)
    stand_in(suites, cli, monkeypatch, TROUBLE[name])
    cases = suites.report(jobs=1).cases
    assert {case.suite for case in cases if case.outcome is CaseOutcome.ERROR} == {"x/kyverno-test.yaml"}
    assert [case.suite for case in cases if case.outcome is CaseOutcome.PASS] == [
        "a/kyverno-test.yaml",
        "z/kyverno-test.yaml",
    ]


def test_an_answer_that_is_not_known_is_no_pass(
    suites: Suites, cli: KyvernoCli, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(suites, GOOD)
    stand_in(suites, cli, monkeypatch, 'said = said.replace("\\"Ok\\"", "\\"Fine\\"")')
    assert suites.outcomes() == {"p/no-latest good": "error unknown_answer"}


def test_a_row_that_nobody_asked_for_is_told(
    suites: Suites, cli: KyvernoCli, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(suites, GOOD)
    stand_in(
        suites, cli, monkeypatch, 'said = said.replace("\\"POLICY\\": \\"p\\"", "\\"POLICY\\": \\"z\\"")'
    )
    assert set(suites.outcomes().values()) == {"not_evaluated no_row", "error unexpected_row"}


def test_without_the_cli_nothing_is_passed(
    suites: Suites, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    prepared(suites, GOOD)
    monkeypatch.delenv("FLEETAUDIT_KYVERNO", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = suites.run()
    assert {name: case.outcome for name, case in found.items()} == {
        "(suite)": CaseOutcome.ERROR,
        "p/no-latest good": CaseOutcome.NOT_EVALUATED,
    }
    assert "install the Kyverno CLI" in found["(suite)"].hint


def test_a_cli_too_old_to_tell_is_refused(
    suites: Suites, cli: KyvernoCli, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(suites, GOOD)
    script = suites.root.parent / f"{suites.root.name}-old"
    script.write_text("#!/bin/sh\necho 'Version: 1.14.3'\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("FLEETAUDIT_KYVERNO", str(script))
    assert "1.15" in suites.run()["(suite)"].message


def test_only_what_is_asked_for_is_run(
    suites: Suites, cli: KyvernoCli, monkeypatch: pytest.MonkeyPatch
) -> None:
    import re

    for folder in ("a", "b"):
        prepared(suites, suite(entry("no-latest", "good", "pass"), entry("no-latest", "bad", "fail")), folder)
    log = suites.root.parent / f"{suites.root.name}-log"
    stand_in(suites, cli, monkeypatch, f"open({str(log)!r}, 'a').write(' '.join(sys.argv[2:]) + '\\n')")
    assert suites.outcomes(pattern=re.compile(r"^b/.*bad")) == {"p/no-latest bad": "pass"}
    runs = log.read_text().splitlines()
    assert len(runs) == 1
    assert f"{os.sep}b " in runs[0]
    assert f"{os.sep}a " not in runs[0]


def test_yaml_anchors_and_quotes_are_read(suites: Suites, cli: KyvernoCli) -> None:
    results = [
        {"policy": "p", "rule": "no-latest", "kind": "Pod", "resources": ["good"], "result": "pass"},
    ]
    text = (
        HEAD
        + "policies: &p ['policy.yaml']\nresources: [\"pods.yaml\"]\nresults: &r\n"
        + yaml.safe_dump(results)
    )
    prepared(suites, text)
    assert suites.outcomes() == {"p/no-latest good": "pass"}
