"""Runs all suites that were found, kind after kind, and gathers what came of them."""

from __future__ import annotations

import concurrent.futures
import contextlib
import queue
import time
from collections.abc import Callable, Generator, Iterator

import msgspec

from audit.native.binary import OPA_VERSION
from audit.native.evaluator import EvalLimits, Evaluator
from audit.ports import ProgressSink
from audit.testing.cases import Case, LineCoverage, SuiteKind, TestReport
from audit.testing.discover import Found, SuiteFile
from audit.testing.gatekeeper.policy import PURE_BUILTINS
from audit.testing.gatekeeper.run import SuiteRun
from audit.testing.kyverno.run import KyvernoRun
from audit.testing.options import RunOptions
from audit.testing.rego import RegoRun

Cases = Generator[Case, None, None]


class _Left(msgspec.Struct):
    """What runs leave behind besides their cases."""

    coverage: list[LineCoverage] = []
    notes: list[str] = []
    engines: dict[str, str] = {}


def run_suites(
    found: Found, options: RunOptions, progress: ProgressSink, *, fail_fast: bool = False
) -> TestReport:
    """Run everything.

    Args:
        found: the suites.
        options: how they are run.
        progress: told of every suite.
        fail_fast: stop at the first case that is neither passed nor skipped.
    """
    started = time.monotonic()
    left = _Left()
    cases: list[Case] = []
    stopped = False
    for kind, number, start in _streams(found, options, left):
        progress.stage(f"{kind.value} suites", number)
        begun: set[str] = set()
        # Closing the stream ends its processes, also when nobody takes the rest.
        with contextlib.closing(start()) as stream:
            for case in stream:
                cases.append(case)
                if case.suite not in begun:
                    begun.add(case.suite)
                    progress.advance()
                stopped = fail_fast and not case.good
                if stopped:
                    break
        if stopped:
            break
    return TestReport(
        cases=tuple(cases),
        coverage=tuple(left.coverage),
        notes=tuple(left.notes),
        engines=left.engines,
        seconds=time.monotonic() - started,
        stopped=stopped,
    )


def list_suites(found: Found, options: RunOptions) -> Iterator[Case]:
    """All cases that would be run. What is broken comes as an error."""
    if found.rego is not None:
        yield from RegoRun(found.rego, options).listed()
    if found.gatekeeper:
        with Evaluator(jobs=1) as evaluator:
            for file in found.gatekeeper:
                yield from SuiteRun(file, evaluator, options).listed()
    yield from KyvernoRun(found.kyverno, options).listed()


def _streams(
    found: Found, options: RunOptions, left: _Left
) -> Iterator[tuple[SuiteKind, int | None, Callable[[], Cases]]]:
    """Kind, number of suites where it is known beforehand, and what starts the cases."""
    if found.rego is not None:
        run = RegoRun(found.rego, options)
        yield SuiteKind.REGO, None, lambda: _rego(run, left)
    if found.gatekeeper:
        yield SuiteKind.GATEKEEPER, len(found.gatekeeper), lambda: _gatekeeper(found, options, left)
    if found.kyverno:
        yield SuiteKind.KYVERNO, len(found.kyverno), lambda: _kyverno(found, options, left)


def _rego(run: RegoRun, left: _Left) -> Cases:
    for case in run.cases():
        left.engines["opa"] = OPA_VERSION
        yield case
    left.coverage += run.coverage
    left.notes += run.notes


def _gatekeeper(found: Found, options: RunOptions, left: _Left) -> Cases:
    """Each suite in one of as many engines as there are cores."""
    left.engines["opa"] = OPA_VERSION
    limits = EvalLimits(object_seconds=options.seconds)
    jobs = min(options.jobs, len(found.gatekeeper))
    idle: queue.SimpleQueue[Evaluator] = queue.SimpleQueue()

    def suite(file: SuiteFile) -> list[Case]:
        evaluator = idle.get()
        try:
            return list(SuiteRun(file, evaluator, options).cases())
        finally:
            idle.put(evaluator)

    with contextlib.ExitStack() as stack:
        for _ in range(jobs):
            idle.put(stack.enter_context(Evaluator(jobs=1, limits=limits, allow_builtins=PURE_BUILTINS)))
        pool = concurrent.futures.ThreadPoolExecutor(jobs, thread_name_prefix="gatekeeper-test")
        stack.callback(pool.shutdown, wait=True, cancel_futures=True)
        for future in [pool.submit(suite, file) for file in found.gatekeeper]:
            yield from future.result()


def _kyverno(found: Found, options: RunOptions, left: _Left) -> Cases:
    run = KyvernoRun(found.kyverno, options)
    for case in run.cases():
        if run.cli is not None:
            left.engines["kyverno"] = run.cli.version
        yield case
