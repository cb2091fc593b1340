"""Assesses every control: on each member, and on the fleet. Pure.

`technical_status` of an assessment is the decision table applied to the same evidence with every statement ignored and
no statement needed (`Facts.technical`): the control's kind is taken as `auto`, so that row 1 asks for a deciding rule and
rows 4 and 5 never match. A partial control with passes and an open statement is thus technically satisfied, one that a
statement declared not applicable is what its evidence says, and an attestation control is always indeterminate.

Classic table, technical evidence alone: a control is *scanned* on a member when a deciding pair was due there, or would
have been but for a gap, an unreached member or a deselected rule: what could not be asked is not left out, or losing
evidence would raise the share. It *complies* when all of that was answered and nothing failed without a waiver.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from audit.assess.decide import Decision, Facts, decide
from audit.assess.evidence import EvidenceIndex
from audit.assess.fleet import roll_up, worst
from audit.assess.inputs import AssessInputs
from audit.assess.statements import Said, StatementIndex
from audit.assess.unseen import GapIndex, Kinds
from audit.model.acceptance import Statement
from audit.model.assessment import ControlAssessment, ControlRow, ControlStatus, Reason, RuleEvidence
from audit.model.change import Change
from audit.model.control import Catalog, CheckState, Control, EvidenceKind, Strength
from audit.model.result import RuleState
from audit.model.rule import Rule
from audit.model.subject import EVIDENCE_GROUP

NOT_CONFIGURED = "not_configured"
"""Skip reason of rules that have nothing to compare with until a parameter is set. Being skipped for it on every
subject says nothing about the subjects: the control is undecided, not outside of its own concern."""

_NO_CHANGE = Change()


class _Subject(NamedTuple):
    """A control with everything about it that is the same on every member."""

    framework: str
    control: Control
    deciding: tuple[RuleState, ...]
    supporting: tuple[RuleState, ...]
    unconfigured: frozenset[str]
    """Deciding rules that skip for want of configuration."""
    of_evidence: frozenset[str]
    """Deciding rules that judge nothing but evidence."""
    kinds: Kinds
    """Kinds that the deciding rules ask of or look at; None means every kind."""
    check_built: bool
    partly_built: bool
    """Automatic, with a check that no rule asks yet: nobody's statement closes what is missing."""
    in_profile: bool


class _Member(NamedTuple):
    """A registered cluster."""

    name: str
    """Empty for the stand-in of a fleet without any cluster."""
    reached: bool


