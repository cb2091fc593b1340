"""Results with fields of the wrong type, through the real command: no spoilt file is ever green.

Two laws. A result that is not green for some reason stays so, whatever stands in place of any one of its fields. And a
result that is green is so no longer when a field that decides has the wrong type.
"""

from __future__ import annotations

import copy
import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import Run, run
from tests.unit.sbom.reading import places

WRONG: tuple[Any, ...] = (7, "x", True, [[]], [7], [None], {"a": {}})
CONFIG = """parameters:
  evidence/vulnerabilities-fixed:
    kinds: [vulnerability, misconfiguration, secret, licence]
    vex_authors: [Ann]
  evidence/scorecard-minimum:
    checks: {Fuzzing: 5}
  evidence/testgrid-passing:
    tabs: [release/*]
"""

FINDING: dict[str, Any] = {"VulnerabilityID": "CVE-2099-0001", "PkgName": "libx", "Severity": "HIGH"}
FINDING |= {"PkgIdentifier": {"PURL": "pkg:deb/debian/libx@1"}, "InstalledVersion": "1", "FixedVersion": "2"}
ASIDE = {"Type": "vulnerability", "Status": "ignored", "Source": ".trivyignore", "Finding": FINDING}
CLEAN = {"Target": "demo", "Class": "os-pkgs", "Type": "debian", "Vulnerabilities": []}


def trivy(*results: Any, **changes: Any) -> dict[str, Any]:
    return {"SchemaVersion": 2, "ArtifactName": "demo:1", "ArtifactType": "container_image", "Results": list(results)} | changes  # fmt: skip


def cluster(*resources: dict[str, Any]) -> dict[str, Any]:
    named = [{"Namespace": "ml", "Kind": "Deployment", "Name": "serve"} | one for one in resources]
    return {"ClusterName": "c", "Resources": named}


def sarif(*results: Any, **changes: Any) -> dict[str, Any]:
    rules = [{"id": "CVE-2099-0001", "properties": {"security-severity": "9.8", "tags": ["security"]}}]
    tool = {"driver": {"name": "scanner", "rules": rules}, "extensions": [{"name": "e", "rules": rules}]}
    invocations = [{"executionSuccessful": True}]
    return {"version": "2.1.0", "runs": [{"tool": tool, "invocations": invocations, "results": list(results)} | changes]}  # fmt: skip


LOW = {"ruleId": "CVE-2099-0009", "level": "note", "kind": "fail"}
BAD = {"ruleId": "CVE-2099-0001", "ruleIndex": 0, "level": "note", "kind": "fail"}


def bench(*rows: Any, **changes: Any) -> dict[str, Any]:
    section = {"section": "1.1", "results": list(rows)}
    return {"id": "1", "version": "cis", "node_type": "master", "tests": [section]} | changes


def row(status: str, number: str = "1.1.1", **changes: Any) -> dict[str, Any]:
    return {"test_number": number, "test_desc": "d", "status": status, "type": ""} | changes


def scorecard(fuzzing: float, score: float) -> dict[str, Any]:
    checks = [
        {"name": "Fuzzing", "score": fuzzing, "reason": "r"},
        {"name": "SAST", "score": 9, "reason": "r"},
    ]
    return {"date": "2026-05-02", "repo": {"name": "r", "commit": "a"}, "scorecard": {"version": "5"}, "score": score, "checks": checks}  # fmt: skip


def tab(status: Any, name: str) -> dict[str, Any]:
    return {"dashboard_name": "release", "dashboard_tab_name": name, "overall_status": status}


def summary(*statuses: str) -> dict[str, Any]:
    return {f"t{n}": tab(status, f"t{n}") for n, status in enumerate(statuses)}


def state(*results: list[int]) -> dict[str, Any]:
    rows = [{"name": str(n), "results": one} for n, one in enumerate(results)]
    return {"name": "release/s", "columns": [{"build": "1", "started": 1777600000000}], "rows": rows}


