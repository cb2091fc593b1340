"""Runs the cases of one suite file."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from audit.errors import AuditError, ContentError, EngineError
from audit.library.foreign.gatekeeper.constraint import Constraint
from audit.model.finding import Outcome, PairAnswer
from audit.native.evaluator import Evaluator
from audit.testing.cases import Case, CaseOutcome, SuiteKind, broken
from audit.testing.discover import SuiteFile
from audit.testing.gatekeeper.objects import inventory_of, read_objects, read_subject
from audit.testing.gatekeeper.policy import (
    InvalidConstraintError,
    NotEvaluableError,
    asked_by_gator,
    load_policy,
    read_source,
)
from audit.testing.gatekeeper.suite import (
    Assertion,
    SuiteCase,
    SuiteTest,
    cases_of,
    read_case,
    read_suites,
    read_test,
    tests_of,
)
from audit.testing.options import RunOptions
from audit.testing.yaml_nodes import Part

_UNMATCHED = "applies is undefined"
_SHOWN_MESSAGES = 3


class SuiteRun:
    """The cases of one file.

    Args:
        file: the file.
        evaluator: a started native engine; its program is replaced for each test.
        options: how cases are run.
    """

    def __init__(self, file: SuiteFile, evaluator: Evaluator, options: RunOptions) -> None:
        self._file = file
        self._evaluator = evaluator
        self._options = options

    def cases(self) -> Iterator[Case]:
        """Run everything, in the order of the file."""
        for name, test in self._tests():
            if isinstance(test, AuditError):
                yield broken(SuiteKind.GATEKEEPER, self._file.label, name, test, reason="bad_suite")
            else:
                yield from self._test(name, *test)

    def listed(self) -> Iterator[Case]:
        """The cases, not run."""
        for name, test in self._tests():
            if isinstance(test, AuditError):
                yield broken(SuiteKind.GATEKEEPER, self._file.label, name, test, reason="bad_suite")
            else:
                yield from self._wanted(name, test[0])

    def _tests(self) -> Iterator[tuple[str, tuple[Part, bool] | AuditError]]:
        """Tests with whether their suite is put off; what is broken comes as an error."""
        try:
            suites = read_suites(self._file.path, self._file.label)
        except ContentError as error:
            yield "(suite)", error
            return
        for suite in suites:
            try:
                put_off = suite.flag("skip")
                for name, part in tests_of(suite):
                    yield name, (part, put_off)
            except ContentError as error:
                yield "(suite)", error

    def _case(self, name: str, part: Part) -> Case:
        return Case(
            kind=SuiteKind.GATEKEEPER,
            suite=self._file.label,
            name=name,
            outcome=CaseOutcome.PASS,
            file=self._file.label,
            line=part.line,
        )

    def _wanted(self, name: str, part: Part) -> list[Case]:
        """The cases of a test that are asked for; a test without cases is its own one."""
        found = [self._case(f"{name}/{case}", place) for case, place in cases_of(part)]
        return [case for case in found or [self._case(name, part)] if self._options.wants(case.id)]

    def _test(self, name: str, part: Part, put_off: bool) -> Iterator[Case]:  # noqa: FBT001  # read from the suite
        try:
            wanted = self._wanted(name, part)
            if not wanted:
                return
            if put_off or part.flag("skip"):
                for case in wanted:
                    yield _ended(case, CaseOutcome.SKIPPED, "skip", "put off: skip is true")
                return
            test = read_test(part)
        except ContentError as error:
            yield broken(SuiteKind.GATEKEEPER, self._file.label, name, error, reason="bad_suite")
            return
        yield from self._ready(self._case(name, part), test, part, wanted)

    def _ready(self, whole: Case, test: SuiteTest, part: Part, wanted: Sequence[Case]) -> Iterator[Case]:
        """Load the policy, then run the cases that are asked for."""
        if test.expansion:
            message = "the test expands objects, which is not done here"
            for case in wanted:
                yield _ended(case, CaseOutcome.NOT_EVALUATED, "expansion", message, "run it with gator")
            return
        started = time.monotonic()
        try:
            constraint = self._load(test, part)
        except NotEvaluableError as error:
            for case in wanted:
                yield _ended(
                    case, CaseOutcome.NOT_EVALUATED, "cel_template", error.message, error.suggestion or ""
                )
            return
        except InvalidConstraintError as error:
            if test.invalid:
                yield msgspec.structs.replace(whole, seconds=time.monotonic() - started)
                return
            yield from _unloaded(whole, wanted, error)
            return
        except (ContentError, EngineError) as error:
            yield from _unloaded(whole, wanted, error)
            return
        if test.invalid:
            message = "the constraint should be refused, and it is not"
            yield _ended(whole, CaseOutcome.FAIL, "constraint_valid", message)
            return
        if not asked_by_gator(constraint):
            message = (
                "the constraint's scoped actions leave out gator.gatekeeper.sh, so gator does not ask it"
            )
            for case in wanted:
                yield _ended(case, CaseOutcome.NOT_EVALUATED, "not_enforced", message)
            return
        yield from self._run(whole, part, wanted)

    def _load(self, test: SuiteTest, part: Part) -> Constraint:
        files = []
        for key, name in (("template", test.template), ("constraint", test.constraint)):
            path, label = self._beside(name)
            if not path.is_file():
                raise part.get(key).error(f"there is no file {label}", key=key)
            files.append(read_source(path, label))
        return load_policy(self._evaluator, *files)

    def _beside(self, name: str) -> tuple[Path, str]:
        """A file that the suite names."""
        folder = self._file.path.parent
        label = (Path(self._file.label).parent / name).as_posix()
        return folder / name, label

    def _run(self, whole: Case, part: Part, wanted: Sequence[Case]) -> Iterator[Case]:
        asked = {case.name: case for case in wanted}
        places = list(cases_of(part))
        if not places:
            message = "the test has no cases, so nothing is looked at"
            yield _ended(whole, CaseOutcome.NOT_EVALUATED, "no_cases", message, "add cases, or invalid: true")
        for name, place in places:
            case = asked.get(f"{whole.name}/{name}")
            if case is None:
                continue
            started = time.monotonic()
            try:
                if place.flag("skip"):
                    yield _ended(case, CaseOutcome.SKIPPED, "skip", "put off: skip is true")
                    continue
                done = self._judge(case, read_case(place), place)
            except (ContentError, EngineError) as error:
                done = broken(SuiteKind.GATEKEEPER, case.suite, case.name, error, reason="bad_case")
            yield msgspec.structs.replace(done, seconds=time.monotonic() - started)

    def _judge(self, case: Case, asked: SuiteCase, place: Part) -> Case:
        for key, names in (("object", (asked.object,)), ("inventory", asked.inventory)):
            for name in names:
                if not self._beside(name)[0].is_file():
                    raise place.get(key).error(f"there is no file {self._beside(name)[1]}", key=key)
        subject = read_subject(*self._beside(asked.object))
        inventory = [value for name in asked.inventory for value in read_objects(*self._beside(name))]
        self._evaluator.set_inventory(inventory_of(inventory))
        answer = next(iter(self._evaluator.evaluate([("case", subject)])))[0]
        refused = _refused(case, answer)
        if refused is not None:
            return refused
        messages = [violation.message for violation in answer.violations]
        matched = answer.outcome is not Outcome.SKIP
        for assertion in asked.assertions:
            failed = self._failed(case, assertion, messages, matched=matched)
            if failed is not None:
                return failed
        if not matched:
            message = "the constraint does not match the object, so its template was not asked"
            hint = "if that is what the case is about, assert it where the constraint matches too"
            return _ended(case, CaseOutcome.NOT_EVALUATED, "not_matched", message, hint)
        return case

    def _failed(
        self, case: Case, assertion: Assertion, messages: Sequence[str], *, matched: bool
    ) -> Case | None:
        counted = messages if assertion.message is None else self._matching(assertion, messages)
        if len(counted) >= assertion.least and (assertion.most is None or len(counted) <= assertion.most):
            return None
        of = "" if assertion.message is None else f" whose message matches {assertion.message!r}"
        said = "; ".join(messages[:_SHOWN_MESSAGES]) or "none"
        text = f"{len(counted)} violations{of}, wanted {assertion.wanted}; said: {said}"
        if not matched:
            text += "; the constraint does not match the object"
        failed = _ended(case, CaseOutcome.FAIL, "violations" if matched else "not_matched", text)
        return msgspec.structs.replace(failed, line=assertion.line)

    def _matching(self, assertion: Assertion, messages: Sequence[str]) -> list[str]:
        """Messages in which the expression is found, by OPA's own regular expressions, which are Go's."""
        result = self._evaluator.query(
            {
                "query": "found = [m | some m in input.messages; regex.match(input.pattern, m)]",
                # One message more, so that a wrong expression is noticed where there are none.
                "input": {"pattern": assertion.message, "messages": ["", *messages]},
                "strict": True,
            }
        )
        if result.results is None or not result.results:
            raise ContentError(
                f"{assertion.message!r} is no regular expression: {result.message}",
                file=self._file.label,
                line=assertion.line,
                key="message",
            )
        found = list(result.results[0]["found"])
        return found[1:] if found[:1] == [""] else found


def _refused(case: Case, answer: PairAnswer) -> Case | None:
    """The case when the template gave no answer."""
    if answer.outcome is not Outcome.ERROR:
        return None
    if answer.reason == "undefined" and answer.message == _UNMATCHED:
        message = "the constraint selects namespaces by their labels, and the object's Namespace is not there"
        hint = "add the Namespace to the case's inventory"
        return _ended(case, CaseOutcome.NOT_EVALUATED, "namespace_unknown", message, hint)
    if answer.reason == "bad_answer":
        message = "violation lists something without a text msg, which Gatekeeper passes over"
        return _ended(case, CaseOutcome.ERROR, "bad_answer", message)
    hint = "--timeout gives it longer" if answer.reason == "timeout" else ""
    return _ended(case, CaseOutcome.ERROR, answer.reason, answer.message, hint)


def _unloaded(whole: Case, wanted: Sequence[Case], error: AuditError) -> Iterator[Case]:
    """The error once, and the cases that could not be run for it."""
    yield broken(SuiteKind.GATEKEEPER, whole.suite, f"({whole.name})", error, reason="policy_not_loaded")
    for case in wanted:
        if case.name != whole.name:
            message = f"the policy of {whole.name} could not be loaded"
            yield _ended(case, CaseOutcome.NOT_EVALUATED, "policy_not_loaded", message)


def _ended(case: Case, outcome: CaseOutcome, reason: str, message: str, hint: str = "") -> Case:
    return msgspec.structs.replace(case, outcome=outcome, reason=reason, message=message, hint=hint)
