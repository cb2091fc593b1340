"""Reports of Trivy in JSON: images, file systems, clusters, and the list of old versions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from audit.collect.artifacts.evidence.fields import (
    flag_at,
    list_at,
    mapping_at,
    mapping_of,
    mappings_at,
    text_at,
    texts_at,
    whole_at,
)
from audit.collect.artifacts.evidence.findings import ScanFinding, finding_facts, severity
from audit.collect.artifacts.evidence.result_file import ResultReader, named, objects_of
from audit.collect.artifacts.evidence.set_aside import SetAside
from audit.collect.artifacts.sbom.problems import FormatError

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_OLD = re.compile(r"\[\s*\{\s*\"Target\"\s*:")
_KINDS = {
    "vulnerability": "vulnerability",
    "misconfiguration": "misconfiguration",
    "secret": "secret",
    "license": "licence",
}
MAX_NAMED = 50


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
        report = {"Results": value} if isinstance(value, list) else mapping_of(value, "the report")
        if not report:
            raise FormatError("not_a_report", "the document is no report")
        found: list[ScanFinding] = []
        targets: list[dict[str, Any]] = []
        resources = list(_resources(report))
        for resource, result in _results(report, resources):
            before = len(found)
            target = text_at(result, "Target")
            found += _findings(result, target, resource)
            found += _set_aside(result, target, resource)
            targets.append(
                {
                    "target": target,
                    "class": text_at(result, "Class"),
                    "type": text_at(result, "Type"),
                    "resource": resource,
                    "findings": len(found) - before,
                }
            )
        unsupported = sorted(set(_unsupported(report, [one for _, one in resources])))
        yield {
            "form": "trivy",
            "tool": {"name": "trivy", "version": text_at(mapping_at(report, "Trivy"), "Version")},
            "subject": _subject(report),
            "created": self.created(report.get("CreatedAt")),
            "unsupported_systems": unsupported[:MAX_NAMED],
            "unscanned": [name for name, one in resources if text_at(one, "Error")][:MAX_NAMED],
            **finding_facts(found, scanned=bool(targets), targets=targets, notices=_notices(unsupported)),
        }


def _resources(report: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Objects of a cluster, with their names; older versions sort them by what was found."""
    for key in ("Resources", "Findings", "Vulnerabilities", "Misconfigurations"):
        for resource in mappings_at(report, key):
            space = text_at(resource, "Namespace")
            name = f"{space}/{text_at(resource, 'Name')}" if space else text_at(resource, "Name")
            yield f"{text_at(resource, 'Kind')} {name}", resource


def _results(
    report: dict[str, Any], resources: list[tuple[str, dict[str, Any]]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    for result in mappings_at(report, "Results"):
        yield "", result
    for name, resource in resources:
        for result in mappings_at(resource, "Results"):
            yield name, result


def _findings(result: dict[str, Any], target: str, resource: str) -> Iterator[ScanFinding]:
    for one in mappings_at(result, "Vulnerabilities"):
        yield _finding("vulnerability", one, target, resource)
    for one in mappings_at(result, "Misconfigurations"):
        # Whatever is not said to have passed has not.
        status = text_at(one, "Status")
        if status == "EXCEPTION":
            aside = SetAside(status="exception", source="policy exception")
            yield _finding("misconfiguration", one, target, resource, aside)
        elif status != "PASS":
            yield _finding("misconfiguration", one, target, resource)
    for one in mappings_at(result, "Secrets"):
        yield _finding("secret", one, target, resource)
    for one in mappings_at(result, "Licenses"):
        yield _finding("licence", one, target, resource)


def _set_aside(result: dict[str, Any], target: str, resource: str) -> Iterator[ScanFinding]:
    """What ``--show-suppressed`` adds, and exceptions that are counted and not listed."""
    for one in mappings_at(result, "ExperimentalModifiedFindings"):
        kind = _KINDS.get(text_at(one, "Type"))
        if kind is None:
            raise FormatError("wrong_type", "malformed: a modified finding is of no known type")
        aside = SetAside(status=text_at(one, "Status"), source=text_at(one, "Source"))
        yield _finding(kind, mapping_at(one, "Finding"), target, resource, aside)
    listed = sum(text_at(one, "Status") == "EXCEPTION" for one in mappings_at(result, "Misconfigurations"))
    counted = whole_at(mapping_at(result, "MisconfSummary"), "Exceptions") or 0
    if counted > listed:
        aside = SetAside(status="exception", source="policy exception", times=counted - listed)
        title = f"{counted - listed} exceptions that the report counts and does not list"
        yield ScanFinding(
            kind="misconfiguration", id="", target=target, resource=resource, title=title, set_aside=aside
        )


def _finding(
    kind: str, one: dict[str, Any], target: str, resource: str, aside: SetAside | None = None
) -> ScanFinding:
    ids = {
        "vulnerability": "VulnerabilityID",
        "misconfiguration": "ID",
        "secret": "RuleID",
        "licence": "Name",
    }
    return ScanFinding(
        kind=kind,
        id=text_at(one, ids[kind]),
        severity=severity(one.get("Severity")),
        package=text_at(one, "PkgName"),
        version=text_at(one, "InstalledVersion"),
        fixed=text_at(one, "FixedVersion"),
        purl=text_at(mapping_at(one, "PkgIdentifier"), "PURL"),
        target=target,
        resource=resource,
        title=named(one.get("Title")),
        status=named(one.get("Status")),
        set_aside=aside,
    )


def _unsupported(report: dict[str, Any], resources: list[dict[str, Any]]) -> Iterator[str]:
    """Operating systems that their makers no longer support, so that nobody lists their vulnerabilities."""
    parts = [mapping_at(report, "Metadata")]
    for resource in resources:
        one = resource.get("Metadata")
        parts += [one] if isinstance(one, dict) else mappings_at(resource, "Metadata")
    for part in parts:
        system = mapping_at(part, "OS")
        if flag_at(system, "EOSL"):
            yield f"{text_at(system, 'Family')} {text_at(system, 'Name')}".strip() or "an operating system"


def _notices(unsupported: list[str]) -> list[dict[str, Any]]:
    if not unsupported:
        return []
    listed = ", ".join(unsupported[:5])
    message = (
        f"{listed}: no longer supported by its maker, so that no scanner knows all of its vulnerabilities"
    )
    return [{"code": "unsupported_system", "message": message, "count": len(unsupported)}]


def _subject(report: dict[str, Any]) -> dict[str, Any]:
    metadata = mapping_at(report, "Metadata")
    references = texts_at(metadata, "RepoTags") + texts_at(report, "RepoTags")
    digests = list_at(metadata, "RepoDigests") + list_at(report, "RepoDigests")
    return {
        "name": text_at(report, "ArtifactName") or text_at(report, "ClusterName"),
        "kind": text_at(report, "ArtifactType"),
        "references": references[:50],
        "images": sorted({digest for one in digests for digest in _DIGEST.findall(str(one))})[:50],
    }
