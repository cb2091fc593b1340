"""The same cases as a page, as JUnit and as JSON: each says everything, and none can be broken by what a suite is called."""

from __future__ import annotations

import io
import json
from collections import Counter
from xml.etree import ElementTree as ET

import pytest

from audit.cli import test_page
from audit.cli.screen import Screen
from audit.cli.test import exit_code_of
from audit.testing.cases import Case, CaseOutcome, LineCoverage, SuiteKind, TestReport
from audit.testing.json_writer import as_json
from audit.testing.junit import as_junit

NASTY = 'a "b" <c> & \x1b[31m\x00 \ud800 ]]> \u202e$(x)\r\nsecond line' + "x" * 9000
OUTCOMES = tuple(CaseOutcome)


def made(*outcomes: CaseOutcome, kind: SuiteKind = SuiteKind.REGO, suite: str = "a_test.rego") -> TestReport:
    return TestReport(
        cases=tuple(
            Case(
                kind=kind,
                suite=suite,
                name=f"case {number}",
                outcome=outcome,
                reason="" if outcome is CaseOutcome.PASS else f"why {number}",
                message="" if outcome is CaseOutcome.PASS else f"message {number}",
                hint="do this",
                file=suite,
                line=number,
                seconds=0.25,
                output="printed\ntext",
            )
            for number, outcome in enumerate(outcomes, 1)
        ),
        seconds=1.5,
        engines={"opa": "1.0"},
        notes=("a note",),
        coverage=(LineCoverage(file="p.rego", covered=(1, 2), missed=(5, 6, 7, 9)),),
    )


def page(report: TestReport, *, verbose: bool = False, slowest: int = 0) -> str:
    stream = io.StringIO()
    test_page.show(Screen(stream), report, verbose=verbose, slowest=slowest)
    return stream.getvalue()


def tree(report: TestReport) -> ET.Element:
    return ET.fromstring("".join(as_junit(report)))


CODES = {
    (): 3,
    (CaseOutcome.PASS,): 0,
    (CaseOutcome.PASS, CaseOutcome.SKIPPED): 0,
    (CaseOutcome.SKIPPED,): 0,
    (CaseOutcome.PASS, CaseOutcome.FAIL): 1,
    (CaseOutcome.PASS, CaseOutcome.ERROR): 3,
    (CaseOutcome.PASS, CaseOutcome.NOT_EVALUATED): 3,
    (CaseOutcome.FAIL, CaseOutcome.NOT_EVALUATED): 3,
    (CaseOutcome.FAIL, CaseOutcome.ERROR): 3,
}


@pytest.mark.parametrize("outcomes", CODES)
def test_exit_codes(outcomes: tuple[CaseOutcome, ...]) -> None:
    assert exit_code_of(made(*outcomes)) == CODES[outcomes]


def test_junit_says_everything_and_its_counts_are_those_of_its_elements() -> None:
    root = tree(made(*OUTCOMES))
    (suite,) = root
    verdicts = Counter(
        child.tag for case in suite for child in case if child.tag in ("failure", "error", "skipped")
    )
    assert verdicts == {"failure": 1, "error": 2, "skipped": 1}
    for element in (root, suite):
        assert (
            element.get("tests"),
            element.get("failures"),
            element.get("errors"),
            element.get("skipped"),
        ) == (
            "5",
            "1",
            "2",
            "1",
        )
    types = {case.get("name"): child.get("type") for case in suite for child in case if child.get("type")}
    assert types == {"case 2": "why 2", "case 3": "why 3", "case 4": "not_evaluated: why 4"}
    failure = suite[1][0]
    assert failure.text == "a_test.rego:2\nmessage 2\ndo this"
    assert suite[1].get("file") == "a_test.rego"
    assert suite[1].get("line") == "2"
    assert suite[0].findtext("system-out") == "printed\ntext"


def test_junit_of_nothing_is_no_success() -> None:
    root = tree(made())
    assert root.get("errors") == "1"
    assert root.find("testsuite/testcase/error") is not None


