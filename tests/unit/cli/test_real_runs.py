"""The real command on real manifests: options, gates, exit codes, streams, signals, full disks."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.terminal import COMMAND, environment, run, run_on_terminal

BAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: bad, namespace: shop}
spec:
  selector: {matchLabels: {app: bad}}
  template:
    metadata: {labels: {app: bad}}
    spec:
      containers:
        - name: app
          image: registry.example/app:latest
          securityContext:
            privileged: true
"""
GOOD = BAD.replace("bad", "good").replace("privileged: true", "privileged: false")
BROKEN = "a: [\n"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder: k8s/ with a good and a bad object, good/ with the good one."""
    folder = tmp_path_factory.mktemp("fleet")
    for name, text in {"k8s/bad.yaml": BAD, "k8s/good.yaml": GOOD, "good/good.yaml": GOOD}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def audited(fleet: Path) -> subprocess.CompletedProcess[str]:
    """One run with everything written, into out/."""
    formats = "html,json,sarif,junit,markdown,csv,prometheus,policy-reports,openreports"
    done = run("run", "k8s", "-o", "out", "--format", formats, "--log-file", "out/run.log", cwd=fleet)
    assert done.returncode == 0, done.stderr
    return done


def report_of(fleet: Path, *arguments: str) -> dict[str, Any]:
    """The JSON report of a run, from standard output."""
    done = run("run", *arguments, "-o", "-", "--format", "json", cwd=fleet)
    data: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (0 if data["complete"] else 3), done.stderr
    return data


def test_a_run_without_a_gate_ends_with_0_and_says_both_lines(
    audited: subprocess.CompletedProcess[str], fleet: Path
) -> None:
    lines = audited.stdout.splitlines()
    assert any(line.startswith("Judged ") and "2 objects from 2 files" in line for line in lines)
    assert [line.split()[0] for line in lines[-2:]] == ["Gate", "Audit"]
    assert "none asked for" in lines[-2]
    for name in ("report.html", "report.json", "report.sarif", "population.csv.gz"):
        assert (fleet / "out" / name).stat().st_size > 100
        assert name in audited.stdout
    assert not [path for path in (fleet / "out").iterdir() if path.name.startswith(".")]


def test_through_pipes_nothing_is_drawn(audited: subprocess.CompletedProcess[str]) -> None:
    for text in (audited.stdout, audited.stderr):
        assert "\x1b" not in text
        assert "\r" not in text


def test_the_log_tells_the_stages(audited: subprocess.CompletedProcess[str], fleet: Path) -> None:
    assert "stage Judge manifests" in (fleet / "out" / "run.log").read_text(encoding="utf-8")


def test_explain_and_sample_work_on_the_last_run(
    audited: subprocess.CompletedProcess[str], fleet: Path
) -> None:
    report = json.loads((fleet / "out" / "report.json").read_text(encoding="utf-8"))
    group = next(group for group in report["groups"] if group["rule"] == "pod/privileged")
    page = run("explain", group["id"], cwd=fleet).stdout
    assert "k8s/bad.yaml:13:" in page
    assert "Seen      true" in page
    drawn = run("sample", "--control", "MEASURE 2.7", "--size", "3", "--seed", "5", "--json", cwd=fleet)
    pairs = json.loads(drawn.stdout)["pairs"]
    assert len(pairs) == 3
    # The command that repeats a test gives the same outcome for that pair.
    first = next(pair for pair in pairs if pair["source"])
    arguments = first["again"].split()[1:]
    again = json.loads(run(*arguments, cwd=fleet).stdout)
    assert {row["rule"] for row in again["tally"]} <= {first["rule"], "manifest/duplicate-key"}
    assert first["outcome"] in {row["outcome"] for row in again["tally"] if row["rule"] == first["rule"]}


@pytest.mark.parametrize(
    "name",
    ["html", "json", "sarif", "junit", "markdown", "csv", "prometheus", "policy-reports", "openreports"],
)
def test_report_renders_every_format_again(
    audited: subprocess.CompletedProcess[str], fleet: Path, tmp_path: Path, name: str
) -> None:
    source = str(fleet / "out" / "report.json")
    done = run("report", source, "--format", name, "-o", "again", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (written,) = [path for path in (tmp_path / "again").iterdir() if path.is_file()]
    assert written.read_bytes() == (fleet / "out" / written.name).read_bytes()
    printed = run("report", source, "-f", name, "-o", "-", cwd=tmp_path)
    assert printed.stdout.encode() == written.read_bytes()


def test_report_refuses_what_it_cannot_do(audited: subprocess.CompletedProcess[str], fleet: Path) -> None:
    for arguments, part in (
        (("report", "no.json"), "no such result"),
        (("report", "out", "-o", "-", "-f", "html,json"), "one format"),
        (("report", "out", "-f", "pdf"), "not one of"),
        (("report", "out", "--lang", "de"), "not one of"),
        (("report", "k8s/bad.yaml"), "k8s/bad.yaml"),
    ):
        done = run(*arguments, cwd=fleet)
        assert (done.returncode, done.stdout) == (2, "")
        assert part in done.stderr


def test_the_report_can_be_chinese(audited: subprocess.CompletedProcess[str], fleet: Path) -> None:
    done = run("report", "out", "-f", "html", "--lang", "zh-CN", "-o", "-", cwd=fleet)
    assert '<html lang="zh-CN"' in done.stdout


def test_one_format_to_standard_output(fleet: Path, tmp_path: Path) -> None:
    shutil.copytree(fleet / "k8s", tmp_path / "k8s")
    done = run("run", "k8s", "-o", "-", "--format", "json", cwd=tmp_path)
    assert json.loads(done.stdout)["complete"] is True
    assert "Judged" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["k8s"]
    two = run("run", "k8s", "-o", "-", cwd=tmp_path)
    assert (two.returncode, two.stdout) == (2, "")
    assert "--format json" in two.stderr


def test_quiet_says_two_lines(fleet: Path, tmp_path: Path) -> None:
    done = run("run", "k8s", "-o", str(tmp_path), "--quiet", cwd=fleet)
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["Gate", "Audit"]
    assert done.stderr == ""


def test_verbose_says_more_on_standard_error(fleet: Path, tmp_path: Path) -> None:
    done = run("run", "k8s", "-o", str(tmp_path), "--verbose", "--jobs", "1", cwd=fleet)
    assert "INFO audit.progress: stage" in done.stderr
    assert "INFO" not in done.stdout


# (arguments behind `run FOLDER`, exit code, part of the Gate or Audit line)
GATES = [
    (("k8s", "--fail-on", "critical"), 1, "fail-on critical: 1 critical open"),
    (("good", "--fail-on", "high", "--rule", "pod/privileged"), 0, "no open finding of high or worse"),
    (("good", "--fail-on", "high", "--rule", "pod/host-ports"), 3, "no rule of high or worse was asked"),
    (("good", "--fail-on", "high", "--rule", "network/ingress-tls"), 3, "nothing was evaluated"),
    (("nowhere", "--fail-on", "high"), 3, "NOT DECIDED  fail-on high: nothing was evaluated"),
    (("nowhere", "--min-ratio", "lfai=0"), 3, "NOT DECIDED  min-ratio lfai=0: not stated"),
    (("k8s", "--min-objects", "2"), 0, "min-objects 2: 2 objects"),
    (("k8s", "--min-objects", "3"), 1, "min-objects 3: 2 objects"),
    (("k8s", "--min-ratio", "nist-ai-rmf=1"), 1, "min-ratio nist-ai-rmf=1"),
    (("k8s", "--min-ratio", "nist-ai-rmf=0", "--min-ratio", "lfai=0"), 0, "min-ratio lfai=0"),
    (("k8s", "--min-coverage", "lfai=1"), 1, "min-coverage lfai=1"),
    (("k8s", "nowhere", "--fail-on", "critical"), 3, "1 gap not in allow_gaps"),
    (("k8s", "--fail-on", "new:high"), 2, None),
    (("k8s", "--min-ratio", "0.7"), 2, None),
    (("k8s", "--min-ratio", "nist=0.7"), 2, None),
    (("k8s", "--rule", "pod/nope"), 2, None),
    (("k8s", "--skip-rule", "nope/*"), 2, None),
    (("k8s", "--profile", "tecnical"), 2, None),
    (("k8s", "--config", "no.yaml"), 2, None),
    (("--cluster", "east"), 2, None),
    ((), 2, None),
]


@pytest.mark.parametrize(
    ("arguments", "code", "part"),
    GATES,
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_gates_and_exit_codes(
    fleet: Path, tmp_path: Path, arguments: tuple[str, ...], code: int, part: str | None
) -> None:
    done = run("run", *arguments, "-o", str(tmp_path / "o"), "-q", cwd=fleet)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    if part is None:
        assert done.stdout == ""
        assert done.stderr.startswith("error: ")
    else:
        assert part in done.stdout


def test_check_fails_on_high_and_prints_lines_for_editors(fleet: Path) -> None:
    done = run("check", "k8s", cwd=fleet)
    assert done.returncode == 1
    line = next(line for line in done.stdout.splitlines() if "pod/privileged" in line)
    assert line.startswith("k8s/bad.yaml:13:")
    assert ": critical pod/privileged: Deployment shop/bad: " in line
    assert not (fleet / "fleetaudit-report").exists()


def test_check_is_met_without_findings_of_that_severity(fleet: Path, tmp_path: Path) -> None:
    done = run(
        "check", "good", "--rule", "pod/privileged", "-o", str(tmp_path / "o"), "-f", "json", cwd=fleet
    )
    assert done.returncode == 0, done.stdout
    assert "not asked; controls that rest on them stay undecided" in done.stderr
    assert (tmp_path / "o" / "report.json").is_file()
    gate = json.loads((tmp_path / "o" / "report.json").read_text(encoding="utf-8"))["gates"]
    assert [each["condition"] for each in gate] == ["fail-on high"]
    assert run("check", "k8s", "--format", "json", cwd=fleet).returncode == 2


def test_the_configuration_can_set_the_gate_of_check(fleet: Path, tmp_path: Path) -> None:
    (tmp_path / "fleetaudit.yaml").write_text(
        f"paths: ['{fleet}/k8s']\ngates: {{fail_on: critical}}\nrules: {{skip: [pod/privileged]}}\n",
        encoding="utf-8",
    )
    done = run("check", "-q", cwd=tmp_path)
    assert "fail-on critical" in done.stdout


def test_standard_input_is_read(fleet: Path, tmp_path: Path) -> None:
    done = run("check", "-", "--cluster", "piped", "--min-objects", "1", cwd=tmp_path, stdin=BAD)
    assert done.returncode == 1
    assert "-:13:" in done.stdout


def test_the_cluster_is_named(fleet: Path) -> None:
    data = report_of(fleet, "k8s", "--cluster", "blue")
    assert [cluster["name"] for cluster in data["record"]["clusters"]] == ["blue"]


def test_the_full_profile_has_every_control(audited: subprocess.CompletedProcess[str], fleet: Path) -> None:
    technical = json.loads((fleet / "out" / "report.json").read_text(encoding="utf-8"))["scores"]
    full = report_of(fleet, "good", "--profile", "full")["scores"]
    assert {score["framework"]: score["in_profile"] for score in full} == {"nist-ai-rmf": 72, "lfai": 45}
    assert {score["framework"]: score["in_profile"] for score in technical}["nist-ai-rmf"] < 72


def test_files_are_chosen_and_what_is_left_out_is_said(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml", "tmp/c.yaml"):
        (tmp_path / "k8s" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "k8s" / name).write_text(GOOD.replace("good", f"x-{name[0]}"), encoding="utf-8")
    (tmp_path / "k8s" / ".gitignore").write_text("b.yaml\n", encoding="utf-8")

    def objects(*arguments: str) -> tuple[int, str]:
        done = run("run", "k8s", *arguments, "-o", "-", "-f", "json", cwd=tmp_path)
        return json.loads(done.stdout)["record"]["denominator"]["objects"], done.stderr

    number, said = objects()
    assert number == 2
    assert "note: k8s: 1 ignored by .gitignore" in said
    assert objects("--no-gitignore", "--include", "*.yaml")[0] == 3
    number, said = objects("--include", "a.yaml", "--include", "tmp/", "--exclude", "tmp/")
    assert number == 1
    assert "--exclude" in said


def test_your_own_policy_is_asked_and_a_broken_one_is_a_gap(fleet: Path, tmp_path: Path) -> None:
    policy = tmp_path / "rules" / "team" / "named"
    policy.mkdir(parents=True)
    text = """\
