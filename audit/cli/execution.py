"""Runs one audit for ``run`` and ``check``: set up, run, write, summarise, decide the exit code."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from audit.cli.delivery import STDOUT, print_to_stdout, write_reports
from audit.cli.exits import ExitCode, code_for_outcome, winner
from audit.cli.failures import print_error, warn
from audit.cli.findings_list import print_open_groups
from audit.cli.folder import OutputFolder
from audit.cli.logs import logging_to
from audit.cli.notes import print_notes
from audit.cli.progress import BarProgress, SilentProgress
from audit.cli.screen import Screen, stderr_screen, stdout_screen
from audit.cli.settings import configuration, environment
from audit.cli.signals import StopOnSignal
from audit.cli.wording import label
from audit.config.load import FILE_NAME
from audit.config.overrides import Overrides
from audit.config.schema import Config
from audit.errors import AuditError, HistoryError, ReportError, UsageError
from audit.model.result import AssessmentResult
from audit.model.rule import Severity

if TYPE_CHECKING:
    from audit.cli.keeping import Keeping
    from audit.config.environment import Environment


class Manner(msgspec.Struct, frozen=True, kw_only=True):
    """How a run speaks; nothing here changes its result."""

    quiet: bool = False
    verbose: bool = False
    short: bool = False
    """``check``: open findings as lines, and the verdict."""
    progress: bool = True
    log_file: str | None = None
    reports: bool = True
    """False keeps nothing but what is printed."""
    history: bool = False
    """Append the result to the configured history."""
    gate: Severity | None = None
    """Gate on severity when neither command line nor configuration names one."""


def execute(overrides: Overrides, manner: Manner) -> int:
    """One audit from arguments to exit code.

    Raises:
        AuditError: usage, configuration or content is wrong; `main` prints it.
    """
    surroundings = environment()
    error_screen = stderr_screen(color=not surroundings.no_color)
    with logging_to(manner.log_file, verbose=manner.verbose and not manner.quiet):
        config = _with_gate(configuration(overrides, surroundings), manner.gate)
        check_scope(config)
        keeping = _keeping(config) if manner.history else None
        to_stdout = config.output.folder == STDOUT
        if to_stdout and len(config.output.formats) != 1:
            raise UsageError(
                f"-o - prints one format, and {len(config.output.formats)} are asked for",
                suggestion="add --format json, or another one",
            )
        for message in (*surroundings.warnings, *_unused_configuration(config)):
            warn(error_screen, message)
        if manner.reports and not to_stdout:
            with OutputFolder(Path(config.output.folder)) as place:
                return _run(config, manner, surroundings, place, keeping)
        # Nothing is kept, but a population is counted all the same.
        with tempfile.TemporaryDirectory(prefix="fleetaudit-") as folder:
            return _run(config, manner, surroundings, Path(folder), keeping)


def _run(
    config: Config,
    manner: Manner,
    surroundings: Environment,
    place: OutputFolder | Path,
    keeping: Keeping | None,
) -> int:
    from audit import wiring

    color = not surroundings.no_color
    error_screen = stderr_screen(color=color)
    to_stdout = config.output.folder == STDOUT
    folder = place.staging if isinstance(place, OutputFolder) else place
    # With the report on standard output, everything meant for people goes to standard error.
    screen = error_screen if to_stdout else stdout_screen(color=color)
    draws = manner.progress and not manner.quiet and error_screen.is_terminal
    with ExitStack() as stack:
        stop = stack.enter_context(StopOnSignal())
        with BarProgress(color=color) if draws else SilentProgress() as progress:
            audit = stack.enter_context(wiring.build(config, folder=folder, progress=progress))
            result = audit.run(stop)
        population = None
        if keeping is not None:
            from audit.cli.keeping import held_open

            population = stack.enter_context(held_open(folder, result))
        failed = any(gate.met is False for gate in result.gates)
        codes = [code_for_outcome(complete=result.complete, gates_met=not failed)]
        written, errors = _deliver(result, config, place)
        for error in errors:
            # The verdict is still told: what was found does not depend on a full disk.
            print_error(error_screen, error)
            codes.append(ExitCode.USAGE)
        if stop.code is not None:
            codes.append(stop.code)
        kept = ""
        if keeping is not None:
            kept, failure = _keep(keeping, result, population, winner(*codes), stopped=stop.code is not None)
            if failure is not None:
                print_error(error_screen, failure)
                codes.append(ExitCode.USAGE)
        code = winner(*codes)
        if not manner.quiet:
            print_notes(error_screen, result, verbose=manner.verbose)
        _tell(screen, result, written, manner, code, config.output.lang)
        if kept and not manner.quiet:
            screen.line(label("History"), kept)
            screen.flush()
    return int(code)


def _keeping(config: Config) -> Keeping | None:
    if config.history.url is None:
        return None
    from audit.cli.keeping import Keeping

    return Keeping.of(config)


def _keep(
    keeping: Keeping,
    result: AssessmentResult,
    population: BinaryIO | None,
    code: ExitCode,
    *,
    stopped: bool,
) -> tuple[str, AuditError | None]:
    """Append to the history, after the reports; what to tell of it, and what went wrong."""
    if stopped:
        return "the run was stopped: it is not appended", None
    from audit import wiring

    try:
        link, _ = keeping.append(result, population, code, wiring.SystemClock().now())
    except HistoryError as error:
        later = "fleetaudit history add FOLDER appends the report later"
        error.suggestion = "; ".join(filter(None, (error.suggestion, later)))
        return "", error
    return f"run {link.number} in {keeping.address.shown}, chain {link.digest}", None


def _deliver(
    result: AssessmentResult, config: Config, place: OutputFolder | Path
) -> tuple[list[Path], list[AuditError]]:
    if isinstance(place, OutputFolder):
        return write_reports(result, config, place)
    if config.output.folder == STDOUT:
        try:
            print_to_stdout(result, config)
        except ReportError as error:
            return [], [error]
    return [], []


def _tell(
    screen: Screen,
    result: AssessmentResult,
    written: list[Path],
    manner: Manner,
    code: ExitCode,
    language: str,
) -> None:
    from audit.report.console import render

    if manner.short and not manner.quiet:
        print_open_groups(screen, result)
    render(
        result,
        screen.console(),
        written,
        language=language,
        quiet=manner.quiet or manner.short,
        whole=manner.verbose,
        exit_code=int(code),
    )
    screen.flush()


def _with_gate(config: Config, gate: Severity | None) -> Config:
    if gate is None or config.gates.fail_on is not None:
        return config
    record = {**config.record, "gates": {**config.record["gates"], "fail_on": gate.value}}
    gates = msgspec.structs.replace(config.gates, fail_on=gate)
    return msgspec.structs.replace(config, gates=gates, record=record)


def check_scope(config: Config) -> None:
    """There must be something to look at.

    Raises:
        UsageError: there is not.
    """
    if not config.members() and not config.fleet:
        raise UsageError(
            "nothing to audit: no PATH is given, and no configuration names clusters or paths",
            suggestion="fleetaudit run FOLDER, or fleetaudit init for a configuration",
        )
    if sys.stdin is None and any(STDOUT in member.paths for member in config.members()):
        raise UsageError("standard input is closed, and - is to be read from there")


def _unused_configuration(config: Config) -> Iterator[str]:
    """A configuration inside what is audited is not obeyed; say so, in case it was meant."""
    for member in config.members():
        for text in member.paths:
            candidate = Path(text) / FILE_NAME
            if text != STDOUT and not config.file and candidate.is_file():
                yield f"{candidate} is part of what is audited and is not used; to use it: --config {candidate}"
