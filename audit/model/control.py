"""Frameworks as data: catalogs of controls, and mappings from rules to controls."""

from __future__ import annotations

import datetime as dt
import enum

import msgspec


class EvidenceKind(enum.Enum):
    """How a control can be decided."""

    AUTO = "auto"
    PARTIAL = "partial"
    ATTESTATION = "attestation"


class Control(msgspec.Struct, frozen=True, kw_only=True):
    """One requirement, in our own words."""

    id: str
    title: str
    function: str
    """GOVERN, MAP, MEASURE or MANAGE for AI RMF; the family (SBOM, SIG, ...) for LFAI."""
    evidence_kind: EvidenceKind
    source: str = ""
    """Clause or document it comes from."""
    checks: tuple[str, ...] = ()
    """Check ids of the evidence column, each listed in ``controls/checks.yaml``."""
    description: str = ""


class Catalog(msgspec.Struct, frozen=True, kw_only=True):
    """One framework edition."""

    id: str
    """``nist-ai-rmf`` or ``lfai``."""
    title: str
    edition: str
    source: str
    controls: tuple[Control, ...]
    file: str = ""
    digest: str = ""
    functions: tuple[str, ...] = ()
    """Order in which functions are shown."""


class Strength(enum.Enum):
    """`decides` moves a status; `supports` never does (a failing one is printed as contradicted)."""

    DECIDES = "decides"
    SUPPORTS = "supports"


class MappingEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One reviewed link from a rule to a control."""

    framework: str
    control: str
    rule: str
    strength: Strength
    rationale: str
    limits: str
    author: str
    date: dt.date
    file: str = ""


class CheckState(enum.Enum):
    """What became of a check id named by the catalogs."""

    BUILT = "built"
    PLANNED = "planned"
    NOT_PLANNED = "not_planned"


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """A check id of the catalogs' evidence columns."""

    id: str
    state: CheckState
    rules: tuple[str, ...] = ()
    reason: str = ""


class ProfileName(enum.Enum):
    """Which controls are in the denominator."""

    TECHNICAL = "technical"
    """Evidence kind auto or partial. The default."""
    FULL = "full"
    CUSTOM = "custom"


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """The controls selected for a run, per framework."""

    name: ProfileName
    controls: dict[str, tuple[str, ...]]
    """Framework id to control ids, catalog order."""
