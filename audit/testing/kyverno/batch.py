"""Runs suites through the CLI, many in one process. One that it cannot run ends it, and costs only itself."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from audit.evaluate.kyverno.binary import KyvernoCli
from audit.evaluate.kyverno.log_lines import clean, failure_reason
from audit.evaluate.kyverno.process import STOPPED, Limits, ToolRunner
from audit.testing.discover import SuiteFile
from audit.testing.kyverno.output import Output, Section, read_output

_START_SECONDS = 60.0
_MEMORY_BYTES = 2 << 30
_OUTPUT_BYTES = 256 << 20


class SuiteSaid(msgspec.Struct, frozen=True, kw_only=True):
    """What the CLI made of one suite."""

    sections: tuple[Section, ...] = ()
    """One for each document that expects something; none when it failed."""
    failure: str = ""
    """Why it could not be run."""


class _Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One process."""

    output: Output
    problem: str
    """A code of `audit.evaluate.kyverno.process`: it did not end by itself."""
    culprits: dict[str, str]
    """Paths of the suites that ended it, each with the reason; empty when nobody can tell."""
    reason: str


class BatchRunner:
    """Runs batches of suites.

    Args:
        cli: the executable.
        runner: starts it.
        folder: for its files.
        seconds: path of a suite to the time it may take; the start of the process comes on top.
    """

    def __init__(
        self, cli: KyvernoCli, runner: ToolRunner, folder: Path, seconds: Mapping[Path, float]
    ) -> None:
        self._cli = cli
        self._runner = runner
        self._folder = folder
        self._seconds = seconds

    def run(self, files: Sequence[SuiteFile], documents: Mapping[Path, int]) -> dict[Path, SuiteSaid]:
        """Run suites of one file name.

        Args:
            files: the suites.
            documents: path of each to the number of its documents that expect something.
        """
        found: dict[Path, SuiteSaid] = {}
        queue = [list(files)] if files else []
        while queue:
            batch = queue.pop(0)
            attempt = self._attempt(batch)
            found |= _completed(batch, attempt.output, documents)
            rest = [file for file in batch if file.path not in found]
            if attempt.problem == STOPPED:
                found |= {file.path: SuiteSaid(failure="stopped") for file in rest}
            elif len(batch) == 1:
                found |= {file.path: SuiteSaid(failure=_failure(file, attempt)) for file in rest}
            elif rest:
                guilty = {} if attempt.problem else attempt.culprits
                found |= {
                    file.path: SuiteSaid(failure=guilty[_path(file)])
                    for file in rest
                    if _path(file) in guilty
                }
                others = [file for file in rest if file.path not in found]
                # Without a culprit among them nobody can tell which it was, so each is tried alone.
                queue = [others, *queue] if len(others) < len(rest) else [[file] for file in rest] + queue
                queue = [batch for batch in queue if batch]
        return found

    def _attempt(self, batch: Sequence[SuiteFile]) -> _Attempt:
        command = [self._cli.path, "test", *_folders(batch), "--file-name", batch[0].path.name]
        command += ["--output-format", "json", "--detailed-results", "--remove-color"]
        limits = Limits(
            seconds=_START_SECONDS + sum(self._seconds.get(file.path, 0.0) for file in batch),
            memory_bytes=_MEMORY_BYTES,
            output_bytes=_OUTPUT_BYTES,
        )
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            result = self._runner.run(command, Path(folder), limits)
            output = read_output(result.stdout_text(_OUTPUT_BYTES))
            reason = plain_reason(failure_reason(result))
        return _Attempt(
            output=output, problem=result.problem, culprits=_culprits(output, reason), reason=reason
        )


_SHELL = re.compile(r"^Error: (?:failed to run test )?\(?(?P<said>.*?)\)?$")
_INNER = re.compile(r"^error: ")


def plain_reason(reason: str) -> str:
    """The CLI's sentence without what it wraps around every failure."""
    match = _SHELL.match(reason)
    if match is None or "failed to run test" not in reason:
        return reason.removeprefix("Error: ")
    return _INNER.sub("", match["said"])


def _failure(file: SuiteFile, attempt: _Attempt) -> str:
    own = attempt.culprits.get(_path(file))
    if own is not None or not attempt.culprits:
        return own or attempt.reason
    path, reason = next(iter(attempt.culprits.items()))
    return f"the CLI runs {path} with it, which stops it: {reason}"


def _path(file: SuiteFile) -> str:
    """As the CLI prints it."""
    return os.path.normpath(file.path.absolute())


def _folders(batch: Sequence[SuiteFile]) -> list[str]:
    """Folders to name: the CLI looks into their folders by itself, and would run a suite twice."""
    folders = sorted({str(Path(_path(file)).parent) for file in batch})
    return [one for one in folders if not any(Path(other) in Path(one).parents for other in folders)]


def _completed(
    batch: Sequence[SuiteFile], output: Output, documents: Mapping[Path, int]
) -> dict[Path, SuiteSaid]:
    by_path: dict[str, list[Section]] = {}
    for section in output.sections:
        by_path.setdefault(section.path, []).append(section)
    found: dict[Path, SuiteSaid] = {}
    for file in batch:
        sections = by_path.get(_path(file), [])
        if len(sections) == documents[file.path] and all(section.rows is not None for section in sections):
            found[file.path] = SuiteSaid(sections=tuple(sections))
    return found


def _culprits(output: Output, reason: str) -> dict[str, str]:
    if output.unread:
        return {os.path.normpath(path): clean(said) for path, said in output.unread.items()}
    if output.sections and output.sections[-1].rows is None:
        return {output.sections[-1].path: reason}
    return {}
