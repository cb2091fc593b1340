"""Every row of the decision table, and the order between them."""

from __future__ import annotations

import itertools

import pytest

from audit.assess.decide import Facts, decide
from audit.model.assessment import ControlStatus, Reason
from audit.model.control import EvidenceKind

AUTO, PARTIAL, ATTESTATION = EvidenceKind.AUTO, EvidenceKind.PARTIAL, EvidenceKind.ATTESTATION
SATISFIED, NOT_SATISFIED = ControlStatus.SATISFIED, ControlStatus.NOT_SATISFIED
WAIVED, INDETERMINATE = ControlStatus.WAIVED, ControlStatus.INDETERMINATE
NOT_APPLICABLE = ControlStatus.NOT_APPLICABLE
GAP = (Reason.GAP,)

ROWS = [
    # row 1: no rule may decide, and that beats even what people say
    (1, Facts(AUTO, deciding_loaded=False), INDETERMINATE, Reason.NO_DECIDING_RULE),
    (1, Facts(PARTIAL, deciding_loaded=False, check_built=False), INDETERMINATE, Reason.NO_CHECK_BUILT),
    (1, Facts(PARTIAL, deciding_loaded=False, met=True), INDETERMINATE, Reason.NO_DECIDING_RULE),
    (1, Facts(PARTIAL, deciding_loaded=False, not_met=True), INDETERMINATE, Reason.NO_DECIDING_RULE),
    (1, Facts(AUTO, deciding_loaded=False, not_applicable=True), INDETERMINATE, Reason.NO_DECIDING_RULE),
    # row 2: a failure beats passes, doubts and every statement
    (2, Facts(AUTO, failed=True), NOT_SATISFIED, Reason.FAILED_PAIRS),
    (2, Facts(AUTO, failed=True, passed=True, waived=True), NOT_SATISFIED, Reason.FAILED_PAIRS),
    (2, Facts(AUTO, failed=True, doubts=GAP), NOT_SATISFIED, Reason.FAILED_PAIRS),
    (2, Facts(PARTIAL, failed=True, met=True), NOT_SATISFIED, Reason.FAILED_PAIRS),
    (2, Facts(PARTIAL, failed=True, not_applicable=True), NOT_SATISFIED, Reason.FAILED_PAIRS),
    (2, Facts(PARTIAL, passed=True, not_met=True), NOT_SATISFIED, Reason.STATEMENT_NOT_MET),
    (2, Facts(ATTESTATION, deciding_loaded=False, not_met=True), NOT_SATISFIED, Reason.STATEMENT_NOT_MET),
    (2, Facts(ATTESTATION, met=True, not_met=True), NOT_SATISFIED, Reason.STATEMENT_NOT_MET),
    # row 3: any doubt beats passes, waivers and statements
    *(
        (3, Facts(AUTO, passed=True, doubts=(reason,)), INDETERMINATE, reason)
        for reason in (
            Reason.ERROR_PAIRS,
            Reason.MISSING_ANSWER,
            Reason.ONLY_WARNINGS,
            Reason.DESELECTED_RULE,
            Reason.GAP,
            Reason.MEMBER_NOT_REACHED,
            Reason.STALE_EVIDENCE,
        )
    ),
    (3, Facts(AUTO, waived=True, doubts=GAP), INDETERMINATE, Reason.GAP),
    (3, Facts(PARTIAL, not_applicable=True, doubts=GAP), INDETERMINATE, Reason.GAP),
    (3, Facts(PARTIAL, met=True, doubts=GAP), INDETERMINATE, Reason.GAP),
    (3, Facts(AUTO, doubts=GAP), INDETERMINATE, Reason.GAP),
    # row 4: a statement takes a control out only where nothing failed, waived or not
    (4, Facts(PARTIAL, not_applicable=True), NOT_APPLICABLE, Reason.STATEMENT_NOT_APPLICABLE),
    (4, Facts(AUTO, passed=True, not_applicable=True), NOT_APPLICABLE, Reason.STATEMENT_NOT_APPLICABLE),
    (
        4,
        Facts(ATTESTATION, deciding_loaded=False, not_applicable=True),
        NOT_APPLICABLE,
        Reason.STATEMENT_NOT_APPLICABLE,
    ),
    # row 5: people have to speak, and have not
    (5, Facts(PARTIAL, passed=True), INDETERMINATE, Reason.STATEMENT_OPEN),
    (5, Facts(PARTIAL, passed=True, expired=True), INDETERMINATE, Reason.STATEMENT_EXPIRED),
    (5, Facts(PARTIAL, waived=True), INDETERMINATE, Reason.STATEMENT_OPEN),
    (5, Facts(PARTIAL), INDETERMINATE, Reason.STATEMENT_OPEN),
    (5, Facts(ATTESTATION, deciding_loaded=False), INDETERMINATE, Reason.STATEMENT_OPEN),
    (5, Facts(ATTESTATION, deciding_loaded=False, expired=True), INDETERMINATE, Reason.STATEMENT_EXPIRED),
    # row 6: an accepted failure is never more than waived
    (6, Facts(AUTO, waived=True), WAIVED, Reason.WAIVED_PAIRS),
    (6, Facts(AUTO, waived=True, passed=True), WAIVED, Reason.WAIVED_PAIRS),
    (6, Facts(PARTIAL, waived=True, passed=True, met=True), WAIVED, Reason.WAIVED_PAIRS),
    (6, Facts(PARTIAL, waived=True, not_applicable=True), WAIVED, Reason.WAIVED_PAIRS),
    # row 7
    (7, Facts(AUTO, passed=True), SATISFIED, Reason.PASSED_PAIRS),
    (7, Facts(PARTIAL, passed=True, met=True), SATISFIED, Reason.PASSED_PAIRS),
    (7, Facts(PARTIAL, met=True), SATISFIED, Reason.STATEMENT_MET),
    (7, Facts(AUTO, met=True), SATISFIED, Reason.STATEMENT_MET),
    (7, Facts(ATTESTATION, deciding_loaded=False, met=True), SATISFIED, Reason.STATEMENT_MET),
    # row 8: everything was looked at, and nothing is the control's concern
    (8, Facts(AUTO), NOT_APPLICABLE, Reason.NO_SUBJECT),
]


