"""SARIF, JUnit, Markdown and CSV: what each promises, and that all tell the same numbers."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from audit.model.finding import Outcome
from audit.model.gate import IncompleteCode, IncompleteReason
from audit.model.result import AssessmentResult
from audit.report.console import render
from audit.report.csv_writer import COLUMNS, CsvWriter
from audit.report.json_writer import JsonWriter
from audit.report.junit import JunitWriter
from audit.report.markdown import SIZE_LIMIT, MarkdownWriter
from audit.report.sarif import SarifWriter
from tests import builders as b
from tests.unit.report.pages import elements, html, tree
from tests.unit.report.story import story


def _rendered(writer: Any, result: AssessmentResult) -> bytes:
    stream = io.BytesIO()
    writer.render_to(result, stream)
    return stream.getvalue()


def _sarif(result: AssessmentResult) -> dict[str, Any]:
    (run,) = json.loads(_rendered(SarifWriter(), result))["runs"]
    assert isinstance(run, dict)
    return run


def test_every_format_counts_the_same_groups_and_findings() -> None:
    result = story(many=7)
    counts = result.group_source.counts()
    groups = list(result.group_source.groups())
    outcomes = Counter(member.outcome for group in groups for member in group.members)
    waived = sum(group.waived for group in groups)

    data = json.loads(_rendered(JsonWriter(), result))
    assert len(data["groups"]) == len(groups)
    assert sum(len(group["members"]) for group in data["groups"]) == counts.findings

    rows = list(csv.DictReader(io.StringIO(_rendered(CsvWriter(), result).decode())))
    assert len(rows) == counts.findings
    assert {row["group"] for row in rows} == {group.id for group in groups}

    results = _sarif(result)["results"]
    assert len(results) == counts.findings
    assert {found["properties"]["group"] for found in results} == {group.id for group in groups}
    assert sum("suppressions" in found for found in results) == waived

    suites = ET.fromstring(_rendered(JunitWriter(), result)).findall("testsuite")[1:]
    assert len(suites) == len(groups)
    assert sum(len(suite.findall("testcase")) for suite in suites) == counts.findings
    assert sum(int(suite.get("failures", "0")) for suite in suites) == outcomes[Outcome.FAIL] - waived
    assert sum(int(suite.get("errors", "0")) for suite in suites) == outcomes[Outcome.ERROR]
    assert sum(int(suite.get("skipped", "0")) for suite in suites) == waived

    ids = {node.get("id") for node in elements(tree(html(result)))}
    assert {group.id.lower() for group in groups} <= ids

    told = _rendered(MarkdownWriter(), result).decode()
    listed = [line for line in told.splitlines() if "| G-" in line]
    assert len(listed) == sum(counts.open.values())


def test_sarif_lines_are_true_or_absent() -> None:
    groups = [
        b.group(b.finding(place=b.place("k/a.yaml", line=7, column=3))),
        b.group(b.finding(subject=b.subject("noline"), place=b.place("k/b.yaml", line=None, column=None))),
        b.group(b.finding(subject=b.subject("gone", source="", derived=True), place=None)),
        b.group(b.finding(subject=b.subject("near"), place=b.place("k/c.yaml", line=2, approximate=True))),
    ]
    known, unknown, derived, near = _sarif(b.result(groups))["results"]
    assert known["locations"][0]["physicalLocation"]["region"] == {"startLine": 7, "startColumn": 3}
    assert "region" not in unknown["locations"][0]["physicalLocation"]
    assert "physicalLocation" not in derived["locations"][0]
    assert derived["locations"][0]["logicalLocations"][0]["name"] == "gone"
    assert near["properties"]["precision"] == "enclosing object"


@pytest.mark.parametrize(
    ("file", "location"),
    [
        ("a/b c.yaml", {"uri": "a/b%20c.yaml", "uriBaseId": "%SRCROOT%"}),
        ("./a//b.yaml", {"uri": "a/b.yaml", "uriBaseId": "%SRCROOT%"}),
        ("c:d.yaml", {"uri": "c%3Ad.yaml", "uriBaseId": "%SRCROOT%"}),
        ("/abs/x.yaml", {"uri": "file:///abs/x.yaml"}),
        ("../up.yaml", {"uri": "../up.yaml"}),
        ("caf\udce9.yaml", {"uri": "caf%E9.yaml", "uriBaseId": "%SRCROOT%"}),
    ],
)
def test_sarif_paths_are_relative_to_the_source_root(file: str, location: dict[str, str]) -> None:
    (found,) = _sarif(b.result([b.group(b.finding(place=b.place(file)))]))["results"]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"] == location


def test_sarif_fingerprints_survive_moves_and_tell_objects_apart() -> None:
    def prints(line: int, name: str = "web") -> str:
        found = b.finding(subject=b.subject(name, line=line), place=b.place(line=line))
        (only,) = _sarif(b.result([b.group(found)]))["results"]
        return str(only["partialFingerprints"]["fleetauditFinding/v1"])

    assert prints(3) == prints(99)
    assert prints(3) != prints(3, "other")


def test_sarif_keeps_errors_warnings_and_waived_findings_apart() -> None:
    groups = b.display_order(
        [
            b.group(b.finding(waiver="W-001")),
            b.group(b.finding(outcome=Outcome.ERROR, error="timeout")),
            b.group(b.finding(outcome=Outcome.WARN)),
        ]
    )
    waived, error, warn = _sarif(b.result(groups, waivers=(b.waiver_state(),)))["results"]
    (suppression,) = waived["suppressions"]
    assert suppression["status"] == "accepted"
    assert "Needs the host until the driver moves." in suppression["justification"]
    assert (error["kind"], error["level"]) == ("open", "none")
    assert (warn["kind"], warn["level"]) == ("review", "none")


def test_sarif_says_when_the_audit_is_incomplete() -> None:
    (invocation,) = _sarif(story())["invocations"]
    assert invocation["executionSuccessful"] is False
    assert len(invocation["toolExecutionNotifications"]) == 2


def test_sarif_rules_carry_help_with_the_fix_fenced() -> None:
    rule = b.rule_state(fix="a: |\n  ```\n  b: 1\n")
    (told,) = _sarif(b.result(rules=(rule,)))["tool"]["driver"]["rules"]
    assert "````yaml\na: |\n  ```" in told["help"]["markdown"]
    assert told["shortDescription"]["text"]


def test_junit_is_never_empty_and_never_green_when_incomplete() -> None:
    root = ET.fromstring(
        _rendered(
            JunitWriter(),
            b.result(complete=False, incomplete_reasons=(IncompleteReason(code=IncompleteCode.NO_MATCH),)),
        )
    )
    (suite,) = root.findall("testsuite")
    assert suite.get("failures") == "1"
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.get("message") == "no rule matched any object"
    green = ET.fromstring(_rendered(JunitWriter(), b.result()))
    assert [case.get("name") for case in green.iter("testcase")] == ["complete"]
    assert green.find("testsuite/testcase/failure") is None


def test_junit_gates_and_gaps_are_cases() -> None:
    root = ET.fromstring(_rendered(JunitWriter(), story()))
    audit = root.findall("testsuite")[0]
    assert [case.get("classname") for case in audit.iter("testcase")] == [
        "audit",
        "audit.gate",
        "audit.gate",
        "audit.gap",
        "audit.gap",
    ]
    assert (audit.get("tests"), audit.get("failures"), audit.get("errors"), audit.get("skipped")) == (
        "5",
        "2",
        "1",
        "1",
    )


def test_csv_has_its_columns_and_the_line_when_known() -> None:
    found = b.finding(place=b.place(line=None, column=None))
    header, row = csv.reader(io.StringIO(_rendered(CsvWriter(), b.result([b.group(found)])).decode()))
    assert tuple(header) == COLUMNS
    told = dict(zip(header, row, strict=True))
    assert (told["line"], told["file"], told["seen"]) == ("", "east/web.yaml", "true")


def test_markdown_is_short_whatever_was_found() -> None:
    groups = [b.group(b.finding(subject=b.subject(f"web-{n}", owner_name=f"web-{n}"))) for n in range(3000)]
    gaps = tuple(b.gap(source=f"{'x' * 500}-{n}") for n in range(3000))
    told = _rendered(MarkdownWriter(), b.result(groups, gaps=gaps)).decode()
    assert len(told) <= SIZE_LIMIT + 100
    assert "2,980 more open groups in the report." in told
    assert "- 2990 more" in told or "- 2,990 more" in told


def test_markdown_says_gate_and_completeness_apart() -> None:
    told = _rendered(MarkdownWriter(), story()).decode()
    assert "- Gate: **failed**, fail-on high" in told
    assert "- Audit: **incomplete**, 1 gap not in allow\\_gaps" in told


@pytest.mark.parametrize(("met", "word"), [(True, "met"), (False, "failed"), (None, "not decided")])
def test_every_format_for_people_has_three_words_for_a_gate(met: bool | None, word: str) -> None:
    gates = (b.gate(condition="fail-on high", met=met),)
    result = b.result(gates=gates)
    console = Console(file=io.StringIO(), width=120)
    render(result, console)
    assert isinstance(console.file, io.StringIO)
    (line,) = [text for text in console.file.getvalue().splitlines() if text.startswith("Gate ")]
    assert line.split("fail-on high")[0].removeprefix("Gate").strip().lower() == word
    told = _rendered(MarkdownWriter(), result).decode()
    assert f"- Gate: {word}," in told.replace("**", "")
    gates_list = next(node for node in elements(tree(html(result))) if node.get("class") == "gates")
    assert f"{word}: fail-on high" in " ".join("".join(gates_list.itertext()).split())
    suite = ET.fromstring(_rendered(JunitWriter(), result)).findall("testsuite")[0]
    (case,) = suite.findall("testcase[@name='fail-on high']")
    assert [child.tag for child in case] == {True: [], False: ["failure"], None: ["error"]}[met]
    assert int(suite.get("failures", "")) == len(suite.findall(".//failure"))
    assert int(suite.get("errors", "")) == len(suite.findall(".//error"))
    assert json.loads(_rendered(JsonWriter(), result))["gates"][0]["met"] is met
