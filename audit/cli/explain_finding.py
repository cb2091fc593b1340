"""Explains a finding group of a result."""

from __future__ import annotations

from audit.cli.explanation import Explanation, Section, listed, prose
from audit.config.suggest import did_you_mean
from audit.errors import UsageError
from audit.model.finding import Finding, FindingGroup, Outcome
from audit.model.result import AssessmentResult
from audit.model.rule import Rule
from audit.report.text import value
from audit.report.texts import Texts
from audit.report.view_findings import within
from audit.report.view_said import caveats_text

SHOWN_PLACES = 4


def finding_in_result(what: str, result: AssessmentResult) -> Explanation | None:
    """The page of group `what` (its id, or the beginning of it), or None when it is no group id.

    Raises:
        UsageError: the beginning fits several groups, or none.
    """
    if not what.startswith("G-"):
        return None
    found: FindingGroup | None = None
    others: list[str] = []
    for group in result.group_source.groups():
        if group.id == what:
            found, others = group, []
            break
        if len(what) >= 4 and group.id.startswith(what):
            found = found or group
            others.append(group.id)
    if len(others) > 1:
        raise UsageError(
            f"{what} fits several findings", suggestion=f"write {' or '.join(sorted(others)[:3])}"
        )
    if found is None:
        known = [group.id for group in result.group_source.groups()]
        raise UsageError(
            f"the result has no finding {what}",
            suggestion=did_you_mean(
                what, known, otherwise="ids change only with rule, owner, container or path"
            ),
        )
    return _page(found, result)


def _page(group: FindingGroup, result: AssessmentResult) -> Explanation:
    rule = next((state.rule for state in result.rules if state.rule.id == group.rule), None)
    first = group.members[0]
    violation = first.violation
    seen = "nothing (the field is absent)" if violation.seen is None else value(violation.seen)
    is_error = group.outcome is Outcome.ERROR
    sections = [
        prose("Asks", rule.title if rule else ""),
        listed("Owner", [_owner(group)]),
        listed("At", _places(group), least=2),
        listed("Path", [violation.path_text] if violation.path else []),
        listed("Seen", [] if is_error else [seen]),
        listed("Expected", [] if is_error or violation.expected is None else [value(violation.expected)]),
        prose("Message", f"{first.error}: {violation.message}" if is_error else violation.message),
        listed("Engines", _said(first), least=2),
        prose("Caveats", caveats_text(first.caveats, Texts())),
        listed("Waived", _waivers(group, result), least=1),
        *_advice(rule, is_error=is_error),
        listed("Controls", controls_of(group.rule, result), least=2),
    ]
    severity = group.severity.value
    return Explanation(
        headline=f"{group.id}  {group.rule}  {severity} {group.outcome.value}",
        sections=tuple(sections),
    )


def _advice(rule: Rule | None, *, is_error: bool) -> list[Section]:
    if rule is None:
        return []
    if is_error:
        return [prose("Means", "The pair could not be judged, so the rule's controls are undecided.")]
    return [
        prose("Why", rule.description, least=2),
        prose("Mend", rule.remediation, least=2),
        listed("Fix", rule.fix.splitlines(), least=3),
    ]


def _said(finding: Finding) -> list[str]:
    """What each engine answered, where several were asked the same question."""
    return [
        f"{one.rule}: {one.outcome.value}"
        + (f", accepted by {one.accepted_by}" if one.accepted_by else "")
        + (f", {one.text}" if one.text else "")
        for one in finding.said
    ]


def _owner(group: FindingGroup) -> str:
    container = f", container {group.container}" if group.container else ""
    clusters = ", ".join(group.clusters[:3]) + (
        f" and {len(group.clusters) - 3} more" if len(group.clusters) > 3 else ""
    )
    times = f", {group.total} findings" if group.total > 1 else ""
    return f"{group.owner or 'several objects'}{container} on {clusters}{times}"


def _places(group: FindingGroup) -> list[str]:
    places = list(dict.fromkeys(place_of(member) for member in group.members))
    more = len(places) - SHOWN_PLACES
    return [*places[:SHOWN_PLACES], *([f"and {more} more places"] if more > 0 else [])]


def place_of(finding: Finding) -> str:
    """``file:line:column, document 2, items[0]``, as far as it is known."""
    place = finding.place
    if place is None:
        return finding.subject.source or f"{finding.subject.title}, which no file declares"
    text = place.file
    if place.line is not None:
        text += f":{place.line}"
        if place.column is not None and not place.approximate:
            text += f":{place.column}"
        if place.approximate:
            text += " (line of the object)"
    inside = within(finding.subject, Texts(), first_too=True)
    return f"{text}, {inside}" if inside else text


def _waivers(group: FindingGroup, result: AssessmentResult) -> list[str]:
    ids = sorted({member.waiver for member in group.members if member.waiver})
    by_id = {state.waiver.id: state.waiver for state in result.waivers}
    lines = []
    for name in ids:
        waiver = by_id.get(name)
        until = f" until {waiver.expires:%Y-%m-%d %H:%MZ}" if waiver and waiver.expires else ""
        lines.append(f"{name} by {waiver.owner}{until}: {waiver.reason}" if waiver else name)
    if lines and group.waived < group.total:
        lines[0] += f" ({group.waived} of {group.total})"
    return lines


def controls_of(rule: str, result: AssessmentResult) -> list[str]:
    """Controls that the rule speaks to, with their status in this result."""
    status = {(row.framework, row.id): row.fleet.status.value.replace("_", " ") for row in result.controls}
    return [
        f"{entry.framework}: {entry.control} ({entry.strength.value}); "
        f"{status.get((entry.framework, entry.control), 'not in the result')}"
        for entry in result.mappings
        if entry.rule == rule
    ]
