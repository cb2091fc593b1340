"""Runs Kyverno's suites."""

from __future__ import annotations

import concurrent.futures
import itertools
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from audit.errors import ContentError, EngineError
from audit.evaluate.kyverno.binary import KyvernoCli, find_kyverno
from audit.evaluate.kyverno.process import ToolRunner
from audit.testing.cases import Case, CaseOutcome, SuiteKind, broken
from audit.testing.discover import SuiteFile
from audit.testing.kyverno.batch import BatchRunner, SuiteSaid
from audit.testing.kyverno.contents import read_contents
from audit.testing.kyverno.suite import (
    EVERY_RESOURCE,
    NothingExpectedError,
    SuiteTest,
    expected_of,
    read_suite,
)
from audit.testing.kyverno.verdict import judge
from audit.testing.options import RunOptions

NO_CLI = "no_cli"
_BATCH = 24
_NEEDS_TEST_JSON = "the Kyverno CLI {} prints no test results that can be read; at least 1.15 is needed"
_HINTS = {
    "unknown field": "check the spelling; a newer CLI may know the field",
    "127.0.0.1:9": "the suite asks for the network, and tests are run without one",
    "timed out": "--timeout gives each of its rows longer",
    "deprecated schema": "add apiVersion: cli.kyverno.io/v1alpha1 and kind: Test",
}


class KyvernoRun:
    """The cases of all suites.

    Args:
        files: the suites.
        options: how they are run.
    """

    def __init__(self, files: Sequence[SuiteFile], options: RunOptions) -> None:
        self._options = options
        self._files = [file for file in files if self._asked_for(file)]
        self._tests: dict[Path, list[SuiteTest]] = {}
        self._wrong: dict[Path, ContentError] = {}
        self._runner = ToolRunner()
        self.cli: KyvernoCli | None = None
        """What answered."""

    def cases(self) -> Iterator[Case]:
        """Run everything, in the order of the files; what is not asked for is left out afterwards."""
        try:
            cli = find_kyverno()
            if not cli.capabilities.test_results:
                raise EngineError(_NEEDS_TEST_JSON.format(cli.version))  # noqa: TRY301  # one way for all of them
        except EngineError as error:
            for file in self._files:
                yield from self._unrun(file, error, NO_CLI)
            return
        self.cli = cli
        for file in self._files:
            self._read(file)
        with tempfile.TemporaryDirectory(prefix="fleetaudit-test-") as folder:
            yield from self._run(cli, Path(folder))

    def listed(self) -> Iterator[Case]:
        """What the suites expect, not run."""
        for file in self._files:
            self._read(file)
            wrong = self._wrong.get(file.path)
            if wrong is not None:
                yield broken(SuiteKind.KYVERNO, file.label, "(suite)", wrong, reason="bad_suite")
            yield from self._expected(file)

    def _read(self, file: SuiteFile) -> None:
        try:
            self._tests[file.path] = read_suite(file)
        except ContentError as error:
            self._wrong[file.path] = error

    def _run(self, cli: KyvernoCli, folder: Path) -> Iterator[Case]:
        seconds = {
            path: self._options.seconds * sum(len(e.resources) or 1 for test in tests for e in test.expected)
            for path, tests in self._tests.items()
        }
        runner = BatchRunner(cli, self._runner, folder, seconds)
        documents = {path: len(tests) for path, tests in self._tests.items()}
        pool = concurrent.futures.ThreadPoolExecutor(self._options.jobs, thread_name_prefix="kyverno-test")
        try:
            batches = [
                (
                    batch,
                    pool.submit(runner.run, [file for file in batch if file.path in documents], documents),
                )
                for batch in self._batches()
            ]
            for batch, future in batches:
                said = future.result()
                for file in batch:
                    yield from self._told(file, said)
        finally:
            # Also when nobody asks for more.
            self._runner.stop()
            pool.shutdown(wait=True, cancel_futures=True)

    def _batches(self) -> Iterator[list[SuiteFile]]:
        """Suites of one file name together, in their order, small enough to keep all cores busy."""
        size = max(1, min(_BATCH, -(-len(self._files) // self._options.jobs)))
        for _, same in itertools.groupby(self._files, key=lambda file: file.path.name):
            rest = list(same)
            while rest:
                yield rest[:size]
                rest = rest[size:]

    def _told(self, file: SuiteFile, said: Mapping[Path, SuiteSaid]) -> Iterator[Case]:
        wrong = self._wrong.get(file.path)
        if wrong is not None:
            yield from self._unrun(file, wrong, "bad_suite")
            return
        answer = said[file.path]
        if answer.failure:
            error = EngineError(answer.failure, file=file.label, suggestion=_hint(answer.failure))
            yield from self._unrun(file, error, "not_run")
            return
        tests = self._tests[file.path]
        for test, section in zip(tests, answer.sections, strict=True):
            contents = read_contents(test)
            yield from judge(file, test.expected, section, contents, self._options.wants)

    def _unrun(self, file: SuiteFile, error: ContentError | EngineError, reason: str) -> Iterator[Case]:
        """The error once, and everything that was expected of the suite."""
        whole = broken(SuiteKind.KYVERNO, file.label, "(suite)", error, reason=reason)
        if isinstance(error, NothingExpectedError):
            whole = msgspec.structs.replace(whole, outcome=CaseOutcome.NOT_EVALUATED, reason="no_results")
        yield whole
        for case in self._expected(file):
            yield msgspec.structs.replace(
                case, outcome=CaseOutcome.NOT_EVALUATED, reason=reason, message="its suite could not be run"
            )

    def _expected(self, file: SuiteFile) -> Iterator[Case]:
        """What a suite expects and is asked for, without verdicts."""
        for entry in expected_of(file):
            for resource in entry.resources or (EVERY_RESOURCE,):
                case = Case(
                    kind=SuiteKind.KYVERNO,
                    suite=file.label,
                    name=entry.name(resource),
                    outcome=CaseOutcome.PASS,
                    file=file.label,
                    line=entry.line,
                )
                if self._options.wants(case.id):
                    yield case

    def _asked_for(self, file: SuiteFile) -> bool:
        """Whether a suite may hold a case that is asked for. Who expects something of every resource names none."""
        entries = expected_of(file)
        return (
            not entries
            or any(not entry.resources for entry in entries)
            or next(self._expected(file), None) is not None
        )


def _hint(failure: str) -> str:
    found = (hint for sign, hint in _HINTS.items() if sign in failure)
    return next(found, "`kyverno test FOLDER` shows what the CLI itself says of it")