# METADATA
# title: Deployments are named good
# description: Only a test.
# custom:
#   severity: critical
#   match: {kinds: [{group: apps, kinds: [Deployment]}]}
#   not_applicable: no_name
#   remediation: Rename it.
package team.named

default applies := false

applies if input.metadata.name

violations contains {"path": ["metadata", "name"], "message": "odd name", "seen": input.metadata.name, "expected": "good"} if {
	input.metadata.name != "good"
}
"""
    (policy / "named.rego").write_text(text, encoding="utf-8")
    done = run("check", str(fleet / "k8s"), "--policy", "rules", "--rule", "team/named", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "critical team/named: Deployment shop/bad: odd name" in done.stdout
    (policy / "named.rego").write_text(
        text.replace("applies if input", "applies if if input"), encoding="utf-8"
    )
    broken = run("run", str(fleet / "k8s"), "--policy", "rules", "-o", "out", cwd=tmp_path)
    assert broken.returncode == 3
    assert "named.rego:13" in broken.stdout
    checked = run("validate", "--policy", "rules", cwd=tmp_path)
    assert checked.returncode == 2
    assert "named.rego:13" in checked.stderr


def test_a_configuration_inside_what_is_audited_is_not_obeyed(fleet: Path, tmp_path: Path) -> None:
    shutil.copytree(fleet / "k8s", tmp_path / "theirs")
    (tmp_path / "theirs" / "fleetaudit.yaml").write_text("rules: {skip: ['pod/*']}\n", encoding="utf-8")
    done = run("check", "theirs", cwd=tmp_path)
    assert done.returncode == 1
    assert "warning: theirs/fleetaudit.yaml is part of what is audited and is not used" in done.stderr


def test_tolerated_gaps_do_not_make_the_run_incomplete(fleet: Path, tmp_path: Path) -> None:
    shutil.copytree(fleet / "k8s", tmp_path / "k8s")
    (tmp_path / "k8s" / "broken.yaml").write_text(BROKEN, encoding="utf-8")
    entry = "allow_gaps: [{{kind: unreadable, source: k8s/broken.yaml, reason: known, expires: {}}}]\n"
    for expires, code in (("9999-12-31", 0), ("2020-01-01", 3)):
        text = "paths: [k8s]\n" + entry.format(expires)
        (tmp_path / "fleetaudit.yaml").write_text(text, encoding="utf-8")
        done = run("run", "--rule", "pod/privileged", cwd=tmp_path)
        assert done.returncode == code, done.stdout + done.stderr
        assert "k8s/broken.yaml" in done.stdout


@pytest.mark.parametrize(
    ("files", "part"),
    [
        ({}, "no Kubernetes object was found"),
        ({"a.yaml": "# nothing\n"}, "no Kubernetes object was found"),
        ({"a.yaml": BROKEN}, "1 gap"),
    ],
    ids=["empty folder", "only comments", "broken"],
)
def test_nothing_judged_is_never_green(tmp_path: Path, files: dict[str, str], part: str) -> None:
    (tmp_path / "k8s").mkdir()
    for name, text in files.items():
        (tmp_path / "k8s" / name).write_text(text, encoding="latin-1")
    done = run("run", "k8s", "-o", "out", cwd=tmp_path)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "INCOMPLETE" in done.stdout
    assert part in done.stdout
    assert (tmp_path / "out" / "report.html").is_file()


def test_no_rule_matching_is_incomplete(fleet: Path, tmp_path: Path) -> None:
    done = run("run", "good", "--rule", "network/ingress-tls", "-o", str(tmp_path / "o"), "-q", cwd=fleet)
    assert done.returncode == 3
    assert "no rule matched any object" in done.stdout


def test_an_output_that_cannot_be_written_is_found_before_the_audit(fleet: Path) -> None:
    done = run("run", "k8s", "-o", "k8s/bad.yaml/x", cwd=fleet)
    assert (done.returncode, done.stdout) == (2, "")
    assert "k8s/bad.yaml/x" in done.stderr


def test_a_full_disk_while_writing_is_2_and_the_verdict_is_still_told(fleet: Path, tmp_path: Path) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

    done = subprocess.run(
        [*COMMAND, "run", "k8s", "-o", str(tmp_path / "o")],
        cwd=fleet,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=small_files,
        check=False,
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert "report.html" in done.stderr
    assert "Audit " in done.stdout
    assert not (tmp_path / "o" / "report.html").exists()


@pytest.mark.parametrize("arguments", [("-o", "-", "-f", "json"), ("-o", "out")], ids=["report", "summary"])
def test_a_full_standard_output_is_2(fleet: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "run", str(fleet / "k8s"), *arguments],
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 2, done.stderr
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def piped(command: str, cwd: Path) -> tuple[int, str]:
    """Exit code of the first command of a shell pipeline, and what went to standard error."""
    words = " ".join(COMMAND)
    done = subprocess.run(
        ["bash", "-c", f"{words} {command}; exit ${{PIPESTATUS[0]}}"],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stderr


def test_a_reader_that_goes_away_does_not_change_the_verdict(fleet: Path, tmp_path: Path) -> None:
    code, said = piped(f"check {fleet}/k8s | true", tmp_path)
    assert (code, "BrokenPipe" in said, "Traceback" in said) == (1, False, False)
    code, said = piped("rules | head -1", tmp_path)
    assert (code, said) == (0, "")
    code, said = piped(f"run {fleet}/k8s -q -o - -f json | true", tmp_path)
    assert code == 2
    assert "went away" in said


def test_closed_streams_do_not_crash(fleet: Path, tmp_path: Path) -> None:
    assert piped(f"run {fleet}/k8s -o o -q >&- | true", tmp_path)[0] == 0
    assert piped(f"run {fleet}/k8s -o o -q 2>&- >&- | true", tmp_path)[0] == 0


def test_the_bar_is_drawn_on_terminals_only_and_can_be_switched_off(fleet: Path, tmp_path: Path) -> None:
    drawn = run_on_terminal("run", "k8s", "-o", str(tmp_path / "a"), cwd=fleet)
    assert drawn.code == 0
    assert "\x1b[?25l" in drawn.shown
    plain = run_on_terminal("run", "k8s", "-o", str(tmp_path / "b"), "--no-progress", cwd=fleet)
    assert "\x1b[?25l" not in plain.shown
    assert "\x1b[" in plain.shown
    colourless = run_on_terminal(
        "run", "k8s", "-o", str(tmp_path / "c"), "--no-progress", cwd=fleet, NO_COLOR="1"
    )
    assert "\x1b[" not in colourless.shown
    assert "Audit" in colourless.shown


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Objects enough to be interrupted among them."""
    folder = tmp_path_factory.mktemp("large")
    (folder / "k8s").mkdir()
    for number in range(30):
        texts = [BAD.replace("bad", f"web-{number}-{copy}") for copy in range(100)]
        (folder / "k8s" / f"{number}.yaml").write_text("---\n".join(texts), encoding="utf-8")
    return folder


