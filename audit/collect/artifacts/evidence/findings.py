"""Findings of scanners, whichever one looked: the facts that are alike."""

from __future__ import annotations

from typing import Any

import msgspec

from audit.collect.artifacts.evidence.set_aside import SetAside, set_aside_facts, set_aside_notice

MAX_FINDINGS = 2_000
SEVERITIES = ("CRITICAL", "HIGH", "MEDIUM", "LOW", "UNKNOWN")
KINDS = ("vulnerability", "misconfiguration", "secret", "licence", "other")
TRUSTED = "parameters.evidence/vulnerabilities-fixed.trusted_suppressions"


class ScanFinding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a scanner found. The match of a secret is never among the facts."""

    kind: str
    id: str
    severity: str = "UNKNOWN"
    package: str = ""
    version: str = ""
    fixed: str = ""
    """Versions that mend it; empty when there is none."""
    purl: str = ""
    target: str = ""
    resource: str = ""
    title: str = ""
    status: str = ""
    set_aside: SetAside | None = None
    """Somebody put it aside after it had been found."""


def severity(word: Any) -> str:
    """One of the five; what a scanner says besides is UNKNOWN."""
    found = str(word).upper()
    return found if found in SEVERITIES else "LOW" if found == "NEGLIGIBLE" else "UNKNOWN"


def finding_facts(
    found: list[ScanFinding],
    *,
    scanned: bool,
    targets: list[dict[str, Any]],
    notices: list[dict[str, Any]],
) -> dict[str, Any]:
    """Findings, the worst first, and counts of all of them; those set aside are among both."""
    ordered = sorted(
        found, key=lambda one: (SEVERITIES.index(one.severity), one.kind, one.id, one.package, one.target)
    )
    counts = {kind: dict.fromkeys(SEVERITIES, 0) for kind in KINDS}
    for one in found:
        counts[one.kind][one.severity] += 1
    aside = set_aside_facts(one.set_aside for one in found if one.set_aside)
    return {
        "status": "scanned" if scanned else "not_evaluated",
        "targets": targets[:MAX_FINDINGS],
        "findings": [msgspec.to_builtins(one) for one in ordered[:MAX_FINDINGS]],
        "left_out": max(0, len(ordered) - MAX_FINDINGS),
        "counts": counts,
        "set_aside": aside,
        "notices": [*notices, *set_aside_notice(aside, TRUSTED)],
    }
