"""The output folder: the files of one run, whole, whoever else writes there and however a run ends."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import pty
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from audit.cli.folder import OutputFolder
from audit.errors import ReportError
from audit.report.files import earlier_reports
from tests.unit.cli.terminal import COMMAND, environment, run

POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: shop}}
spec: {{hostPID: true, containers: [{{name: c, image: "registry.example/app:latest"}}]}}
"""


def manifests(folder: Path, name: str, number: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    texts = [POD.format(name=f"{name}-{n}") for n in range(number)]
    (folder / f"{name}.yaml").write_text("---\n".join(texts), encoding="utf-8")
    return folder


def consistent(out: Path) -> dict[str, Any]:
    """The JSON report of a folder, after its population was compared with it."""
    report: dict[str, Any] = json.loads((out / "report.json").read_text(encoding="utf-8"))
    text = gzip.decompress((out / report["record"]["population_file"]).read_bytes())
    assert hashlib.sha256(text).hexdigest() == report["record"]["population_sha256"]
    assert text.count(b"\n") == report["record"]["denominator"]["pairs_answered"] + 1
    return report


def hidden(out: Path) -> list[str]:
    return [path.name for path in out.iterdir() if path.name.startswith(".")]


def test_runs_at_the_same_time_do_not_mix(tmp_path: Path) -> None:
    for name, number in (("one", 300), ("two", 40), ("three", 120)):
        manifests(tmp_path / name, name, number)
    formats = "json,html,csv,markdown"
    processes = [
        subprocess.Popen(
            [*COMMAND, "run", name, "-o", "out", "-f", formats, "-q"],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two", "three", "one", "two", "three")
    ]
    seen = set()
    while any(process.poll() is None for process in processes):
        # A reader at any moment finds one whole run, or an earlier one: never two halves.
        if (tmp_path / "out" / "report.json").exists():
            before = (tmp_path / "out" / "report.json").stat().st_ino
            try:
                report = consistent(tmp_path / "out")
            except (AssertionError, FileNotFoundError):
                # Between two reads of ours a run may have put its own files in place.
                assert not (tmp_path / "out" / "report.json").exists() or (
                    before != (tmp_path / "out" / "report.json").stat().st_ino
                )
            else:
                seen.add(report["record"]["population_sha256"])
        time.sleep(0.01)
    for process in processes:
        _, said = process.communicate()
        assert process.returncode == 0, said
    report = consistent(tmp_path / "out")
    state, digest = report["record"]["state_time"], report["record"]["result_sha256"]
    html = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert digest[:8] in html
    assert state[:10] in html
    assert digest in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert hidden(tmp_path / "out") == []


def test_a_later_run_leaves_nothing_of_an_earlier_one(tmp_path: Path) -> None:
    manifests(tmp_path / "one", "one", 5)
    manifests(tmp_path / "two", "two", 6)
    everything = "html,json,sarif,junit,markdown,csv"
    assert run("run", "one", "-o", "out", "-f", everything, cwd=tmp_path).returncode == 0
    assert len(list(earlier_reports(tmp_path / "out"))) == 6
    (tmp_path / "out" / "findings-1.html").write_bytes((tmp_path / "out" / "report.html").read_bytes())
    for name in ("notes.txt", "findings-2.html", "findings-x.csv"):
        (tmp_path / "out" / name).write_text("mine", encoding="utf-8")
    assert run("run", "two", "-o", "out", "-f", "markdown", cwd=tmp_path).returncode == 0
    left = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert left == ["findings-2.html", "findings-x.csv", "notes.txt", "population.csv.gz", "report.md"]


def test_files_of_others_under_our_names_are_only_replaced_when_asked_for(tmp_path: Path) -> None:
    manifests(tmp_path / "one", "one", 1)
    for name in (
        "report.json",
        "report.md",
        "report.html",
        "findings.csv",
        "report.sarif",
        "report.junit.xml",
    ):
        (tmp_path / name).write_text("mine", encoding="utf-8")
    assert run("run", "one", "-o", ".", "-f", "html", cwd=tmp_path).returncode == 0
    for name in ("report.json", "report.md", "findings.csv", "report.sarif", "report.junit.xml"):
        assert (tmp_path / name).read_text(encoding="utf-8") == "mine"
    assert "fleetaudit" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_run_that_fails_leaves_the_earlier_one_alone(tmp_path: Path) -> None:
    manifests(tmp_path / "one", "one", 5)
    assert run("run", "one", "-o", "out", cwd=tmp_path).returncode == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert run("run", "one", "-o", "out", "--rule", "no/such", cwd=tmp_path).returncode == 2
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


@pytest.fixture
def started(tmp_path: Path) -> Any:
    """A run among many objects, under way, with a terminal of its own."""
    for number in range(30):
        manifests(tmp_path / "k8s", f"web{number}", 100)
    log = tmp_path / "run.log"
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "run", "k8s", "-o", "out", "-f", "json", "--log-file", str(log)],
        cwd=tmp_path,
        env=environment(),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        # Opening the terminal in the new session makes it the session's own.
        preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)),  # noqa: PLW1509  # no thread runs yet
    )
    os.close(theirs)
    end = time.monotonic() + 60
    drain = threading.Thread(target=_drain, args=(ours,), daemon=True)
    drain.start()
    while time.monotonic() < end and not (log.exists() and "stage Judge" in log.read_text(encoding="utf-8")):
        time.sleep(0.02)
    yield process, ours
    process.kill()
    process.wait()


