"""Which policies are the CLI's alone: what the batch child can't do exactly as the CLI does it, by name."""

from __future__ import annotations

from collections.abc import Mapping

from audit.evaluate.cache.identity import changes_by_itself
from audit.evaluate.kyverno.request import Request
from audit.evaluate.kyverno.subjects import Subject
from audit.evaluate.kyverno.surroundings import Surroundings
from audit.model.kyverno import KyvernoPolicy, PolicyFamily
from audit.model.subject import kind_key


def why_left(policy: KyvernoPolicy, request: Request) -> str:
    """Why a policy is left to the CLI, in words; empty when it is not."""
    if policy.family is PolicyFamily.IMAGE:
        return "it verifies images"
    if request.digest:
        return "a file says how its request looks"
    if any(rule.outside for rule in policy.rules):
        return "it reads other objects"
    if changes_by_itself(policy.document):
        return "its answer changes by itself"
    return ""


def is_left(family: PolicyFamily, subject: Subject, surroundings: Surroundings) -> bool:
    """Whether an object is the CLI's: one of a kind that only a definition tells the plural of."""
    facts = subject.facts
    if family is PolicyFamily.CLASSIC or facts is None:
        return False
    definitions: Mapping[str, object] = surroundings.definitions
    return kind_key(facts.group, facts.kind) in definitions
