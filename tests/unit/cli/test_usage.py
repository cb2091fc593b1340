"""What is asked for and cannot be: a usage error with code 2, whichever command is asked; and one meaning for each number."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from audit.model.finding import Outcome
from audit.model.tally import Tally
from audit.report.console import render
from tests import builders as b
from tests.unit.cli.terminal import run

CONFIGMAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "k8s").mkdir()
    (tmp_path / "k8s" / "c.yaml").write_text(CONFIGMAP, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("command", [("run", "k8s"), ("check", "k8s"), ("validate",)], ids=" ".join)
def test_a_policy_that_is_not_there_is_2_everywhere(place: Path, command: tuple[str, ...]) -> None:
    done = run(*command, "--policy", "nope/", "--policy", "k8s", "--policy", "gone.rego", cwd=place)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "error: nope/: no such policy file or folder" in done.stderr
    assert "error: gone.rego: no such policy file or folder" in done.stderr
    assert done.stderr.splitlines()[-1] == "2 errors"


@pytest.mark.parametrize("command", ["run", "check", "validate"])
@pytest.mark.parametrize("text", ["paths: [gone]", "sources: [{path: gone}]"])
def test_the_same_in_the_configuration(place: Path, command: str, text: str) -> None:
    (place / "fleetaudit.yaml").write_text(f"paths: [k8s]\npolicy: {{{text}}}\n", encoding="utf-8")
    done = run(command, cwd=place)
    assert (done.returncode, done.stdout) == (2, "")
    assert "error: gone: no such policy file or folder" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--cluster", "a<b>"),
        ("--cluster", ""),
        ("--policy", ""),
        ("--include", ""),
        ("--exclude", "a\nb"),
        ("--rule", ""),
        ("--engine", "opa"),
        ("--output", ""),
        ("",),
    ],
    ids=repr,
)
def test_values_that_cannot_be_used_are_2_and_no_internal_error(
    place: Path, arguments: tuple[str, ...]
) -> None:
    for command in ("run", "check"):
        done = run(command, "k8s", *arguments, cwd=place)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert "internal error" not in done.stderr
        assert (arguments[0] or "PATH") in done.stderr


def test_pairs_and_groups_are_told_apart() -> None:
    """Three pairs that could not be judged are one group: each number says what it counts."""
    tally = Tally()
    for outcome, number in ((Outcome.PASS, 5), (Outcome.ERROR, 3), (Outcome.WARN, 2)):
        tally.add("pod/privileged", "east", outcome, number=number)
    errors = [b.finding(outcome=Outcome.ERROR, error="timeout", subject=b.subject(f"e{n}")) for n in range(3)]
    group = b.group(*errors, outcome=Outcome.ERROR, total=3)
    console = Console(file=io.StringIO(), width=200)
    render(b.result([group], tally=tally), console)
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "pairs: 5 pass + 0 fail (0 waived) + 2 warn + 3 error + 0 skip" in shown
    assert "0 open groups: " in shown
    assert "also 1 group that could not be judged" in shown