class Assessor:
    """Holds the prepared evidence of one run, so that what-if questions cost no second preparation."""

    def __init__(self, inputs: AssessInputs) -> None:
        self._inputs = inputs
        # Without a registered cluster there is still one member: the one of which nothing was read.
        self._members = tuple(_Member(*item) for item in inputs.clusters.items()) or (
            _Member("", reached=False),
        )
        self._evidence = EvidenceIndex(inputs.tally)
        self._gaps = GapIndex(inputs.gaps, [member.name for member in self._members])
        self._statements = StatementIndex(inputs.statements, inputs.now)
        self._subjects = {(subject.framework, subject.control.id): subject for subject in _subjects(inputs)}

    def assess(self) -> tuple[ControlRow, ...]:
        """One row per control of every catalog, in catalog order, in profile or not."""
        return tuple(self._row(subject) for subject in self._subjects.values())

    def status_after(self, framework: str, control: str, change: Change) -> ControlStatus:
        """The fleet's status of one control, decided anew as if `change` had been made."""
        subject = self._subjects[framework, control]
        return worst(self._decide(subject, member, change)[0].status for member in self._members)

    def _row(self, subject: _Subject) -> ControlRow:
        members = tuple(self._assess_member(subject, member) for member in self._members)
        control = subject.control
        return ControlRow(
            framework=subject.framework,
            id=control.id,
            title=control.title,
            function=control.function,
            evidence_kind=control.evidence_kind,
            fleet=roll_up(members),
            members=members if self._inputs.clusters else (),
        )

    def _assess_member(self, subject: _Subject, member: _Member) -> ControlAssessment:
        decision, facts, said, evidence = self._decide(subject, member, _NO_CHANGE)
        counted = _counted(decision, said)
        deciding = [item for item in evidence if item.decides]
        unasked = bool(subject.deciding) and not _OPEN_QUESTION.isdisjoint(facts.doubts)
        scanned = unasked or any(item.due for item in deciding)
        complies = scanned and not unasked and not any(item.failed or item.errors for item in deciding)
        return ControlAssessment(
            framework=subject.framework,
            control=subject.control.id,
            cluster=member.name,
            status=decision.status,
            reason=decision.reasons[0],
            reasons=decision.reasons,
            evidence=evidence,
            statement=counted.id if counted else "",
            statement_text=counted.text if counted else "",
            contradicted=any(not item.decides and item.failed + item.waived for item in evidence),
            technical_status=decide(facts.technical()).status,
            in_profile=subject.in_profile,
            technical_scanned=scanned,
            technical_complies=complies,
            technical_by_waiver=complies and any(item.waived for item in deciding),
            gaps=self._gaps.hiding(member.name, subject.kinds) if subject.deciding else (),
        )

    def _decide(
        self, subject: _Subject, member: _Member, change: Change
    ) -> tuple[Decision, Facts, Said, tuple[RuleEvidence, ...]]:
        evidence = self._evidence_of(subject, member.name)
        deciding = [item for item in evidence if item.decides]
        said = self._statements.said(subject.framework, subject.control.id, member.name)
        identity = (subject.framework, subject.control.id)
        failing = [item for item in deciding if item.failed]
        mended = [item for item in failing if item.rule in change.fixed_rules]
        facts = Facts(
            kind=subject.control.evidence_kind,
            deciding_loaded=bool(subject.deciding) or identity in change.built,
            check_built=subject.check_built,
            failed=len(failing) > len(mended),
            waived=any(item.waived for item in deciding),
            passed=bool(mended) or identity in change.built or any(item.passed for item in deciding),
            doubts=self._doubts(subject, member, deciding, change),
            met=said.met is not None or identity in change.answered,
            not_met=said.not_met is not None,
            not_applicable=said.not_applicable is not None,
            expired=said.expired is not None,
        )
        return decide(facts), facts, said, evidence

    def _evidence_of(self, subject: _Subject, cluster: str) -> tuple[RuleEvidence, ...]:
        if not subject.deciding and not subject.supporting:
            return ()
        found = [self._evidence.of(state.rule.id, cluster, decides=True) for state in subject.deciding]
        found += [self._evidence.of(state.rule.id, cluster, decides=False) for state in subject.supporting]
        found.sort(key=lambda item: item.rule)
        return tuple(found)

    def _doubts(
        self, subject: _Subject, member: _Member, deciding: Sequence[RuleEvidence], change: Change
    ) -> tuple[Reason, ...]:
        """Row 3 of the table, in the order of `Reason`."""
        doubts: list[Reason] = []
        if any(item.rule in subject.unconfigured and _only_skipped(item) for item in deciding):
            doubts.append(Reason.NO_DECIDING_RULE)
        unanswered = [
            (item.errors, self._evidence.missing(item.rule, member.name)) for item in deciding if item.errors
        ]
        if any(errors > missing for errors, missing in unanswered):
            doubts.append(Reason.ERROR_PAIRS)
        if any(missing for _, missing in unanswered):
            doubts.append(Reason.MISSING_ANSWER)
        if any(item.warned and not (item.passed or item.failed or item.waived) for item in deciding):
            doubts.append(Reason.ONLY_WARNINGS)
        if any(not state.selected for state in subject.deciding):
            doubts.append(Reason.DESELECTED_RULE)
        if subject.deciding and not change.closed_gaps.issuperset(
            self._gaps.hiding(member.name, subject.kinds)
        ):
            doubts.append(Reason.GAP)
        if not member.reached and member.name:
            doubts.append(Reason.MEMBER_NOT_REACHED)
        if subject.deciding and member.name in self._inputs.stale_clusters:
            doubts.append(Reason.STALE_EVIDENCE)
        # Shown on another member, it is nothing that this one owes a second time.
        nothing_shown = any(
            item.rule in subject.of_evidence and not self._evidence.due_anywhere(item.rule)
            for item in deciding
        )
        if nothing_shown or not (member.reached or member.name):
            doubts.append(Reason.NO_EVIDENCE)
        identity = (subject.framework, subject.control.id)
        if subject.deciding and subject.partly_built and identity not in change.built:
            doubts.append(Reason.SOME_CHECK_NOT_BUILT)
        return tuple(doubts)


