"""From pairs, gaps and statements to statuses: one member, then the fleet."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from audit.assess import AssessInputs, assess
from audit.model.acceptance import Claim
from audit.model.assessment import ControlAssessment, ControlStatus, Reason
from audit.model.control import CheckState, EvidenceKind, Profile, ProfileName, Strength
from audit.model.finding import Outcome
from audit.model.result import RuleState
from audit.model.rule import ContextNeed
from audit.model.tally import Tally
from tests import builders as b
from tests.unit.score.worlds import FRAMEWORK, RULES, Pair, World, control, link, said

ONE, TWO, THREE, ANY_KIND = RULES
CTL = "CTL 1.1"


def pair(outcome: Outcome | None, rule: str = ONE, cluster: str = "one", *, waived: bool = False) -> Pair:
    return Pair(rule, cluster, "Pod", outcome, waived=waived)


def world(*pairs: Pair, kind: EvidenceKind = EvidenceKind.AUTO, **changes: object) -> World:
    fields: dict[str, object] = {"controls": (control(1, kind),), "links": (link(CTL, ONE),), "pairs": pairs}
    return World(**(fields | changes))  # type: ignore[arg-type]


def fleet(subject: World) -> ControlAssessment:
    return subject.judged()[0][0].fleet


def outcome_of(subject: World) -> tuple[ControlStatus, Reason]:
    found = fleet(subject)
    return found.status, found.reason


S, F = ControlStatus.SATISFIED, ControlStatus.NOT_SATISFIED
W, U, N = ControlStatus.WAIVED, ControlStatus.INDETERMINATE, ControlStatus.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ((pair(Outcome.PASS),), (S, Reason.PASSED_PAIRS)),
        ((pair(Outcome.PASS), pair(Outcome.FAIL)), (F, Reason.FAILED_PAIRS)),
        ((pair(Outcome.PASS), pair(Outcome.FAIL, waived=True)), (W, Reason.WAIVED_PAIRS)),
        ((pair(Outcome.PASS), pair(Outcome.ERROR)), (U, Reason.ERROR_PAIRS)),
        ((pair(Outcome.PASS), pair(None)), (U, Reason.MISSING_ANSWER)),
        ((pair(Outcome.WARN),), (U, Reason.ONLY_WARNINGS)),
        ((pair(Outcome.WARN), pair(Outcome.PASS)), (S, Reason.PASSED_PAIRS)),
        ((pair(Outcome.SKIP),), (N, Reason.NO_SUBJECT)),
        ((pair(Outcome.SKIP), pair(Outcome.PASS)), (S, Reason.PASSED_PAIRS)),
        ((), (N, Reason.NO_SUBJECT)),
    ],
)
def test_outcomes_of_one_deciding_rule(
    pairs: tuple[Pair, ...], expected: tuple[ControlStatus, Reason]
) -> None:
    assert outcome_of(world(*pairs)) == expected


def test_an_error_and_a_missing_answer_are_told_apart() -> None:
    both = fleet(world(pair(Outcome.ERROR), pair(None)))
    assert both.reasons == (Reason.ERROR_PAIRS, Reason.MISSING_ANSWER)
    assert both.evidence[0].errors == 2


def test_a_supporting_rule_moves_nothing_and_is_printed_when_it_contradicts() -> None:
    links = (link(CTL, ONE), link(CTL, TWO, Strength.SUPPORTS))
    found = fleet(world(pair(Outcome.PASS), pair(Outcome.FAIL, TWO), links=links))
    assert (found.status, found.contradicted) == (S, True)
    assert [(item.rule, item.decides) for item in found.evidence] == [(ONE, True), (TWO, False)]
    assert not fleet(world(pair(Outcome.PASS), pair(Outcome.ERROR, TWO), links=links)).contradicted


def test_only_supporting_rules_leave_a_control_undecided() -> None:
    links = (link(CTL, ONE, Strength.SUPPORTS),)
    assert outcome_of(world(pair(Outcome.FAIL), links=links)) == (U, Reason.NO_CHECK_BUILT)


def test_a_deselected_rule_is_loaded_but_not_asked() -> None:
    found = fleet(world(deselected=frozenset({ONE})))
    assert (found.status, found.reason) == (U, Reason.DESELECTED_RULE)
    links = (link(CTL, ONE), link(CTL, TWO))
    mixed = world(pair(Outcome.FAIL, TWO), links=links, deselected=frozenset({ONE}))
    assert outcome_of(mixed) == (F, Reason.FAILED_PAIRS), "what was asked and failed still counts"


def test_a_rule_that_waits_for_its_configuration_does_not_take_its_control_out() -> None:
    waiting = {"unconfigured": frozenset({ONE})}
    found = fleet(world(pair(Outcome.SKIP), **waiting))
    assert (found.status, found.reason) == (U, Reason.NO_DECIDING_RULE)
    assert (found.technical_scanned, found.technical_complies) == (True, False)
    by_people = world(
        pair(Outcome.SKIP), kind=EvidenceKind.PARTIAL, statements=(said(CTL, Claim.MET),), **waiting
    )
    assert outcome_of(by_people) == (U, Reason.NO_DECIDING_RULE)
    configured = world(pair(Outcome.SKIP), pair(Outcome.PASS), **waiting)
    assert outcome_of(configured) == (S, Reason.PASSED_PAIRS), "one subject that does not apply is just that"
    assert outcome_of(world(**waiting)) == (N, Reason.NO_SUBJECT)


def test_evidence_that_nobody_handed_in_leaves_its_control_open() -> None:
    of_evidence = {"of_evidence": frozenset({ONE})}
    assert outcome_of(world(**of_evidence)) == (U, Reason.NO_EVIDENCE)
    assert outcome_of(world(pair(Outcome.PASS), **of_evidence)) == (S, Reason.PASSED_PAIRS)
    assert outcome_of(world(pair(Outcome.SKIP), **of_evidence)) == (N, Reason.NO_SUBJECT)
    beside = world(pair(Outcome.PASS, TWO), links=(link(CTL, ONE), link(CTL, TWO)), **of_evidence)
    assert outcome_of(beside) == (U, Reason.NO_EVIDENCE), "what is missing beside a pass is still missing"
    two = {"clusters": {"one": True, "two": True}}
    shown = world(pair(Outcome.PASS, cluster="one"), **of_evidence, **two)
    assert outcome_of(shown) == (S, Reason.PASSED_PAIRS), "evidence of another member is evidence"


def test_a_mapping_to_a_rule_that_is_not_loaded_decides_nothing() -> None:
    assert outcome_of(world(links=(link(CTL, "family/elsewhere"),))) == (U, Reason.NO_CHECK_BUILT)


@pytest.mark.parametrize(
    ("gap", "hides"),
    [
        (b.gap(cluster="one", kinds=None), True),
        (b.gap(cluster="one", kinds=("Pod", "Secret")), True),
        (b.gap(cluster="one", kinds=("Secret",)), False),
        (b.gap(cluster="", kinds=("Pod",)), True),
        (b.gap(cluster="nobody-registered-it", kinds=("Pod",)), True),
        (b.gap(cluster="two", kinds=("Pod",)), False),
    ],
)
def test_which_gaps_may_hide_a_subject(gap: object, hides: bool) -> None:
    clusters = {"one": True, "two": True}
    pairs = (pair(Outcome.PASS), pair(Outcome.PASS, cluster="two"))
    rows, _ = world(*pairs, gaps=(gap,), clusters=clusters).judged()
    one = rows[0].members[0]
    assert ((one.status, one.reason) == (U, Reason.GAP)) is hides
    assert one.gaps == ((0,) if hides else ())


def test_a_gap_in_a_kind_that_a_rule_looks_at_counts_too() -> None:
    needs = ContextNeed(group="networking.k8s.io", kinds=("NetworkPolicy",))
    subject = world(
        pair(Outcome.PASS), gaps=(b.gap(cluster="one", kinds=("networking.k8s.io/NetworkPolicy",)),)
    )
    assert outcome_of(subject) == (S, Reason.PASSED_PAIRS)
    rule = b.rule(ONE, kinds=("Pod",), context=(needs,))
    (row,) = assess(_inputs(subject, rules=(RuleState(rule=rule, selected=True),)))
    assert (row.fleet.status, row.fleet.reason, row.fleet.gaps) == (U, Reason.GAP, (0,))


def test_a_rule_without_kinds_is_hidden_from_by_every_gap() -> None:
    found = fleet(world(links=(link(CTL, ANY_KIND),), gaps=(b.gap(cluster="one", kinds=("Secret",)),)))
    assert (found.status, found.reason) == (U, Reason.GAP)


def test_a_gap_does_not_excuse_a_failure() -> None:
    found = fleet(world(pair(Outcome.FAIL), gaps=(b.gap(cluster="one", kinds=None),)))
    assert (found.status, found.reasons) == (F, (Reason.FAILED_PAIRS, Reason.GAP))


def test_an_allowed_gap_stays_indeterminate() -> None:
    found = world(pair(Outcome.PASS), gaps=(b.gap(cluster="one", kinds=None, allowed=True),))
    assert outcome_of(found) == (U, Reason.GAP)


def test_thousands_of_gaps_cost_little_and_are_all_listed() -> None:
    gaps = tuple(b.gap(cluster="one", kinds=None) for _ in range(5_000))
    assert fleet(world(pair(Outcome.PASS), gaps=gaps)).gaps == tuple(range(5_000))


# --- statements ------------------------------------------------------------------------------------------------------


def test_a_partial_control_waits_for_its_statement() -> None:
    waiting = fleet(world(pair(Outcome.PASS), kind=EvidenceKind.PARTIAL))
    assert (waiting.status, waiting.reasons) == (U, (Reason.STATEMENT_OPEN, Reason.PASSED_PAIRS))
    assert (waiting.technical_status, waiting.statement) == (S, "")


def test_a_valid_statement_satisfies_it_and_is_named() -> None:
    statement = said(CTL, Claim.MET, text="Seen in the review.")
    found = fleet(world(pair(Outcome.PASS), kind=EvidenceKind.PARTIAL, statements=(statement,)))
    assert (found.status, found.statement, found.statement_text) == (S, statement.id, "Seen in the review.")


def test_an_ended_statement_is_named_as_what_is_missing() -> None:
    statement = said(CTL, Claim.MET, live=False)
    found = fleet(world(pair(Outcome.PASS), kind=EvidenceKind.PARTIAL, statements=(statement,)))
    assert (found.status, found.reason, found.statement) == (U, Reason.STATEMENT_EXPIRED, statement.id)


def test_a_statement_ends_at_its_very_moment() -> None:
    for offset, expected in ((dt.timedelta(microseconds=1), S), (dt.timedelta(0), U)):
        statement = b.statement(framework=FRAMEWORK, control=CTL, expires=b.NOW + offset)
        assert (
            fleet(world(kind=EvidenceKind.ATTESTATION, links=(), statements=(statement,))).status is expected
        )


def test_a_statement_made_tomorrow_does_not_count_today() -> None:
    statement = said(CTL, Claim.MET, date=b.NOW.date() + dt.timedelta(days=1))
    assert outcome_of(world(kind=EvidenceKind.ATTESTATION, links=(), statements=(statement,))) == (
        U,
        Reason.STATEMENT_OPEN,
    )


def test_not_applicable_needs_its_reason_in_words() -> None:
    for text, expected in (("We train nothing.", N), (" ", U)):
        statement = said(CTL, Claim.NOT_APPLICABLE, text=text)
        assert (
            fleet(world(kind=EvidenceKind.ATTESTATION, links=(), statements=(statement,))).status is expected
        )


@pytest.mark.parametrize("waived", [False, True])
def test_not_applicable_does_not_hold_against_a_failure(waived: bool) -> None:
    statement = said(CTL, Claim.NOT_APPLICABLE)
    found = fleet(world(pair(Outcome.FAIL, waived=waived), statements=(statement,)))
    assert found.status is (W if waived else F)


def test_not_met_beats_passes_and_other_statements() -> None:
    statements = (said(CTL, Claim.MET), said(CTL, Claim.NOT_MET))
    found = fleet(world(pair(Outcome.PASS), kind=EvidenceKind.PARTIAL, statements=statements))
    assert (found.status, found.reason, found.statement) == (F, Reason.STATEMENT_NOT_MET, statements[1].id)


def test_a_statement_may_speak_of_some_clusters_only() -> None:
    statement = said(CTL, Claim.MET, clusters=("one",))
    clusters = {"one": True, "two": True}
    rows, _ = world(
        kind=EvidenceKind.ATTESTATION, links=(), statements=(statement,), clusters=clusters
    ).judged()
    assert [member.status for member in rows[0].members] == [S, U]
    assert (rows[0].fleet.status, rows[0].fleet.held_back_clusters) == (U, ("two",))


# --- the fleet -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        (pair(Outcome.FAIL), pair(Outcome.ERROR, cluster="two"), F),
        (pair(Outcome.ERROR), pair(Outcome.FAIL, cluster="two", waived=True), U),
        (pair(Outcome.FAIL, waived=True), pair(Outcome.PASS, cluster="two"), W),
        (pair(Outcome.PASS), pair(Outcome.SKIP, cluster="two"), S),
        (pair(Outcome.SKIP), pair(Outcome.SKIP, cluster="two"), N),
    ],
)
def test_the_worst_member_decides(one: Pair, two: Pair, expected: ControlStatus) -> None:
    clusters = {"one": True, "two": True}
    for pairs in ((one, two), (replace(one, cluster="two"), replace(two, cluster="one"))):
        assert fleet(world(*pairs, clusters=clusters)).status is expected


def test_the_fleet_says_who_holds_it_back_and_sums_the_evidence() -> None:
    clusters = {"one": True, "two": True, "three": True}
    pairs = (pair(Outcome.PASS), pair(Outcome.FAIL, cluster="two"), pair(Outcome.FAIL, cluster="three"))
    found = fleet(world(*pairs, clusters=clusters))
    assert found.held_back_clusters == ("two", "three")
    assert (found.cluster, found.evidence[0].due, found.evidence[0].failed) == ("", 3, 2)
    assert fleet(world(pair(Outcome.PASS))).held_back_clusters == ()


def test_the_first_reason_in_the_models_order_is_the_fleets() -> None:
    clusters = {"one": True, "two": True, "three": False}
    gaps = (b.gap(cluster="one", kinds=None),)
    pairs = (pair(Outcome.PASS), pair(Outcome.ERROR, cluster="two"))
    found = fleet(world(*pairs, clusters=clusters, gaps=gaps))
    assert found.reasons == (Reason.ERROR_PAIRS, Reason.GAP, Reason.MEMBER_NOT_REACHED)


def test_a_cluster_not_reached_is_undecided_whatever_the_others_show() -> None:
    clusters = {"one": True, "two": False}
    assert outcome_of(world(pair(Outcome.PASS), clusters=clusters)) == (U, Reason.MEMBER_NOT_REACHED)
    statement = said(CTL, Claim.MET)
    by_people = world(kind=EvidenceKind.ATTESTATION, links=(), statements=(statement,), clusters=clusters)
    assert outcome_of(by_people) == (U, Reason.MEMBER_NOT_REACHED)


def test_stale_evidence_is_no_evidence() -> None:
    subject = world(pair(Outcome.PASS))
    (row,) = assess(_inputs(subject, stale_clusters=frozenset({"one"})))
    assert (row.fleet.status, row.fleet.reason) == (U, Reason.STALE_EVIDENCE)


# --- technical evidence alone ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (world(pair(Outcome.PASS), kind=EvidenceKind.PARTIAL), S),
        (world(pair(Outcome.PASS), kind=EvidenceKind.PARTIAL, statements=(said(CTL, Claim.NOT_MET),)), S),
        (world(pair(Outcome.PASS), statements=(said(CTL, Claim.NOT_APPLICABLE),)), S),
        (world(pair(Outcome.FAIL, waived=True), kind=EvidenceKind.PARTIAL), W),
        (world(kind=EvidenceKind.PARTIAL, statements=(said(CTL, Claim.MET),)), N),
        (world(kind=EvidenceKind.ATTESTATION, links=(), statements=(said(CTL, Claim.MET),)), U),
    ],
)
def test_technical_status_ignores_people(subject: World, expected: ControlStatus) -> None:
    assert fleet(subject).technical_status is expected


@pytest.mark.parametrize(
    ("subject", "scanned", "complies", "by_waiver"),
    [
        (world(pair(Outcome.PASS)), True, True, False),
        (world(pair(Outcome.PASS), kind=EvidenceKind.PARTIAL), True, True, False),
        (world(pair(Outcome.FAIL, waived=True)), True, True, True),
        (world(pair(Outcome.FAIL), pair(Outcome.FAIL, waived=True)), True, False, False),
        (world(pair(Outcome.PASS), pair(Outcome.ERROR)), True, False, False),
        (world(pair(Outcome.PASS), pair(None)), True, False, False),
        (world(pair(Outcome.SKIP)), True, True, False),
        (world(), False, False, False),
        (world(gaps=(b.gap(cluster="one", kinds=("Pod",)),)), True, False, False),
        (world(gaps=(b.gap(cluster="one", kinds=("Secret",)),)), False, False, False),
        (world(clusters={"one": False}), True, False, False),
        (world(deselected=frozenset({ONE})), True, False, False),
        (world(links=(), clusters={"one": False}), False, False, False),
        (world(pair(Outcome.FAIL), links=(link(CTL, ONE, Strength.SUPPORTS),)), False, False, False),
    ],
)
def test_the_classic_columns(subject: World, scanned: bool, complies: bool, by_waiver: bool) -> None:
    found = fleet(subject)
    assert (found.technical_scanned, found.technical_complies, found.technical_by_waiver) == (
        scanned,
        complies,
        by_waiver,
    )


def test_the_fleet_complies_where_every_scanned_member_does() -> None:
    clusters = {"one": True, "two": True}
    assert fleet(world(pair(Outcome.PASS), clusters=clusters)).technical_complies
    assert not fleet(
        world(pair(Outcome.PASS), pair(Outcome.FAIL, cluster="two"), clusters=clusters)
    ).technical_complies


# --- around it -------------------------------------------------------------------------------------------------------


def _inputs(subject: World, **changes: object) -> AssessInputs:
    fields: dict[str, object] = {
        "catalogs": (subject.catalog,),
        "mappings": subject.links,
        "checks": (),
        "rules": tuple(RuleState(rule=b.rule(rule, kinds=("Pod",)), selected=True) for rule in RULES),
        "tally": subject.tally(),
        "gaps": subject.gaps,
        "statements": subject.statements,
        "clusters": subject.clusters,
        "profile": Profile(name=ProfileName.FULL, controls={FRAMEWORK: (CTL,)}),
        "now": b.NOW,
    }
    return AssessInputs(**(fields | changes))  # type: ignore[arg-type]


def test_built_checks_tell_no_deciding_rule_from_no_check_built() -> None:
    catalog = b.catalog(b.control(CTL, evidence_kind=EvidenceKind.AUTO, checks=("k8s.pdb",)), id=FRAMEWORK)
    subject = world(links=())
    for state, rules, expected in (
        (CheckState.BUILT, (ONE,), Reason.NO_DECIDING_RULE),
        (CheckState.PLANNED, (), Reason.NO_CHECK_BUILT),
        (CheckState.BUILT, (), Reason.NO_CHECK_BUILT),
    ):
        checks = (b.check("k8s.pdb", state=state, rules=rules),)
        (row,) = assess(_inputs(subject, catalogs=(catalog,), checks=checks))
        assert row.fleet.reason is expected


@pytest.mark.parametrize(
    ("kind", "other", "outcome", "expected"),
    [
        (EvidenceKind.AUTO, CheckState.PLANNED, Outcome.PASS, ControlStatus.INDETERMINATE),
        (EvidenceKind.AUTO, CheckState.NOT_PLANNED, Outcome.PASS, ControlStatus.INDETERMINATE),
        (EvidenceKind.AUTO, CheckState.BUILT, Outcome.PASS, ControlStatus.SATISFIED),
        (EvidenceKind.AUTO, CheckState.PLANNED, Outcome.FAIL, ControlStatus.NOT_SATISFIED),
    ],
)
def test_automatic_control_needs_all_of_its_checks(
    kind: EvidenceKind, other: CheckState, outcome: Outcome, expected: ControlStatus
) -> None:
    catalog = b.catalog(b.control(CTL, evidence_kind=kind, checks=("k8s.pdb", "sig.image")), id=FRAMEWORK)
    checks = (
        b.check("k8s.pdb", state=CheckState.BUILT, rules=(ONE,)),
        b.check("sig.image", state=other, rules=(TWO,) if other is CheckState.BUILT else ()),
    )
    (row,) = assess(_inputs(world(pair(outcome)), catalogs=(catalog,), checks=checks))
    assert row.fleet.status is expected
    if expected is ControlStatus.INDETERMINATE:
        assert row.fleet.reason is Reason.SOME_CHECK_NOT_BUILT


def test_rows_keep_catalog_order_and_say_what_is_in_the_profile() -> None:
    subject = World(controls=tuple(control(number) for number in (1, 2, 3)), links=(), pairs=())
    rows, score = replace(subject, profile=("CTL 1.3", "CTL 1.1")).judged()
    assert [(row.id, row.fleet.in_profile) for row in rows] == [
        ("CTL 1.1", True),
        ("CTL 1.2", False),
        ("CTL 1.3", True),
    ]
    assert (score.in_profile, score.catalog_total) == (2, 3)


def test_an_empty_tally_is_an_empty_tally() -> None:
    (row,) = assess(_inputs(world(), tally=Tally()))
    assert row.fleet.status is N
