"""Control statuses and ratios: what `assess` and `score` produce and every writer shows.

The formulas are in ``docs/report.md``; every number here can be recomputed from the exported JSON.
"""

from __future__ import annotations

import enum

import msgspec

from audit.model.control import EvidenceKind, ProfileName


class ControlStatus(enum.Enum):
    """Status of a control on one member (cluster) or the fleet."""

    SATISFIED = "satisfied"
    NOT_SATISFIED = "not_satisfied"
    WAIVED = "waived"
    INDETERMINATE = "indeterminate"
    NOT_APPLICABLE = "not_applicable"


class Reason(enum.Enum):
    """Machine-readable cause of a status. One is primary; `ControlAssessment.reasons` keeps all."""

    # not_satisfied
    FAILED_PAIRS = "failed_pairs"
    STATEMENT_NOT_MET = "statement_not_met"
    # indeterminate
    NO_DECIDING_RULE = "no_deciding_rule"
    """Checks are built, but none of their rules is loaded and mapped `decides`."""
    NO_CHECK_BUILT = "no_check_built"
    """No check of the control's evidence column has been built yet."""
    ERROR_PAIRS = "error_pairs"
    MISSING_ANSWER = "missing_answer"
    ONLY_WARNINGS = "only_warnings"
    DESELECTED_RULE = "deselected_rule"
    GAP = "gap"
    MEMBER_NOT_REACHED = "member_not_reached"
    STALE_EVIDENCE = "stale_evidence"
    NO_EVIDENCE = "no_evidence"
    """Nothing was collected at all."""
    SOME_CHECK_NOT_BUILT = "some_check_not_built"
    """An automatic control whose built checks all pass, while others of its evidence column are not built yet."""
    STATEMENT_OPEN = "statement_open"
    STATEMENT_EXPIRED = "statement_expired"
    # waived, satisfied, not_applicable
    WAIVED_PAIRS = "waived_pairs"
    PASSED_PAIRS = "passed_pairs"
    STATEMENT_MET = "statement_met"
    STATEMENT_NOT_APPLICABLE = "statement_not_applicable"
    NO_SUBJECT = "no_subject"


class RuleEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What one mapped rule contributed to one control on one member."""

    rule: str
    decides: bool
    due: int
    passed: int
    failed: int
    """Unwaived failures."""
    waived: int
    warned: int
    errors: int
    """Includes due pairs without an answer."""
    skipped: int


class ControlAssessment(msgspec.Struct, frozen=True, kw_only=True):
    """Status of one control on one member, or on the fleet (`cluster` empty)."""

    framework: str
    control: str
    cluster: str
    """Empty for the fleet roll-up."""
    status: ControlStatus
    reason: Reason
    reasons: tuple[Reason, ...]
    """All causes found, the primary first; a sorted closed set otherwise."""
    evidence: tuple[RuleEvidence, ...]
    """Deciding and supporting rules, sorted by id. On the fleet row: sums over members."""
    statement: str = ""
    """Id of the statement that counted, or of the newest expired one."""
    statement_text: str = ""
    contradicted: bool = False
    """A supporting rule failed."""
    technical_status: ControlStatus | None = None
    """Status with every statement ignored (statement need included): the technical-only ratio."""
    in_profile: bool = True
    technical_scanned: bool = False
    """At least one automatic deciding pair was due: counts as scanned in the classic table."""
    technical_complies: bool = False
    """All due deciding pairs answered, none failed unwaived."""
    technical_by_waiver: bool = False
    """Complies, with at least one waived failure."""
    gaps: tuple[int, ...] = ()
    """Indexes into the result's gaps that hold it back."""
    held_back_clusters: tuple[str, ...] = ()
    """On the fleet row: members whose status is the fleet's (empty when satisfied everywhere)."""


class Fraction(msgspec.Struct, frozen=True, kw_only=True):
    """A ratio kept as a fraction. ``0/0`` is "not stated"."""

    numerator: int
    denominator: int

    @property
    def value(self) -> float | None:
        """None for 0/0."""
        return self.numerator / self.denominator if self.denominator else None

    @property
    def percent_truncated(self) -> str | None:
        """One decimal, never rounded up: ``70.6``; None for 0/0."""
        if not self.denominator:
            return None
        tenths = self.numerator * 1000 // self.denominator
        return f"{tenths // 10}.{tenths % 10}"

    @property
    def percent_rounded(self) -> str | None:
        """One decimal, half up: the classic table's rounding."""
        if not self.denominator:
            return None
        tenths = (self.numerator * 2000 + self.denominator) // (2 * self.denominator)
        return f"{tenths // 10}.{tenths % 10}"


class HeldBack(msgspec.Struct, frozen=True, kw_only=True):
    """Why the strict ratio is not higher: the parts sum to denominator minus numerator."""

    failing: int = 0
    waived: int = 0
    statement_open: int = 0
    statement_expired: int = 0
    no_evidence: int = 0
    """Gaps, errors, missing answers, members not reached, nothing collected."""
    no_check: int = 0
    """No check built, no deciding rule loaded, deselected, or only warnings."""


class FunctionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One AI RMF function or LFAI family: strict buckets left, classic table right."""

    function: str
    satisfied: int
    failed: int
    waived: int
    indeterminate: int
    not_applicable: int
    scanned: int
    complies: int
    by_waiver: int

    @property
    def strict(self) -> Fraction:
        """P / (P+F+W+I)."""
        return Fraction(
            numerator=self.satisfied,
            denominator=self.satisfied + self.failed + self.waived + self.indeterminate,
        )

    @property
    def classic(self) -> Fraction:
        """Items that comply / items scanned (technical evidence alone)."""
        return Fraction(numerator=self.complies, denominator=self.scanned)


class NextStep(msgspec.Struct, frozen=True, kw_only=True):
    """A cheap step and the strict ratio it would give."""

    kind: str
    """``statements``, ``fix_rule``, ``close_gap``, ``renew_waiver`` or ``build_check``."""
    controls: tuple[str, ...]
    rules: tuple[str, ...] = ()
    gaps: tuple[int, ...] = ()
    gives: Fraction
    certain: bool = True
    """False where the step may, but need not, satisfy the controls (closing a gap)."""


class FrameworkScore(msgspec.Struct, frozen=True, kw_only=True):
    """All ratios of one framework under one profile."""

    framework: str
    title: str
    edition: str
    profile: ProfileName
    catalog_total: int
    in_profile: int
    satisfied: int
    failed: int
    waived: int
    indeterminate: int
    not_applicable: int
    strict: Fraction
    high: Fraction
    with_waivers: Fraction
    evidence_coverage: Fraction
    technical_only: Fraction
    """The strict ratio with statements ignored."""
    attested: Fraction
    """Satisfied controls resting on statements / satisfied."""
    held_back: HeldBack
    functions: tuple[FunctionRow, ...]
    next_steps: tuple[NextStep, ...]
    cluster_strict: dict[str, Fraction] = {}
    """Strict ratio of each registered cluster alone."""


class ControlRow(msgspec.Struct, frozen=True, kw_only=True):
    """A control with its fleet assessment and its members': what the matrix and control pages show."""

    framework: str
    id: str
    title: str
    function: str
    evidence_kind: EvidenceKind
    fleet: ControlAssessment
    members: tuple[ControlAssessment, ...]
