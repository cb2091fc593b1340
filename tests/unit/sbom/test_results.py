"""Readers of results: what each shape says, and what can't be read is a gap and never a fact."""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import Any

import pytest

from audit.collect.artifacts.reading import UnreadError
from tests.unit.sbom.reading import spoilt_everywhere
from tests.unit.sbom.results import facts_of, reader_of, spec_of

SCORECARD: dict[str, Any] = {
    "date": "2026-05-02",
    "repo": {"name": "github.com/example/demo", "commit": "a" * 40},
    "scorecard": {"version": "v5.0.0", "commit": "b" * 40},
    "score": 6.1,
    "checks": [
        {"name": "Fuzzing", "score": 0, "reason": "none"},
        {"name": "Branch-Protection", "score": -1, "reason": "no token"},
    ],
}
SCORECARD_V1 = {
    "Repo": "github.com/example/demo",
    "Date": "2021-05-02",
    "Checks": [
        {"Name": "Fuzzing", "Details": [], "Confidence": 10, "Pass": True},
        {"Name": "SAST", "Details": [], "Confidence": 10, "Pass": False},
        {"Name": "Signed-Releases", "Details": [], "Confidence": 0, "Pass": False},
    ],
    "Metadata": [],
}
SUMMARY = {
    "e2e": {
        "dashboard_name": "release",
        "overall_status": "PASSING",
        "last_run_timestamp": 1777600000000,
        "tests": [],
    },
    "gpu": {
        "dashboard_name": "release",
        "overall_status": "FAILING",
        "last_run_timestamp": 1777000000,
        "tests": [{}, {}],
        "alert": "broken since yesterday",
    },
}
STATE = {
    "columns": [{"build": "12", "started": 1777600000000}, {"build": "11", "started": 1777500000000}],
    "rows": [
        {"name": "a", "results": [1, 2]},
        {"name": "b", "results": [0, 1, 12, 1]},
        {"name": "c", "results": [0, 2]},
    ],
}
XCCDF = """<TestResult xmlns="http://checklists.nist.gov/xccdf/1.2" id="r" end-time="2026-05-02T10:00:00+02:00" version="1">
<benchmark id="b" href="x"/><profile idref="p"/><target>node-1</target>{rows}<score maximum="100">40</score></TestResult>"""
KUBE_BENCH = {
    "id": "1",
    "version": "cis-1.9",
    "node_type": "master",
    "tests": [{"results": [{"test_number": "1.1.1", "test_desc": "d", "status": "PASS"}]}],
    "total_pass": 1,
}
TRIVY: dict[str, Any] = {
    "SchemaVersion": 2,
    "CreatedAt": "2026-05-02T10:00:00.123456789Z",
    "ArtifactName": "registry.example.test/demo:1",
    "ArtifactType": "container_image",
    "Metadata": {"RepoDigests": ["registry.example.test/demo@sha256:" + "ab" * 32], "RepoTags": ["demo:1"]},
    "Results": [
        {
            "Target": "demo (debian 12)",
            "Class": "os-pkgs",
            "Vulnerabilities": [
                {
                    "VulnerabilityID": "CVE-2099-0001",
                    "PkgName": "libx",
                    "PkgIdentifier": {"PURL": "pkg:deb/debian/libx@1"},
                    "InstalledVersion": "1",
                    "FixedVersion": "2",
                    "Severity": "HIGH",
                    "Status": "fixed",
                },
                {"VulnerabilityID": "CVE-2099-0002", "PkgName": "liby", "Severity": "NEGLIGIBLE"},
                {"VulnerabilityID": "CVE-2099-0003", "PkgName": "libz", "Severity": "???"},
            ],
            "ExperimentalModifiedFindings": [{"Type": "vulnerability"}],
        }
    ],
}
SARIF: dict[str, Any] = {
    "version": "2.1.0",
    "runs": [
        {
            "tool": {
                "driver": {
                    "name": "scanner",
                    "version": "1",
                    "rules": [
                        {"id": "CVE-2099-0001", "properties": {"security-severity": "9.8"}},
                        {"id": "own-rule", "properties": {"tags": ["security", "LOW"]}},
                    ],
                }
            },
            "invocations": [{"executionSuccessful": True, "endTimeUtc": "2026-05-02T10:00:00Z"}],
            "results": [
                {"ruleId": "CVE-2099-0001", "level": "note", "message": {"text": "S3CRET"}},
                {"ruleIndex": 1, "message": {"text": "x"}},
                {"ruleId": "other", "level": "error", "message": {"text": "x"}},
                {"ruleId": "CVE-2099-0001", "suppressions": [{"kind": "external"}], "message": {"text": "x"}},
                {"ruleId": "CVE-2099-0001", "kind": "pass", "message": {"text": "x"}},
            ],
        }
    ],
}
OPENVEX: dict[str, Any] = {
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": "https://vex.example.test/1",
    "author": "Ann",
    "timestamp": "2026-05-02T10:00:00Z",
    "statements": [
        {
            "vulnerability": {"name": "CVE-2099-0001", "aliases": ["GHSA-x"]},
            "products": [
                {"@id": "pkg:oci/demo", "subcomponents": [{"@id": "pkg:deb/debian/libx@1"}]},
                "pkg:oci/other",
            ],
            "status": "not_affected",
            "justification": "vulnerable_code_not_present",
        },
        {"vulnerability": "CVE-2099-0002", "products": ["a"], "status": "made up"},
    ],
}
DOCUMENTS: dict[str, Any] = {
    "Scorecard": SCORECARD,
    "Scorecard v1": SCORECARD_V1,
    "TestGrid": SUMMARY,
    "TestGrid state": STATE,
    "XCCDF": XCCDF.format(rows='<rule-result idref="a"><result>pass</result></rule-result>'),
    "kube-bench": KUBE_BENCH,
    "Trivy": TRIVY,
    "SARIF": SARIF,
    "OpenVEX": OPENVEX,
}