@pytest.mark.parametrize(("row", "facts", "status", "reason"), ROWS)
def test_each_row(row: int, facts: Facts, status: ControlStatus, reason: Reason) -> None:
    decision = decide(facts)
    assert (decision.row, decision.status, decision.reasons[0]) == (row, status, reason)


def test_every_row_is_tried() -> None:
    assert {row for row, *_ in ROWS} == set(range(1, 9))


def _all_facts() -> list[Facts]:
    switches = [(False, True)] * 9
    return [
        Facts(kind, loaded, built, failed, waived, passed, GAP if doubt else (), met, not_met, na, expired)
        for kind in EvidenceKind
        for loaded, built, failed, waived, passed, doubt, met, not_met, na in itertools.product(*switches)
        for expired in (False, True)
    ]


def test_the_table_is_total_and_matches_a_plain_reading_of_it() -> None:
    """All 3,072 combinations against the page's own words, written once more and in another way."""
    for facts in _all_facts():
        auto_or_partial = facts.kind is not ATTESTATION
        needs_statement = facts.kind is not AUTO
        valid = facts.met or facts.not_met or facts.not_applicable
        conditions = [
            (auto_or_partial and not facts.deciding_loaded, INDETERMINATE),
            (facts.failed or facts.not_met, NOT_SATISFIED),
            (bool(facts.doubts), INDETERMINATE),
            (facts.not_applicable and not (facts.failed or facts.waived), NOT_APPLICABLE),
            (needs_statement and not valid, INDETERMINATE),
            (facts.waived, WAIVED),
            (facts.passed or valid, SATISFIED),
            (True, NOT_APPLICABLE),
        ]
        number, (_, status) = next((index, entry) for index, entry in enumerate(conditions, 1) if entry[0])
        decision = decide(facts)
        assert (decision.row, decision.status) == (number, status), facts


def test_technical_evidence_alone_ignores_people() -> None:
    for facts in _all_facts():
        alone = decide(facts.technical()).status
        assert (
            alone is decide(facts._replace(met=False, not_met=False, not_applicable=False).technical()).status
        )
        if not facts.deciding_loaded:
            assert alone is INDETERMINATE, "without a deciding rule there is no technical evidence"


def test_open_statements_say_that_evidence_supports() -> None:
    assert decide(Facts(PARTIAL, passed=True)).reasons == (Reason.STATEMENT_OPEN, Reason.PASSED_PAIRS)


def test_an_idle_statement_is_not_what_a_status_rests_on() -> None:
    assert Reason.STATEMENT_MET not in decide(Facts(AUTO, passed=True, met=True)).reasons
    assert Reason.STATEMENT_MET in decide(Facts(PARTIAL, passed=True, met=True)).reasons
