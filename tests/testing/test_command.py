"""``fleetaudit test`` as it is typed: what it finds, what it prints, what it returns."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.foreign.templates import constraint, template
from tests.testing.conftest import Suites
from tests.unit.cli.terminal import COMMAND, environment, run, run_on_terminal

REGO = 'package p\n\ndeny contains "no" if input.x\n'
REGO_TEST = 'package p_test\n\ntest_a if count(data.p.deny) == 1 with input as {"x": 1}\n\ntest_b if count(data.p.deny) == 0 with input as {}\n'
GATEKEEPER = """\
apiVersion: test.gatekeeper.sh/v1alpha1
kind: Suite
tests:
- name: labels
  template: template.yaml
  constraint: constraint.yaml
  cases:
  - {name: bare, object: pod.yaml, assertions: [{violations: 1}]}
"""


@pytest.fixture
def place(suites: Suites) -> Path:
    """Two kinds of suites that pass."""
    suites.write(
        {
            "rego/p.rego": REGO,
            "rego/p_test.rego": REGO_TEST,
            "gk/suite.yaml": GATEKEEPER,
            "gk/template.yaml": template(),
            "gk/constraint.yaml": constraint(),
            "gk/pod.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
        }
    )
    return suites.root


def test_everything_below_the_working_folder(place: Path) -> None:
    done = run("test", cwd=place)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed  3 cases" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr


def test_colour_and_progress_on_a_terminal_only(place: Path) -> None:
    shown = run_on_terminal("test", cwd=place)
    assert shown.code == 0
    assert "\x1b[" in shown.shown
    assert "3 cases" in shown.shown
    plain = run_on_terminal("test", cwd=place, NO_COLOR="1")
    assert "\x1b[3" not in plain.shown.replace("\x1b[?25", "")


def test_list_names_cases_and_runs_none(place: Path) -> None:
    (place / "rego/bad_test.rego").write_text(
        "package bad\n\ntest_endless if every x in numbers.range(1, 1e9) { x }\n"
    )
    done = run("test", "--list", cwd=place)
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "rego           rego/bad_test.rego::bad.test_endless",
        "rego           rego/p_test.rego::p_test.test_a",
        "rego           rego/p_test.rego::p_test.test_b",
        "gatekeeper     gk/suite.yaml::labels/bare",
        "4 cases",
    ]


@pytest.mark.parametrize(
    ("arguments", "number"),
    [
        ("--run test_a", 1),
        ("--run ^rego/", 2),
        ("--run bare", 1),
        ("--run suite.yaml::labels/bare$", 1),
        ("--kind rego", 2),
        ("--kind gatekeeper --kind rego", 3),
        ("rego gk", 3),
        ("rego rego/p_test.rego", 2),
        ("gk/suite.yaml", 1),
    ],
)
def test_what_is_asked_for_is_run(place: Path, arguments: str, number: int) -> None:
    done = run("test", *arguments.split(), "--format", "json", cwd=place)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["totals"]["pass"] == number


@pytest.mark.parametrize(
    "arguments",
    ["--run nothing-of-that-name", "--kind kyverno", "empty", "gk/constraint.yaml rego --run zzz"],
)
def test_nothing_found_is_no_success(place: Path, arguments: str) -> None:
    (place / "empty").mkdir()
    done = run("test", *arguments.split(), cwd=place)
    assert done.returncode == 3
    assert "nothing found" in done.stdout
    assert run("test", *arguments.split(), "--list", cwd=place).returncode == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("no/such/path", "no such file or folder"),
        ("gk/pod.yaml", "is no suite"),
        ("--run (", "no regular expression"),
        ("--kind opa", "is not one of rego, gatekeeper, kyverno"),
        ("--format xml", "is not one of console, junit, json"),
        ("-o out.xml", "needs --format"),
        ("--timeout 0", "--timeout"),
        ("--timeout x", "--timeout"),
        ("--jobs 0", "--jobs"),
    ],
)
def test_wrong_usage_is_said(place: Path, arguments: str, said: str) -> None:
    done = run("test", *arguments.split(), cwd=place)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_failures_errors_and_what_was_not_evaluated(place: Path) -> None:
    test = place / "rego/p_test.rego"
    test.write_text(REGO_TEST + "\ntest_c if false\n")
    failed = run("test", cwd=place)
    assert failed.returncode == 1
    assert "FAIL           rego/p_test.rego:7  p_test.test_c" in failed.stdout
    test.write_text(REGO_TEST + "\ntest_c if false\n\ntest_d if not data.p.denny\n")
    unseen = run("test", cwd=place)
    assert unseen.returncode == 3
    assert "NOT EVALUATED  rego/p_test.rego:9  p_test.test_d" in unseen.stdout
    assert "2 of 5 cases" in unseen.stdout


def test_fail_fast_stops_at_the_first(place: Path) -> None:
    (place / "rego/a_test.rego").write_text("package a\n\ntest_a if false\n")
    done = run("test", "--fail-fast", cwd=place)
    assert done.returncode == 1
    assert "1 of 1 case" in done.stdout
    assert "the rest was not run" in done.stdout


def test_reports_go_where_they_are_wanted(place: Path) -> None:
    printed = run("test", "--format", "junit", cwd=place)
    assert ET.fromstring(printed.stdout).get("tests") == "3"
    again = run("test", "--format", "junit", "-o", "-", cwd=place)
    assert ET.fromstring(again.stdout).get("tests") == "3"
    written = run("test", "--format", "junit", "-o", "deep/tests.xml", cwd=place)
    assert "passed  3 cases" in written.stdout
    assert ET.parse(place / "deep/tests.xml").getroot().get("tests") == "3"


def test_a_report_that_cannot_be_written_is_an_error(place: Path) -> None:
    done = run("test", "--format", "json", "-o", "rego/p.rego/x.json", cwd=place)
    assert done.returncode == 2
    assert "could not be written" in done.stderr


def test_coverage_and_durations(place: Path) -> None:
    (place / "rego/p.rego").write_text(REGO + "\nother if {\n\tinput.never\n\tinput.ever\n}\n")
    done = run("test", "--coverage", "--durations", "1", cwd=place)
    assert done.returncode == 0
    assert "rego/p.rego  not reached: 5-7" in done.stdout
    assert " s " in done.stdout


def test_the_json_report_carries_its_exit_code(place: Path) -> None:
    (place / "rego/a_test.rego").write_text("package a\n\ntest_a if false\n")
    done = run("test", "--format", "json", cwd=place)
    report = json.loads(done.stdout)
    assert (done.returncode, report["exit_code"], report["totals"]["fail"]) == (1, 1, 1)
    assert report["engines"]["opa"]


def test_a_missing_engine_is_no_success(place: Path) -> None:
    done = run("test", cwd=place, FLEETAUDIT_NATIVE="/nonexistent")
    assert done.returncode == 3
    assert "FLEETAUDIT_NATIVE" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_command_and_what_it_started(place: Path, number: int, code: int) -> None:
    loop = "every x in numbers.range(1, 1000) { every y in numbers.range(1, 100000) { x + y > 0 } }"
    (place / "rego/slow_test.rego").write_text(f"package slow\n\ntest_slow if {loop}\n")
    process = subprocess.Popen(
        [*COMMAND, "test", "--timeout", "100"],
        cwd=place,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + 60
    while not (started := children.read_text().split()) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == code
    assert b"Traceback" not in said
    assert started
    assert not any(Path(f"/proc/{child}").exists() for child in started)


def test_suites_in_hidden_folders_are_found_and_those_of_tools_are_not(place: Path) -> None:
    for folder in (".hidden", ".git", "node_modules", ".venv"):
        (place / folder).mkdir()
        (place / folder / "x_test.rego").write_text(f"package x_{len(folder)}\n\ntest_x if true\n")
    done = run("test", "--kind", "rego", "--list", cwd=place)
    assert "3 cases" in done.stdout
    assert ".hidden/x_test.rego" in done.stdout


def test_odd_names_of_files(place: Path) -> None:
    name = "rego/ü \x1b[31m'x'_test.rego"
    (place / name).write_text("package odd\n\ntest_odd if false\n")
    (place / "rego/dangling_test.rego").symlink_to("/nonexistent")
    (place / "rego/loop").symlink_to(".")
    done = run("test", cwd=place)
    assert done.returncode == 1
    assert "\x1b[31m" not in done.stdout
    assert "odd.test_odd" in done.stdout
