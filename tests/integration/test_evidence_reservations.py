"""Evidence that counts for less than it says: set aside, by nobody's leave, contradictory, empty, invalid. Through the command."""

from __future__ import annotations

import csv
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import Run, run
from tests.integration.test_evidence import DIGEST, POD, audited, sbom, status
from tests.integration.test_wrong_types import (
    CLEAN,
    FINDING,
    OVERRIDE,
    XCCDF,
    bench,
    cluster,
    row,
    sarif,
    trivy,
    vex,
)

VULNERABILITIES = "evidence/vulnerabilities-fixed"
BENCHMARK = "evidence/benchmark-passed"
LOW = {"ruleId": "CVE-2099-0009", "level": "note"}


def outcomes(done: Run, rule: str) -> list[str]:
    with gzip.open(done.folder / "population.csv.gz", "rt", encoding="utf-8", newline="") as file:
        return [pair["outcome"] for pair in csv.DictReader(file) if pair["rule"] == rule]


def notices(done: Run, code: str) -> list[dict[str, Any]]:
    return [notice for notice in done.report["notices"] if notice["code"] == code]


def configured(folder: Path, rule: str, **parameters: list[str]) -> Path:
    path = folder / "fleetaudit.yaml"
    path.write_text(json.dumps({"parameters": {rule: parameters}}))
    return path


def modified(state: str, source: str) -> dict[str, Any]:
    entry = {
        "Type": "vulnerability",
        "Status": state,
        "Source": source,
        "Statement": "C4NARY",
        "Finding": FINDING,
    }
    return trivy(CLEAN | {"ExperimentalModifiedFindings": [entry]})


def suppressed(kind: str) -> dict[str, Any]:
    result = {
        "ruleId": "CVE-2099-0001",
        "level": "error",
        "suppressions": [{"kind": kind, "status": "accepted"}],
    }
    return sarif(LOW, result)


SET_ASIDE: dict[str, tuple[str, Any, str, str, str]] = {
    "trivy, ignored": ("r.json", modified("ignored", ".trivyignore"), VULNERABILITIES, "1 ignored", ".trivyignore"),
    "trivy, VEX": ("r.json", modified("not_affected", "./vex.json"), VULNERABILITIES, "1 not_affected", "./vex.json"),
    "SARIF, in the source": ("r.sarif", suppressed("inSource"), VULNERABILITIES, "1 accepted", "inSource"),
    "SARIF, elsewhere": ("r.sarif", suppressed("external"), VULNERABILITIES, "1 accepted", "external"),
    "XCCDF, replaced": ("r.xml", XCCDF.format("<result>pass</result>" + OVERRIDE.format("fail", "pass")), BENCHMARK, "1 fail to pass", "Ann"),
    "kube-bench, skipped": ("r.json", bench(row("PASS"), row("INFO", "1.2", type="skip")), BENCHMARK, "1 skip", "kube-bench configuration"),
}  # fmt: skip


@pytest.mark.parametrize("name", SET_ASIDE)
def test_what_its_author_set_aside_counts_unless_the_source_is_trusted(name: str, tmp_path: Path) -> None:
    file, document, rule, told, source = SET_ASIDE[name]
    files: dict[str, str | bytes] = {file: document if isinstance(document, str) else json.dumps(document)}
    done = audited(tmp_path, files)
    [outcome] = outcomes(done, rule)
    assert outcome == ("error" if "skip" in told else "fail")
    [notice] = notices(done, "set_aside")
    assert notice["source"].endswith(file)
    assert notice["count"] == 1
    assert told in notice["message"]
    assert f"source: {source}" in notice["message"]
    assert f"parameters.{rule}.trusted_suppressions" in notice["message"]
    assert "C4NARY" not in json.dumps(done.report)

    config = configured(tmp_path, rule, trusted_suppressions=[source])
    trusting = audited(tmp_path, files, "--config", config)
    assert outcomes(trusting, rule) == ["pass"]
    assert notices(trusting, "set_aside") == [notice], "believed, and said all the same"

    config = configured(tmp_path, rule, trusted_suppressions=["somebody else"])
    assert outcomes(audited(tmp_path, files, "--config", config), rule) == [outcome]


def test_the_fact_has_the_number_the_statuses_and_the_sources(tmp_path: Path) -> None:
    entries = [
        modified(state, source)["Results"][0]["ExperimentalModifiedFindings"][0]
        for state, source in (("ignored", ".trivyignore"), ("ignored", ".trivyignore"), ("fixed", "vex.json"))
    ]
    report = trivy(CLEAN | {"ExperimentalModifiedFindings": entries})
    done = audited(tmp_path, {"r.json": json.dumps(report)})
    [notice] = notices(done, "set_aside")
    assert notice["count"] == 3
    assert "(2 ignored, 1 fixed; source: .trivyignore, vex.json)" in notice["message"]
    page = (done.folder / "report.html").read_text(encoding="utf-8")
    assert "Evidence with reservations" in page
    assert "3 set aside by whoever made the file" in page


