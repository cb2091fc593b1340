"""The commands as a user types them: run, history, trend, diff."""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import io
import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from audit.cli.main import main
from audit.history.address import parse_address
from audit.history.database.reading import opened
from audit.wiring import SystemClock
from tests.history.postgresql import PASSWORD, Server
from tests.history.runs import append, result, sealed_bytes
from tests.integration.command import Run, run

POD = """apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: ml}}
spec: {{hostNetwork: {host}, containers: [{{name: main, image: "registry.example.com/app:1"}}]}}
"""
RULES = ("--rule", "pod/host-namespaces", "--rule", "pod/privileged", "--no-config")


def write(folder: Path, **hosts: bool) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, host in hosts.items():
        (folder / f"{name}.yaml").write_text(POD.format(name=name, host=str(host).lower()))
    return folder


def typed(*arguments: str | Path) -> Run:
    """A command in this process, which has everything loaded already."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        code = main([str(argument) for argument in arguments])
    out, err = (cast("io.BytesIO", stream.buffer).getvalue().decode() for stream in streams)
    return Run(code, out, err, Path())


def audited(folder: Path, *arguments: str | Path) -> Run:
    """``fleetaudit run`` with its output in `folder`."""
    return typed("run", *arguments, "--output", folder)._replace(folder=folder)


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four nights: as it was, one finding mended and one opened, a new object, and a file that can't be read."""
    folder = tmp_path_factory.mktemp("nights")
    source, history = folder / "in", folder / "history.db"
    steps: list[Callable[[], object]] = [
        lambda: write(source, web=True, api=False),
        lambda: write(source, web=False, api=True),
        lambda: write(source, new=True),
        lambda: (source / "api.yaml").write_text("kind: [unclosed"),
    ]
    for night, step in enumerate(steps, start=1):
        step()
        with pytest.MonkeyPatch.context() as patch:
            moment = dt.datetime(2026, 11, night, 2, tzinfo=dt.UTC)
            patch.setattr(SystemClock, "now", lambda _, moment=moment: moment)
            done = audited(folder / "out", source, *RULES, "--history", history)
        assert f"History   run {night} in {history}, chain " in done.out
    return folder


@pytest.fixture
def copy(nights: Path, tmp_path: Path) -> Path:
    """The history of the four nights, to be changed."""
    return Path(shutil.copy(nights / "history.db", tmp_path / "copy.db"))


def asked(nights: Path, *arguments: str | Path) -> Run:
    return typed(*arguments, "--history", nights / "history.db", "--no-config")


def test_the_list_of_runs(nights: Path) -> None:
    data = json.loads(asked(nights, "history", "--json").out)
    assert [row["number"] for row in data] == [1, 2, 3, 4]
    assert [row["exit_code"] for row in data] == [0, 0, 0, 3]
    assert [row["gaps"] for row in data] == [0, 0, 0, 1]
    assert [
        row["open_groups"] if "open_groups" in row else row["open_high"] + row["open_critical"]
        for row in data
    ]
    assert data[1]["previous"] == data[0]["digest"]
    report = json.loads((nights / "out" / "report.json").read_bytes())
    assert data[3]["result_sha256"] == report["record"]["result_sha256"]
    assert data[3]["ratios"][0]["numerator"] == report["scores"][0]["strict"]["numerator"]
    table = asked(nights, "history").out.splitlines()
    assert table[0].split() == [
        "RUN",
        "TIME",
        "CLUSTERS",
        "OBJECTS",
        "PAIRS",
        "GAPS",
        "NIST-AI-RMF",
        "LFAI",
        "OPEN",
        "EXIT",
        "SCOPE",
        "RESULT",
    ]
    assert table[4].endswith("incomplete")
    assert len(asked(nights, "history", "list", "--last", "2").out.splitlines()) == 4


def test_the_chain_is_verified(nights: Path, copy: Path) -> None:
    done = asked(nights, "history", "verify")
    assert (done.code, done.out.splitlines()[0]) == (0, "the chain holds: 4 runs")
    with sqlite3.connect(copy) as forged:
        forged.execute("UPDATE run SET open_critical = 0, open_high = 0 WHERE number = 2")
    forged.close()
    done = typed("history", "verify", "--history", copy)
    assert done.code == 1
    assert "broken: run 2, changed" in done.out
    assert json.loads(typed("history", "verify", "--history", copy, "--json").out)["runs"] == 1
    other = asked(nights, "history", "verify", "--head", "0123456789")
    assert (other.code, "belongs to no run" in other.out) == (1, True)
    assert asked(nights, "history", "verify", "--head", "xyz").code == 2