def interrupted(large: Path, out: Path, number: signal.Signals, times: int) -> tuple[int, str, str]:
    """Start a run, send signals once it judges, and wait for its end."""
    log = out / "run.log"
    out.mkdir()
    with subprocess.Popen(
        [*COMMAND, "run", "k8s", "-o", str(out), "--log-file", str(log), "--history", str(out / "h.db")],
        cwd=large,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        end = time.monotonic() + 60
        while time.monotonic() < end and not (
            log.exists() and "stage Judge" in log.read_text(encoding="utf-8")
        ):
            time.sleep(0.02)
        for _ in range(times):
            # As a terminal does it: to the whole group, the engine's processes included.
            os.killpg(process.pid, number)
            time.sleep(0.1)
        stdout, stderr = process.communicate(timeout=60)
        return process.returncode, stdout, stderr


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_stopped_run_writes_what_it_has(
    large: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    ended, stdout, stderr = interrupted(large, tmp_path / "o", number, 1)
    assert ended == code, stdout + stderr
    assert "INCOMPLETE" in stdout
    assert "Traceback" not in stderr
    assert "it is not appended" in stdout
    assert not (tmp_path / "o" / "h.db").exists()
    data = json.loads((tmp_path / "o" / "report.json").read_text(encoding="utf-8"))
    assert data["complete"] is False
    assert "interrupted" in {gap["kind"] for gap in data["gaps"]}
    seen = data["record"]["denominator"]
    assert seen["objects_judged"] <= seen["objects"]
    assert {"code": "stopped", "number": seen["objects_judged"], "of": seen["objects"], "gate": ""} in data[
        "incomplete_reasons"
    ]
    assert (tmp_path / "o" / "report.html").is_file()


def test_a_second_interrupt_ends_at_once(large: Path, tmp_path: Path) -> None:
    ended, _, stderr = interrupted(large, tmp_path / "o", signal.SIGINT, 2)
    assert ended == 130
    assert "Traceback" not in stderr


NO_NETWORK = """
import sys
def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.bind", "urllib.Request"):
        raise RuntimeError(f"network: {event} {arguments!r}")
sys.addaudithook(watch)
from audit.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_no_connection_is_opened(fleet: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", NO_NETWORK, "run", "k8s", "-o", str(tmp_path / "o")]
    # Where the kernel lets us, the whole run, child processes included, is cut off from any network.
    cut = ["unshare", "--user", "--map-root-user", "--net"]
    if (
        shutil.which("unshare")
        and subprocess.run([*cut, "true"], capture_output=True, check=False).returncode == 0
    ):
        command = [*cut, *command]
    done = subprocess.run(
        command, cwd=fleet, env=environment(), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_bug_of_ours_is_3_and_a_traceback_only_when_asked_for(fleet: Path, tmp_path: Path) -> None:
    code = (
        "import sys, audit.cli.execution as e\n"
        "def broken(*a, **k): raise ZeroDivisionError('x\\x1b[2J')\n"
        "e.execute = broken\n"
        "from audit.cli.main import main\nsys.exit(main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", code, "run", "k8s"]
    options: dict[str, Any] = {"cwd": fleet, "capture_output": True, "text": True}
    done = subprocess.run(command, env=environment(), check=False, **options)
    assert done.returncode == 3
    assert done.stderr.startswith("error: internal error: ZeroDivisionError: x\\u001b[2J\n")
    assert "Traceback" not in done.stderr
    for debug in (
        subprocess.run([*command, "--debug"], env=environment(), check=False, **options),
        subprocess.run(command, env=environment(FLEETAUDIT_DEBUG="1"), check=False, **options),
    ):
        assert debug.returncode == 3
        assert "Traceback" in debug.stderr
