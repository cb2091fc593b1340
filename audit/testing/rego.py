"""OPA's test rules, run by OPA itself. All Rego below the paths is one program, as for ``opa test PATH...``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from audit.errors import ContentError, EngineError
from audit.native.evaluator import EvalLimits, Problem
from audit.native.suite import RegoTest, RegoVerdict, SuiteReport, SuiteRunner
from audit.testing.cases import Case, CaseOutcome, LineCoverage, SuiteKind, broken
from audit.testing.discover import RegoProgram, SuiteFile
from audit.testing.options import RunOptions
from audit.testing.rego_data import ProgramData, read_program_data

NOT_COMPILED = "not_compiled"
_COMPILE = "(compile)"
_PROGRAM = "(rego)"
"""Stands for the file where none is at fault."""
_MAY_HOLD_TESTS = re.compile(r"(?<![A-Za-z0-9])test_")
_MAX_BYTES = 8 << 20
_CLASHES_WITH_DATA = "conflicting rule for data path"
_HINTS = {
    "rego_parse_error": "mend the syntax; `opa fmt` stops at the same place",
    "rego_unsafe_var_error": "give the variable a value in the same body, or import what it stands for",
    "rego_recursion_error": "rules cannot depend on themselves",
    "rego_type_error": "check the name and the arguments; what defines it must lie below the same PATH",
    "rego_compile_error": "mend the rule; `opa check` stops at the same place",
}


class RegoRun:
    """The tests of the program.

    Args:
        program: its files.
        options: how they are run.
    """

    def __init__(self, program: RegoProgram, options: RunOptions) -> None:
        self._program = program
        self._options = options
        self.notes: list[str] = []
        self.coverage: tuple[LineCoverage, ...] = ()
        """Of files that are no tests, once all cases were taken."""

    def cases(self) -> Iterator[Case]:
        """Run everything, in the order of files and lines."""
        modules, unread = _read(self._program.files)
        yield from unread
        if not any(_MAY_HOLD_TESTS.search(text) for text in modules.values()):
            return
        limits = EvalLimits(object_seconds=self._options.seconds)
        with SuiteRunner(jobs=self._options.jobs, limits=limits, coverage=self._options.coverage) as runner:
            try:
                report = self._load(runner, modules)
            except (ContentError, EngineError) as error:
                yield broken(SuiteKind.REGO, error.file or _PROGRAM, _COMPILE, error, reason=NOT_COMPILED)
                return
            yield from _problems(report.problems)
            yield from self._run(runner, report.tests)
            self.coverage = _coverage(runner, {test.file for test in report.tests})

    def listed(self) -> Iterator[Case]:
        """The tests, not run."""
        modules, unread = _read(self._program.files)
        yield from unread
        with SuiteRunner(jobs=1) as runner:
            report = runner.load(modules)
            yield from _problems(report.problems)
            for test in report.tests:
                case = _case(test)
                if self._options.wants(case.id):
                    yield case

    def _load(self, runner: SuiteRunner, modules: Mapping[str, str]) -> SuiteReport:
        data = read_program_data(self._program.data)
        report = runner.load(modules, data.encoded)
        if data.narrow is None and any(_CLASHES_WITH_DATA in problem.message for problem in report.problems):
            # Manifests beside the policies are no data of theirs.
            data = read_program_data(self._program.data, narrow="rules have the names of some of it")
            report = runner.load(modules, data.encoded)
        self._note(data)
        return report

    def _note(self, data: ProgramData) -> None:
        if data.narrow is not None:
            self.notes.append(
                f"only files called data.json and data.yaml are data of the Rego tests: {data.narrow}"
            )

    def _run(self, runner: SuiteRunner, tests: Sequence[RegoTest]) -> Iterator[Case]:
        wanted = [test for test in tests if self._options.wants(_case(test).id)]
        verdicts = runner.run(test for test in wanted if _is_run(test))
        for test in wanted:
            if _is_run(test):
                yield from self._told(test, next(verdicts))
            else:
                yield _unrun(test)

    def _told(self, test: RegoTest, verdict: RegoVerdict) -> Iterator[Case]:
        case = msgspec.structs.replace(_case(test), seconds=verdict.ns / 1e9, output=_printed(verdict))
        strict = self._options.strict_builtins and verdict.builtin_errors
        if verdict.code:
            yield _ended(case, CaseOutcome.ERROR, verdict.code, verdict.message, _hint_for(verdict.code))
        elif strict:
            yield _ended(case, CaseOutcome.ERROR, "builtin_error", "; ".join(verdict.builtin_errors or ()))
        elif verdict.cases is not None:
            yield from _table(case, test, verdict)
        else:
            yield _judged(case, test, verdict)


def _is_run(test: RegoTest) -> bool:
    return not (test.todo or test.lost)


def _read(files: Sequence[SuiteFile]) -> tuple[dict[str, str], list[Case]]:
    modules: dict[str, str] = {}
    unread: list[Case] = []
    for file in files:
        try:
            size = file.path.stat().st_size
            text = file.path.read_text(encoding="utf-8-sig") if size <= _MAX_BYTES else None
        except (OSError, UnicodeDecodeError) as error:
            unread.append(_unread(file, f"cannot be read: {error}"))
            continue
        if text is None:
            unread.append(_unread(file, f"is larger than {_MAX_BYTES >> 20} MiB"))
        else:
            modules[file.label] = text
    return modules, unread


def _unread(file: SuiteFile, message: str) -> Case:
    error = ContentError(message, file=file.label)
    return broken(SuiteKind.REGO, file.label, _COMPILE, error, reason="unreadable")


def _problems(problems: Sequence[Problem]) -> Iterator[Case]:
    """One case for each broken file."""
    by_file: dict[str, list[Problem]] = {}
    for problem in problems:
        by_file.setdefault(problem.file or _PROGRAM, []).append(problem)
    for file, found in by_file.items():
        first = found[0]
        more = f" (and {len(found) - 1} more in this file)" if len(found) > 1 else ""
        error = ContentError(
            first.message + more, file=file, line=first.line or None, suggestion=_HINTS.get(first.code)
        )
        yield broken(SuiteKind.REGO, file, _COMPILE, error, reason=NOT_COMPILED)


def _case(test: RegoTest) -> Case:
    return Case(
        kind=SuiteKind.REGO,
        suite=test.file,
        name=f"{test.package}.{test.name}",
        outcome=CaseOutcome.PASS,
        file=test.file,
        line=test.line or None,
    )


def _unrun(test: RegoTest) -> Case:
    case = _case(test)
    if test.lost:
        message = f"needs {test.lost}, which does not compile"
        return _ended(case, CaseOutcome.NOT_EVALUATED, NOT_COMPILED, message)
    return _ended(case, CaseOutcome.SKIPPED, "todo", "put off: its name begins with todo_")


def _judged(case: Case, test: RegoTest, verdict: RegoVerdict) -> Case:
    if verdict.value == "true":
        return _passed(case, test)
    said = {
        "undefined": "undefined: one of its conditions does not hold",
        "false": "it is false",
    }.get(verdict.value, "its value is neither true nor false")
    reason = verdict.value if verdict.value in ("undefined", "false") else "not_boolean"
    return _ended(case, CaseOutcome.FAIL, reason, said + _besides(test, verdict))


def _passed(case: Case, test: RegoTest) -> Case:
    """A pass, unless the test asks for what does not exist: then it would hold whatever the policy says."""
    if not test.unknown:
        return case
    message = f"{', '.join(test.unknown)} is defined nowhere, so the test holds whatever the policy says"
    hint = "check the name; data that is given at run time is replaced by `with`"
    return _ended(case, CaseOutcome.NOT_EVALUATED, "unknown_reference", message, hint)


def _table(case: Case, test: RegoTest, verdict: RegoVerdict) -> Iterator[Case]:
    """The rows of a test that is a table; OPA takes a table without rows for a pass."""
    rows = verdict.cases or ()
    if not rows:
        message = "the table has no rows, so nothing was looked at"
        yield _ended(
            case, CaseOutcome.NOT_EVALUATED, "no_rows", message, "check what the rows are taken from"
        )
    for row in rows:
        name = case.name + "".join(f"[{msgspec.json.encode(step).decode()}]" for step in row.path)
        one = msgspec.structs.replace(case, name=name, seconds=(case.seconds or 0.0) / len(rows))
        if row.fail:
            said = "the row is false, or one of its conditions does not hold" + _besides(test, verdict)
            yield _ended(one, CaseOutcome.FAIL, "undefined", said)
        else:
            yield _passed(one, test)


def _besides(test: RegoTest, verdict: RegoVerdict) -> str:
    """What else may be why a test does not hold."""
    unknown = f"; {', '.join(test.unknown)} is defined nowhere" if test.unknown else ""
    failed = verdict.builtin_errors or ()
    return unknown + (f"; a builtin failed on the way: {failed[0]}" if failed else "")


def _printed(verdict: RegoVerdict) -> str:
    return verdict.printed + ("\n(cut)" if verdict.printed_cut else "")


def _hint_for(code: str) -> str:
    return "--timeout gives it longer" if code == "timeout" else ""


def _ended(case: Case, outcome: CaseOutcome, reason: str, message: str, hint: str = "") -> Case:
    return msgspec.structs.replace(case, outcome=outcome, reason=reason, message=message, hint=hint)


def _coverage(runner: SuiteRunner, tests: set[str]) -> tuple[LineCoverage, ...]:
    return tuple(
        LineCoverage(
            file=file,
            covered=tuple(sorted(runner.reached.get(file, ()))),
            missed=tuple(sorted(lines - runner.reached.get(file, set()))),
        )
        for file, lines in sorted(runner.countable.items())
        if file not in tests and not file.endswith("_test.rego")
    )