def test_the_trend_breaks_where_the_scope_does(nights: Path) -> None:
    done = asked(nights, "trend", "--framework", "nist-ai-rmf")
    assert done.code == 0
    assert done.out.count("not comparable") == 2  # a new object, then one that is hidden
    (series,) = json.loads(asked(nights, "trend", "--measure", "open", "--format", "json").out)
    assert [point["comparable"] for point in series["points"]] == [None, True, False, False]
    rows = list(
        csv.DictReader(io.StringIO(asked(nights, "trend", "--measure", "gaps", "--format", "csv").out))
    )
    assert [row["numerator"] for row in rows] == ["0", "0", "0", "1"]
    assert "GOVERN" in asked(nights, "trend", "--function", "GOVERN").out
    assert asked(nights, "trend", "--cluster", "manifests").code == 0
    assert asked(nights, "trend", "--cluster", "nowhere").code == 2
    assert asked(nights, "trend", "--cluster", "manifests", "--measure", "coverage").code == 2


def changes(done: Run) -> list[tuple[str, str]]:
    data = json.loads(done.out)
    return [
        (group["change"], group["reason"])
        for group in data["groups"]
        if group["rule"] == "pod/host-namespaces"
    ]


def test_a_difference_since_the_last_run(nights: Path) -> None:
    done = asked(nights, "diff", "--since", "last", "--format", "json")
    assert (done.code, changes(done)) == (3, [("lost", "gap"), ("unchanged", "")])
    assert json.loads(done.out)["differs"] == ["scope"]
    # The report of that night is in the history already: the run before it is the last one.
    assert asked(nights, "diff", str(nights / "out"), "--since", "last", "--format", "json").out == done.out


def test_a_difference_since_a_number_and_a_date(nights: Path) -> None:
    def since(when: str) -> Run:
        return asked(nights, "diff", nights / "out", "--since", when)

    for when, number in (
        ("1", 1),
        ("2026-11-02", 1),  # what changed since the day began, and the run was judged at two o'clock
        ("2026-11-02T02:00:00Z", 2),
        ("2026-11-03T03:00:00+02:00", 2),
        ("2999-01-01", 3),
        ("last", 3),
    ):
        assert since(when).out.startswith(
            f"From run {number} of 2026-11-0{number}T02:00:00Z to the report of 2026-11-04"
        )
    for when, words in (
        ("2001-01-01", "no earlier run of this fleet is as old"),
        ("77", "no earlier run 77"),
        ("4", "no earlier run 4"),  # the report itself
        ("yesterday", "names no run"),
        ("2026-11-02T02:00:00", "needs its zone"),
    ):
        done = since(when)
        assert (done.code, words in done.err) == (2, True), when
    out = nights / "out"
    assert asked(nights, "diff", out, out, "--since", "last").code == 2
    assert asked(nights, "diff", out, out).code == 2
    assert typed("diff", out).code == 2


def test_stored_runs_are_compared_like_reports(nights: Path, copy: Path, tmp_path: Path) -> None:
    with opened(parse_address(str(copy))) as stored:
        for link in stored.links()[:2]:
            (tmp_path / str(link.number)).mkdir()
            stored.unpack(link, tmp_path / str(link.number))
    done = typed("diff", tmp_path / "1", tmp_path / "2", "--format", "json")
    assert (done.code, changes(done)) == (0, [("regressed", ""), ("fixed", "")])
    assert json.loads(done.out)["differs"] == []
    since = typed("diff", tmp_path / "2", "--since", "1", "--history", copy, "--format", "json")
    assert since.out == done.out


def test_the_last_run_of_an_old_report_is_not_newer_than_it(tmp_path: Path) -> None:
    history = tmp_path / "h.db"
    for number in (5, 9):
        append(str(history), result(number))
    (tmp_path / "report.json").write_bytes(sealed_bytes(result(7)))
    done = typed("diff", tmp_path, "--since", "last", "--history", history, "--no-config")
    assert done.out.startswith("From run 1 of 2026-01-06")
    (tmp_path / "report.json").write_bytes(sealed_bytes(result(3)))
    assert typed("diff", tmp_path, "--since", "last", "--history", history, "--no-config").code == 2


def test_the_nightly_digest(nights: Path) -> None:
    done = asked(nights, "diff", "--since", "last", "--format", "md")
    lines = done.out.splitlines()
    assert lines[0] == "### From run 3 of 2026-11-03T02:00:00Z to run 4 of 2026-11-04T02:00:00Z"
    assert lines[2] == "**1 lost evidence, 1 unchanged**"
    assert "- the ratios can't be compared: scope differ" in lines


def test_a_report_can_be_added_later_and_only_once(nights: Path, tmp_path: Path) -> None:
    for number in (1, 1):
        done = typed("history", "add", nights / "out", "--history", tmp_path / "new.db")
        assert (done.code, f"run {number} in" in done.out) == (0, True)
    assert "was there already" in done.out
    with opened(parse_address(str(tmp_path / "new.db"))) as stored:
        (link,) = stored.links()
        assert link.run.exit_code == 3
        stored.unpack(link, tmp_path)
    assert (tmp_path / "report.json").read_bytes() == (nights / "out" / "report.json").read_bytes()
    (tmp_path / "population.csv.gz").unlink()
    done = typed("history", "add", tmp_path, "--history", tmp_path / "new.db")
    assert (done.code, "population file of the result can't be read" in done.err) == (2, True)


