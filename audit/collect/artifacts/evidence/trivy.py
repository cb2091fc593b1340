"""Reports of Trivy in JSON: images, file systems, clusters, and the list of old versions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from audit.collect.artifacts.evidence.findings import ScanFinding, finding_facts, severity
from audit.collect.artifacts.evidence.result_file import ResultReader, named, objects_of
from audit.collect.artifacts.sbom.document import mapping, mappings, texts
from audit.collect.artifacts.sbom.problems import FormatError

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_OLD = re.compile(r"\[\s*\{\s*\"Target\"\s*:")
_PARTS = ("Vulnerabilities", "Misconfigurations", "Secrets", "Licenses")


class TrivyReader(ResultReader):
    """Reads ``trivy --format json``."""

    name = "Trivy"
    kinds = frozenset({"VulnerabilityReport"})

    def fits(self, text: str) -> bool:
        """By the names of the parts of its report."""
        if text.startswith("["):
            return _OLD.match(text) is not None
        if not text.startswith("{") or '"$schema"' in text[:500]:
            return False
        versioned = '"SchemaVersion"' in text and any(
            word in text for word in ('"ArtifactName"', '"ArtifactType"', '"Results"')
        )
        cluster = '"ClusterName"' in text and '"Resources"' in text
        older = '"RepoTags"' in text and '"Results"' in text and '"Target"' in text
        return versioned or cluster or older

    def specs(self, data: bytes) -> Iterator[dict[str, Any]]:
        """One report."""
        value = objects_of(data)
        report = {"Results": value} if isinstance(value, list) else mapping(value)
        if not report:
            raise FormatError("not_a_report", "the document is no report")
        found: list[ScanFinding] = []
        targets: list[dict[str, Any]] = []
        suppressed = 0
        for resource, result in _results(report):
            before = len(found)
            found += _findings(result, resource)
            suppressed += len(mappings(result.get("ExperimentalModifiedFindings")))
            targets.append(
                {
                    "target": named(result.get("Target")),
                    "class": named(result.get("Class")),
                    "type": named(result.get("Type")),
                    "resource": resource,
                    "findings": len(found) - before,
                }
            )
        yield {
            "form": "trivy",
            "tool": {"name": "trivy", "version": named(mapping(report.get("Trivy")).get("Version"))},
            "subject": _subject(report),
            "created": self.created(report.get("CreatedAt")),
            **finding_facts(found, scanned=bool(targets), targets=targets, suppressed=suppressed),
        }


def _results(report: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for result in mappings(report.get("Results")):
        yield "", result
    for key in ("Resources", "Findings", "Vulnerabilities", "Misconfigurations"):
        for resource in mappings(report.get(key)) if "Results" not in report else ():
            place = f"{named(resource.get('Namespace'))}/" if resource.get("Namespace") else ""
            name = f"{named(resource.get('Kind'))} {place}{named(resource.get('Name'))}"
            for result in mappings(resource.get("Results")):
                yield name, result


def _findings(result: dict[str, Any], resource: str) -> Iterator[ScanFinding]:
    target = named(result.get("Target"))
    for one in mappings(result.get("Vulnerabilities")):
        yield ScanFinding(
            kind="vulnerability",
            id=named(one.get("VulnerabilityID")),
            severity=severity(one.get("Severity")),
            package=named(one.get("PkgName")),
            version=named(one.get("InstalledVersion")),
            fixed=named(one.get("FixedVersion")),
            purl=named(mapping(one.get("PkgIdentifier")).get("PURL")),
            target=target,
            resource=resource,
            title=named(one.get("Title")),
            status=named(one.get("Status")),
        )
    for one in mappings(result.get("Misconfigurations")):
        if one.get("Status", "FAIL") == "FAIL":
            yield _simple("misconfiguration", one, "ID", target, resource)
    for one in mappings(result.get("Secrets")):
        yield _simple("secret", one, "RuleID", target, resource)
    for one in mappings(result.get("Licenses")):
        yield _simple("licence", one, "Name", target, resource, package=named(one.get("PkgName")))


def _simple(
    kind: str, one: dict[str, Any], key: str, target: str, resource: str, package: str = ""
) -> ScanFinding:
    return ScanFinding(
        kind=kind,
        id=named(one.get(key)),
        severity=severity(one.get("Severity")),
        package=package,
        target=target,
        resource=resource,
        title=named(one.get("Title")),
        status=named(one.get("Status")),
    )


def _subject(report: dict[str, Any]) -> dict[str, Any]:
    metadata = mapping(report.get("Metadata"))
    references = texts(metadata.get("RepoTags")) + texts(report.get("RepoTags"))
    digests = texts(metadata.get("RepoDigests")) + texts(report.get("RepoDigests"))
    return {
        "name": named(report.get("ArtifactName") or report.get("ClusterName")),
        "kind": named(report.get("ArtifactType")),
        "references": references[:50],
        "images": sorted({digest for one in digests for digest in _DIGEST.findall(one)})[:50],
    }
