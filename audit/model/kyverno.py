"""Kyverno policies as understood: what the loader read and what the engine hands to the Kyverno CLI."""

from __future__ import annotations

import datetime as dt
import enum
from typing import Any

import msgspec

from audit.model.gap import Gap, Notice
from audit.model.rule import Rule
from audit.model.twin import Twin


class PolicyFamily(enum.Enum):
    """Kinds of policy that are judged alike; the value is the ``source`` of the CLI's result rows."""

    CLASSIC = "kyverno"
    """ClusterPolicy and Policy."""
    VALIDATING = "KyvernoValidatingPolicy"
    """ValidatingPolicy and NamespacedValidatingPolicy."""
    IMAGE = "KyvernoImageValidatingPolicy"
    """ImageValidatingPolicy and its namespaced form."""
    ADMISSION = "ValidatingAdmissionPolicy"
    """Kubernetes' own ValidatingAdmissionPolicy with its bindings."""


class Caveat(enum.Enum):
    """Why a verdict could differ from the one inside a cluster."""

    DEPENDS_ON_USER = "depends_on_user"
    """The rule looks at who asks; an audit has no user."""
    DEPENDS_ON_OPERATION = "depends_on_operation"
    """The rule looks at the operation; an audit judges objects as if they were being created."""
    ADMISSION_ONLY = "admission_only"
    """``background: false``: the cluster asks at admission only and never reports on objects already there."""
    NOT_ADMITTED = "not_admitted"
    """``admission: false``: the cluster reports but never refuses."""
    UNBOUND = "unbound"
    """A ValidatingAdmissionPolicy without a binding is not in force."""
    NAMESPACE_ASSUMED = "namespace_assumed"
    """The manifest names no namespace; ``default`` was assumed."""
    SCOPE_UNKNOWN = "scope_unknown"
    """Whether the kind lives in namespaces is not known; the CLI puts it into ``default``."""
    LARGE_INTEGER = "large_integer"
    """An integer beyond 2^53 loses digits in the CLI."""
    REDACTED = "redacted"
    """A value was redacted before the rule could see it."""


class RuleVariant(msgspec.Struct, frozen=True, kw_only=True):
    """One form of a rule that can give a row: the rule as written, or a form generated for pod controllers."""

    row: str
    """Rule name in the CLI's rows; empty where rows carry none."""
    kinds: tuple[str, ...] = ()
    """Kinds (without group) for which Kyverno makes this form; empty means any."""
    match: dict[str, Any]
    """Classic: the match block. Others: the match constraints."""
    exclude: dict[str, Any] = {}


class ImageReferences(msgspec.Struct, frozen=True, kw_only=True):
    """Which images a verification rule is about."""

    globs: tuple[str, ...]
    skip: tuple[str, ...] = ()
    computed: bool = False
    """Chosen by an expression or an extractor: any image may be meant."""


class ObjectNeed(msgspec.Struct, frozen=True, kw_only=True):
    """Objects of one kind that a rule reads besides its subject."""

    group: str
    version: str
    kind: str
    plural: str
    whole_cluster: bool
    """Listed over all namespaces (or the kind has none)."""


class OutsideNeed(msgspec.Struct, frozen=True, kw_only=True):
    """Something besides its subject that a rule reads."""

    variable: str = ""
    """Name of the context variable; empty for needs of another kind."""
    objects: ObjectNeed | None = None
    """Objects the CLI must be given; None when nothing at hand can answer."""
    entry: str = ""
    """Name of the GlobalContextEntry that lists them, if one does."""
    code: str = ""
    """Why nothing can answer it offline, for example ``needs_network``; empty when `objects` can."""
    text: str = ""


class KyvernoRule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule of a policy, with its generated forms folded in."""

    rule: Rule
    variants: tuple[RuleVariant, ...]
    caveats: tuple[Caveat, ...] = ()
    outside: tuple[OutsideNeed, ...] = ()
    images: tuple[ImageReferences, ...] = ()
    """Set for rules that verify images: only objects with such an image need the registry."""
    loops: bool = False
    """A `foreach` rule: over an empty list the CLI gives no row."""
    reads: frozenset[str] = frozenset()
    """Field names the rule mentions; decides whether a redacted value concerns it."""


class KyvernoPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """One policy document, ready to be handed over."""

    family: PolicyFamily
    kind: str
    api_version: str
    name: str
    namespace: str = ""
    document: bytes
    """JSON for the CLI: mutating and generating rules and the status taken out. Empty when no rule is left for it."""
    rules: tuple[KyvernoRule, ...]
    apply_one: bool = False
    """``applyRules: One``: rules after the first that applied give no row."""
    match_conditions: bool = False
    """CEL conditions outside the rules decide whether there are any rows."""
    binding: str = ""
    """Name of the binding this copy of a ValidatingAdmissionPolicy stands for."""
    file: str = ""
    line: int | None = None

    row_name: str = ""
    """``policy`` in the CLI's rows: the name, after the namespace and a slash where it has one. Made at birth."""
    key: str = ""
    """Unique among the loaded policies. Made at birth."""

    def __post_init__(self) -> None:
        """Both are asked for once a pair, so they are kept."""
        row_name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        msgspec.structs.force_setattr(self, "row_name", row_name)
        msgspec.structs.force_setattr(self, "key", f"{self.family.value}:{row_name}")


class ExceptionTarget(msgspec.Struct, frozen=True, kw_only=True):
    """A policy, and the rules of it, that an exception names."""

    kind: str = ""
    """Kind of the policy; empty means a classic one."""
    policy: str
    """Name, or ``namespace/name``."""
    rules: tuple[str, ...] = ()
    """Names with wildcards, as written; empty means all."""


class PolicyException(msgspec.Struct, frozen=True, kw_only=True):
    """A PolicyException: people accept failures of some rules on some objects."""

    id: str
    """``namespace/name``."""
    cel: bool
    """policies.kyverno.io, for policies written in CEL."""
    document: bytes
    targets: tuple[ExceptionTarget, ...]
    expires: dt.datetime | None = None
    """Exclusive end, aware, UTC; None when it has none."""
    problem: str = ""
    """Why its end can't be told; such an exception is not honoured."""
    file: str = ""
    line: int | None = None

    def is_live(self, now: dt.datetime) -> bool:
        """Honoured at this moment."""
        return not self.problem and (self.expires is None or now < self.expires)


class LoadedPolicies(msgspec.Struct, frozen=True, kw_only=True):
    """Everything read from a user's Kyverno files."""

    policies: tuple[KyvernoPolicy, ...] = ()
    exceptions: tuple[PolicyException, ...] = ()
    global_context: dict[str, bytes] = {}
    """GlobalContextEntry documents by name, in the one version that the CLI takes for what they are."""
    gaps: tuple[Gap, ...] = ()
    notices: tuple[Notice, ...] = ()
    """Documents that are no audit rules (mutating, generating, cleaning up), severities assumed."""
    twins: tuple[Twin, ...] = ()
    """What the policies say of themselves: which rules they repeat."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All audit rules, each once, sorted by id."""
        found = {rule.rule.id: rule.rule for policy in self.policies for rule in policy.rules}
        return tuple(found[id_] for id_ in sorted(found))
