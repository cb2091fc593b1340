"""Findings as objects for the API server: bounded, complete, inert, and never clean for what was not looked at."""

from __future__ import annotations

import io
import json
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.model.finding import FindingGroup, Outcome
from audit.model.gap import GapKind
from audit.model.gate import IncompleteCode, IncompleteReason
from audit.model.result import AssessmentResult
from audit.report import policy_reports
from audit.report.policy_reports import OpenReportsWriter, PolicyReportWriter
from tests import builders as b

ETCD_LIMIT = 1_500_000


def documents(result: AssessmentResult, writer: type[PolicyReportWriter] = PolicyReportWriter) -> list[Any]:
    stream = io.BytesIO()
    writer().render_to(result, stream)
    return list(yaml.load_all(stream.getvalue(), yaml.CSafeLoader))


def entries(result: AssessmentResult) -> list[dict[str, Any]]:
    return [entry for document in documents(result) for entry in document["results"]]


def group_of(number: int, **changes: Any) -> FindingGroup:
    members = tuple(b.finding(subject=b.subject(f"pod-{n}", **changes)) for n in range(number))
    return b.group(members=members)


def test_each_finding_once_in_reports_that_the_server_can_store() -> None:
    result = b.result([group_of(1_003, namespace="ml"), group_of(7, namespace="")])
    found = documents(result)
    listed = [e for d in found for e in d["results"] if e["policy"] != "fleetaudit/complete"]
    assert len(listed) == 1_010
    assert len({entry["resources"][0]["name"] for entry in listed}) == 1_003
    assert len({d["metadata"]["name"] for d in found}) == len(found)
    for document in found:
        assert len(document["results"]) <= policy_reports.RESULTS
        assert sum(document["summary"].values()) == len(document["results"])
        assert (document["kind"] == "PolicyReport") is ("namespace" in document["metadata"])


def test_the_largest_report_stays_below_the_limit_of_etcd() -> None:
    long = "ä" * 10_000
    members = tuple(
        b.finding(
            subject=b.subject(f"{n}-{long}", namespace="ml"),
            violation=b.violation(message=long, path=("spec", long), container=long),
        )
        for n in range(policy_reports.RESULTS)
    )
    for document in documents(b.result([b.group(members=members)])):
        assert len(json.dumps(document, ensure_ascii=False).encode()) < ETCD_LIMIT


def test_what_was_not_looked_at_is_an_error_and_never_nothing() -> None:
    clean = b.result()
    (told,) = entries(clean)
    assert (told["policy"], told["result"]) == ("fleetaudit/complete", "pass")
    gap = b.gap(kind=GapKind.FORBIDDEN, cluster=clean.record.clusters[0].name)
    (told,) = entries(msgspec.structs.replace(clean, gaps=(gap,)))
    assert told["result"] == "error"
    assert told["properties"] == {"gaps": "1", "gapsTolerated": "0", "pairsWithoutVerdict": "0"}
    lost = msgspec.structs.replace(clean.record.clusters[0], reached=False, subjects=0)
    record = msgspec.structs.replace(clean.record, clusters=(lost,))
    (told,) = entries(msgspec.structs.replace(clean, record=record))
    assert told["result"] == "error"
    assert "not reached" in told["message"]


def test_an_engine_that_failed_is_no_clean_cluster() -> None:
    """Without any gap: pairs that nobody could decide are no findings, and would leave the report empty."""
    clean = b.result()
    clean.tally.add("pod/privileged", clean.record.clusters[0].name, Outcome.ERROR, number=3)
    failed = IncompleteReason(code=IncompleteCode.ERRORS, number=3)
    (told,) = entries(msgspec.structs.replace(clean, incomplete_reasons=(failed,), complete=False))
    assert told["result"] == "error"
    assert "3" in told["message"]
    assert told["properties"]["pairsWithoutVerdict"] == "3"


def test_a_gap_of_another_cluster_leaves_this_one_alone() -> None:
    clean = b.result()
    gap = b.gap(kind=GapKind.FORBIDDEN, cluster="elsewhere")
    reason = IncompleteReason(code=IncompleteCode.GAPS, number=1)
    other = msgspec.structs.replace(clean, gaps=(gap,), incomplete_reasons=(reason,), complete=False)
    assert [told["result"] for told in entries(other)] == ["pass"]


def test_a_waived_failure_stays_one() -> None:
    members = (b.finding(subject=b.subject("p"), waiver="W-1"),)
    listed = entries(b.result([b.group(members=members)]))[1:]
    assert [(e["result"], e["scored"], e["properties"]["waiver"]) for e in listed] == [("fail", False, "W-1")]


def test_memory_is_bounded_over_many_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_reports, "_HELD", 10)
    members = tuple(b.finding(subject=b.subject(f"p{n}", namespace=f"n{n % 7}")) for n in range(100))
    found = documents(b.result([b.group(members=members)]))
    assert sum(len(d["results"]) for d in found[1:]) == 100
    assert len(found) > 8
    assert len({d["metadata"]["name"] for d in found}) == len(found)


@settings(deadline=None, max_examples=50)
@given(st.text(), st.text(), st.text())
def test_no_text_breaks_out(name: str, namespace: str, message: str) -> None:
    finding = b.finding(subject=b.subject(name, namespace=namespace), violation=b.violation(message=message))
    for writer in (PolicyReportWriter, OpenReportsWriter):
        found = documents(b.result([b.group(members=(finding,))]), writer)
        assert len(found) == 2
        assert [set(d) >= {"apiVersion", "kind", "metadata", "results"} for d in found] == [True, True]
        assert found[1]["results"][0]["message"].isprintable() or found[1]["results"][0]["message"] == ""
