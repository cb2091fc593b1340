"""Runs one audit for ``run`` and ``check``: set up, run, write, summarise, decide the exit code."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from audit.cli.delivery import STDOUT, check_writable, print_to_stdout, write_reports
from audit.cli.exits import ExitCode, code_for_outcome, winner
from audit.cli.failures import print_error, warn
from audit.cli.findings_list import print_open_groups
from audit.cli.logs import logging_to
from audit.cli.notes import print_notes
from audit.cli.progress import BarProgress, SilentProgress
from audit.cli.screen import Screen, stderr_screen, stdout_screen
from audit.cli.settings import configuration, environment
from audit.cli.signals import StopOnSignal
from audit.config.load import FILE_NAME
from audit.config.overrides import Overrides
from audit.config.schema import Config
from audit.errors import ReportError, UsageError
from audit.model.result import AssessmentResult
from audit.model.rule import Severity

if TYPE_CHECKING:
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
        _check_scope(config)
        to_stdout = config.output.folder == STDOUT
        if to_stdout and len(config.output.formats) != 1:
            raise UsageError(
                f"-o - prints one format, and {len(config.output.formats)} are asked for",
                suggestion="add --format json, or another one",
            )
        for message in (*surroundings.warnings, *_unused_configuration(config)):
            warn(error_screen, message)
        with _output_folder(config, keep=manner.reports and not to_stdout) as placed:
            return _run(placed, manner, surroundings, to_stdout=to_stdout)


def _run(config: Config, manner: Manner, surroundings: Environment, *, to_stdout: bool) -> int:
    from audit import wiring

    color = not surroundings.no_color
    error_screen = stderr_screen(color=color)
    # With the report on standard output, everything meant for people goes to standard error.
    screen = error_screen if to_stdout else stdout_screen(color=color)
    draws = manner.progress and not manner.quiet and error_screen.is_terminal
    with ExitStack() as stack:
        stop = stack.enter_context(StopOnSignal())
        with BarProgress(color=color) if draws else SilentProgress() as progress:
            audit = stack.enter_context(wiring.build(config, progress=progress))
            result = audit.run(stop)
        failed = any(gate.met is False for gate in result.gates)
        codes = [code_for_outcome(complete=result.complete, gates_met=not failed)]
        written: list[Path] = []
        try:
            written = _deliver(result, config, keep=manner.reports, to_stdout=to_stdout)
        except ReportError as error:
            # The verdict is still told: what was found does not depend on a full disk.
            print_error(error_screen, error)
            codes.append(ExitCode.USAGE)
        if stop.code is not None:
            codes.append(stop.code)
        code = winner(*codes)
        if not manner.quiet:
            print_notes(error_screen, result, verbose=manner.verbose)
        _tell(screen, result, written, manner, code)
    return int(code)


def _deliver(result: AssessmentResult, config: Config, *, keep: bool, to_stdout: bool) -> list[Path]:
    if to_stdout:
        print_to_stdout(result, config)
        return []
    if not keep:
        return []
    written = write_reports(result, config)
    population = Path(config.output.folder) / result.record.population_file
    return [*written, population] if result.record.population_file else written


def _tell(
    screen: Screen, result: AssessmentResult, written: list[Path], manner: Manner, code: ExitCode
) -> None:
    from audit.report.console import render

    if manner.short and not manner.quiet:
        print_open_groups(screen, result)
    render(
        result,
        screen.console(),
        written,
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


def _check_scope(config: Config) -> None:
    if not config.members():
        raise UsageError(
            "nothing to audit: no PATH is given, and no configuration names clusters or paths",
            suggestion="fleetaudit run FOLDER, or fleetaudit init for a configuration",
        )


def _unused_configuration(config: Config) -> Iterator[str]:
    """A configuration inside what is audited is not obeyed; say so, in case it was meant."""
    for member in config.members():
        for text in member.paths:
            candidate = Path(text) / FILE_NAME
            if text != STDOUT and not config.file and candidate.is_file():
                yield f"{candidate} is part of what is audited and is not used; to use it: --config {candidate}"


@contextmanager
def _output_folder(config: Config, *, keep: bool) -> Iterator[Config]:
    """The configuration with a folder that can be written, found out before the audit and not after it."""
    if keep:
        check_writable(Path(config.output.folder))
        yield config
        return
    with tempfile.TemporaryDirectory(prefix="fleetaudit-") as folder:
        output = msgspec.structs.replace(config.output, folder=folder)
        yield msgspec.structs.replace(config, output=output)