# Results that are not green, each for a reason of its own.
NOT_GREEN: dict[str, list[Any]] = {
    "Trivy": [
        trivy(CLEAN, CLEAN | {"Vulnerabilities": [FINDING]}),
        trivy(CLEAN | {"Class": "secret"}),
        trivy(CLEAN, {"Target": "s", "Class": "secret", "Secrets": [{"RuleID": "r", "Severity": "HIGH"}]}),
        trivy(CLEAN, {"Target": "m", "Class": "config", "Misconfigurations": [{"ID": "m", "Severity": "HIGH", "Status": "FAIL"}]}),
        trivy(CLEAN, {"Target": "l", "Class": "license", "Licenses": [{"Name": "l", "Severity": "HIGH"}]}),
        trivy(CLEAN | {"ExperimentalModifiedFindings": [ASIDE]}),
        trivy(CLEAN | {"MisconfSummary": {"Successes": 1, "Failures": 0, "Exceptions": 2}}),
        trivy(CLEAN, Metadata={"OS": {"Family": "alpine", "Name": "3.9", "EOSL": True}}),
        cluster({"Results": [CLEAN]}, {"Results": [CLEAN | {"Vulnerabilities": [FINDING]}]}),
        cluster({"Results": [CLEAN]}, {"Error": "no such image"}),
        cluster({"Results": [CLEAN], "Metadata": [{"OS": {"Family": "alpine", "EOSL": True}}]}),
        [{"Target": "old"}, {"Target": "older", "Vulnerabilities": [FINDING]}],
    ],
    "SARIF": [
        sarif(LOW, BAD),
        sarif(LOW, {"rule": {"id": "CVE-2099-0001", "index": 0, "toolComponent": {"index": 0}}}),
        sarif(LOW, BAD | {"suppressions": [{"kind": "inSource", "status": "accepted"}]}),
        sarif(LOW, invocations=[{"executionSuccessful": False}]),
        sarif({"ruleId": "style", "level": "note"}),
    ],
    "kube-bench": [
        bench(row("PASS"), row("FAIL", "1.1.2")),
        bench(row("PASS"), row("WARN", "1.1.2")),
        bench(row("PASS"), row("INFO", "1.1.2", type="skip")),
        bench(row("PASS"), total_pass=1, total_fail=3),
        {"Controls": [bench(row("PASS"))], "Totals": {"total_pass": 1, "total_fail": 3}},
        [bench(row("PASS")), bench(row("FAIL"), node_type="node")],
    ],
    "Scorecard": [scorecard(9, 3.5), scorecard(2, 7.5)],
    "TestGrid": [
        summary("PASSING", "FAILING"),
        {"tab_summaries": [tab("PASS", "a"), tab("FAIL", "b")]},
        state([1, 1], [12, 1]),
    ],
}  # fmt: skip

# Results that are green, with the fields that decide that.
GREEN: dict[str, list[tuple[Any, list[tuple[Any, ...]]]]] = {
    "Trivy": [
        (
            trivy(
                CLEAN | {"Misconfigurations": [], "Secrets": [], "Licenses": [], "ExperimentalModifiedFindings": [],
                         "MisconfSummary": {"Exceptions": 0}},
                Metadata={"OS": {"Family": "debian", "Name": "12", "EOSL": False}},
            ),
            [
                ("Results",), ("Results", 0), ("Results", 0, "Class"), ("Results", 0, "Target"),
                *[("Results", 0, key) for key in ("Vulnerabilities", "Misconfigurations", "Secrets", "Licenses",
                                                  "ExperimentalModifiedFindings", "MisconfSummary")],
                ("Results", 0, "MisconfSummary", "Exceptions"),
                ("Metadata",), ("Metadata", "OS"), ("Metadata", "OS", "EOSL"),
            ],
        ),
        (
            cluster({"Results": [CLEAN], "Metadata": [], "Error": ""}),
            [
                ("Resources",), ("Resources", 0), ("Resources", 0, "Results"), ("Resources", 0, "Results", 0),
                ("Resources", 0, "Results", 0, "Vulnerabilities"), ("Resources", 0, "Error"),
            ],
        ),
        ([CLEAN], [(0, "Vulnerabilities"), (0, "Class")]),
    ],
    "SARIF": [
        (
            sarif(LOW | {"suppressions": []}),
            [
                ("runs",), ("runs", 0), ("runs", 0, "results"), ("runs", 0, "results", 0),
                ("runs", 0, "invocations"), ("runs", 0, "invocations", 0),
                ("runs", 0, "invocations", 0, "executionSuccessful"),
                *[("runs", 0, "results", 0, key) for key in ("ruleId", "level", "kind", "suppressions")],
                ("runs", 0, "tool"), ("runs", 0, "tool", "driver"), ("runs", 0, "tool", "driver", "rules"),
                ("runs", 0, "tool", "extensions"), ("runs", 0, "tool", "extensions", 0, "rules"),
            ],
        ),
    ],
    "kube-bench": [
        (
            {"Controls": [bench(row("PASS"), total_pass=1, total_fail=0)], "Totals": {"total_pass": 1, "total_fail": 0}},
            [
                ("Controls",), ("Controls", 0), ("Controls", 0, "tests"), ("Controls", 0, "tests", 0),
                ("Controls", 0, "tests", 0, "results"), ("Controls", 0, "tests", 0, "results", 0),
                ("Controls", 0, "tests", 0, "results", 0, "status"), ("Controls", 0, "tests", 0, "results", 0, "type"),
                ("Controls", 0, "total_pass"), ("Controls", 0, "total_fail"), ("Totals",), ("Totals", "total_pass"),
                ("Totals", "total_fail"),
            ],
        ),
    ],
    "Scorecard": [
        (scorecard(9, 7.5), [("score",), ("checks",), ("checks", 0), ("checks", 0, "name"), ("checks", 0, "score"), ("repo",), ("scorecard",)]),
    ],
    "TestGrid": [
        (summary("PASSING", "PASSING"), [("t0",), ("t0", "overall_status"), ("t0", "dashboard_name"), ("t0", "dashboard_tab_name")]),
        ({"tab_summaries": [tab("PASS", "a")]}, [("tab_summaries",), ("tab_summaries", 0), ("tab_summaries", 0, "overall_status")]),
    ],
}  # fmt: skip