def _drain(handle: int) -> None:
    try:
        while os.read(handle, 1 << 16):
            pass
    except OSError:
        return


def test_a_terminal_that_goes_away_stops_the_run_with_what_it_has(started: Any, tmp_path: Path) -> None:
    process, terminal = started
    os.close(terminal)
    assert process.wait(timeout=60) == 129
    report = consistent(tmp_path / "out")
    assert report["complete"] is False
    assert "interrupted" in {gap["kind"] for gap in report["gaps"]}
    assert hidden(tmp_path / "out") == []


def test_a_killed_run_leaves_no_half_and_the_next_one_tidies_up(started: Any, tmp_path: Path) -> None:
    process, _ = started
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)
    assert [path.name for path in (tmp_path / "out").iterdir()] == hidden(tmp_path / "out") != []
    manifests(tmp_path / "one", "one", 1)
    assert run("run", "one", "-o", "out", "-f", "json", cwd=tmp_path).returncode == 0
    consistent(tmp_path / "out")
    assert hidden(tmp_path / "out") == []


def test_what_is_ignored_stays_ignored(tmp_path: Path) -> None:
    """``nohup fleetaudit run ...`` goes on when the terminal goes."""
    manifests(tmp_path / "one", "one", 5)
    process = subprocess.Popen(
        [*COMMAND, "run", "one", "-o", "out", "-f", "json"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN) and None,  # noqa: PLW1509  # no thread runs yet
    )
    while process.poll() is None:
        process.send_signal(signal.SIGHUP)
        time.sleep(0.05)
    assert process.returncode == 0
    assert consistent(tmp_path / "out")["complete"] is True


def test_a_folder_in_use_is_not_taken_for_an_abandoned_one(tmp_path: Path) -> None:
    with OutputFolder(tmp_path) as first, OutputFolder(tmp_path) as second:
        assert first.staging.is_dir()
        assert second.staging.is_dir()
        (first.staging / "report.json").write_text("x", encoding="utf-8")
        first.publish([first.staging / "report.json"])
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_errors_name_the_file_that_was_wanted(tmp_path: Path) -> None:
    with pytest.raises(ReportError) as caught, OutputFolder(tmp_path / "out") as place:
        raise ReportError("full", file=str(place.staging / "report.html"))
    assert caught.value.file == str(tmp_path / "out" / "report.html")
    assert list((tmp_path / "out").iterdir()) == []
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ReportError, match="cannot be written"), OutputFolder(tmp_path / "file" / "x"):
        pass
