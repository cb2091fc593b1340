"""``policy-reports.yaml`` and ``openreports.yaml``: findings as objects that tools inside a cluster read.

Each cluster gets one cluster-wide report that says whether the audit is complete, and reports for its namespaces. Passes are
not listed: they stand in the population file, and a summary of what isn't listed would be an invented figure. Every line is one
JSON document, which is YAML that no text of the audited world can break out of.

Sources: policyreports.wgpolicyk8s.io v1alpha2; openreports.io v1alpha1.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

import msgspec

from audit.model.canonical import canonical_json
from audit.model.finding import Finding, FindingGroup, Outcome
from audit.model.gap import Gap
from audit.model.gate import IncompleteCode
from audit.model.result import AssessmentResult
from audit.model.run import ClusterRecord
from audit.report.files import POLICY_REPORTS_MARK
from audit.report.json_writer import seal
from audit.report.one_file import OneFileWriter
from audit.report.rows import finding_id, findings
from audit.report.text import visible
from audit.report.texts import Texts
from audit.report.view_verdict import incomplete_text

RESULTS = 250
"""Results in one object: with `_MESSAGE` and `_PROPERTY` it stays far below the 1.5 MB that etcd takes."""
_MESSAGE = 1_000
_PROPERTY = 500
_HELD = 50_000
"""Results in memory; above it the fullest report is written early."""
_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", re.ASCII)
_NAMESPACE = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
_OF_ONE_CLUSTER = (IncompleteCode.GAPS, IncompleteCode.GATE_NOT_DECIDED)
_RESULTS = {Outcome.FAIL: "fail", Outcome.WARN: "warn", Outcome.ERROR: "error"}

Json = dict[str, Any]
Key = tuple[str, str]
"""Cluster and namespace."""


class Dialect(msgspec.Struct, frozen=True):
    """How one of the two APIs calls the same thing."""

    api_version: str
    namespaced: str
    cluster_wide: str
    own_source: bool
    """Whether the report itself, and not only each result, names its source."""


class PolicyReportWriter(OneFileWriter):
    """Writes ``policy-reports.yaml``."""

    name = "policy-reports"
    file_name = "policy-reports.yaml"
    dialect: ClassVar[Dialect] = Dialect(
        "wgpolicyk8s.io/v1alpha2", "PolicyReport", "ClusterPolicyReport", own_source=False
    )

    def render_to(self, result: AssessmentResult, stream: BinaryIO) -> None:
        """Write the same bytes to an open stream."""
        stream.write(POLICY_REPORTS_MARK + b"\n")
        for report in _Reports(seal(result), self.dialect).all():
            stream.write(b"---\n" + canonical_json(report) + b"\n")


class OpenReportsWriter(PolicyReportWriter):
    """Writes ``openreports.yaml``."""

    name = "openreports"
    file_name = "openreports.yaml"
    dialect = Dialect("openreports.io/v1alpha1", "Report", "ClusterReport", own_source=True)


class _Reports:
    """The objects of one result."""

    def __init__(self, result: AssessmentResult, dialect: Dialect) -> None:
        self._result = result
        self._dialect = dialect
        moment = dt.datetime.fromisoformat(result.record.state_time)
        self._timestamp = {"seconds": int(moment.timestamp()), "nanos": 0}
        self._written: Counter[Key] = Counter()
        self._annotations = {
            "fleetaudit.dev/result-sha256": result.record.result_sha256,
            "fleetaudit.dev/judged-at": result.record.state_time,
        }

    def all(self) -> Iterator[Json]:
        """Completeness of each cluster first, then findings as they fill a report, the rest in order."""
        for cluster in self._result.record.clusters:
            gaps = [gap for gap in self._result.gaps if gap.cluster in ("", cluster.name)]
            yield self._report((cluster.name, ""), [self._completeness(cluster, gaps)])
        waiting: dict[Key, list[Json]] = {}
        held = 0
        for group, finding in findings(self._result):
            key = finding.subject.cluster, _namespace_of(finding)
            waiting.setdefault(key, []).append(self._entry(group, finding))
            held += 1
            if len(waiting[key]) < RESULTS and held < _HELD:
                continue
            fullest = max(waiting, key=lambda one: len(waiting[one]))
            full = waiting.pop(fullest)
            held -= len(full)
            yield self._report(fullest, full)
        for key in sorted(waiting):
            yield self._report(key, waiting[key])

    def _report(self, key: Key, entries: list[Json]) -> Json:
        self._written[key] += 1
        cluster, namespace = key
        dialect = self._dialect
        digest = hashlib.sha256(
            "|".join((cluster, namespace)).encode("utf-8", "backslashreplace")
        ).hexdigest()
        metadata: Json = {
            "name": f"fleetaudit-{digest[:12]}-{self._written[key]}",
            "labels": {"app.kubernetes.io/managed-by": "fleetaudit"},
            "annotations": {**self._annotations, "fleetaudit.dev/cluster": visible(cluster)},
        }
        if _LABEL.fullmatch(cluster):
            metadata["labels"]["fleetaudit.dev/cluster"] = cluster
        if namespace:
            metadata["namespace"] = namespace
        counts = Counter(entry["result"] for entry in entries)
        return {
            "apiVersion": dialect.api_version,
            "kind": dialect.namespaced if namespace else dialect.cluster_wide,
            "metadata": metadata,
            **({"source": "fleetaudit"} if dialect.own_source else {}),
            "summary": dict(sorted(counts.items())),
            "results": entries,
        }

    def _completeness(self, cluster: ClusterRecord, gaps: list[Gap]) -> Json:
        """Without it a cluster of which nothing was seen would look like one without findings."""
        opened = [gap for gap in gaps if not gap.allowed]
        # A failed engine or a run that was stopped concerns every cluster; gaps of another one do not.
        told = [reason for reason in self._result.incomplete_reasons if reason.code not in _OF_ONE_CLUSTER]
        complete = cluster.reached and not opened and not told
        undecided = sum(
            number
            for key, number in self._result.tally.counts.items()
            if key.cluster == cluster.name and key.outcome is Outcome.ERROR
        )
        if complete:
            message = f"{cluster.subjects} objects read; nothing was left unlooked at that is not tolerated"
        elif cluster.reached and opened:
            message = (
                f"{cluster.subjects} objects read; {len(opened)} gaps: what is behind them was not looked at"
            )
        elif cluster.reached:
            message = "; ".join(incomplete_text(reason, Texts()) for reason in told)
        else:
            message = "the cluster was not reached: nothing of it was looked at"
        return {
            "source": "fleetaudit",
            "policy": "fleetaudit/complete",
            "result": "pass" if complete else "error",
            "scored": True,
            "timestamp": self._timestamp,
            "message": message,
            "properties": {
                "gaps": str(len(gaps)),
                "gapsTolerated": str(len(gaps) - len(opened)),
                "pairsWithoutVerdict": str(undecided),
            },
        }

    def _entry(self, group: FindingGroup, finding: Finding) -> Json:
        subject, violation, place = finding.subject, finding.violation, finding.place
        told = {
            "finding": finding_id(group, finding),
            "group": group.id,
            "path": violation.path_text,
            "container": violation.container,
            "file": f"{place.file}:{place.line}" if place and place.line else (place.file if place else ""),
            "error": finding.error,
            "waiver": finding.waiver,
        }
        resource = {
            "apiVersion": f"{subject.group}/{subject.version}" if subject.group else subject.version,
            "kind": subject.kind,
            "name": subject.name,
            "namespace": subject.namespace,
        }
        return {
            "source": "fleetaudit",
            "policy": finding.rule,
            "category": finding.rule.partition("/")[0],
            "severity": finding.severity.value,
            "result": _RESULTS[finding.outcome],
            # A waiver changes no outcome; it says that somebody answers for it until a date.
            "scored": not finding.waiver,
            "timestamp": self._timestamp,
            "message": visible(violation.message, _MESSAGE),
            "resources": [{key: visible(text, _PROPERTY) for key, text in resource.items() if text}],
            "properties": {key: visible(text, _PROPERTY) for key, text in told.items() if text},
        }


def _namespace_of(finding: Finding) -> str:
    """Where the report goes; a namespace that no server would take is none."""
    namespace = finding.subject.namespace
    return namespace if _NAMESPACE.fullmatch(namespace) else ""