# A list in new versions of Trivy, a mapping in old ones.
EITHER = {("Resources", 0, "Metadata")}


def spoilt(document: Any, place: tuple[Any, ...]) -> Iterator[Any]:
    """The document with a wrong type at one place. A scalar of the same type is not wrong."""
    for value in WRONG:
        changed = copy.deepcopy(document)
        holder = changed
        for key in place[:-1]:
            holder = holder[key]
        before = holder[place[-1]]
        kinds = {type(before), type(value)}
        if not isinstance(value, list | dict) and (len(kinds) == 1 or kinds == {int, float}):
            continue
        if isinstance(value, dict) and (isinstance(before, dict) or place in EITHER):
            continue
        holder[place[-1]] = value
        yield changed


def judged(folder: Path, documents: list[Any], suffix: str = ".json") -> tuple[Run, dict[str, str]]:
    """One run over all of them, and what came of each file: ``gap``, an outcome, or ``unknown`` for a file that is no result."""
    source = folder / "source"
    source.mkdir(parents=True)
    for number, document in enumerate(documents):
        text = document if isinstance(document, str) else json.dumps(document)
        (source / f"{number:05}{suffix}").write_text(text, encoding="utf-8")
    (folder / "fleetaudit.yaml").write_text(CONFIG)
    done = run(
        folder / "out", source, "--config", folder / "fleetaudit.yaml", "--no-cache", "--rule", "evidence/*"
    )
    found = {path.name: "unknown" for path in source.iterdir()}
    found |= {Path(gap["source"]).name: "gap" for gap in done.gaps}
    with gzip.open(done.folder / "population.csv.gz", "rt", encoding="utf-8", newline="") as file:
        for pair in csv.DictReader(file):
            if pair["rule"] in DECIDING and pair["outcome"] != "skip":
                found[Path(pair["name"]).name] = pair["outcome"]
    return done, found


DECIDING = {
    "evidence/vulnerabilities-fixed",
    "evidence/benchmark-passed",
    "evidence/scorecard-minimum",
    "evidence/testgrid-passing",
}


@pytest.mark.parametrize("reader", NOT_GREEN)
def test_what_is_not_green_is_never_made_green(reader: str, tmp_path: Path) -> None:
    whole = NOT_GREEN[reader]
    documents = [
        *whole,
        *(one for document in whole for place in places(document) for one in spoilt(document, place)),
    ]
    done, found = judged(tmp_path, documents)
    first = [found[f"{number:05}.json"] for number in range(len(whole))]
    assert set(first) <= {"fail", "error"}, list(zip(whole, first, strict=True))
    green = {name: documents[int(Path(name).stem)] for name, outcome in found.items() if outcome == "pass"}
    assert not green
    assert done.code == 3
    assert sum(outcome == "gap" for outcome in found.values()) > len(whole)


