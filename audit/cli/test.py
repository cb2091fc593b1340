"""``fleetaudit test``: the test suites that policies bring along."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from audit.cli import options as o
from audit.cli.command import examples

if TYPE_CHECKING:
    from re import Pattern
    from types import FrameType

    from audit.cli.exits import ExitCode
    from audit.testing.cases import SuiteKind, TestReport

EXAMPLES = examples(
    "fleetaudit test policies/  # every suite below a folder",
    "fleetaudit test rego --coverage  # and the lines that no test reaches",
    "fleetaudit test . --run latest-tag --verbose  # some cases, passes shown too",
    "fleetaudit test . --kind kyverno --list  # what would be run",
    "fleetaudit test . --format junit -o tests.xml  # for a pipeline",
)
KINDS = ("rego", "gatekeeper", "kyverno")
FORMATS = ("console", "junit", "json")


def test(
    *,
    paths: Annotated[
        list[str] | None,
        o.argument("PATH", "Folders and suites; the working folder by default."),
    ] = None,
    run: Annotated[
        str | None,
        o.option("--run", "REGEX", "Only cases whose FILE::NAME it is found in.", panel=o.SCOPE),
    ] = None,
    kind: Annotated[
        list[str] | None,
        o.option(
            "--kind",
            "NAME",
            f"Only suites of this kind ({', '.join(KINDS)}), repeatable.",
            panel=o.SCOPE,
            words=KINDS,
        ),
    ] = None,
    listed: Annotated[bool, o.option("--list", "", "List the cases, and run none.", panel=o.SCOPE)] = False,
    jobs: o.Jobs = None,
    timeout: Annotated[
        float | None,
        o.option("--timeout", "SECONDS", "Time limit of one case; 10 by default.", panel=o.JUDGE),
    ] = None,
    fail_fast: Annotated[
        bool,
        o.option("--fail-fast", "", "Stop at the first case that is not passed or skipped.", panel=o.JUDGE),
    ] = False,
    strict_builtin_errors: Annotated[
        bool,
        o.option(
            "--strict-builtin-errors",
            "",
            "A Rego builtin that fails on the way makes its test an error.",
            panel=o.JUDGE,
        ),
    ] = False,
    coverage: Annotated[
        bool, o.option("--coverage", "", "Show the lines of Rego that no test reaches.", panel=o.OUTPUT)
    ] = False,
    durations: Annotated[
        int | None,
        o.option("--durations", "N", "Show the N slowest cases.", panel=o.OUTPUT, least=1, most=10_000),
    ] = None,
    fmt: Annotated[
        str | None,
        o.option("--format", "NAME", f"One of {', '.join(FORMATS)}.", panel=o.OUTPUT, words=FORMATS),
    ] = None,
    output: Annotated[
        str | None,
        o.option(
            "--output -o",
            "FILE",
            "Where --format is written; - is standard output, and the default.",
            panel=o.OUTPUT,
        ),
    ] = None,
    verbose: Annotated[bool, o.option("--verbose -v", "", "Show every case, passes included.")] = False,
    no_progress: o.NoProgress = False,
) -> int:
    """Run test suites of Kyverno, Gatekeeper and OPA.

    kyverno-test.yaml files are run by the Kyverno CLI, Suites of test.gatekeeper.sh and Rego test rules by the embedded
    OPA. What no rule looked at is not evaluated, whatever its own tool says of it.

    The exit code is 0 when all cases passed, 1 when some failed, and 3 when something was not evaluated or could not be
    run, or when nothing was found.
    """
    from audit.cli.choices import one_of
    from audit.cli.progress import BarProgress, SilentProgress
    from audit.cli.screen import stderr_screen, stdout_screen
    from audit.cli.settings import environment
    from audit.cli.signals import Insisted
    from audit.testing.discover import discover
    from audit.testing.options import RunOptions, cores
    from audit.testing.run import list_suites, run_suites

    chosen = one_of("--format", fmt or "console", FORMATS)
    _check_output(chosen, output)
    options = RunOptions(
        jobs=jobs or cores(),
        seconds=_seconds(timeout),
        pattern=_pattern(run),
        coverage=coverage,
        strict_builtins=strict_builtin_errors,
    )
    found = discover(tuple(paths or (".",)), _kinds(kind))
    color = not environment().no_color
    screen = stdout_screen(color=color)
    if listed:
        from audit.cli import test_page

        cases = list(list_suites(found, options))
        test_page.listing(screen, cases)
        screen.flush()
        return int(_exit_of_listing(len(cases)))
    draws = not no_progress and stderr_screen(color=color).is_terminal
    try:
        with _ending_children(), BarProgress(color=color) if draws else SilentProgress() as progress:
            report = run_suites(found, options, progress, fail_fast=fail_fast)
    except Insisted as ended:
        return int(ended.code)
    code = exit_code_of(report)
    if chosen == "console" or output not in (None, "-"):
        from audit.cli import test_page

        test_page.show(screen, report, verbose=verbose, slowest=durations or 0)
        screen.flush()
    if chosen != "console":
        _write(report, chosen, output, int(code))
    return int(code)


@contextlib.contextmanager
def _ending_children() -> Iterator[None]:
    """Let SIGTERM end the command as Ctrl-C does: from inside, so that processes it started end too."""
    import signal

    from audit.cli.exits import ExitCode
    from audit.cli.signals import Insisted

    def end(number: int, frame: FrameType | None) -> None:
        del number, frame  # the form that `signal` asks for
        raise Insisted(ExitCode.TERMINATED)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def exit_code_of(report: TestReport) -> ExitCode:
    """What is incomplete is told before what failed: half a run says nothing of the other half."""
    from audit.cli.exits import ExitCode, winner
    from audit.testing.cases import CaseOutcome

    counts = report.counts()
    codes = []
    if not report.cases or counts[CaseOutcome.ERROR] or counts[CaseOutcome.NOT_EVALUATED]:
        codes.append(ExitCode.INCOMPLETE)
    if counts[CaseOutcome.FAIL]:
        codes.append(ExitCode.GATE_FAILED)
    return winner(*codes)


def _exit_of_listing(number: int) -> ExitCode:
    from audit.cli.exits import ExitCode

    return ExitCode.MET if number else ExitCode.INCOMPLETE


def _check_output(chosen: str, output: str | None) -> None:
    from audit.errors import UsageError

    if chosen == "console" and output is not None:
        raise UsageError("--output needs --format junit or json")


def _seconds(timeout: float | None) -> float:
    from audit.errors import UsageError

    seconds = 10.0 if timeout is None else timeout
    if not 0.001 <= seconds <= 86_400:
        raise UsageError(f"--timeout: {timeout} is no number of seconds from 0.001 to 86400")
    return seconds


def _pattern(run: str | None) -> Pattern[str] | None:
    import re

    from audit.errors import UsageError

    if run is None:
        return None
    try:
        return re.compile(run)
    except re.error as error:
        raise UsageError(f"--run: {run!r} is no regular expression: {error}") from error


def _kinds(names: list[str] | None) -> frozenset[SuiteKind]:
    from audit.cli.choices import one_of
    from audit.testing.cases import SuiteKind

    return frozenset(SuiteKind(one_of("--kind", name, KINDS)) for name in names or KINDS)


def _write(report: TestReport, chosen: str, output: str | None, code: int) -> None:
    import json
    from pathlib import Path

    from audit.report.files import atomic
    from audit.testing.json_writer import as_json
    from audit.testing.junit import as_junit

    if chosen == "json":
        text = json.dumps(as_json(report, code), indent=2) + "\n"
    else:
        text = "".join(as_junit(report))
    if output in (None, "-"):
        _print(text)
        return
    with atomic(Path(output)) as stream:
        stream.write(text.encode("utf-8", "backslashreplace"))


def _print(text: str) -> None:
    """Print a whole report.

    Raises:
        ReportError: standard output is closed, or nobody reads it to the end.
    """
    import sys

    from audit.cli.screen import abandon
    from audit.cli.streams import is_closed
    from audit.errors import ReportError

    if is_closed(sys.stdout):
        raise ReportError("standard output is closed, and the report was to go there")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        abandon(sys.stdout)
        raise ReportError("the reader of standard output went away before the report ended") from None