def test_pruned_runs_stay_in_the_trend_and_say_so_in_a_difference(copy: Path) -> None:
    assert typed("history", "prune", "--history", copy).code == 2
    done = typed("history", "prune", "--keep-runs", "1", "--history", copy)
    assert done.out == "3 runs pruned\n"
    assert "4 runs, 3 of them pruned" in typed("history", "verify", "--history", copy).out
    assert typed("trend", "--history", copy).code == 0
    done = typed("diff", "--since", "last", "--history", copy)
    assert (done.code, "run 3 was pruned" in done.err) == (2, True)


def test_the_configuration_names_the_history_and_a_check_is_kept_nowhere(tmp_path: Path) -> None:
    source, config = write(tmp_path / "in", web=False), tmp_path / "conf" / "fleetaudit.yaml"
    config.parent.mkdir()
    config.write_text("history: {url: kept.db, keep_runs: 1}\n")
    for _ in range(2):
        assert audited(tmp_path / "out", source, "--config", config, *RULES[:-1]).code == 0
    with opened(parse_address(str(config.parent / "kept.db"))) as stored:
        assert [bool(link.pruned_at) for link in stored.links()] == [True, False]
    assert (
        "history"
        not in json.loads((tmp_path / "out" / "report.json").read_bytes())["record"]["configuration"]
    )
    assert typed("check", source, "--config", config, "--rule", "pod/privileged").code == 0
    assert typed("history", "--config", config).out.splitlines()[-1].startswith("2 runs")


def test_several_fleets_in_one_history(tmp_path: Path) -> None:
    history = tmp_path / "h.db"
    for number, title in enumerate(("one", "two")):
        append(str(history), result(number, title=title))
    named = ("--history", history, "--no-config")
    assert "FLEET" in typed("history", *named).out
    done = typed("trend", *named)
    assert (done.code, "runs of 2 fleets" in done.err) == (2, True)
    assert typed("trend", *named, "--fleet", "two").code == 0
    assert typed("trend", *named, "--fleet", "tow").err.count("did you mean two?") == 1
    (tmp_path / "report.json").write_bytes(sealed_bytes(result(2, title="two")))
    done = typed("diff", tmp_path, "--since", "last", *named)
    assert done.out.startswith("From run 2 of")
    done = typed("diff", tmp_path, "--since", "1", *named)
    assert (done.code, "no earlier run 1 of this fleet" in done.err) == (2, True)


def test_a_history_that_fails_loses_no_report_and_is_not_green(tmp_path: Path) -> None:
    (tmp_path / "history.db").write_text("not a database at all " * 100)
    done = audited(
        tmp_path / "out", write(tmp_path / "in", web=False), *RULES, "--history", tmp_path / "history.db"
    )
    assert done.code == 2
    assert done.err.count("error: ") == 1
    assert "fleetaudit history add" in done.err
    assert done.report["complete"] is True
    assert (tmp_path / "out" / "population.csv.gz").is_file()
    assert "Audit     complete" in done.out
    assert "History" not in done.out


def test_no_password_is_printed_or_written(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.make("printed")
    source = write(tmp_path / "in", web=False)
    options = (*RULES, "-v", "--log-file", tmp_path / "log", "--format", "json,html,sarif,markdown")
    done = audited(tmp_path / "out", source, *options, "--history", url)
    down = server._replace(port=1).url("postgres")
    monkeypatch.setenv("FLEETAUDIT_HISTORY", down)
    failed = audited(tmp_path / "out2", source, *options, "--debug")
    bad = typed("history", "--history", "postgresql://auditor:12/hidden-Zx81@host/db")
    misplaced = tmp_path / "fleetaudit.yaml"
    misplaced.write_text(f"history: {down}\n")
    wrong = typed("history", "--config", misplaced)
    monkeypatch.setenv("FLEETAUDIT_HISTORY", url)
    listed = typed("history", "--no-config")
    assert [each.code for each in (done, failed, bad, wrong, listed)] == [0, 2, 2, 2, 0]
    assert len(listed.out.splitlines()) == 3
    said = "".join(each.out + each.err for each in (done, failed, bad, wrong, listed))
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path != misplaced]
    assert len(files) > 8
    written = b"".join(path.read_bytes() for path in files).decode(errors="replace")
    for text in (said, written):
        assert PASSWORD not in text
        assert "Zx81" not in text
    assert "postgresql://auditor@127.0.0.1" in said


def test_without_the_extra_its_name_is_told_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "sqlalchemy.py").write_text("raise ImportError('not here')")
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH", ""))))
    done = run(
        tmp_path / "out", write(tmp_path / "in", web=True), "--history", "h.db", env={"PYTHONPATH": path}
    )
    assert done.code == 2
    assert "pip install 'fleetaudit[history]'" in done.err
    assert not (tmp_path / "out").exists()
