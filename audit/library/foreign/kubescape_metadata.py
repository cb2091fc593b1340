"""What stands beside Kubescape's rules: ``rule.metadata.json``, and the controls with their scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from audit.model.rule import Severity
from audit.model.subject import kind_key


class _Match(msgspec.Struct, frozen=True):
    apiGroups: tuple[str, ...] = ()  # noqa: N815  # Kubescape's own spelling
    resources: tuple[str, ...] = ()


class RuleMetadata(msgspec.Struct, frozen=True):
    """What of ``rule.metadata.json`` matters here."""

    name: str = ""
    attributes: dict[str, Any] = {}
    match: tuple[_Match, ...] | None = ()
    dynamicMatch: tuple[_Match, ...] | None = ()  # noqa: N815
    description: str = ""
    remediation: str = ""

    def attribute(self, name: str) -> str:
        """As text; numbers and truth values are written both ways."""
        value = self.attributes.get(name)
        return "" if value is None else str(value).lower()

    @property
    def kinds(self) -> tuple[str, ...] | None:
        """Kind keys it matches; empty means every kind, None that it matches nothing."""
        kinds: set[str] = set()
        for entry in (*(self.match or ()), *(self.dynamicMatch or ())):
            for group in entry.apiGroups or ("*",):
                for kind in entry.resources:
                    if kind == "*" and group == "*":
                        return ()
                    kinds.add(f"/{kind}" if not group and kind == "*" else kind_key(group, kind))
        return tuple(sorted(kinds)) or None


def severities(path: Path) -> dict[str, Severity]:
    """Highest severity of the controls that use each rule, where the controls lie beside the rules."""
    scores: dict[str, float] = {}
    for folder in (path / "controls", path.parent / "controls"):
        if not folder.is_dir():
            continue
        for file in sorted(folder.glob("*.json")):
            try:
                control = json.loads(file.read_text(encoding="utf-8"))
                score = float(control["baseScore"])
                names = [str(name) for name in control["rulesNames"]]
            except (OSError, ValueError, KeyError, TypeError):
                continue
            for name in names:
                scores[name] = max(score, scores.get(name, 0.0))
        break
    return {name: _severity(score) for name, score in scores.items()}


def _severity(score: float) -> Severity:
    """Kubescape's own bands."""
    if score >= 9:
        return Severity.CRITICAL
    if score >= 7:
        return Severity.HIGH
    return Severity.MEDIUM if score >= 4 else Severity.LOW