# Doubts that leave a deciding question unasked, and so count as a due pair without an answer.
_OPEN_QUESTION = frozenset(
    {
        Reason.NO_DECIDING_RULE,
        Reason.DESELECTED_RULE,
        Reason.GAP,
        Reason.MEMBER_NOT_REACHED,
        Reason.NO_EVIDENCE,
        Reason.STALE_EVIDENCE,
    }
)


def assess(inputs: AssessInputs) -> tuple[ControlRow, ...]:
    """One row per control of every catalog, in catalog order, in profile or not."""
    return Assessor(inputs).assess()


def _only_skipped(item: RuleEvidence) -> bool:
    return item.skipped > 0 and item.skipped == item.due


def _counted(decision: Decision, said: Said) -> Statement | None:
    """The statement the decision rests on; else the newest expired one, when its end is what is missing."""
    if Reason.STATEMENT_NOT_MET in decision.reasons:
        return said.not_met
    if Reason.STATEMENT_NOT_APPLICABLE in decision.reasons:
        return said.not_applicable
    if Reason.STATEMENT_MET in decision.reasons:
        return said.met
    return said.expired if Reason.STATEMENT_EXPIRED in decision.reasons else None


def _subjects(inputs: AssessInputs) -> list[_Subject]:
    states = {state.rule.id: state for state in inputs.rules}
    built = {check.id for check in inputs.checks if check.state is CheckState.BUILT and check.rules}
    mapped: dict[tuple[str, str, Strength], dict[str, RuleState]] = {}
    for entry in inputs.mappings:
        if entry.rule in states:
            found = mapped.setdefault((entry.framework, entry.control, entry.strength), {})
            found[entry.rule] = states[entry.rule]
    profile = {framework: frozenset(ids) for framework, ids in inputs.profile.controls.items()}
    return [
        _subject(catalog, control, mapped, built, profile.get(catalog.id, frozenset()))
        for catalog in inputs.catalogs
        for control in catalog.controls
    ]


def _is_of_evidence(rule: Rule) -> bool:
    """Whether the rule judges nothing but evidence: where none was handed in, its question is open, not idle."""
    return bool(rule.kinds) and all(kind.startswith(f"{EVIDENCE_GROUP}/") for kind in rule.kinds)


def _subject(
    catalog: Catalog,
    control: Control,
    mapped: dict[tuple[str, str, Strength], dict[str, RuleState]],
    built: set[str],
    in_profile: frozenset[str],
) -> _Subject:
    deciding = mapped.get((catalog.id, control.id, Strength.DECIDES), {})
    supporting = mapped.get((catalog.id, control.id, Strength.SUPPORTS), {})
    every_kind = any(not state.rule.kinds for state in deciding.values())
    kinds = frozenset(
        kind for state in deciding.values() for kind in (*state.rule.kinds, *state.rule.context_kinds)
    )
    return _Subject(
        framework=catalog.id,
        control=control,
        deciding=tuple(deciding[rule] for rule in sorted(deciding)),
        unconfigured=frozenset(
            rule for rule, state in deciding.items() if state.rule.not_applicable == NOT_CONFIGURED
        ),
        of_evidence=frozenset(rule for rule, state in deciding.items() if _is_of_evidence(state.rule)),
        supporting=tuple(supporting[rule] for rule in sorted(supporting) if rule not in deciding),
        kinds=None if every_kind else kinds,
        check_built=not built.isdisjoint(control.checks),
        partly_built=control.evidence_kind is EvidenceKind.AUTO and not built.issuperset(control.checks),
        in_profile=control.id in in_profile,
    )
