"""Results of OpenSCAP: XCCDF, and ARF around it. Only the results are kept of documents that may hold everything else."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

from audit.collect.artifacts.evidence.benchmark import EXCLUDED, FAILED, PASSED, UNSURE, Row, benchmark_facts
from audit.collect.artifacts.evidence.result_file import ResultReader, named
from audit.collect.artifacts.evidence.set_aside import SetAside
from audit.collect.artifacts.sbom.problems import FormatError
from audit.collect.artifacts.sbom.xml_document import Element, subtrees

_STATES = {
    "pass": PASSED,
    "fixed": PASSED,
    "fail": FAILED,
    "error": UNSURE,
    "unknown": UNSURE,
    "notapplicable": EXCLUDED,
    "notchecked": EXCLUDED,
    "notselected": EXCLUDED,
    "informational": EXCLUDED,
}


class XccdfReader(ResultReader):
    """Reads ``oscap xccdf eval --results`` and ``--results-arf``."""

    name = "XCCDF"
    kinds = frozenset({"BenchmarkResult"})
    suffixes = frozenset({".xml"})

    def fits(self, text: str) -> bool:
        """By the namespaces; a benchmark without results looks alike and holds none."""
        if not text.startswith("<"):
            return False
        return "http://checklists.nist.gov/xccdf/1." in text or "asset-reporting-format/1." in text

    def specs(self, data: bytes) -> Iterator[dict[str, Any]]:
        """Each TestResult by itself."""
        root, results = subtrees(data, frozenset({"TestResult"}))
        if not results:
            raise FormatError("no_result", "it holds no TestResult")
        form = "arf" if root.name == "asset-report-collection" else "xccdf"
        for result in results:
            yield self._result(result, form)

    def _result(self, result: Element, form: str) -> dict[str, Any]:
        benchmark = result.first("benchmark")
        started = result.attributes.get("start-time") or result.attributes.get("end-time")
        return {
            "form": form,
            "tool": {"name": named(result.attributes.get("test-system", "")), "version": ""},
            "benchmark": {
                "id": named(
                    (benchmark.attributes.get("id") or benchmark.attributes.get("href") or "")
                    if benchmark
                    else ""
                ),
                "version": named(result.attributes.get("version", "")),
                "profile": named(_attribute(result, "profile", "idref")),
            },
            "target": [named(child.text.strip()) for child in result.children if child.name == "target"],
            "created": self.created(_utc(result.attributes.get("end-time") or started)),
            "started": self.created(_utc(started)),
            "scores": [
                {
                    "system": named(child.attributes.get("system", "")),
                    "value": named(child.text.strip()),
                    "maximum": named(child.attributes.get("maximum", "")),
                }
                for child in result.children
                if child.name == "score"
            ],
            **benchmark_facts(_rows(result), []),
        }


def _attribute(element: Element, child: str, name: str) -> str:
    found = element.first(child)
    return found.attributes.get(name, "") if found else ""


def _rows(result: Element) -> list[Row]:
    rows: dict[str, Row] = {}
    for child in result.children:
        if child.name != "rule-result":
            continue
        id_ = named(child.attributes.get("idref", ""))
        row = rows.setdefault(
            id_, Row(id=id_, severity=named(child.attributes.get("severity", "")), instances=[])
        )
        # The standard has one result; where there are several, each counts, and where there is none, that is no pass.
        words = [_word(one) for one in child.children if one.name == "result"] or [""]
        row.instances += [(_state(word), named(word)) for word in words]
        for override in child.children:
            if override.name == "override":
                _override(row, override)
    return list(rows.values())


def _override(row: Row, override: Element) -> None:
    """A person replaced the result of the tool: the old one still counts, unless that person is trusted."""
    old = [_word(one) for one in override.children if one.name == "old-result"] or [""]
    new = override.first("new-result")
    row.replaced += [_state(word) for word in old]
    said = f"{named(old[0]) or '?'} to {named(_word(new)) if new else '?'}"
    row.set_aside.append(SetAside(status=said, source=named(override.attributes.get("authority", ""))))


def _word(element: Element) -> str:
    return element.text.strip()


def _state(word: str) -> str:
    """A word that the standard doesn't know is no pass."""
    return _STATES.get(word, UNSURE)


def _utc(value: str | None) -> str | None:
    """With its offset taken into account; what can't be read stays as it is."""
    if value is None:
        return None
    try:
        moment = dt.datetime.fromisoformat(value.strip())
    except ValueError:
        return value
    if moment.tzinfo is None:
        return value
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