def raw(name: str) -> bytes:
    document = DOCUMENTS[name]
    return document.encode() if isinstance(document, str) else json.dumps(document).encode()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_is_recognised_by_one_reader_in_every_encoding(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    text = raw(name).decode()
    first = None
    for data in (
        text.encode(),
        codecs.BOM_UTF8 + text.encode(),
        codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
    ):
        path.write_bytes(data)
        reader = reader_of(path)
        assert reader is not None
        assert reader.name == name.split(maxsplit=1)[0]
        spec = {key: value for key, value in facts_of(path)[0].spec.items() if key != "file"}
        first = first or spec
        assert spec == first


@pytest.mark.parametrize("name", DOCUMENTS)
def test_half_a_result_is_a_gap_or_a_whole_result(name: str, tmp_path: Path) -> None:
    whole = raw(name)
    path = tmp_path / "x"
    for at in range(len(whole) // 2, len(whole), 3):
        path.write_bytes(whole[:at])
        if reader_of(path) is None:
            continue
        with pytest.raises(UnreadError, match=name.split(maxsplit=1)[0]):
            facts_of(path)
    for at in range(100, len(whole), 11):
        path.write_bytes(whole[:at] + b"\xff" + whole[at + 1 :])
        if reader_of(path) is not None:
            with pytest.raises(UnreadError):
                facts_of(path)


@pytest.mark.parametrize("name", [name for name, document in DOCUMENTS.items() if isinstance(document, dict)])
def test_wrong_types_are_read_past_or_a_gap(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    for spoilt in spoilt_everywhere(DOCUMENTS[name]):
        path.write_text(json.dumps(spoilt), encoding="utf-8")
        if reader_of(path) is None:
            continue
        try:
            facts_of(path)
        except UnreadError as error:
            assert error.reason  # noqa: PT017  # either is right, and nothing else


def test_scorecard(tmp_path: Path) -> None:
    spec = spec_of(SCORECARD, tmp_path)
    assert spec["score"] == {"status": "known", "value": 6.1}
    assert [(check["status"], check["score"]) for check in spec["checks"]] == [
        ("scored", 0),
        ("inconclusive", None),
    ]
    assert spec["created"]["age_days"] == 30
    for score in (-1, 11, None, "7", True):
        assert spec_of(SCORECARD | {"score": score}, tmp_path)["score"]["value"] is None
    nothing = SCORECARD | {"checks": [{"name": "a", "score": -1}]}
    assert spec_of(nothing, tmp_path)["score"]["status"] == "inconclusive", (
        "an aggregate of nothing is no score"
    )


def test_scorecard_v1(tmp_path: Path) -> None:
    spec = spec_of(SCORECARD_V1, tmp_path)
    assert spec["form"] == "v1"
    assert [check["score"] for check in spec["checks"]] == [10, 0, None]
    assert spec["score"]["status"] == "absent"


def test_scorecard_lines(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(f"{json.dumps(SCORECARD)}\n{json.dumps(SCORECARD)}\n", encoding="utf-8")
    assert [facts.name for facts in facts_of(path)] == ["x#1", "x#2"]


def test_testgrid_summary(tmp_path: Path) -> None:
    spec = spec_of(SUMMARY, tmp_path)
    tabs = {tab["tab"]: tab for tab in spec["tabs"]}
    assert (tabs["e2e"]["status"], tabs["gpu"]["status"]) == ("PASS", "FAIL")
    assert (tabs["gpu"]["failing"], tabs["gpu"]["alert"]) == (2, True)
    assert tabs["e2e"]["last_run"]["value"] == "2026-05-01T01:46:40Z"
    assert spec["created"]["value"] == tabs["gpu"]["last_run"]["value"], "the oldest one counts"


@pytest.mark.parametrize(
    ("stated", "status"),
    [(2, "PASS"), (3, "FAIL"), (8, "ACCEPTABLE"), (99, "UNKNOWN"), ("STALE", "STALE"), ("what", "UNKNOWN"), ("", "NOT_SET"),
     (None, "UNKNOWN"), (True, "UNKNOWN"), ("PASS", "PASS")],
)  # fmt: skip
def test_statuses_of_tabs(stated: Any, status: str, tmp_path: Path) -> None:
    document = {"tabSummaries": [{"dashboardName": "d", "dashboardTabName": "t", "overallStatus": stated}]}
    if stated is None:
        with pytest.raises(UnreadError):
            spec_of(document, tmp_path)
        return
    [tab] = spec_of(document, tmp_path)["tabs"]
    assert (tab["dashboard"], tab["tab"], tab["status"]) == ("d", "t", status)
    assert tab["last_run"]["status"] == "absent"


@pytest.mark.parametrize(
    ("results", "status"),
    [
        ([[1, 2]], "PASS"),
        ([[1, 2], [0, 1, 12, 1]], "FAIL"),
        ([[1, 2], [4, 1]], "PENDING"),
        ([[13, 1]], "FLAKY"),
        ([[0, 9]], "UNKNOWN"),
        ([], "UNKNOWN"),
        ([[7, 1]], "BROKEN"),
        ([[77, 1]], "UNKNOWN"),
    ],
)
def test_testgrid_state(results: list[list[int]], status: str, tmp_path: Path) -> None:
    rows = [{"name": str(i), "results": row} for i, row in enumerate(results)]
    [tab] = spec_of(STATE | {"rows": rows}, tmp_path)["tabs"]
    assert tab["status"] == status


def test_xccdf_states(tmp_path: Path) -> None:
    words = (
        "pass",
        "fixed",
        "fail",
        "error",
        "unknown",
        "notapplicable",
        "notchecked",
        "notselected",
        "informational",
        "new",
    )
    rows = "".join(f'<rule-result idref="{w}"><result> {w} </result></rule-result>' for w in words)
    rows += '<rule-result idref="none"/>'
    spec = spec_of(XCCDF.format(rows=rows), tmp_path)
    assert spec["counts"] == {"failed": 1, "unsure": 4, "manual": 0, "passed": 2, "excluded": 4}
    assert spec["ratio"] == [2, 7]
    assert (spec["created"]["value"], spec["target"], spec["benchmark"]["profile"]) == (
        "2026-05-02T08:00:00Z",
        ["node-1"],
        "p",
    )
    nothing = spec_of(XCCDF.format(rows=""), tmp_path)
    assert nothing["status"] == "not_evaluated"


def test_xccdf_with_a_document_type_is_refused(tmp_path: Path) -> None:
    document = '<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + XCCDF.format(rows="&e;")
    with pytest.raises(UnreadError, match="refused"):
        spec_of(document, tmp_path)


def test_two_test_results_are_two_facts(tmp_path: Path) -> None:
    path = tmp_path / "x"
    row = '<rule-result idref="a"><result>pass</result></rule-result>'
    path.write_text(f"<all>{XCCDF.format(rows=row) * 2}</all>", encoding="utf-8")
    assert [facts.name for facts in facts_of(path)] == ["x#1", "x#2"]


def test_trivy(tmp_path: Path) -> None:
    spec = spec_of(TRIVY, tmp_path)
    assert [(one["id"], one["severity"]) for one in spec["findings"]] == [
        ("CVE-2099-0001", "HIGH"),
        ("CVE-2099-0002", "LOW"),
        ("CVE-2099-0003", "UNKNOWN"),
    ]
    assert spec["findings"][0]["purl"] == "pkg:deb/debian/libx@1"
    assert spec["subject"]["images"] == ["sha256:" + "ab" * 32]
    assert spec["suppressed"] == 1
    assert spec["created"]["status"] == "known"


def test_many_findings_are_cut_the_worst_kept_and_all_counted(tmp_path: Path) -> None:
    many = [{"VulnerabilityID": f"CVE-{i}", "Severity": "LOW"} for i in range(3000)]
    worst = {"VulnerabilityID": "CVE-worst", "Severity": "CRITICAL"}
    spec = spec_of(TRIVY | {"Results": [{"Target": "t", "Vulnerabilities": [*many, worst]}]}, tmp_path)
    assert (len(spec["findings"]), spec["left_out"]) == (2000, 1001)
    assert spec["findings"][0]["id"] == "CVE-worst"
    assert spec["counts"]["vulnerability"]["LOW"] == 3000


def test_sarif(tmp_path: Path) -> None:
    spec = spec_of(SARIF, tmp_path)
    assert [(one["kind"], one["id"], one["severity"]) for one in spec["findings"]] == [
        ("vulnerability", "CVE-2099-0001", "CRITICAL"),
        ("other", "other", "HIGH"),
        ("other", "own-rule", "LOW"),
    ]
    assert (spec["status"], spec["suppressed"]) == ("scanned", 1)
    assert "S3CRET" not in json.dumps(spec)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"results": []}, "scanned"),
        ({"results": None}, "not_evaluated"),
        ({"invocations": [{"executionSuccessful": False}]}, "not_evaluated"),
    ],
)
def test_a_sarif_run_that_did_not_look_is_not_clean(
    change: dict[str, Any], status: str, tmp_path: Path
) -> None:
    assert spec_of({"version": "2.1.0", "runs": [SARIF["runs"][0] | change]}, tmp_path)["status"] == status


