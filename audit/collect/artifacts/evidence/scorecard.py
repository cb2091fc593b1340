"""Results of OpenSSF Scorecard, v2 and v1. A score of -1 is "not determined", and no score."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.collect.artifacts.evidence.fields import flag_at, mapping_at, mapping_of, mappings_at, text_at
from audit.collect.artifacts.evidence.result_file import ResultReader, named, number, objects_of
from audit.collect.artifacts.sbom.problems import FormatError

MAX_CHECKS = 200


class ScorecardReader(ResultReader):
    """Reads ``scorecard --format json``."""

    name = "Scorecard"
    kinds = frozenset({"ScorecardResult"})

    def fits(self, text: str) -> bool:
        """V2 names the tool; v1 has capitals, and a confidence with each check."""
        if not text.startswith("{"):
            return False
        second = '"scorecard"' in text and '"repo"' in text and ('"checks"' in text or '"findings"' in text)
        return second or ('"Repo"' in text and '"Checks"' in text and '"Confidence"' in text)

    def specs(self, data: bytes) -> Iterator[dict[str, Any]]:
        """One result; the line format has one result a line."""
        for line in _documents(data):
            yield self._first(line) if "Checks" in line else self._second(line)

    def _second(self, result: dict[str, Any]) -> dict[str, Any]:
        repo, tool = mapping_at(result, "repo"), mapping_at(result, "scorecard")
        if not repo or not tool:
            raise FormatError("not_scorecard", "it names no repository or no Scorecard")
        checks = [
            _check(text_at(one, "name"), one.get("score"), one.get("reason"))
            for one in mappings_at(result, "checks")
        ]
        form = "v2" if "checks" in result else "probes"
        return _facts(
            form,
            {"name": text_at(repo, "name"), "commit": text_at(repo, "commit")},
            {"name": "scorecard", "version": text_at(tool, "version")},
            checks,
            result.get("score"),
        ) | {"created": self.created(result.get("date")), "probes": _probes(result)}

    def _first(self, result: dict[str, Any]) -> dict[str, Any]:
        """V1 knows pass and fail; with little confidence that is no answer."""
        checks = []
        for one in mappings_at(result, "Checks"):
            sure = (number(one.get("Confidence")) or 0) > 0
            score = (10 if flag_at(one, "Pass") else 0) if sure else -1
            checks.append(_check(text_at(one, "Name"), score, ""))
        return _facts(
            "v1",
            {"name": named(result.get("Repo")), "commit": ""},
            {"name": "scorecard", "version": ""},
            checks,
            None,
        ) | {"created": self.created(result.get("Date")), "probes": {}}


def _documents(data: bytes) -> Iterator[dict[str, Any]]:
    lines = [line for line in data.split(b"\n") if line.strip()]
    several = len(lines) > 1 and all(
        line.lstrip().startswith(b"{") and line.rstrip().endswith(b"}") for line in lines
    )
    for part in lines if several else [data]:
        yield mapping_of(objects_of(part), "the document")


def _check(name: str, score: Any, reason: Any) -> dict[str, Any]:
    value = number(score)
    known = value is not None and 0 <= value <= 10
    return {
        "name": name,
        "status": "scored" if known else "inconclusive",
        "score": value if known else None,
        "reason": named(reason),
    }


def _facts(
    form: str, subject: dict[str, str], tool: dict[str, str], checks: list[dict[str, Any]], score: Any
) -> dict[str, Any]:
    value = number(score)
    scored = sum(check["status"] == "scored" for check in checks)
    known = value is not None and 0 <= value <= 10 and scored > 0
    return {
        "form": form,
        "subject": subject,
        "tool": tool,
        "score": {
            "status": "known" if known else "absent" if value is None else "inconclusive",
            "value": value if known else None,
        },
        "checks": checks[:MAX_CHECKS],
        "notices": [],
        "counts": {"scored": scored, "inconclusive": len(checks) - scored},
    }


def _probes(result: dict[str, Any]) -> dict[str, int]:
    """How often each outcome was found, in the form that has probes in place of checks."""
    counts: dict[str, int] = {}
    for finding in mappings_at(result, "findings"):
        outcome = text_at(finding, "outcome") or "unknown"
        counts[outcome] = counts.get(outcome, 0) + 1
    return counts
