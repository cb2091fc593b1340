"""Explains a rule: alone, or with what it found."""

from __future__ import annotations

from collections.abc import Iterable

from audit.cli.explain_finding import controls_of
from audit.cli.explanation import Explanation, Section, listed, prose
from audit.model.control import MappingEntry
from audit.model.finding import Outcome
from audit.model.result import AssessmentResult, RuleState
from audit.model.rule import Rule

SHOWN_GROUPS = 4


def rule_in_result(what: str, result: AssessmentResult) -> Explanation | None:
    """The page of a rule with its counts in this result, or None when it is no rule of it."""
    state = next((state for state in result.rules if state.rule.id == what), None)
    if state is None:
        return None
    counts = [result.tally.of(what, cluster.name) for cluster in result.record.clusters]
    answered = (
        f"{sum(c.due for c in counts)} due: {sum(c.passed for c in counts)} pass, "
        f"{sum(c.failed for c in counts)} fail, {sum(c.waived for c in counts)} waived, "
        f"{sum(c.warned for c in counts)} warn, {sum(c.errors + c.missing for c in counts)} error, "
        f"{sum(c.skipped for c in counts)} skip"
    )
    groups: list[str] = []
    more = 0
    for group in result.group_source.groups():
        if group.rule == what and group.outcome is not Outcome.WARN and group.waived < group.total:
            if len(groups) < SHOWN_GROUPS:
                groups.append(f"{group.id}  {group.owner} {group.container}".rstrip())
            else:
                more += 1
    if more:
        groups.append(f"and {more} more groups")
    found = (
        listed("Pairs", [_pairs(state, answered)]),
        listed("Signed", [state.signature.replace("_", " ")] if state.signature else []),
        listed("Open", groups, least=2),
    )
    return _page(state.rule, found, controls_of(what, result))


def _pairs(state: RuleState, answered: str) -> str:
    if not state.selected:
        return "not asked in this run"
    if state.twin_of:
        return f"part of those of {state.twin_of}, which asks the same"
    return answered


def rule_in_library(rule: Rule, mappings: Iterable[MappingEntry]) -> Explanation:
    """The page of a rule as authored."""
    controls = [
        f"{entry.framework}: {entry.control} ({entry.strength.value})"
        for entry in mappings
        if entry.rule == rule.id
    ]
    return _page(rule, (), controls)


def _page(rule: Rule, found: Iterable[Section], controls: list[str]) -> Explanation:
    where = f"{rule.file}:{rule.line}" if rule.line else rule.file
    kinds = ", ".join(rule.kinds[:6]) + (f" and {len(rule.kinds) - 6} more" if len(rule.kinds) > 6 else "")
    return Explanation(
        headline=f"{rule.id}  {rule.severity.value}{'  warns only' if rule.warn_only else ''}",
        sections=(
            prose("Asks", rule.title),
            prose("Of", kinds or "every kind", least=1),
            *found,
            prose("Why", rule.description, least=2),
            prose("Mend", rule.remediation, least=2),
            listed("Fix", rule.fix.splitlines(), least=3),
            listed("Controls", controls, least=2),
            listed("Source", [where] if where else []),
        ),
    )