def test_our_own_sarif_is_no_evidence(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(json.dumps(SARIF).replace('"scanner"', '"fleetaudit"'), encoding="utf-8")
    assert reader_of(path) is None


def test_openvex(tmp_path: Path) -> None:
    spec = spec_of(OPENVEX, tmp_path)
    first, second = spec["statements"]
    assert first["vulnerabilities"] == ["CVE-2099-0001", "GHSA-x"]
    assert first["products"][0] == {"ids": ["pkg:oci/demo"], "subcomponents": ["pkg:deb/debian/libx@1"]}
    assert first["products"][1]["ids"] == ["pkg:oci/other"]
    assert second["status"] == "unknown"
    assert spec_of({key: value for key, value in OPENVEX.items() if key != "@id"}, tmp_path)["notices"] == [
        "no_id"
    ]


@pytest.mark.parametrize("wrong", ["1" + "0" * 400, "1e999", "-1e999", "NaN", '"' + "9" * 5000 + '"'])
def test_numbers_that_are_none_are_read_past_or_a_gap(wrong: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    for name, old in (
        ("Scorecard", "6.1"),
        ("Scorecard v1", "10"),
        ("TestGrid", "1777600000000"),
        ("TestGrid state", "1777600000000"),
        ("TestGrid state", "12"),
        ("kube-bench", '"total_pass": 1'),
        ("SARIF", '"9.8"'),
    ):
        text = raw(name).decode()
        assert old in text
        new = f'"total_pass": {wrong}' if "total" in old else wrong
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        try:
            json.dumps([facts.document() for facts in facts_of(path)], allow_nan=False)
        except UnreadError as error:
            assert error.reason  # noqa: PT017  # either is right, and nothing else


def test_a_bomb_of_lists_is_a_gap(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for name in ("Trivy", "kube-bench"):
        path.write_bytes(raw(name)[:-1] + b', "x": [' + b"[]," * 3_000_000 + b"[]]}")
        with pytest.raises(UnreadError, match="more than"):
            facts_of(path)
