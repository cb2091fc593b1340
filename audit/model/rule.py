"""Rules: one yes/no question each, asked of the kinds they declare."""

from __future__ import annotations

import enum
from typing import Any

import msgspec

from audit.model.subject import kind_key, kind_listed


class Severity(enum.Enum):
    """How bad a failure is; never part of the headline ratio."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for critical up to 4 for info: sorts the worst first."""
        return _SEVERITY_RANK[self]


_SEVERITY_RANK = {severity: rank for rank, severity in enumerate(Severity)}


class ContextNeed(msgspec.Struct, frozen=True, kw_only=True):
    """Other objects a rule must see: a projection collected per cluster before evaluation."""

    group: str = ""
    kinds: tuple[str, ...]
    """``*`` alone stands for every kind of the group."""
    fields: tuple[str, ...] = ()
    """Dotted paths kept besides apiVersion, kind and metadata name, namespace, labels, annotations."""


class MutationScore(msgspec.Struct, frozen=True, kw_only=True):
    """How many faults planted in a rule its own tests notice. Some faults change nothing that can be seen."""

    tests: int
    planted: int
    """Faults that compile."""
    noticed: int

    @property
    def share(self) -> float | None:
        """Noticed of planted; None where nothing was planted."""
        return self.noticed / self.planted if self.planted else None


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule as loaded. Every word shown to people comes from beside the rule's code."""

    id: str
    """``family/rule-name``, stable."""
    engine: str
    """``rego`` or ``reader``; later ``kyverno`` and more."""
    title: str
    description: str
    severity: Severity
    remediation: str
    fix: str = ""
    """Smallest YAML that mends a failure, empty where none can be given."""
    references: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    """Sorted `kind_key`s it matches; ``*/Kind`` means any group, ``group/*`` any kind. Empty means every kind."""
    match_derived: bool = False
    """True when it may be asked of derived Namespace and Cluster subjects ("X must exist" rules)."""
    not_applicable: str = "does_not_apply"
    """Machine-readable reason of a skip, given when the rule says it does not apply."""
    warn_only: bool = False
    """Failures become `warn`: answered, unscored, decides nothing."""
    context: tuple[ContextNeed, ...] = ()
    parameters: dict[str, Any] = {}
    """Effective parameters (defaults overlaid with configuration)."""
    package: str = ""
    """Rego package, for example ``pod.privileged``."""
    file: str = ""
    line: int | None = None
    digest: str = ""
    """sha256 (hex) of the rule's source."""
    builtin: bool = True
    """False for rules added by the user."""
    category: str = ""
    """The author's own grouping, for example a Kyverno policy's category annotation."""
    caveats: tuple[str, ...] = ()
    """Codes saying why its verdicts could differ inside a cluster, for example ``depends_on_user``."""
    shape: str = ""
    """How a user's Rego policy is read (``native``, ``conftest``, ``gatekeeper``, ...); empty for shipped rules and others."""
    mutation: MutationScore | None = None
    """How good its tests are; None where nobody measured these very lines."""

    @property
    def family(self) -> str:
        """Text before the first slash of the id."""
        return self.id.partition("/")[0]

    @property
    def context_kinds(self) -> tuple[str, ...]:
        """Kind keys of the other objects it must see."""
        return tuple(kind_key(need.group, kind) for need in self.context for kind in need.kinds)

    def matches(self, kind_key: str) -> bool:
        """Whether the rule declares this kind."""
        return not self.kinds or kind_listed(kind_key, self.kinds)
