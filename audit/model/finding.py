"""Outcomes of pairs, and the findings people read."""

from __future__ import annotations

import enum
import functools
import re
from typing import Any

import msgspec

from audit.model.rule import Severity
from audit.model.subject import Place, SubjectRef


class Outcome(enum.Enum):
    """What came of one pair (rule, subject). A closed set; a waiver never changes it."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    ERROR = "error"
    SKIP = "skip"


class Violation(msgspec.Struct, frozen=True, kw_only=True):
    """One thing wrong with a subject: where, what was seen, what was expected."""

    path: tuple[str | int, ...] = ()
    """Segments from the object's root; strings are keys, integers are list indexes."""
    message: str = ""
    container: str = ""
    """Name of the container the path is in, if any."""
    seen: Any = None
    """The value found (already redacted); None when the field is absent."""
    expected: Any = None

    @property
    def path_text(self) -> str:
        """``spec.containers[0].image`` form, keys with dots quoted."""
        return render_path(self.path)


CONTEXT_INCOMPLETE = "context_incomplete"
"""Error code of a pair whose rule must see objects that a gap may hide: it is the gap's consequence, not a second fault."""


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What one of several rules that ask the same question answered about a subject."""

    rule: str
    outcome: Outcome
    text: str = ""
    """Its first message, or the reason of an error or a skip; safe to print."""
    accepted_by: str = ""
    """Id of its engine's own exception that accepts the failure."""


MANIFEST_NOT_COLLECTED = "manifest_not_collected"
"""Error code of a pair about what is a namespace's own, where the namespace is used and its manifest is not among the inputs.
Nothing went wrong: like an open statement, it holds the ratio back until somebody brings what is missing."""


class PairAnswer(msgspec.Struct, frozen=True):
    """One rule's answer about one subject. Engines share equal answers: never compare them by identity."""

    rule: str
    outcome: Outcome
    violations: tuple[Violation, ...] = ()
    reason: str = ""
    """Skip reason or error code (``timeout``, ``undefined``, ``missing_answer``, ...); machine-readable."""
    message: str = ""
    """Error text, safe to print."""
    caveats: tuple[str, ...] = ()
    """Codes saying why this verdict could differ inside a cluster; `Rule.caveats` are not repeated here."""
    accepted_by: str = ""
    """Id of the engine's own live exception that accepts this failure (a Kyverno PolicyException); the outcome is the true one."""
    said: tuple[Said, ...] = ()
    """What each twin said, the rule itself first; empty when no other engine was asked the same."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One violation (or one error) of one rule on one subject: the rows under a group."""

    rule: str
    subject: SubjectRef
    outcome: Outcome
    """fail, warn or error; passes and skips live in the population file only."""
    severity: Severity
    violation: Violation
    place: Place | None = None
    error: str = ""
    """Machine-readable code for outcome error, for example ``timeout`` or ``ambiguous_document``."""
    waiver: str = ""
    """Id of the live waiver that accepts it, if any."""
    said: tuple[Said, ...] = ()
    """What each engine answered, where several were asked the same question."""
    caveats: tuple[str, ...] = ()
    """Codes saying why the verdict could differ inside a cluster; the rule's own caveats are not repeated here."""


class FindingGroup(msgspec.Struct, frozen=True, kw_only=True):
    """What a person sees: findings alike in rule, owner, container and path, over clusters and replicas."""

    id: str
    """``G-`` and 8 hex digits of sha256 over rule, owner kind, namespace, owner name, container, path."""
    rule: str
    severity: Severity
    outcome: Outcome
    owner: str
    """``Kind namespace/name`` of the owner, without the cluster."""
    container: str
    path: str
    """Path text with list indexes replaced by ``[]``; inside a pod it begins with ``pod``, whatever describes the pod."""
    clusters: tuple[str, ...]
    total: int
    """Number of findings in the group, waived ones included."""
    waived: int
    members: tuple[Finding, ...]
    """All findings, sorted; writers cap what they show and say so."""


@functools.lru_cache(maxsize=1 << 14)  # the same few places are wrong in thousands of objects
def render_path(path: tuple[str | int, ...]) -> str:
    """Path segments as people write them: ``a.b[0]["odd.key"]``."""
    parts: list[str] = []
    for segment in path:
        if isinstance(segment, int):
            parts.append(f"[{segment}]")
        elif _PLAIN_KEY(segment):
            parts.append(f".{segment}" if parts else segment)
        else:
            parts.append(f'["{segment}"]')
    return "".join(parts)


# Letters and digits of any script, - and _: keys that need no quotes.
_PLAIN_KEY = re.compile(r"[\w-]+").fullmatch
