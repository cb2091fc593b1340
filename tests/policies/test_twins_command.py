"""``fleetaudit twins``: what it prints, and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from audit.cli.main import main
from tests.policies.test_one_pair import NAMED, PODS, RULE, TWIN

pytestmark = pytest.mark.tools
Twins = Callable[..., tuple[int, str, str]]


@pytest.fixture
def twins(
    kyverno: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Twins:
    """``twins(policy, *arguments)``: exit code, output, errors; an empty policy compares the shipped ones."""
    monkeypatch.setenv("FLEETAUDIT_KYVERNO", kyverno)
    (tmp_path / "pods.yaml").write_text(PODS, encoding="utf-8")

    def run(policy: str, *arguments: str) -> tuple[int, str, str]:
        (tmp_path / "policy.yaml").write_text(policy, encoding="utf-8")
        named = ["--policy", str(tmp_path / "policy.yaml")] if policy else []
        command = ["twins", str(tmp_path / "pods.yaml"), "--no-config", "--no-progress", *named, *arguments]
        code = main(command)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_sides_that_agree(twins: Twins) -> None:
    code, out, _ = twins("", "--rule", "pod/*")
    assert code == 0
    assert "pod/privileged" in out
    assert "network/ingress-tls" not in out
    assert "19 twins, 38 pairs compared, 0 differ, 0 not judged by one side" in out


def test_sides_that_differ(twins: Twins) -> None:
    code, out, _ = twins(NAMED % (TWIN, ""))
    assert code == 1
    assert "They differ: 2 objects" in out
    assert "Pod shop/plain" in out
    assert "  pass  pod/privileged" in out
    assert f"  fail  {RULE}" in out
    code, out, _ = twins(NAMED % (TWIN, ""), "--json")
    said = json.loads(out)
    assert code == 1
    assert said["twins"] == [
        {"rule": "pod/privileged", "twins": [RULE], "compared": 2, "differing": 2, "unjudged": 0}
    ]
    (plain,) = [one for one in said["differences"] if one["name"] == "plain"]
    assert (plain["kind"], plain["namespace"], plain["line"]) == ("Pod", "shop", 7)
    assert [(one["rule"], one["outcome"]) for one in plain["answers"]] == [
        ("pod/privileged", "pass"),
        (RULE, "fail"),
    ]


def test_a_side_that_can_not_be_asked_is_no_agreement(twins: Twins, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEETAUDIT_KYVERNO", "/nowhere/kyverno")
    code, out, _ = twins("")
    assert code == 3
    assert "Kyverno rules were not asked" in out


def test_a_side_that_can_not_judge_is_no_agreement(twins: Twins) -> None:
    policy = (NAMED % (TWIN, "")).replace(
        'pattern: {metadata: {name: "!plain"}}',
        'deny: {conditions: {any: [{key: "{{ request.object.spec.nothing }}", operator: Equals, value: 1}]}}',
    )
    code, out, _ = twins(policy)
    assert code == 3
    assert "One side could not judge: 2 objects" in out


def test_nothing_to_compare_is_a_mistake(twins: Twins) -> None:
    code, _, errors = twins(NAMED % ("", ""))
    assert (code, "no policy says whose twin it is" in errors) == (2, True)
    code, _, errors = twins("", "--rule", "pod/privilegd")
    assert (code, "no rule asked for has a twin" in errors) == (2, True)


def test_nothing_found_is_no_agreement(twins: Twins, tmp_path: Path) -> None:
    code, out, _ = twins(NAMED % (TWIN, ""))
    (tmp_path / "pods.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n", encoding="utf-8"
    )
    code, out, _ = twins(NAMED % (TWIN, ""))
    assert code == 3
    assert "no rule matched any object" in out
