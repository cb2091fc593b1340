"""The two answers of a run, in codes and numbers: were the gates met, and was the audit complete. Reports have the words."""

from __future__ import annotations

import enum

import msgspec

from audit.model.assessment import Fraction
from audit.model.rule import Severity


class GateReason(enum.Enum):
    """What a gate was judged by."""

    OPEN_GROUPS = "open_groups"
    NO_OPEN_GROUP = "no_open_group"
    NOTHING_EVALUATED = "nothing_evaluated"
    NO_RULE_ASKED = "no_rule_asked"
    """No rule of the severity, or worse, was asked."""
    NONE_JUDGED = "none_judged"
    """Every pair of such rules ended in an error."""
    RATIO = "ratio"
    OBJECTS = "objects"


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """One condition asked for on the command line or in the configuration."""

    condition: str
    """As the option writes it, for example ``fail-on high``."""
    met: bool | None
    """None: not decided, because nothing was looked at that could decide it. Never a success."""
    reason: GateReason
    severity: Severity | None = None
    """The least severity that the condition asks about."""
    open: dict[str, int] = {}
    """Open groups of that severity or worse, by severity; only for open_groups."""
    number: int = 0
    """Pairs (none_judged) or objects (objects)."""
    fraction: Fraction | None = None
    """The ratio that was compared; 0/0 where it is not stated."""


class IncompleteCode(enum.Enum):
    """Why an audit is incomplete."""

    STOPPED = "stopped"
    NO_RULE = "no_rule"
    NO_OBJECT = "no_object"
    NO_MATCH = "no_match"
    """No rule matched any object."""
    GAPS = "gaps"
    """Gaps that are not tolerated."""
    ERRORS = "errors"
    """Pairs that could not be judged."""
    MISSING = "missing"
    """Pairs that were due and got no answer."""
    GATE_NOT_DECIDED = "gate_not_decided"


class IncompleteReason(msgspec.Struct, frozen=True, kw_only=True):
    """One reason, with its number."""

    code: IncompleteCode
    number: int = 0
    """Objects judged (stopped), gaps or pairs."""
    of: int = 0
    """Objects read (stopped)."""
    gate: str = ""
    """The condition that could not be decided."""
