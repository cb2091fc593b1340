"""Policies of other tools, made ready for the embedded OPA: what the loader hands to the engine."""

from __future__ import annotations

import enum
from typing import Any

import msgspec

from audit.model.rule import Rule

ACCEPTED_KEY = "fleetaudit:accepted_by"
"""Key in a violation's ``expected`` by which an adapter names the policy's own exception."""

UNRESOLVED_DATA = "unresolved_data"
"""Caveat: the policy reads data that is not there, and what needs it cannot fire."""


class Shape(enum.Enum):
    """What a policy expects as its input, and how it answers."""

    NATIVE = "native"
    """The project's own contract: the bare object, ``applies`` and ``violations``."""
    CONFTEST = "conftest"
    """The bare object; ``deny``, ``warn``, ``violation`` and ``exception``."""
    GATEKEEPER = "gatekeeper"
    """ConstraintTemplates and Constraints: ``input.review``, ``input.parameters``, ``data.inventory``."""
    ADMISSION = "admission"
    """An AdmissionReview: ``input.request``; ``allow``, ``deny`` or ``main``."""
    LIST = "list"
    """A list of objects, as Kubescape hands it over; ``deny`` with alerts."""


class InventoryLayout(enum.Enum):
    """How ``data.inventory`` lies for a program."""

    NONE = "none"
    BY_KIND = "by_kind"
    """Kind key, namespace, objects: as native rules see it."""
    GATEKEEPER = "gatekeeper"
    """``cluster`` and ``namespace`` trees, by API version, kind and name."""


class ForeignAsk(msgspec.Struct, frozen=True, kw_only=True):
    """One rule of a program."""

    rule: Rule
    package: str
    """Of its adapter module, which defines ``applies`` and ``violations``."""
    undefined: str
    """What it means when the policy gives no answer; printed with the error."""
    unmatched: str = ""
    """What it means when it cannot be told whether the policy is meant for the object."""
    bad_answer: str = ""
    """What the policy should have answered, printed when it answered something else."""


class ForeignProgram(msgspec.Struct, frozen=True, kw_only=True):
    """One policy source, compiled on its own: names and data of two sources never meet."""

    source: str
    shape: Shape
    modules: dict[str, str]
    """Label to Rego: the source's own, the adapters and what they stand on."""
    data: dict[str, Any]
    asks: tuple[ForeignAsk, ...]
    inventory: InventoryLayout = InventoryLayout.NONE
    synthetic: bool = False
    """The policies see a made-up request, with the namespace filled in where a manifest leaves it unset."""
    facts: dict[str, str] = {}
    """For the run record: shape, whether it was detected, dialects, commit."""


class ForeignPolicies(msgspec.Struct, frozen=True, kw_only=True):
    """Everything loaded from foreign sources, except gaps and notices."""

    programs: tuple[ForeignProgram, ...] = ()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Of all programs."""
        return tuple(ask.rule for program in self.programs for ask in program.asks)
