"""What a result's ratios were counted over. Two results with another basis have no difference to state."""

from __future__ import annotations

import hashlib
from typing import Self

import msgspec

from audit.model.canonical import canonical_json
from audit.model.result import AssessmentResult


class Basis(msgspec.Struct, frozen=True, kw_only=True):
    """Digests (sha256, hex) of the five things that ratios are counted over. Small enough to be kept for every run."""

    scope: str
    """Subjects in scope, registered clusters, and what was left out by which choice."""
    rules: str
    catalogs: str
    mappings: str
    profile: str
    """Frameworks and the profile of each."""

    @classmethod
    def of(cls, result: AssessmentResult) -> Self:
        """The basis of a result."""
        record = result.record
        return cls(
            scope=record.scope_sha256,
            rules=record.rules_sha256,
            catalogs=_digest(record.catalogs_sha256),
            mappings=_digest(record.mappings_sha256),
            profile=_digest([(score.framework, score.profile) for score in result.scores]),
        )

    def differs_from(self, other: Basis) -> tuple[str, ...]:
        """Names of the parts that are not the same."""
        return tuple(name for name in self.__struct_fields__ if getattr(self, name) != getattr(other, name))


def _digest(content: object) -> str:
    return hashlib.sha256(canonical_json(content)).hexdigest()
