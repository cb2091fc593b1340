"""Findings in SARIF 2.1.0, whichever scanner wrote them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from audit.collect.artifacts.evidence.findings import SEVERITIES, ScanFinding, finding_facts, severity
from audit.collect.artifacts.evidence.result_file import ResultReader, named, objects_of
from audit.collect.artifacts.sbom.document import mapping, mappings, texts
from audit.collect.artifacts.sbom.problems import FormatError

_LEVELS = {"error": "HIGH", "warning": "MEDIUM", "note": "LOW"}
_VULNERABILITY = re.compile(
    r"\A(CVE|GHSA|GO|PYSEC|RUSTSEC|OSV|DLA|DSA|RHSA|ELSA|ALAS|USN|TEMP)-", re.IGNORECASE
)
_OWN = re.compile(r'"name"\s*:\s*"fleetaudit"')
_KINDS = {"fail", "open", "review", ""}
"""Kinds of results that say that something is wrong, or may be."""


class SarifReader(ResultReader):
    """Reads SARIF of others: our own reports are no evidence for us."""

    name = "SARIF"
    kinds = frozenset({"VulnerabilityReport"})
    suffixes = frozenset({".json", ".sarif"})

    def fits(self, text: str) -> bool:
        """By the schema, or by version and runs."""
        if not text.startswith("{") or _OWN.search(text):
            return False
        return '"runs"' in text and (
            "sarif" in text.lower() or re.search(r'"version"\s*:\s*"2\.1\.0"', text) is not None
        )

    def specs(self, data: bytes) -> Iterator[dict[str, Any]]:
        """Each run by itself."""
        value = objects_of(data)
        runs = mappings(mapping(value).get("runs"))
        if not runs:
            raise FormatError("no_runs", "it holds no run")
        for run in runs:
            yield self._run(run)

    def _run(self, run: dict[str, Any]) -> dict[str, Any]:
        driver = mapping(mapping(run.get("tool")).get("driver"))
        listed = mappings(driver.get("rules"))
        rules = {str(one.get("id")): one for one in listed}
        invocations = mappings(run.get("invocations"))
        failed = any(one.get("executionSuccessful") is False for one in invocations)
        found: list[ScanFinding] = []
        suppressed = 0
        for result in mappings(run.get("results")):
            if str(result.get("kind", "")) not in _KINDS:
                continue
            if _is_suppressed(result):
                suppressed += 1
                continue
            found.append(_finding(result, rules, listed))
        ends = [one.get("endTimeUtc") or one.get("startTimeUtc") for one in invocations]
        return {
            "form": "sarif",
            "tool": {
                "name": named(driver.get("name")),
                "version": named(driver.get("semanticVersion") or driver.get("version")),
            },
            "subject": {"name": "", "kind": "", "references": [], "images": []},
            "created": self.created(next((end for end in ends if end), None)),
            # A run without results did not look, or did not say; an empty list is an answer.
            **finding_facts(
                found,
                scanned=isinstance(run.get("results"), list) and not failed,
                targets=[],
                suppressed=suppressed,
            ),
        }


def _is_suppressed(result: dict[str, Any]) -> bool:
    suppressions = mappings(result.get("suppressions"))
    return bool(suppressions) and all(one.get("status", "accepted") == "accepted" for one in suppressions)


def _finding(
    result: dict[str, Any], rules: dict[str, dict[str, Any]], listed: list[dict[str, Any]]
) -> ScanFinding:
    id_ = result.get("ruleId") or mapping(result.get("rule")).get("id")
    index = result.get("ruleIndex")
    rule = rules.get(str(id_), {})
    if not rule and isinstance(index, int) and 0 <= index < len(listed):
        rule = listed[index]
        id_ = id_ or rule.get("id")
    places = [
        named(mapping(mapping(one.get("physicalLocation")).get("artifactLocation")).get("uri"))
        for one in mappings(result.get("locations"))
    ]
    name = named(id_)
    return ScanFinding(
        kind="vulnerability" if _VULNERABILITY.match(name) else "other",
        id=name,
        severity=_severity(result, rule),
        target=places[0] if places else "",
        title=named(mapping(rule.get("shortDescription")).get("text")),
    )


def _severity(result: dict[str, Any], rule: dict[str, Any]) -> str:
    """The number of the rule when there is one, then its tags, then the level."""
    properties = mapping(rule.get("properties"))
    try:
        score = float(str(properties.get("security-severity")))
    except ValueError:
        score = -1.0
    for least, word in ((9.0, "CRITICAL"), (7.0, "HIGH"), (4.0, "MEDIUM"), (0.1, "LOW")):
        if score >= least:
            return word
    tagged = next((tag for tag in texts(properties.get("tags")) if tag.upper() in SEVERITIES), None)
    if tagged:
        return severity(tagged)
    level = result.get("level") or mapping(rule.get("defaultConfiguration")).get("level") or "warning"
    return _LEVELS.get(str(level), "UNKNOWN")
