"""The assessment result: what the pipeline hands to the report writers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Protocol, runtime_checkable

import msgspec

from audit.model.acceptance import Statement, Waiver
from audit.model.assessment import ControlRow, FrameworkScore
from audit.model.consistency import PolicyConsistency
from audit.model.control import Check, MappingEntry
from audit.model.finding import FindingGroup
from audit.model.gap import Gap, Notice
from audit.model.gate import Gate, IncompleteReason
from audit.model.quality import PolicyQuality
from audit.model.rule import Rule
from audit.model.run import RunRecord
from audit.model.tally import Tally


class GroupSource(Protocol):
    """Where the finding groups are: on disk while running, in memory after loading a JSON report."""

    def groups(self) -> Iterator[FindingGroup]:
        """Groups in display order: outcome (fail, error, warn), severity, rule, owner, container, path."""
        ...

    def counts(self) -> GroupCounts:
        """Totals without reading the groups again."""
        ...


@runtime_checkable
class EncodedGroupSource(GroupSource, Protocol):
    """A source that has its groups as canonical JSON already, and so spares taking them apart and encoding them."""

    def encoded_groups(self) -> Iterator[bytes]:
        """`canonical_json` of each group, in the order of `groups`."""
        ...


class GroupCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Group totals by severity. A group counts as open when at least one member is an unwaived fail."""

    open: dict[str, int]
    """Severity value to number of open fail groups; all five severities present."""
    waived: int
    """Fail groups whose members are all waived."""
    errors: int
    warns: int
    findings: int
    """Members over all groups."""


class WaiverState(msgspec.Struct, frozen=True, kw_only=True):
    """A waiver and what it did in this run."""

    waiver: Waiver
    live: bool
    matched: int
    """Pairs it accepted (live) or would have accepted (expired)."""
    warning: str = ""
    """For example "no end date" or "matched nothing"."""


class StatementState(msgspec.Struct, frozen=True, kw_only=True):
    """A statement and whether it counted."""

    statement: Statement
    live: bool
    counted: bool
    why_not: Literal["", "not_yet", "ended", "no_reason"] = ""
    """Why it is not live: made at a later date than the state's, ended, or "not applicable" without a reason."""


class RuleState(msgspec.Struct, frozen=True, kw_only=True):
    """A loaded rule and whether it was asked."""

    rule: Rule
    selected: bool
    twin_of: str = ""
    """The rule whose pairs its answers are part of, because both ask the same question; empty for most."""
    signature: str = ""
    """What the signatures of its source are worth: ``verified``, ``unsigned``, ``wrong_identity``, ``invalid`` or
    ``could_not_check``, the worst of its files. Empty for shipped rules, and where nobody asked."""


class AssessmentResult(msgspec.Struct, frozen=True, kw_only=True):
    """All of one run, except the groups, which stream from `groups`."""

    title: str
    """Name of the fleet, from configuration; ``Kubernetes manifests`` by default."""
    record: RunRecord
    tally: Tally
    scores: tuple[FrameworkScore, ...]
    controls: tuple[ControlRow, ...]
    """Every control of every catalog, in catalog order, in profile or not."""
    rules: tuple[RuleState, ...]
    mappings: tuple[MappingEntry, ...]
    checks: tuple[Check, ...]
    gaps: tuple[Gap, ...]
    notices: tuple[Notice, ...]
    waivers: tuple[WaiverState, ...]
    statements: tuple[StatementState, ...]
    gates: tuple[Gate, ...]
    complete: bool
    """False when anything makes exit code 3: gaps not allowed, errors, nothing evaluated."""
    incomplete_reasons: tuple[IncompleteReason, ...]
    quality: PolicyQuality
    consistency: PolicyConsistency | None = None
    """Whether the clusters have the same policies; None for a single one."""
    group_source: GroupSource

    @property
    def may_be_called_compliant(self) -> bool:
        """Never while a critical finding is open or anything is incomplete."""
        return self.complete and self.group_source.counts().open.get("critical", 0) == 0
