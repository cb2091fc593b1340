"""The decision table: what is known of a control on one member, to its status. First match wins.

D stands for the control's selected rules mapped `decides`, on one cluster.

| row | condition | status |
|---|---|---|
| 1 | kind auto or partial, and no D rule loaded | indeterminate |
| 2 | an unwaived fail in D, or a valid statement "not met" | not_satisfied |
| 3 | a doubt: an error, no answer, only warnings, a rule not asked, a gap, a member not reached, stale evidence | indeterminate |
| 4 | a valid statement "not applicable", and no fail in D, waived or not | not_applicable |
| 5 | kind partial or attestation, and no valid statement | indeterminate |
| 6 | a waived fail in D | waived |
| 7 | a pass in D, or a valid statement | satisfied |
| 8 | nothing of the above: every subject was looked at, and none is D's concern | not_applicable |

Evidence is different: where none was handed in, row 3 applies (`no_evidence`). Row 8 holds both where no subject of D's kinds exists and where each of them was skipped as not applicable by the rule's
own, machine-readable reason. Row 3 has removed every case in which a subject could have been overlooked.
"""

from __future__ import annotations

from typing import NamedTuple

from audit.model.assessment import ControlStatus, Reason
from audit.model.control import EvidenceKind


class Facts(NamedTuple):
    """Everything the table asks about one control on one member."""

    kind: EvidenceKind
    deciding_loaded: bool = True
    """At least one rule mapped `decides` is loaded, selected or not."""
    check_built: bool = True
    """At least one check of the evidence column is asked by a rule; tells two reasons of row 1 apart."""
    failed: bool = False
    """An unwaived fail."""
    waived: bool = False
    passed: bool = False
    doubts: tuple[Reason, ...] = ()
    """Row 3, in the order of `Reason`."""
    met: bool = False
    """A valid statement says so; likewise the next two."""
    not_met: bool = False
    not_applicable: bool = False
    expired: bool = False
    """A statement was made but has ended."""

    def technical(self) -> Facts:
        """The same with every statement ignored and none needed: what technical evidence alone says.

        The kind becomes `auto`, so row 1 asks for a deciding rule of every control, and rows 4 and 5 never match.
        """
        return self._replace(
            kind=EvidenceKind.AUTO, met=False, not_met=False, not_applicable=False, expired=False
        )


class Decision(NamedTuple):
    """A status, and why."""

    status: ControlStatus
    reasons: tuple[Reason, ...]
    """The deciding one first, then whatever else speaks the same way, sorted."""
    row: int
    """Row of the table that matched, 1 to 8."""


def decide(facts: Facts) -> Decision:
    """Apply the table."""
    if facts.kind is not EvidenceKind.ATTESTATION and not facts.deciding_loaded:
        unbuilt = Reason.NO_DECIDING_RULE if facts.check_built else Reason.NO_CHECK_BUILT
        return _decision(1, ControlStatus.INDETERMINATE, unbuilt, *_open_statement(facts))
    if facts.failed or facts.not_met:
        causes = [Reason.FAILED_PAIRS] * facts.failed + [Reason.STATEMENT_NOT_MET] * facts.not_met
        return _decision(2, ControlStatus.NOT_SATISFIED, *causes, *facts.doubts)
    if facts.doubts:
        return _decision(3, ControlStatus.INDETERMINATE, *facts.doubts, *_open_statement(facts))
    if facts.not_applicable and not facts.waived:
        return _decision(4, ControlStatus.NOT_APPLICABLE, Reason.STATEMENT_NOT_APPLICABLE)
    if still_open := _open_statement(facts):
        supports = [Reason.PASSED_PAIRS] * facts.passed + [Reason.WAIVED_PAIRS] * facts.waived
        return _decision(5, ControlStatus.INDETERMINATE, *still_open, *supports)
    if facts.waived:
        return _decision(6, ControlStatus.WAIVED, Reason.WAIVED_PAIRS, *_rests_on(facts))
    if facts.passed or facts.met:
        passed = [Reason.PASSED_PAIRS] * facts.passed
        return _decision(7, ControlStatus.SATISFIED, *passed, *_rests_on(facts))
    return _decision(8, ControlStatus.NOT_APPLICABLE, Reason.NO_SUBJECT)


def _open_statement(facts: Facts) -> tuple[Reason, ...]:
    if facts.kind is EvidenceKind.AUTO or facts.met or facts.not_met or facts.not_applicable:
        return ()
    return (Reason.STATEMENT_EXPIRED if facts.expired else Reason.STATEMENT_OPEN,)


def _rests_on(facts: Facts) -> tuple[Reason, ...]:
    """A met statement carries a control that needs one, and one that nothing else carries; else it is idle."""
    idle = facts.kind is EvidenceKind.AUTO and (facts.passed or facts.waived)
    return (Reason.STATEMENT_MET,) if facts.met and not idle else ()


def _decision(row: int, status: ControlStatus, first: Reason, *others: Reason) -> Decision:
    rest = sorted(set(others) - {first}, key=lambda reason: reason.value)
    return Decision(status, (first, *rest), row)
