#!/usr/bin/env python3
"""Writes docs/rules.md from the METADATA beside the rules and from the mappings.

With ``--check`` nothing is written and the exit code is 1 when the page is not current.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

from audit.config.schema import Config
from audit.model.control import MappingEntry
from audit.model.rule import ContextNeed, Rule
from audit.wiring import load_library

PAGE = Path(__file__).resolve().parent.parent / "docs" / "rules.md"
HEAD = """# Rules

<!-- Written by scripts/generate_rule_catalogue.py from the METADATA beside each rule. Edit the rule, then run `make docs`. -->

"""


def main() -> int:
    """Write or check the page; returns the exit code."""
    library = load_library(Config())
    wanted = page(library.rules, library.mappings)
    if "--check" in sys.argv[1:]:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


def page(rules: Iterable[Rule], mappings: Iterable[MappingEntry]) -> str:
    """The whole page: a table of families, then each rule."""
    ordered = sorted(rules, key=lambda rule: rule.id)
    links = _by_rule(mappings)
    families = {family: list(group) for family, group in groupby(ordered, key=lambda rule: rule.family)}
    context = sum(bool(rule.context) for rule in ordered)
    parts = [
        HEAD,
        f"{len(ordered)} rules in {len(families)} families; {context} of them look at other objects too.\n\n",
        "| family | rules |\n|---|---|\n",
        *(f"| [{family}](#{family}) | {len(group)} |\n" for family, group in families.items()),
    ]
    for family, group in families.items():
        parts.append(f"\n## {family}\n")
        parts.extend(_rule(rule, links.get(rule.id, [])) for rule in group)
    return "".join(parts)


def _rule(rule: Rule, links: list[MappingEntry]) -> str:
    return "\n" + "\n".join(_lines(rule, links)) + "\n"


def _lines(rule: Rule, links: list[MappingEntry]) -> Iterator[str]:
    yield f"### `{rule.id}`"
    yield ""
    yield f"**{rule.title}.** {rule.description}"
    yield ""
    warns = "; warns only, decides nothing" if rule.warn_only else ""
    yield f"- Severity: {rule.severity.value}{warns}"
    yield f"- Asked of: {_kinds(rule)}"
    if rule.context:
        kinds = sorted({_context_kind(need, kind) for need in rule.context for kind in need.kinds})
        yield f"- Looks also at: {', '.join(kinds)}"
    for name, value in sorted(rule.parameters.items()):
        yield f"- Parameter `{name}`, by default `{json.dumps(value)}`"
    yield f"- Mend: {rule.remediation}"
    yield f"- Controls: {_controls(links)}"
    if rule.references:
        yield "- See " + ", ".join(f"<{reference}>" for reference in rule.references)
    if rule.fix:
        yield ""
        yield "```yaml"
        yield rule.fix.strip("\n")
        yield "```"


def _kinds(rule: Rule) -> str:
    if not rule.kinds:
        return "every kind"
    if {"Pod", "apps/Deployment", "batch/CronJob"} <= set(rule.kinds):
        return f"every kind with pods inside ({len(rule.kinds)} kinds)"
    derived = " (also when no manifest declares it)" if rule.match_derived else ""
    return ", ".join(dict.fromkeys(kind.rpartition("/")[2] for kind in rule.kinds)) + derived


def _context_kind(need: ContextNeed, kind: str) -> str:
    return f"every kind of {need.group}" if kind == "*" else kind


def _controls(links: list[MappingEntry]) -> str:
    if not links:
        return "none"
    shown = [f"{link.control} ({link.strength.value})" for link in links]
    return ", ".join(sorted(shown))


def _by_rule(mappings: Iterable[MappingEntry]) -> Mapping[str, list[MappingEntry]]:
    found: dict[str, list[MappingEntry]] = {}
    for entry in mappings:
        found.setdefault(entry.rule, []).append(entry)
    return found


if __name__ == "__main__":
    sys.exit(main())
