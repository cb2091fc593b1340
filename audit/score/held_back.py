"""Names the part that is missing from a strict ratio, control by control."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from audit.model.assessment import ControlAssessment, ControlStatus, HeldBack, Reason

# An indeterminate control is put under its primary reason. What the owner of the audit can mend himself (evidence to
# collect) is kept apart from what the owner of the rules must (checks to build, select or let decide).
PART_OF = {
    Reason.STATEMENT_OPEN: "statement_open",
    Reason.STATEMENT_EXPIRED: "statement_expired",
    Reason.ERROR_PAIRS: "no_evidence",
    Reason.MISSING_ANSWER: "no_evidence",
    Reason.GAP: "no_evidence",
    Reason.MEMBER_NOT_REACHED: "no_evidence",
    Reason.STALE_EVIDENCE: "no_evidence",
    Reason.NO_EVIDENCE: "no_evidence",
    Reason.NO_CHECK_BUILT: "no_check",
    Reason.SOME_CHECK_NOT_BUILT: "no_check",
    Reason.NO_DECIDING_RULE: "no_check",
    Reason.DESELECTED_RULE: "no_check",
    Reason.ONLY_WARNINGS: "no_check",
}


def held_back(assessments: Iterable[ControlAssessment]) -> HeldBack:
    """The parts, which sum to F + W + I."""
    parts: Counter[str] = Counter()
    for assessment in assessments:
        if assessment.status is ControlStatus.NOT_SATISFIED:
            parts["failing"] += 1
        elif assessment.status is ControlStatus.WAIVED:
            parts["waived"] += 1
        elif assessment.status is ControlStatus.INDETERMINATE:
            parts[PART_OF[assessment.reason]] += 1
    return HeldBack(**parts)
