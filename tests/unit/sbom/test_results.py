"""Readers of results: what each shape says, and what can't be read is a gap and never a fact."""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import Any

import pytest

from audit.collect.artifacts.evidence import factory as reading
from audit.collect.artifacts.evidence.settings import EvidenceSettings
from audit.collect.artifacts.reading import UnreadError, look_at
from tests.unit.sbom.reading import spoilt_everywhere
from tests.unit.sbom.results import NOW, facts_of, reader_of, spec_of

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
KUBE_BENCH: dict[str, Any] = {
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
            "ExperimentalModifiedFindings": [
                {
                    "Type": "vulnerability",
                    "Status": "ignored",
                    "Statement": "S3CRET",
                    "Source": ".trivyignore",
                    "Finding": {
                        "VulnerabilityID": "CVE-2099-0004",
                        "PkgName": "liba",
                        "Severity": "CRITICAL",
                    },
                }
            ],
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
        with pytest.raises(UnreadError):
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
     (None, "NOT_SET"), (True, "UNKNOWN"), ("PASS", "PASS")],
)  # fmt: skip
def test_statuses_of_tabs(stated: Any, status: str, tmp_path: Path) -> None:
    document = {"tabSummaries": [{"dashboardName": "d", "dashboardTabName": "t", "overallStatus": stated}]}
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
    assert [(one["id"], one["severity"], one["set_aside"]) for one in spec["findings"]] == [
        ("CVE-2099-0004", "CRITICAL", {"status": "ignored", "source": ".trivyignore", "times": 1}),
        ("CVE-2099-0001", "HIGH", None),
        ("CVE-2099-0002", "LOW", None),
        ("CVE-2099-0003", "UNKNOWN", None),
    ]
    assert spec["findings"][1]["purl"] == "pkg:deb/debian/libx@1"
    assert spec["subject"]["images"] == ["sha256:" + "ab" * 32]
    assert spec["set_aside"] == {"count": 1, "statuses": {"ignored": 1}, "sources": {".trivyignore": 1}}
    assert codes(spec) == ["set_aside"]
    assert spec["created"]["status"] == "known"
    assert "S3CRET" not in json.dumps(spec), "what somebody gave as a reason is not taken over"


def codes(spec: dict[str, Any]) -> list[str]:
    return [notice["code"] for notice in spec["notices"]]


def test_exceptions_of_trivy_are_set_aside(tmp_path: Path) -> None:
    listed = {"ID": "AVD-1", "Severity": "HIGH", "Status": "EXCEPTION"}
    result = {
        "Target": "t",
        "Class": "config",
        "MisconfSummary": {"Successes": 1, "Failures": 0, "Exceptions": 3},
        "Misconfigurations": [listed, {"ID": "AVD-2", "Status": "PASS"}, {"ID": "AVD-3", "Status": "new"}],
    }
    spec = spec_of(TRIVY | {"Results": [result]}, tmp_path)
    assert {one["id"]: (one["set_aside"] or {}).get("times", 0) for one in spec["findings"]} == {
        "AVD-1": 1,
        "": 2,
        "AVD-3": 0,
    }
    assert spec["set_aside"]["count"] == 3
    assert "3 findings were set aside" in spec["notices"][0]["message"]


@pytest.mark.parametrize("place", ["image", "resource", "resources"])
def test_an_unsupported_system_is_told(place: str, tmp_path: Path) -> None:
    metadata = {"OS": {"Family": "alpine", "Name": "3.9.4", "EOSL": True}}
    report: dict[str, Any] = TRIVY | {"Metadata": metadata}
    if place != "image":
        held = metadata if place == "resource" else [{}, metadata]
        resource = {"Kind": "Pod", "Name": "p", "Metadata": held, "Results": []}
        report = {"ClusterName": "c", "Resources": [resource, resource | {"Name": "q", "Error": "no image"}]}
    spec = spec_of(report, tmp_path)
    assert spec["unsupported_systems"] == ["alpine 3.9.4"]
    assert "unsupported_system" in codes(spec)
    assert spec["unscanned"] == ([] if place == "image" else ["Pod q"])


def test_resources_beside_results_are_read_too(tmp_path: Path) -> None:
    resource = {"Kind": "Pod", "Name": "p", "Results": TRIVY["Results"]}
    spec = spec_of(TRIVY | {"Results": [], "Resources": [resource]}, tmp_path)
    assert {one["resource"] for one in spec["findings"]} == {"Pod p"}


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
        ("vulnerability", "CVE-2099-0001", "CRITICAL"),
        ("other", "other", "HIGH"),
        ("other", "own-rule", "LOW"),
    ]
    assert spec["status"] == "scanned"
    assert spec["set_aside"] == {"count": 1, "statuses": {"accepted": 1}, "sources": {"external": 1}}
    assert codes(spec) == ["set_aside"]
    assert "S3CRET" not in json.dumps(spec)


@pytest.mark.parametrize(
    ("suppressions", "source"),
    [
        (None, None),
        ([], None),
        ([{"kind": "inSource"}], "inSource"),
        ([{"kind": "inSource", "status": "accepted"}, {"kind": "external"}], "external, inSource"),
        ([{"kind": "inSource", "status": "underReview"}], None),
        ([{"kind": "inSource", "status": "rejected"}, {"kind": "external", "status": "accepted"}], None),
        ([{"kind": "inSource", "status": "made up"}], None),
    ],
)
def test_suppressions_as_the_standard_has_them(suppressions: Any, source: str | None, tmp_path: Path) -> None:
    result = {"ruleId": "CVE-2099-0001", "message": {"text": "x"}, "suppressions": suppressions}
    spec = spec_of({"version": "2.1.0", "runs": [SARIF["runs"][0] | {"results": [result]}]}, tmp_path)
    [finding] = spec["findings"]
    assert (finding["set_aside"] or {}).get("source") == source
    assert codes(spec) == (["set_aside"] if source else [])


