"""Runs with twins loaded: one pair, one finding, both answers shown; and what users may say about the Kyverno CLI."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit.cli.main import main
from tests.policies.pack import CHECKOUT, policies

pytestmark = pytest.mark.tools

PODS = """
apiVersion: v1
kind: Pod
metadata: {name: rooted, namespace: shop}
spec: {containers: [{name: main, image: "nginx:1.27", securityContext: {privileged: true}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: plain, namespace: shop}
spec: {containers: [{name: main, image: "nginx:1.27"}]}
"""
NAMED = """
apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: named
  annotations: {policies.kyverno.io/severity: low%s}
spec:
  rules:
  - name: not-plain
    match: {any: [{resources: {kinds: [Pod]%s}}]}
    validate: {message: "no pod is called plain", pattern: {metadata: {name: "!plain"}}}
"""
TWIN = ", fleetaudit.dev/twin: pod/privileged"
RULE = "kyverno:named/not-plain"


class Run:
    """One run of the command, and its report."""

    def __init__(self, code: int, folder: Path, errors: str) -> None:
        self.code = code
        self.folder = folder
        self.errors = errors

    @property
    def report(self) -> dict[str, Any]:
        return json.loads((self.folder / "report.json").read_text(encoding="utf-8"))

    @property
    def html(self) -> str:
        return (self.folder / "report.html").read_text(encoding="utf-8")

    def tally(self) -> Counter[tuple[str, str, bool]]:
        """(rule, outcome, waived) to pairs."""
        found: Counter[tuple[str, str, bool]] = Counter()
        for row in self.report["tally"]:
            found[row["rule"], row["outcome"], row["waived"]] += row["pairs"]
        return found

    def groups(self, rule: str) -> list[dict[str, Any]]:
        return [group for group in self.report["groups"] if group["rule"] == rule]


RunIt = Callable[..., Run]


@pytest.fixture
def run(
    kyverno: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> RunIt:
    """``run(policy, *arguments, config=...)``: audit the two pods, beside which the policy lies."""
    monkeypatch.setenv("FLEETAUDIT_KYVERNO", kyverno)
    (tmp_path / "k8s").mkdir()
    (tmp_path / "k8s" / "pods.yaml").write_text(PODS, encoding="utf-8")

    def start(policy: str, *arguments: str, config: str = "", path: Path | None = None) -> Run:
        (tmp_path / "policy.yaml").write_text(policy, encoding="utf-8")
        settings = ["--no-config"]
        if config:
            (tmp_path / "fleetaudit.yaml").write_text(config, encoding="utf-8")
            settings = ["--config", str(tmp_path / "fleetaudit.yaml")]
        named = ["--policy", str(tmp_path / "policy.yaml")] if policy else []
        folder = tmp_path / "out"
        output = ["-o", str(folder), "--no-progress", "--quiet"]
        code = main([*("run", str(path or tmp_path / "k8s")), *settings, *named, *arguments, *output])
        return Run(code, folder, capsys.readouterr().err)

    return start


def test_a_twin_is_part_of_its_rules_pairs_and_the_worse_answer_counts(run: RunIt) -> None:
    alone = run("").report
    with_twin = run(NAMED % (TWIN, ""))
    report = with_twin.report
    for key in ("pairs_due", "pairs_answered", "rules"):
        assert report["record"]["denominator"][key] == alone["record"]["denominator"][key]
    assert with_twin.tally()["pod/privileged", "fail", False] == 2
    assert not [key for key in with_twin.tally() if key[0] == RULE]
    groups = {group["owner"]: group for group in with_twin.groups("pod/privileged")}
    assert sorted(groups) == ["Pod shop/plain", "Pod shop/rooted"]
    assert all(group["severity"] == "critical" and group["total"] == 1 for group in groups.values())
    (plain,) = groups["Pod shop/plain"]["members"]
    assert [(one["rule"], one["outcome"]) for one in plain["said"]] == [
        ("pod/privileged", "pass"),
        (RULE, "fail"),
    ]
    assert "no pod is called plain" in plain["violation"]["message"]
    (rooted,) = groups["Pod shop/rooted"]["members"]
    assert [one["outcome"] for one in rooted["said"]] == ["fail", "pass"]
    (notice,) = [notice for notice in report["notices"] if notice["code"] == "twins_differ"]
    assert "differ on 2 of 2 objects" in notice["message"]
    (state,) = [state for state in report["rules"] if state["rule"]["id"] == RULE]
    assert (state["selected"], state["twin_of"]) == (True, "pod/privileged")


def test_the_page_and_the_console_show_both_answers(run: RunIt, capsys: pytest.CaptureFixture[str]) -> None:
    done = run(NAMED % (TWIN, ""))
    assert f"<dt>Engines</dt><dd>pod/privileged: passes; {RULE}: fails</dd>" in done.html
    assert "asks the same as pod/privileged, and is part of its pairs" in done.html
    (group,) = [g for g in done.groups("pod/privileged") if g["owner"] == "Pod shop/plain"]
    assert main(["explain", group["id"], "--result", str(done.folder)]) == 0
    told = capsys.readouterr().out
    assert "Engines   pod/privileged: pass" in told
    assert f"{RULE}: fail, " in told
    assert main(["explain", RULE, "--result", str(done.folder)]) == 0
    assert "part of those of pod/privileged, which asks the same" in capsys.readouterr().out


def test_without_its_rule_a_twin_stands_for_itself(run: RunIt) -> None:
    done = run(NAMED % (TWIN, ""), "--rule", "kyverno:*")
    assert done.report["record"]["denominator"]["pairs_due"] == 2
    assert done.tally() == {(RULE, "fail", False): 1, (RULE, "pass", False): 1}


def test_twins_of_a_file(run: RunIt, tmp_path: Path) -> None:
    (tmp_path / "twins.yaml").write_text(
        f"twins:\n- {{rule: pod/privileged, twins: ['{RULE}'], reason: for the test}}\n", encoding="utf-8"
    )
    done = run(NAMED % ("", ""), config="twins: [twins.yaml]\n")
    assert done.tally()["pod/privileged", "fail", False] == 2
    assert not done.groups(RULE)


def test_a_waiver_may_name_the_twin(run: RunIt, tmp_path: Path) -> None:
    (tmp_path / "waivers.yaml").write_text(
        f"waivers:\n- id: W-1\n  rule: {RULE}\n  subject: {{kind: Pod, namespace: shop, name: plain}}\n"
        "  owner: team\n  reason: known\n  expires: 2999-12-31\n",
        encoding="utf-8",
    )
    done = run(NAMED % (TWIN, ""), config="waivers: [waivers.yaml]\n")
    tally = done.tally()
    assert (tally["pod/privileged", "fail", False], tally["pod/privileged", "fail", True]) == (1, 1)
    (state,) = done.report["waivers"]
    assert (state["matched"], state["warning"]) == (1, "")


def test_the_shipped_pack_changes_neither_count_nor_verdict(run: RunIt) -> None:
    fleet = CHECKOUT / "examples" / "fleet"
    alone = run("", path=fleet).report
    done = run("", "--policy", "builtin:kyverno", path=fleet)
    both = done.report
    assert both["record"]["denominator"] == alone["record"]["denominator"]
    assert both["tally"] == alone["tally"]
    assert both["scores"] == alone["scores"]
    assert [group["id"] for group in both["groups"]] == [group["id"] for group in alone["groups"]]
    assert any(group["members"][0]["said"] for group in both["groups"])
    folded = [state for state in both["rules"] if state["twin_of"]]
    assert len(folded) == len([policy for policy in policies() if not policy.is_cel])
    assert [engine["name"] for engine in both["record"]["engines"]].count("kyverno") == 1


def test_the_pack_from_the_configuration_and_names_that_are_none(run: RunIt) -> None:
    done = run("", config="policy: {sources: [{path: 'builtin:kyverno'}]}\n")
    assert done.groups("pod/privileged")[0]["members"][0]["said"]
    wrong = run("", "--policy", "builtin:kyvern")
    assert wrong.code == 2
    assert "no pack of policies is called builtin:kyvern" in wrong.errors
    assert "builtin:kyverno-cel" in wrong.errors
    more = run("", config="policy: {sources: [{path: 'builtin:kyverno', shape: conftest}]}\n")
    assert more.code == 2
    assert "it takes no other key" in more.errors


def test_without_the_cli_the_pack_is_a_gap_and_the_rules_answer(
    run: RunIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = run("").report
    monkeypatch.setenv("FLEETAUDIT_KYVERNO", "/nowhere/kyverno")
    done = run("", "--policy", "builtin:kyverno")
    assert done.code == 3
    assert [gap["source"] for gap in done.report["gaps"]] == ["kyverno"]
    assert done.report["tally"] == alone["tally"]


EXCEPTION = """
---
apiVersion: kyverno.io/v2
kind: PolicyException
metadata: {name: %s, namespace: exceptions}
spec:
  exceptions: [{policyName: named, ruleNames: [not-plain]}]
  match: {any: [{resources: {kinds: [Pod], names: [%s]}}]}
"""


def test_an_exception_that_accepted_nothing_is_told_at_the_end(run: RunIt) -> None:
    policy = NAMED % ("", "") + EXCEPTION % ("used", "plain") + EXCEPTION % ("unused", "nobody")
    for _ in range(2):  # the second time, answers are known from the first run
        done = run(policy)
        unused = [n["message"] for n in done.report["notices"] if n["code"] == "exception_unused"]
        assert unused == ["PolicyException exceptions/unused accepted no failure"]
        assert done.tally()[RULE, "fail", True] == 1


def test_caveats_of_answers_reach_report_page_and_console(
    run: RunIt, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "k8s" / "pods.yaml").write_text(PODS.replace(", namespace: shop", ""), encoding="utf-8")
    done = run(NAMED % ("", ", namespaces: [default]"))
    (group,) = done.groups(RULE)
    assert group["members"][0]["caveats"] == ["namespace_assumed"]
    assert "the manifest names no namespace; default was assumed" in done.html
    (notice,) = [n for n in done.report["notices"] if n["code"] == "namespace_assumed"]
    assert notice["count"] == 2, "passes are counted, too"
    assert main(["explain", group["id"], "--result", str(done.folder)]) == 0
    assert "default was assumed" in capsys.readouterr().out


OPERATION = NAMED % ("", ", operations: [UPDATE]")
# A policy that looks at users may not be one for the background: Kyverno refuses it.
USER = (
    (NAMED % ("", ""))
    .replace("kinds: [Pod]}", "kinds: [Pod]}, subjects: [{kind: User, name: bob}]")
    .replace("spec:\n  rules", "spec:\n  background: false\n  rules")
)


def test_values_say_which_operation_is_judged(run: RunIt, tmp_path: Path) -> None:
    assert run(OPERATION).tally()[RULE, "skip", False] == 2
    (tmp_path / "values.yaml").write_text(
        "apiVersion: cli.kyverno.io/v1alpha1\nkind: Values\nmetadata: {name: v}\n"
        "globalValues: {request.operation: UPDATE}\n",
        encoding="utf-8",
    )
    done = run(OPERATION, config="engine: {kyverno: {values: values.yaml}}\n")
    assert done.tally()[RULE, "fail", False] == 1
    (engine,) = [e for e in done.report["record"]["engines"] if e["name"] == "kyverno"]
    assert len(engine["details"]["request"]) == 64, "what the user says is part of the record"


@pytest.mark.parametrize(("name", "outcomes"), [("bob", {"fail": 1, "pass": 1}), ("alice", {"skip": 2})])
def test_user_info_says_who_asks(run: RunIt, tmp_path: Path, name: str, outcomes: dict[str, int]) -> None:
    (tmp_path / "user.yaml").write_text(
        "apiVersion: cli.kyverno.io/v1alpha1\nkind: UserInfo\nmetadata: {name: u}\n"
        f"userInfo: {{username: {name}}}\n",
        encoding="utf-8",
    )
    done = run(USER, config="engine: {kyverno: {user_info: user.yaml}}\n")
    assert {key[1]: number for key, number in done.tally().items() if key[0] == RULE} == outcomes


def test_context_gives_objects_to_policies_in_cel(run: RunIt, tmp_path: Path) -> None:
    policy = """
apiVersion: policies.kyverno.io/v1
kind: ValidatingPolicy
metadata: {name: reads, annotations: {policies.kyverno.io/severity: low}}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations:
  - expression: resource.Get("v1", "configmaps", "shop", "limits").data.mode == "open"
    message: the shop is not open
"""
    (tmp_path / "context.yaml").write_text(
        "apiVersion: cli.kyverno.io/v1alpha1\nkind: Context\nmetadata: {name: c}\nspec:\n  resources:\n"
        "  - {apiVersion: v1, kind: ConfigMap, metadata: {name: limits, namespace: shop}, data: {mode: closed}}\n",
        encoding="utf-8",
    )
    done = run(policy, config="engine: {kyverno: {context: context.yaml}}\n")
    assert done.tally()["kyverno:reads/validate", "fail", False] == 2


def test_a_file_that_is_not_there_is_named(run: RunIt, tmp_path: Path) -> None:
    done = run(OPERATION, config="engine: {kyverno: {values: nowhere.yaml}}\n")
    assert done.code == 2
    assert "nowhere.yaml" in done.errors