def test_json_says_everything() -> None:
    report = as_json(made(*OUTCOMES), 3)
    assert json.loads(json.dumps(report)) == report
    assert report["totals"] == {
        "cases": 5,
        "pass": 1,
        "fail": 1,
        "error": 1,
        "not_evaluated": 1,
        "skipped": 1,
    }
    assert report["kinds"]["rego"] == {"suites": 1, **report["totals"]}
    assert report["kinds"]["kyverno"]["cases"] == 0
    (suite,) = report["suites"]
    assert suite["cases"][1] == {
        "name": "case 2",
        "outcome": "fail",
        "reason": "why 2",
        "message": "message 2",
        "hint": "do this",
        "file": "a_test.rego",
        "line": 2,
        "seconds": 0.25,
        "output": "printed\ntext",
    }
    assert report["coverage"] == [{"file": "p.rego", "covered": [1, 2], "missed": [5, 6, 7, 9]}]


def test_the_page_shows_what_did_not_pass_and_counts_all() -> None:
    text = page(made(*OUTCOMES))
    for word in (
        "FAIL",
        "ERROR",
        "NOT EVALUATED",
        "skipped",
        "a_test.rego:2  case 2",
        "message 2",
        "do this",
    ):
        assert word in text
    assert "case 1" not in text
    assert "case 1" in page(made(*OUTCOMES), verbose=True)
    counts = next(line.split() for line in text.splitlines() if line.startswith("rego "))
    assert counts == ["rego", "1", "5", "1", "1", "1", "1", "1"]
    assert "not passed  3 of 5 cases in 1.5 s, with opa 1.0" in text
    assert "33.3%" in text
    assert "5-7, 9" in text
    assert "\x1b" not in text


def test_the_page_counts_kinds_apart_and_together() -> None:
    one, two = made(*OUTCOMES), made(CaseOutcome.PASS, kind=SuiteKind.KYVERNO, suite="k.yaml")
    text = page(TestReport(cases=one.cases + two.cases))
    rows = [
        line.split() for line in text.splitlines() if line.split()[:1] in (["rego"], ["kyverno"], ["all"])
    ]
    assert rows == [
        ["rego", "1", "5", "1", "1", "1", "1", "1"],
        ["kyverno", "1", "1", "1", "0", "0", "0", "0"],
        ["all", "2", "6", "2", "1", "1", "1", "1"],
    ]


def test_cases_with_one_cause_are_folded_and_counted() -> None:
    cases = made(*[CaseOutcome.FAIL] * 9).cases
    alike = tuple(
        Case(
            kind=c.kind,
            suite=c.suite,
            name=c.name,
            outcome=c.outcome,
            reason="r",
            message="same",
            file=c.file,
        )
        for c in cases
    )
    text = page(TestReport(cases=alike))
    assert text.count("  case ") == 3
    assert "6 more cases: same" in text
    assert page(TestReport(cases=alike), verbose=True).count("  case ") == 9


def test_the_slowest_come_first() -> None:
    cases = made(*[CaseOutcome.PASS] * 3).cases
    timed = tuple(
        Case(kind=c.kind, suite=c.suite, name=c.name, outcome=c.outcome, seconds=float(n))
        for n, c in enumerate(cases, 1)
    )
    text = page(TestReport(cases=timed), slowest=2)
    assert text.index("case 3") < text.index("case 2")
    assert "case 1" not in text


def test_names_and_messages_can_break_nothing() -> None:
    case = Case(
        kind=SuiteKind.GATEKEEPER,
        suite=NASTY,
        name=NASTY,
        outcome=CaseOutcome.FAIL,
        reason=NASTY,
        message=NASTY,
        hint=NASTY,
        file=NASTY,
        line=1,
        output=NASTY,
    )
    report = TestReport(cases=(case,), notes=(NASTY,))
    text = "".join(as_junit(report))
    text.encode("utf-8")
    assert len(ET.fromstring(text).findall("testsuite/testcase/failure")) == 1
    assert "\x1b" not in text
    shown = page(report)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "second line\n" not in shown
    assert json.loads(json.dumps(as_json(report, 1)))["suites"][0]["cases"][0]["name"] == NASTY
