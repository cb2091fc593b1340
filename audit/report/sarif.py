"""``report.sarif``: SARIF 2.1.0 for code hosts, streamed.

Lines are true or absent; paths are relative to the root of the source; waived findings are suppressed, errors and
warnings keep their own kind, so that the numbers agree with every other format.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any, BinaryIO
from urllib.parse import quote

import msgspec

from audit.model.finding import Finding, FindingGroup, Outcome
from audit.model.gap import Gap
from audit.model.result import AssessmentResult
from audit.model.rule import Rule, Severity
from audit.model.subject import Place
from audit.report.json_writer import seal
from audit.report.one_file import OneFileWriter
from audit.report.rows import finding_id, findings
from audit.report.text import https_only, value, visible, visible_block

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
    Severity.LOW: "note",
    Severity.INFO: "note",
}
_SECURITY = {
    Severity.CRITICAL: "9.5",
    Severity.HIGH: "8.0",
    Severity.MEDIUM: "5.5",
    Severity.LOW: "3.0",
    Severity.INFO: "0.0",
}
"""Code hosts know no severity word above "error"; this property, by their published bands, carries it."""
_MAX_NOTIFICATIONS = 1000


class SarifWriter(OneFileWriter):
    """Writes ``report.sarif``."""

    name = "sarif"
    file_name = "report.sarif"

    def render_to(self, result: AssessmentResult, stream: BinaryIO) -> None:
        """Write the same bytes to an open stream."""
        stream.writelines(chunks(seal(result)))


def chunks(result: AssessmentResult) -> Iterator[bytes]:
    """The file piece by piece, one result a line."""
    rules = {state.rule.id: index for index, state in enumerate(result.rules)}
    reasons = {state.waiver.id: state.waiver.reason for state in result.waivers}
    run = {
        "tool": {"driver": _driver(result)},
        "automationDetails": {"id": "fleetaudit/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The root of the audited source."}}},
        "invocations": [_invocation(result)],
        "properties": {
            "complete": result.complete,
            "resultSha256": result.record.result_sha256,
            "stateTime": result.record.state_time,
        },
    }
    head = msgspec.json.encode({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})
    # The results go in before the run's closing brace, its list's and the file's.
    yield head[:-3] + b',"results":['
    separator = b"\n"
    for group, finding in findings(result):
        yield separator + msgspec.json.encode(_result(group, finding, rules, reasons))
        separator = b",\n"
    yield b"\n]}]}\n"


def _driver(result: AssessmentResult) -> dict[str, Any]:
    return {
        "name": "fleetaudit",
        "semanticVersion": result.record.fleetaudit,
        "rules": [_rule(state.rule, state.signature) for state in result.rules],
    }


def _rule(rule: Rule, signature: str) -> dict[str, Any]:
    fix = visible_block(rule.fix)
    text = "\n\n".join(part for part in (rule.description, rule.remediation) if part)
    # A fence longer than any run of backticks inside cannot be closed by the text.
    fence = "`" * max(3, _longest_run(fix, "`") + 1)
    told = {
        "id": visible(rule.id),
        "shortDescription": {"text": visible(rule.title) or visible(rule.id)},
        "fullDescription": {"text": visible_block(rule.description, 1000) or visible(rule.title)},
        "help": {
            "text": visible_block(text) + (f"\n\n{fix}" if fix else ""),
            "markdown": visible_block(text) + (f"\n\n{fence}yaml\n{fix}\n{fence}" if fix else ""),
        },
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {
            "tags": ["security", visible(rule.family)],
            "severity": rule.severity.value,
            "security-severity": _SECURITY[rule.severity],
            **({"signature": signature} if signature else {}),
        },
    }
    link = next(filter(None, map(https_only, rule.references)), "")
    return told | ({"helpUri": link} if link else {})


def _longest_run(text: str, char: str) -> int:
    longest = run = 0
    for c in text:
        run = run + 1 if c == char else 0
        longest = max(longest, run)
    return longest


def _invocation(result: AssessmentResult) -> dict[str, Any]:
    moments = {"startTimeUtc": result.record.started, "endTimeUtc": result.record.finished}
    return {
        "executionSuccessful": result.complete,
        "toolExecutionNotifications": [_notification(gap) for gap in result.gaps[:_MAX_NOTIFICATIONS]],
        **{key: moment for key, moment in moments.items() if moment.endswith("Z")},
    }


def _notification(gap: Gap) -> dict[str, Any]:
    place = Place(file=gap.source, line=gap.line)
    hint = f" {visible(gap.hint)}" if gap.hint else ""
    return {
        "level": "warning" if gap.allowed else "error",
        "descriptor": {"id": f"gap/{gap.kind.value}"},
        "message": {"text": f"Not looked at: {visible(gap.reason)}.{hint}"},
        "locations": [{"physicalLocation": _physical(place)}] if gap.source else [],
    }


def _result(
    group: FindingGroup, finding: Finding, rules: dict[str, int], reasons: dict[str, str]
) -> dict[str, Any]:
    violation, subject = finding.violation, finding.subject
    told: dict[str, Any] = {"ruleId": visible(finding.rule)}
    if finding.rule in rules:
        told["ruleIndex"] = rules[finding.rule]
    if finding.outcome is Outcome.ERROR:
        told |= {"kind": "open", "level": "none"}
    elif finding.outcome is Outcome.WARN:
        told |= {"kind": "review", "level": "none"}
    else:
        told |= {"kind": "fail", "level": _LEVELS[finding.severity]}
    location: dict[str, Any] = {
        "logicalLocations": [
            {
                "name": visible(subject.name) or visible(subject.kind),
                "fullyQualifiedName": visible(f"{subject.cluster}/{subject.title}"),
                "kind": "resource",
            }
        ]
    }
    place = finding.place
    if place is None and subject.source:
        place = Place(file=subject.source)
    if place is not None and place.file != "-":
        location["physicalLocation"] = _physical(place)
    told |= {
        "message": {"text": _message(finding)},
        "locations": [location],
        "partialFingerprints": {"fleetauditFinding/v1": finding_id(group, finding)},
        "properties": {
            "group": group.id,
            "outcome": finding.outcome.value,
            "severity": finding.severity.value,
            "path": visible(violation.path_text),
        },
    }
    if subject.document:
        told["properties"]["document"] = subject.document
    if subject.item:
        told["properties"]["item"] = visible(subject.item)
    if finding.place is not None and finding.place.approximate:
        told["properties"]["precision"] = "enclosing object"
    if finding.waiver:
        reason = visible(reasons.get(finding.waiver, ""))
        told["suppressions"] = [
            {
                "kind": "external",
                "status": "accepted",
                "justification": f"waiver {visible(finding.waiver)}" + (f": {reason}" if reason else ""),
            }
        ]
    return told


def _message(finding: Finding) -> str:
    violation = finding.violation
    text = visible(violation.message) or visible(finding.error) or visible(finding.rule)
    parts = [f"{visible(finding.subject.title)}: {text}"]
    if violation.container:
        parts.append(f"container {visible(violation.container)}")
    if violation.seen is not None:
        parts.append(f"seen {value(violation.seen)}")
    if violation.expected is not None:
        parts.append(f"expected {value(violation.expected)}")
    return "; ".join(parts)


def _physical(place: Place) -> dict[str, Any]:
    told: dict[str, Any] = {"artifactLocation": _artifact(place.file)}
    if place.line is not None and place.line > 0:
        told["region"] = {"startLine": place.line}
        if place.column is not None and place.column > 0:
            told["region"]["startColumn"] = place.column
    return told


def _artifact(file: str) -> dict[str, Any]:
    """Relative to the source root; a path outside it (absolute or upwards) is a file address or stays bare."""
    path = file.encode("utf-8", "surrogateescape")
    if file.startswith("/"):
        return {"uri": f"file://{quote(path)}"}
    clean = posixpath.normpath(file)
    if clean.startswith(".."):
        return {"uri": quote(clean.encode("utf-8", "surrogateescape"))}
    # A colon in the first segment would read as a scheme; quoting it is always right.
    return {"uri": quote(clean.encode("utf-8", "surrogateescape")), "uriBaseId": "%SRCROOT%"}