@pytest.mark.parametrize(
    ("result", "severity"),
    [
        ({"ruleId": "E1"}, "CRITICAL"),
        ({"ruleId": "E1/sub"}, "CRITICAL"),
        ({"rule": {"index": 0, "toolComponent": {"index": 0}}}, "CRITICAL"),
        ({"rule": {"id": "E1", "toolComponent": {"name": "pack"}}}, "CRITICAL"),
        ({"ruleIndex": 0}, "HIGH"),
        ({"ruleId": "E1", "ruleIndex": -1}, "CRITICAL"),
        ({"ruleId": "unknown"}, "MEDIUM"),
        ({"ruleIndex": 9}, "UNKNOWN"),
        ({"rule": {"index": 0, "toolComponent": {"index": 5}}}, "UNKNOWN"),
        ({"ruleId": "odd"}, "UNKNOWN"),
    ],
)
def test_severity_comes_from_the_rule_wherever_it_stands(
    result: dict[str, Any], severity: str, tmp_path: Path
) -> None:
    def rule(id_: str, score: Any) -> dict[str, Any]:
        return {"id": id_, "properties": {"security-severity": score}}

    tool = {
        "driver": {"name": "d", "rules": [rule("D0", "7.5"), rule("odd", "high")]},
        "extensions": [{"name": "pack", "rules": [rule("E1", "9.8")]}],
    }
    [finding] = spec_of({"version": "2.1.0", "runs": [{"tool": tool, "results": [result]}]}, tmp_path)[
        "findings"
    ]
    assert finding["severity"] == severity


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
    assert codes(spec) == ["vex_author_unlisted"]
    without = {key: value for key, value in OPENVEX.items() if key not in {"@id", "author"}}
    assert codes(spec_of(without, tmp_path)) == ["no_id", "no_author", "vex_author_unlisted"]
    believing = reading.readers(EvidenceSettings(now=NOW, vex_authors=("ann",)))
    [vex] = [reader for reader in believing if reader.name == "OpenVEX"]
    (tmp_path / "x").write_text(json.dumps(OPENVEX), encoding="utf-8")
    [facts] = vex.read(look_at(tmp_path / "x", "x", max_bytes=1 << 20))
    assert facts.spec["notices"] == []


def test_a_part_without_a_name_is_not_the_whole(tmp_path: Path) -> None:
    for part in ({}, "", {"@id": ""}, {"hashes": {"md5": "x"}}):
        statement = OPENVEX["statements"][0] | {"products": [{"@id": "a", "subcomponents": [part]}]}
        with pytest.raises(UnreadError, match="names nothing"):
            spec_of(OPENVEX | {"statements": [statement]}, tmp_path)


def test_totals_of_kube_bench_are_counted_again(tmp_path: Path) -> None:
    def differences(**changes: Any) -> list[str]:
        totals = spec_of(KUBE_BENCH | changes, tmp_path)["totals"]
        assert (totals["status"] == "differ") is bool(totals["differences"])
        found: list[str] = totals["differences"]
        return found

    row = KUBE_BENCH["tests"][0]["results"][0]
    assert not differences()
    assert differences(total_fail=1) == ["node type master: 1 FAIL stated, 0 counted"]
    assert differences(total_pass=None, totalpass=2) == ["node type master: 2 PASS stated, 1 counted"]
    section = {"section": "1.1", "pass": 1, "warn": 4, "results": [row]}
    assert differences(tests=[section]) == ["section 1.1: 4 WARN stated, 0 counted"]
    assert not differences(tests=[{"section": "1.1", "results": [row, row]}], total_pass=2)
    whole = {"Controls": [KUBE_BENCH], "Totals": {"total_pass": 5}}
    spec = spec_of(whole, tmp_path)
    assert spec["totals"]["differences"] == ["the whole: 5 PASS stated, 1 counted"]
    assert codes(spec) == ["totals_differ"]


def test_a_test_that_kube_bench_was_told_to_skip_is_set_aside(tmp_path: Path) -> None:
    row = {"test_number": "1.1.1", "type": "skip", "status": "INFO", "reason": "Test marked as skip"}
    spec = spec_of(KUBE_BENCH | {"tests": [{"results": [row]}], "total_pass": 0}, tmp_path)
    [found] = spec["rows"]
    assert (found["status"], found["stated_status"]) == ("unsure", "excluded")
    assert spec["set_aside"]["statuses"] == {"skip": 1}
    assert codes(spec) == ["set_aside"]


def test_an_overridden_result_is_set_aside(tmp_path: Path) -> None:
    override = (
        '<override time="2026-05-01T00:00:00" authority="Ann"><old-result>fail</old-result>'
        "<new-result>pass</new-result><remark>S3CRET</remark></override>"
    )
    row = f'<rule-result idref="a"><result>pass</result>{override}</rule-result>'
    spec = spec_of(XCCDF.format(rows=row), tmp_path)
    [found] = spec["rows"]
    assert (found["status"], found["stated_status"]) == ("failed", "passed")
    assert found["set_aside"] == [{"status": "fail to pass", "source": "Ann", "times": 1}]
    assert (spec["counts"]["failed"], codes(spec)) == (1, ["set_aside"])
    assert "S3CRET" not in json.dumps(spec)


def test_two_results_of_one_rule_both_count(tmp_path: Path) -> None:
    row = '<rule-result idref="a"><result>pass</result><result>fail</result></rule-result>'
    assert spec_of(XCCDF.format(rows=row), tmp_path)["rows"][0]["status"] == "failed"


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
