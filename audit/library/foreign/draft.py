"""What a shape's reader makes of a source, before it is compiled."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from audit.library.foreign.module import Module
from audit.library.foreign.settle import Wanted
from audit.library.foreign.words import DEFAULT_REMEDIATION, DEFAULT_SEVERITY, Words
from audit.library.policy_source import PolicySource
from audit.model.api_resources import built_in_kinds
from audit.model.foreign import InventoryLayout, Shape
from audit.model.gap import Gap, Notice
from audit.model.rule import ContextNeed, Rule
from audit.model.subject import CLUSTER_GROUP, kind_key

CLUSTER_KEY = kind_key(CLUSTER_GROUP, "Cluster")
SYNTHETIC_REQUEST = "synthetic_request"
"""Caveat: the policy judges a request that nobody made: a CREATE without a user."""


class Draft(msgspec.Struct, kw_only=True):
    """One program in the making."""

    shape: Shape
    modules: list[Module] = []
    wanted: list[Wanted] = []
    data: dict[str, Any] = {}
    inventory: InventoryLayout = InventoryLayout.NONE
    synthetic: bool = False
    scopes: dict[str, str] = {}
    gaps: list[Gap] = []
    notices: list[Notice] = []
    severity_assumed: int = 0

    def number(self) -> int:
        """Of the next adapter."""
        return len(self.wanted) + 1


def whole_objects(kinds: Sequence[str]) -> tuple[ContextNeed, ...]:
    """Context of whole objects of these kinds."""
    needs = []
    for key in kinds:
        group, _, kind = key.rpartition("/")
        needs.append(ContextNeed(group=group, kinds=(kind,), fields=("*",)))
    return tuple(needs)


def exact_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """Kind keys without wildcards: a kind in any group is that of the built-in groups; empty when one is left."""
    found: set[str] = set()
    for key in kinds:
        group, _, kind = key.rpartition("/")
        if group == "*":
            same = {known for known in built_in_kinds() if known.rpartition("/")[2] == kind}
            if not same:
                return ()
            found |= same
        elif kind == "*":
            return ()
        else:
            found.add(key)
    return tuple(sorted(found))


def make_rule(
    draft: Draft,
    source: PolicySource,
    *,
    id_: str,
    words: Words,
    title: str,
    file: str,
    line: int | None,
    digest_of: Sequence[str],
    package: str = "",
    kinds: tuple[str, ...] = (),
    context: tuple[ContextNeed, ...] = (),
    not_applicable: str = "does_not_apply",
    warn_only: bool = False,
    caveats: tuple[str, ...] = (),
    parameters: dict[str, Any] | None = None,
    per_cluster: bool = False,
) -> Rule:
    """A rule with everything that is known of it; `title` is used when its author gave none."""
    severity = words.severity or source.severity
    if severity is None:
        draft.severity_assumed += 1
    digest = hashlib.sha256()
    for text in digest_of:
        digest.update(hashlib.sha256(text.encode()).digest())
    return Rule(
        id=id_,
        engine="rego",
        title=words.title or title,
        description=words.description or f"{title}.",
        severity=severity or DEFAULT_SEVERITY,
        remediation=words.remediation or DEFAULT_REMEDIATION,
        references=words.references,
        kinds=(CLUSTER_KEY,) if per_cluster else kinds,
        match_derived=per_cluster,
        not_applicable=not_applicable,
        warn_only=warn_only,
        context=context,
        parameters=parameters or {},
        package=package,
        file=file,
        line=line,
        digest=digest.hexdigest(),
        builtin=False,
        caveats=caveats,
        shape=draft.shape.value,
    )
