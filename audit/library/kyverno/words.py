"""What people read about a Kyverno rule, taken from the annotations beside it."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec

from audit.library.kyverno.documents import PolicyDocument, mapping_of, text_of
from audit.model.rule import Severity

DEFAULT_SEVERITY = Severity.MEDIUM
"""For policies without ``policies.kyverno.io/severity``, or with one Kyverno does not know."""

_PREFIX = "policies.kyverno.io/"
_SLUG = re.compile(r"[^A-Za-z0-9._-]+")
_VARIABLE = re.compile(r"\{\{.*?\}\}", re.DOTALL)


class PolicyWords(msgspec.Struct, frozen=True, kw_only=True):
    """The annotations of one policy."""

    title: str
    category: str
    description: str
    severity: Severity
    severity_assumed: bool
    scored: bool
    """False when failures are only warnings (``policies.kyverno.io/scored: "false"``)."""


def words_of(document: PolicyDocument) -> PolicyWords:
    """Title, category, description and severity of a policy."""
    annotations = mapping_of(document.metadata.get("annotations"))

    def of(name: str) -> str:
        return " ".join(text_of(annotations.get(_PREFIX + name)).split())

    written = of("severity").lower()
    known = {severity.value: severity for severity in Severity}
    title = of("title") or document.name.replace("-", " ").capitalize()
    return PolicyWords(
        title=title,
        category=of("category"),
        description=of("description") or f"{document.kind} {document.name}.",
        severity=known.get(written, DEFAULT_SEVERITY),
        severity_assumed=written not in known,
        scored=text_of(annotations.get(_PREFIX + "scored")) != "false",
    )


def rule_id(document: PolicyDocument, rule_name: str) -> str:
    """``kyverno:policy/rule``; ``kyverno:namespace:policy/rule`` for a policy that lives in a namespace."""
    where = f"{slug(document.namespace)}:" if document.namespace else ""
    return f"kyverno:{where}{slug(document.name)}/{slug(rule_name)}"


def slug(text: str) -> str:
    """Text that can stand in an id: other characters become hyphens."""
    return _SLUG.sub("-", text).strip("-") or "unnamed"


def remedy(message: Any, words: PolicyWords) -> str:
    """What to do about a failure: the rule's own message, or the description where the message is computed."""
    text = " ".join(text_of(message).split())
    if not text or _VARIABLE.search(text):
        return words.description
    return text


def digest_of(document: PolicyDocument, rule_name: str) -> str:
    """sha256 of the policy as read, and the rule's name."""
    canonical = msgspec.json.encode(document.value, order="sorted")
    return hashlib.sha256(canonical + b"\0" + rule_name.encode()).hexdigest()