@pytest.mark.parametrize("reader", GREEN)
def test_a_deciding_field_of_the_wrong_type_is_not_green(reader: str, tmp_path: Path) -> None:
    whole = [document for document, _ in GREEN[reader]]
    changed = [
        (place, one)
        for document, fields in GREEN[reader]
        for place in fields
        for one in spoilt(document, place)
    ]
    _, found = judged(tmp_path, [*whole, *(one for _, one in changed)])
    outcomes = [found[f"{number:05}.json"] for number in range(len(whole) + len(changed))]
    assert set(outcomes[: len(whole)]) == {"pass"}
    green = [changed[n] for n, outcome in enumerate(outcomes[len(whole) :]) if outcome == "pass"]
    assert not green


XCCDF = """<TestResult xmlns="http://checklists.nist.gov/xccdf/1.2" id="r" end-time="2026-05-02T10:00:00Z" version="1">
<benchmark href="x"/><target>node-1</target>
<rule-result idref="a"><result>pass</result></rule-result>
<rule-result idref="b">{}</rule-result>
</TestResult>"""
OVERRIDE = (
    "<override authority='Ann' time='t'><old-result>{}</old-result><new-result>{}</new-result></override>"
)


def test_no_spoilt_row_of_xccdf_is_green(tmp_path: Path) -> None:
    odd = ("", "x", "PASS", "7", "<pass/>", "<x>pass</x>", "<!-- pass -->")
    rows = [
        "",
        *(f"<result>{word}</result>" for word in ("fail", "error", "unknown", *odd)),
        *(f"<result>pass</result><result>{word}</result>" for word in ("fail", *odd)),
        *(f"<result>pass</result>{OVERRIDE.format(word, 'pass')}" for word in ("fail", *odd)),
        "<result>pass</result><override/>",
        "<x><result>pass</result></x>",
    ]
    good = ["<result>pass</result>", "<result>notapplicable</result>", "<result> pass </result>"]
    _, found = judged(tmp_path, [XCCDF.format(row) for row in (*good, *rows)], ".xml")
    outcomes = [found[f"{number:05}.xml"] for number in range(len(good) + len(rows))]
    assert set(outcomes[: len(good)]) == {"pass"}
    assert "pass" not in outcomes[len(good) :], dict(zip(rows, outcomes[len(good) :], strict=True))


def vex(**changes: Any) -> dict[str, Any]:
    statement = {
        "vulnerability": {"name": "CVE-2099-0001", "aliases": ["GHSA-1"]},
        "products": [{"@id": "demo:1", "subcomponents": [{"@id": "pkg:deb/debian/libx@1"}]}],
        "status": "not_affected",
        "justification": "vulnerable_code_not_present",
    } | changes
    return {"@context": "https://openvex.dev/ns/v0.2.0", "@id": "v", "author": "Ann", "timestamp": "2026-05-02T10:00:00Z", "statements": [statement]}  # fmt: skip


def test_no_spoilt_statement_takes_a_vulnerability_away(tmp_path: Path) -> None:
    report = trivy(CLEAN | {"Vulnerabilities": [FINDING]})
    _, found = judged(tmp_path / "good", [report, vex()])
    assert found["00000.json"] == "pass", "believed, and about this very package"
    useless = [
        vex(products=[{"@id": "demo:1", "subcomponents": [{"@id": "pkg:deb/debian/other@1"}]}]),
        vex(products=[{"@id": "other:1", "identifiers": {"purl": "pkg:x/y"}, "hashes": {"sha-256": "ab"}}]),
        vex(status="affected"),
        vex(justification=""),
        vex(vulnerability={"name": "CVE-2099-0002", "aliases": ["GHSA-2"]}),
        vex() | {"author": "Bob"},
    ]
    changed = [one for document in useless for place in places(document) for one in spoilt(document, place)]
    _, found = judged(tmp_path / "all", [report, *useless, *changed])
    assert found["00000.json"] == "error", "a statement that can't be read may take it away"
    readable = [one for n, one in enumerate([*useless, *changed], 1) if found[f"{n:05}.json"] != "gap"]
    assert len(useless) < len(readable) < len(changed)
    # All together: when the report still fails, none of them took anything away.
    _, found = judged(tmp_path / "readable", [report, *readable])
    assert found["00000.json"] == "fail"
