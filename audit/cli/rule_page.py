"""One rule, in full, for a person."""

from __future__ import annotations

import json
from collections.abc import Iterable

from audit.cli.screen import Screen
from audit.cli.wording import label, mutation_words
from audit.cli.wrapping import wrapped
from audit.model.control import MappingEntry
from audit.model.rule import Rule


def print_rule(screen: Screen, rule: Rule, mappings: Iterable[MappingEntry]) -> None:
    """Everything known about the rule before it is asked."""
    screen.line((rule.id, "bold"), f"  {rule.severity.value}{'  warns only' if rule.warn_only else ''}")
    screen.line(rule.title)
    for line in wrapped(rule.description):
        screen.line("  ", line)
    _asked_of(screen, rule)
    for name, value in sorted(rule.parameters.items()):
        screen.line(label("Param"), f"{name}: {json.dumps(value, ensure_ascii=False)}")
    for index, line in enumerate(wrapped(rule.remediation)):
        screen.line(label("" if index else "Mend"), line)
    for index, line in enumerate(rule.fix.splitlines()):
        screen.line(label("" if index else "Fix"), line)
    links = [entry for entry in mappings if entry.rule == rule.id]
    for entry in links:
        screen.line(label("Control"), f"{entry.framework}: {entry.control} ({entry.strength.value})")
    if not links:
        screen.line(label("Control"), "none uses it")
    screen.line(label("Tests"), mutation_words(rule.mutation))
    for reference in rule.references:
        screen.line(label("See"), reference)
    where = f"{rule.file}:{rule.line}" if rule.line else rule.file
    if where:
        screen.line(label("Source"), where)


def _asked_of(screen: Screen, rule: Rule) -> None:
    """How the policy is read, and of what it is asked."""
    if rule.shape:
        screen.line(label("Shape"), f"{rule.shape}, package {rule.package}")
    kinds = ", ".join(rule.kinds) or "every kind"
    for index, line in enumerate(wrapped(kinds)):
        screen.line(label("" if index else "Kinds"), line)
    for need in rule.context:
        screen.line(label("Context"), f"{', '.join(need.kinds)} ({need.group or 'core'})")
    for caveat in rule.caveats:
        screen.line(label("Caveat"), caveat)
