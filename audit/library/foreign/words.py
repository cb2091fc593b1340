"""Title, severity and the like of a foreign rule: from METADATA where there is some, else defaults that are stated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from audit.model.rule import Severity

DEFAULT_SEVERITY = Severity.MEDIUM
DEFAULT_REMEDIATION = "See the policy's own message."
_SEVERITIES = {severity.value: severity for severity in Severity} | {
    "error": Severity.HIGH,
    "warning": Severity.MEDIUM,
    "moderate": Severity.MEDIUM,
    "important": Severity.HIGH,
    "informational": Severity.INFO,
}


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """What people are told of a rule."""

    title: str = ""
    description: str = ""
    severity: Severity | None = None
    """None when the author states none."""
    remediation: str = ""
    references: tuple[str, ...] = ()


def annotated(*blocks: Mapping[str, Any] | None) -> Words:
    """Words from METADATA blocks, the nearest one first."""
    words = Words()
    for block in blocks:
        words = _under(words, _of(block or {}))
    return words


def severity_of(value: Any) -> Severity | None:
    """A severity as people write it: ``HIGH``, ``High``, ``warning``."""
    return _SEVERITIES.get(value.strip().lower()) if isinstance(value, str) else None


def _of(block: Mapping[str, Any]) -> Words:
    custom = block.get("custom")
    own: Mapping[str, Any] = custom if isinstance(custom, dict) else {}
    references = []
    for entry in block.get("related_resources") or ():
        reference = entry.get("ref") if isinstance(entry, dict) else entry
        if isinstance(reference, str):
            references.append(reference)
    return Words(
        title=_line(block.get("title")),
        description=_line(block.get("description")),
        severity=severity_of(own.get("severity")),
        remediation=_line(own.get("remediation")),
        references=tuple(references),
    )


def _under(words: Words, more: Words) -> Words:
    return Words(
        title=words.title or more.title,
        description=words.description or more.description,
        severity=words.severity or more.severity,
        remediation=words.remediation or more.remediation,
        references=words.references or more.references,
    )


def _line(value: Any) -> str:
    return " ".join(value.split())[:2000] if isinstance(value, str) else ""
