"""Signals, logs, progress and notes: what stands around a run."""

from __future__ import annotations

import io
import logging
import os
import signal
import threading
from pathlib import Path

import pytest

from audit.cli.delivery import check_writable
from audit.cli.exits import ExitCode
from audit.cli.findings_list import print_open_groups
from audit.cli.logs import logging_to
from audit.cli.notes import print_notes
from audit.cli.progress import BarProgress, SilentProgress
from audit.cli.screen import Screen
from audit.cli.signals import Insisted, StopOnSignal
from audit.errors import ReportError, UsageError
from tests import builders as b


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, ExitCode.INTERRUPTED),
        (signal.SIGTERM, ExitCode.TERMINATED),
        (signal.SIGHUP, ExitCode.HUNG_UP),
    ],
)
def test_a_signal_asks_once_and_then_insists(number: signal.Signals, code: ExitCode) -> None:
    before = signal.getsignal(number)
    with StopOnSignal() as stop:
        assert not stop.is_set()
        os.kill(os.getpid(), number)
        assert stop.is_set()
        assert stop.code is code
        with pytest.raises(Insisted) as caught:
            os.kill(os.getpid(), number)
        assert caught.value.code is code
    assert signal.getsignal(number) is before


def test_without_a_signal_nothing_is_asked() -> None:
    with StopOnSignal() as stop:
        pass
    assert (stop.is_set(), stop.code) == (False, None)


def test_other_threads_keep_their_hands_off_signals() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def work() -> None:
        with StopOnSignal():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


def test_the_log_is_appended_one_line_a_record(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "run.log"
    for _ in range(2):
        with logging_to(str(path), verbose=False):
            logging.getLogger("audit.somewhere").info("found %s", "a\nb\x1b[2J")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2
    assert lines[0].endswith("Z INFO audit.somewhere: found a b\\u001b[2J")
    assert logging.getLogger("audit").handlers == []


def test_a_log_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="log file") as caught, logging_to(str(tmp_path), verbose=False):
        pass
    assert caught.value.file == str(tmp_path)


def test_verbose_logs_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with logging_to(None, verbose=True), SilentProgress() as progress:
        progress.stage("Judge east", 3)
        progress.advance()
        progress.note("child restarted")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "stage Judge east, 3 to do" in captured.err
    assert "child restarted" in captured.err


def test_the_bar_counts_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with BarProgress(color=False) as progress:
        progress.stage("Read \x1b[2J[bold]x", None)
        for _ in range(50):
            progress.advance()
        progress.stage("Judge east", 2)
        progress.advance(2)
        progress.note("said")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "said" in captured.err
    assert "\x1b[2J" not in captured.err


def test_notes_say_what_was_left_out_on_purpose() -> None:
    result = b.result(
        notices=(
            b.notice(source="k8s", code="gitignored", message="3 ignored by .gitignore"),
            b.notice(source="k8s/a.yaml", code="empty", message="an empty document", line=4),
        ),
        gaps=(b.gap(source="x.yaml", line=2, reason="no YAML"),),
        rules=(b.rule_state(), b.rule_state("pod/host-ports", selected=False)),
        waivers=(b.waiver_state(live=False, matched=2), b.waiver_state(warning="matched nothing")),
        statements=(
            b.statement_state(live=False, why_not="ended"),
            b.statement_state(live=False, why_not="not_yet", statement=b.statement("S-002")),
            b.statement_state(live=False, why_not="no_reason", statement=b.statement("S-003")),
        ),
    )
    stream = io.StringIO()
    print_notes(Screen(stream), result, verbose=False)
    text = stream.getvalue()
    assert all(line.startswith("note: ") for line in text.splitlines())
    for part in (
        "3 ignored by .gitignore",
        "1 rule not asked",
        "has ended; 2 pairs",
        "matched nothing",
        "statement S-001 about MEASURE 2.7 by Risk Office has ended",
        "statement S-002 about MEASURE 2.7 by Risk Office is dated",
        "statement S-003 about MEASURE 2.7 by Risk Office says not applicable without a reason",
    ):
        assert part in text
    assert "empty document" not in text
    stream = io.StringIO()
    print_notes(Screen(stream), result, verbose=True)
    assert "k8s/a.yaml:4: an empty document" in stream.getvalue()


def test_open_findings_are_lines_that_editors_read() -> None:
    waived = b.group(b.finding(waiver="W-001"), waived=1, id="G-11111111")
    opened = b.group(b.finding(), b.finding(subject=b.subject("api")), id="G-22222222")
    stream = io.StringIO()
    print_open_groups(Screen(stream), b.result([waived, opened]))
    first, last = stream.getvalue().splitlines()
    assert first.startswith("east/web.yaml:12:9: high pod/privileged: Deployment demo/")
    assert first.endswith("the container runs privileged (and 1 more)")
    assert last.startswith("1 open group in 1 object from 1 file, ")


def test_an_output_folder_is_tried_before_the_audit(tmp_path: Path) -> None:
    check_writable(tmp_path / "new" / "deep")
    assert list((tmp_path / "new" / "deep").iterdir()) == []
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ReportError, match="cannot be written"):
        check_writable(tmp_path / "file")