@pytest.mark.parametrize(
    "report",
    [
        trivy(CLEAN, Metadata={"OS": {"Family": "alpine", "Name": "3.9.4", "EOSL": True}}),
        cluster(
            {"Results": [CLEAN], "Metadata": [{"OS": {"Family": "alpine", "Name": "3.9.4", "EOSL": True}}]}
        ),
    ],
)
def test_an_operating_system_without_support_is_not_clean(tmp_path: Path, report: dict[str, Any]) -> None:
    done = audited(tmp_path, {"r.json": json.dumps(report)})
    assert outcomes(done, VULNERABILITIES) == ["fail"]
    [finding] = done.findings(VULNERABILITIES)
    assert "alpine 3.9.4 is no longer supported" in json.dumps(finding)
    assert notices(done, "unsupported_system")


def test_nobody_is_believed_about_vulnerabilities_until_named(tmp_path: Path) -> None:
    report = trivy(CLEAN | {"Vulnerabilities": [FINDING]})
    files: dict[str, str | bytes] = {"r.json": json.dumps(report), "v.vex": json.dumps(vex())}
    done = audited(tmp_path, files)
    assert outcomes(done, VULNERABILITIES) == ["fail"]
    [notice] = notices(done, "vex_author_unlisted")
    assert notice["source"].endswith("v.vex")
    assert notice["count"] == 1
    assert "Ann" in notice["message"]
    assert "parameters.evidence/vulnerabilities-fixed.vex_authors" in notice["message"]
    for authors, outcome, said in ((["Bob"], "fail", True), (["ANN"], "pass", False), (["*"], "pass", False)):
        config = configured(tmp_path, VULNERABILITIES, vex_authors=authors)
        done = audited(tmp_path, files, "--config", config)
        assert outcomes(done, VULNERABILITIES) == [outcome]
        assert bool(notices(done, "vex_author_unlisted")) is said
    nameless = {**files, "v.vex": json.dumps(vex() | {"author": ""})}
    done = audited(tmp_path, nameless, "--config", configured(tmp_path, VULNERABILITIES, vex_authors=["Ann"]))
    assert outcomes(done, VULNERABILITIES) == ["fail"]
    assert "an author without a name" in notices(done, "vex_author_unlisted")[0]["message"]


@pytest.mark.parametrize(
    "document",
    [
        bench(row("PASS"), total_pass=1, total_fail=3),
        {"Controls": [bench(row("PASS"))], "Totals": {"total_pass": 1, "total_fail": 3}},
        {"Controls": [bench(row("PASS"), total_pass=1)], "Totals": {"total_pass": 9}},
        bench() | {"tests": [{"section": "1.1", "pass": 2, "results": [row("PASS")]}]},
    ],
    ids=["node type", "whole", "more than there is", "section"],
)
def test_totals_that_contradict_the_rows_are_told_and_not_green(
    tmp_path: Path, document: dict[str, Any]
) -> None:
    done = audited(tmp_path, {"r.json": json.dumps(document)})
    assert outcomes(done, BENCHMARK) == ["error"]
    [notice] = notices(done, "totals_differ")
    assert "stated" in notice["message"]
    assert done.code == 3


def test_every_empty_file_is_accounted_for(tmp_path: Path) -> None:
    empty = [
        "a.json",
        "b.xml",
        "c.sarif",
        "d.spdx",
        "e.cdx.json",
        "f.sigstore.json",
        "g.sig",
        "h.vex",
        "i.jsonld",
    ]
    nothing: dict[str, str | bytes] = dict.fromkeys(empty, b"")
    blank: dict[str, str | bytes] = {
        "j.json": " \n",
        "k.json": b"\xef\xbb\xbf",
        "l.xml": "\r\n",
        "m.json": "{}\n",
    }
    streams: dict[str, str | bytes] = {"n.yaml": b"", "o.yml": b"", "p.yaml": " \n", "q.spdx.yaml": b""}
    other: dict[str, str | bytes] = {"r.txt": b"", "pod.yaml": POD % DIGEST}
    files = nothing | blank | streams | other
    done = audited(tmp_path, files)
    missed = {Path(gap["source"]).name: gap["reason"] for gap in done.gaps}
    assert set(missed) == {*nothing, *blank}
    assert all(reason.startswith("empty file: malformed: ") for reason in missed.values())
    assert {Path(notice["source"]).name for notice in notices(done, "empty_file")} == set(streams)
    assert done.code == 3
    record = done.report["record"]
    [other_type] = notices(done, "other_type")
    assert len(files) == len(record["inputs"]) + len(done.gaps) + other_type["count"]
    denominator = record["denominator"]
    assert denominator["documents"] == denominator["objects"] + denominator["not_objects"]
    assert denominator["in_gaps"] == len(done.gaps)


