"""Findings in SARIF 2.1.0, whichever scanner wrote them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from audit.collect.artifacts.evidence.fields import (
    flag_at,
    mapping_at,
    mapping_of,
    mappings_at,
    text_at,
    texts_at,
    whole_at,
)
from audit.collect.artifacts.evidence.findings import SEVERITIES, ScanFinding, finding_facts, severity
from audit.collect.artifacts.evidence.result_file import ResultReader, named, objects_of
from audit.collect.artifacts.evidence.set_aside import SetAside
from audit.collect.artifacts.sbom.document import mapping
from audit.collect.artifacts.sbom.problems import FormatError

_LEVELS = {"error": "HIGH", "warning": "MEDIUM", "note": "LOW"}
_VULNERABILITY = re.compile(
    r"\A(CVE|GHSA|GO|PYSEC|RUSTSEC|OSV|DLA|DSA|RHSA|ELSA|ALAS|USN|TEMP)-", re.IGNORECASE
)
_OWN = re.compile(r'"name"\s*:\s*"fleetaudit"')
_NO_INDEX = -1
_FINE = {"pass", "notApplicable", "informational"}
"""Kinds of results that say that nothing is wrong; a word that the standard doesn't know is none of them."""


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
        runs = mappings_at(mapping_of(objects_of(data), "the log"), "runs")
        if not runs:
            raise FormatError("no_runs", "it holds no run")
        for run in runs:
            yield self._run(run)

    def _run(self, run: dict[str, Any]) -> dict[str, Any]:
        driver = mapping_at(mapping_at(run, "tool"), "driver")
        rules = _Rules(mapping_at(run, "tool"))
        invocations = mappings_at(run, "invocations")
        failed = any(flag_at(one, "executionSuccessful") is False for one in invocations)
        results = mappings_at(run, "results")
        found = [_finding(result, rules) for result in results if text_at(result, "kind") not in _FINE]
        ends = [one.get("endTimeUtc") or one.get("startTimeUtc") for one in invocations]
        return {
            "form": "sarif",
            "tool": {
                "name": text_at(driver, "name"),
                "version": named(driver.get("semanticVersion") or driver.get("version")),
            },
            "subject": {"name": "", "kind": "", "references": [], "images": []},
            "created": self.created(next((end for end in ends if end), None)),
            "unsupported_systems": [],
            "unscanned": [],
            # A run without results did not look, or did not say; an empty list is an answer.
            **finding_facts(
                found, scanned=run.get("results") is not None and not failed, targets=[], notices=[]
            ),
        }


class _Rules:
    """The rules of a run: those of the tool, and those of its extensions."""

    def __init__(self, tool: dict[str, Any]) -> None:
        parts = [mapping_at(tool, "driver"), *mappings_at(tool, "extensions")]
        self._lists = [mappings_at(part, "rules") for part in parts]
        self._by_id: dict[str, dict[str, Any]] = {}
        for listed in self._lists:
            for rule in listed:
                self._by_id.setdefault(text_at(rule, "id"), rule)

    def of(self, result: dict[str, Any]) -> tuple[str, dict[str, Any] | None]:
        """Id and description of the rule behind a result.

        The description is empty where the run has none, and None where the result names one that is not there.
        """
        reference = mapping_at(result, "rule")
        id_ = text_at(result, "ruleId") or text_at(reference, "id")
        index = whole_at(result, "ruleIndex")
        if index is None:
            index = whole_at(reference, "index")
        component = mapping_at(reference, "toolComponent")
        part = whole_at(component, "index")
        if index is None or index == _NO_INDEX or (component and part is None):
            # Ids may go on below that of the rule: CA1000/2.
            return id_, self._by_id.get(id_) or self._by_id.get(id_.rpartition("/")[0], {})
        place = 0 if part is None or part == _NO_INDEX else part + 1
        listed = self._lists[place] if 0 <= place < len(self._lists) else []
        if not 0 <= index < len(listed):
            return id_, None
        return id_ or text_at(listed[index], "id"), listed[index]


def _set_aside(result: dict[str, Any]) -> SetAside | None:
    """As the standard says: put aside when there is a suppression, and none of them is refused or under review."""
    suppressions = mappings_at(result, "suppressions")
    statuses = [text_at(one, "status") or "accepted" for one in suppressions]
    if not statuses or any(status != "accepted" for status in statuses):
        return None
    sources = sorted({text_at(one, "kind") for one in suppressions})
    return SetAside(status="accepted", source=", ".join(sources))


def _finding(result: dict[str, Any], rules: _Rules) -> ScanFinding:
    id_, rule = rules.of(result)
    places = [
        named(mapping(mapping(one.get("physicalLocation")).get("artifactLocation")).get("uri"))
        for one in mappings_at(result, "locations")
    ]
    return ScanFinding(
        kind="vulnerability" if _VULNERABILITY.match(id_) else "other",
        id=id_,
        severity="UNKNOWN" if rule is None else _severity(result, rule),
        target=places[0] if places else "",
        title=text_at(mapping_at(rule or {}, "shortDescription"), "text"),
        set_aside=_set_aside(result),
    )


def _severity(result: dict[str, Any], rule: dict[str, Any]) -> str:
    """The number of the rule when there is one, then its tags, then the level."""
    properties = mapping_at(rule, "properties")
    if (score := properties.get("security-severity")) is not None:
        return _by_score(score)
    tagged = next((tag for tag in texts_at(properties, "tags") if tag.upper() in SEVERITIES), None)
    if tagged:
        return severity(tagged)
    level = (
        text_at(result, "level") or text_at(mapping_at(rule, "defaultConfiguration"), "level") or "warning"
    )
    return _LEVELS.get(level, "UNKNOWN")


def _by_score(score: Any) -> str:
    """A number, mostly written as a text. What is none says nothing, and nothing less is believed in its place."""
    try:
        value = (
            float(score) if isinstance(score, str | int | float) and not isinstance(score, bool) else math.nan
        )
    except (ValueError, OverflowError):
        value = math.nan
    for least, word in ((9.0, "CRITICAL"), (7.0, "HIGH"), (4.0, "MEDIUM"), (0.0, "LOW")):
        if value >= least:
            return word
    return "UNKNOWN"
