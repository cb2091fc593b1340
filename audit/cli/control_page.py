"""Frameworks and controls as authored: for a person and as JSON, from the same facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Protocol

from audit.cli.screen import Screen
from audit.cli.wording import count, label
from audit.cli.wrapping import wrapped
from audit.model.control import Catalog, Check, CheckState, Control, EvidenceKind, MappingEntry

_STATE_WORDS = {
    CheckState.BUILT: "built",
    CheckState.PLANNED: "planned",
    CheckState.NOT_PLANNED: "not planned",
}


class ControlContent(Protocol):
    """What is needed of the library, or of a result."""

    @property
    def mappings(self) -> tuple[MappingEntry, ...]: ...  # noqa: D102  # as in the model

    @property
    def checks(self) -> tuple[Check, ...]: ...  # noqa: D102  # as in the model


def framework_facts(catalog: Catalog, content: ControlContent) -> dict[str, Any]:
    """One framework as plain data."""
    controls = [control_facts(catalog.id, control, content) for control in catalog.controls]
    return {
        "id": catalog.id,
        "title": catalog.title,
        "edition": catalog.edition,
        "source": catalog.source,
        "evidence_kinds": evidence_kinds(catalog.controls),
        "checks": check_states(catalog.controls, content.checks),
        "rules_mapped": len({entry.rule for entry in content.mappings if entry.framework == catalog.id}),
        "controls": controls,
    }


def control_facts(framework: str, control: Control, content: ControlContent) -> dict[str, Any]:
    """One control as plain data."""
    by_id = {check.id: check for check in content.checks}
    checks = []
    for name in control.checks:
        check = by_id.get(name)
        checks.append(
            {
                "id": name,
                "state": check.state.value if check else "unlisted",
                "rules": list(check.rules) if check else [],
                "reason": check.reason if check else "",
            }
        )
    return {
        "framework": framework,
        "id": control.id,
        "title": control.title,
        "function": control.function,
        "evidence_kind": control.evidence_kind.value,
        "description": control.description,
        "source": control.source,
        "checks": checks,
        "rules": [
            {
                "rule": entry.rule,
                "strength": entry.strength.value,
                "rationale": entry.rationale,
                "limits": entry.limits,
                "author": entry.author,
                "date": entry.date.isoformat(),
            }
            for entry in content.mappings
            if entry.framework == framework and entry.control == control.id
        ],
    }


def evidence_kinds(controls: Iterable[Control]) -> dict[str, int]:
    """Number of controls by evidence kind, all kinds present."""
    found = Counter(control.evidence_kind for control in controls)
    return {kind.value: found[kind] for kind in EvidenceKind}


def check_states(controls: Iterable[Control], checks: Iterable[Check]) -> dict[str, int]:
    """Number of different checks that the controls name, by state."""
    named = {name for control in controls for name in control.checks}
    found = Counter(check.state for check in checks if check.id in named)
    return {state.value: found[state] for state in CheckState}


def print_framework(screen: Screen, catalog: Catalog, content: ControlContent) -> None:
    """Counts, then one line for each control."""
    facts = framework_facts(catalog, content)
    kinds = ", ".join(f"{number} {kind}" for kind, number in facts["evidence_kinds"].items())
    states = ", ".join(f"{facts['checks'][state.value]} {words}" for state, words in _STATE_WORDS.items())
    screen.line((f"{catalog.title} {catalog.edition}", "bold"), f"  ({catalog.id})")
    screen.line(f"  {count(len(catalog.controls), 'control')}: {kinds}")
    screen.line(f"  {count(sum(facts['checks'].values()), 'check')}: {states}")
    screen.line(f"  {count(facts['rules_mapped'], 'rule')} mapped")
    rows = [
        (
            row["id"],
            row["evidence_kind"],
            str(sum(rule["strength"] == "decides" for rule in row["rules"])),
            str(sum(rule["strength"] == "supports" for rule in row["rules"])),
            f"{sum(check['state'] == 'built' for check in row['checks'])}/{len(row['checks'])}",
            row["title"],
        )
        for row in facts["controls"]
    ]
    screen.table(("CONTROL", "EVIDENCE", "DECIDES", "SUPPORTS", "CHECKS", "TITLE"), rows)
    screen.line("")


def print_control(screen: Screen, framework: str, control: Control, content: ControlContent) -> None:
    """One control in full."""
    facts = control_facts(framework, control, content)
    screen.line((control.id, "bold"), f"  {framework}, {control.function}, {control.evidence_kind.value}")
    for line in wrapped(control.title):
        screen.line(line)
    for line in wrapped(control.description):
        screen.line("  ", line)
    for check in facts["checks"]:
        state = check["state"].replace("_", " ")
        detail = count(len(check["rules"]), "rule") if check["rules"] else check["reason"]
        screen.line(label("Check"), f"{check['id']}: {state}{f' ({detail})' if detail else ''}")
    for (strength, rationale, limits), rules in _alike(facts["rules"]).items():
        for index, line in enumerate(wrapped(", ".join(rules))):
            screen.line(label("" if index else strength.capitalize()), line)
        for line in wrapped(f"Why: {rationale}" if rationale else ""):
            screen.line(label(""), "  ", line)
        for line in wrapped(f"Limits: {limits}" if limits else ""):
            screen.line(label(""), "  ", line)
    if not facts["rules"]:
        screen.line(label("Rule"), "none mapped")
    if control.source:
        screen.line(label("Source"), control.source)


def _alike(rules: Iterable[dict[str, Any]]) -> dict[tuple[str, str, str], list[str]]:
    """Rules by (strength, rationale, limits): the reason is said once, however many rules share it."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for rule in sorted(rules, key=lambda rule: (rule["strength"], rule["rule"])):
        found.setdefault((rule["strength"], rule["rationale"], rule["limits"]), []).append(rule["rule"])
    return found