def test_an_empty_file_hides_evidence_and_no_manifest(tmp_path: Path) -> None:
    done = audited(tmp_path, {"pod.yaml": POD % DIGEST, "scan.sarif": b""})
    [gap] = done.gaps
    assert gap["kinds"] == ["artifacts.fleetaudit.dev/VulnerabilityReport"]
    assert "MAP 4.1" in held_back(done)
    assert "LFAI-SBOM-02" not in held_back(done)
    assert outcomes(done, "pod/privileged") == ["pass"]
    # One clean scan does not stand for the one that failed.
    clean = audited(tmp_path, {"clean.json": json.dumps(trivy(CLEAN))})
    assert outcomes(clean, VULNERABILITIES) == ["pass"]
    assert "MAP 4.1" in held_back(clean)
    (tmp_path / "source" / "scan.sarif").unlink()
    assert not held_back(audited(tmp_path, {}))


def held_back(done: Run) -> set[str]:
    """Controls that a gap keeps undecided."""
    return {row["fleet"]["control"] for row in done.report["controls"] if row["fleet"]["gaps"]}


@pytest.mark.parametrize(
    "change",
    [{"metadata": 7}, {"components": [{"type": "library"}]}, {"version": "one"}, {"serialNumber": "x"}],
    ids=["metadata", "components", "version", "serialNumber"],
)
def test_an_invalid_bill_of_materials_proves_nothing(tmp_path: Path, change: dict[str, Any]) -> None:
    good: dict[str, str | bytes] = {"pod.yaml": POD % DIGEST, "app.cdx.json": json.dumps(sbom(DIGEST))}
    done = audited(tmp_path, good)
    assert outcomes(done, "sbom/image-has-sbom") == ["pass"]
    assert outcomes(done, "sbom/structure-sound") == ["pass"]
    done = audited(tmp_path, good | {"app.cdx.json": json.dumps(sbom(DIGEST, **change))})
    assert outcomes(done, "sbom/format-valid") == ["fail"]
    assert outcomes(done, "sbom/image-has-sbom") == ["fail"]
    about_it = ("structure-sound", "licences-known", "ntia-complete", "subject-bound", "fresh")
    found = {rule: outcomes(done, f"sbom/{rule}") for rule in about_it}
    assert not [rule for rule, said in found.items() if "pass" in said]
    assert status(done, "LFAI-SBOM-01")[0] == "not_satisfied"


def test_no_reason_of_a_gap_says_twice_who_reads(tmp_path: Path) -> None:
    broken: dict[str, str | bytes] = {
        "scorecard.json": '{"scorecard": {}, "repo": {}, "checks": []}',
        "testgrid.json": '{"a": {"overall_status": 1}, "b": 7}',
        "xccdf.xml": '<Benchmark xmlns="http://checklists.nist.gov/xccdf/1.2"/>',
        "kube-bench.json": '{"node_type": "master", "tests": 7}',
        "trivy.json": '{"SchemaVersion": 2, "ArtifactName": "a", "Results": "none"}',
        "sarif.json": '{"version": "2.1.0", "runs": "none"}',
        "vex.json": '{"@context": "https://openvex.dev/ns/v0.2.0", "statements": 7}',
        "index.json": '{"mediaType": "application/vnd.oci.image.index.v1+json", "manifests": 7}',
        "oci-layout": '{"imageLayoutVersion": "1.0.0"}',
        "big.cdx.yaml": "spdxVersion: SPDX-2.3\n" + "# " + "x" * (13 << 20),
        "saved.tar": b"manifest.json" + b"\0" * 600,
        "empty.sarif": b"",
    }
    done = audited(tmp_path, broken)
    reasons = {Path(gap["source"]).name: gap["reason"] for gap in done.gaps}
    wanted = {"scorecard.json", "testgrid.json", "xccdf.xml", "kube-bench.json", "trivy.json", "sarif.json"}
    assert set(reasons) >= wanted | {"vex.json", "big.cdx.yaml", "empty.sarif"}, reasons
    doubled = [reason for reason in reasons.values() if re.match(r"(?i)([^:]+): \1\b", reason)]
    assert not doubled
    for name in ("kube-bench.json", "trivy.json", "sarif.json", "vex.json", "testgrid.json"):
        assert "malformed" in reasons[name], reasons[name]


def test_the_same_facts_are_read_from_standard_input(tmp_path: Path) -> None:
    done = run(tmp_path / "out", "-", "--no-cache", stdin=b"")
    assert [notice["source"] for notice in notices(done, "empty_file")] == ["-"]
    assert done.code == 3
