"""Labels of the closed sets (statuses, severities, reasons, gap kinds), and the meanings printed at the end."""

from __future__ import annotations

import msgspec

from audit.model.acceptance import Claim
from audit.model.assessment import ControlRow, ControlStatus, Fraction, FrameworkScore, Reason
from audit.model.control import CheckState, EvidenceKind, ProfileName
from audit.model.gap import GapKind
from audit.model.rule import Severity
from audit.report.numbers import percent, share
from audit.report.texts import Texts


class Label(msgspec.Struct, frozen=True):
    """A word with its icon: never one without the other."""

    code: str
    """Class name and, as ``i-CODE``, the icon: S, F, W, I, N or O for statuses."""
    word: str


class Meaning(msgspec.Struct, frozen=True):
    """A word and what it means."""

    label: Label
    text: str


class Formula(msgspec.Struct, frozen=True):
    """One formula with this report's own numbers in it."""

    name: str
    text: str


OUTSIDE = "O"
_CODES = {
    ControlStatus.SATISFIED: "S",
    ControlStatus.NOT_SATISFIED: "F",
    ControlStatus.WAIVED: "W",
    ControlStatus.INDETERMINATE: "I",
    ControlStatus.NOT_APPLICABLE: "N",
}


def status_label(status: ControlStatus, texts: Texts) -> Label:
    """Icon and word of a status."""
    words = {
        ControlStatus.SATISFIED: texts.gettext("satisfied"),
        ControlStatus.NOT_SATISFIED: texts.gettext("not satisfied"),
        ControlStatus.WAIVED: texts.gettext("waived"),
        ControlStatus.INDETERMINATE: texts.gettext("indeterminate"),
        ControlStatus.NOT_APPLICABLE: texts.gettext("not applicable"),
    }
    return Label(_CODES[status], words[status])


def row_label(row: ControlRow, texts: Texts) -> Label:
    """Status of a control, or "outside profile"."""
    if not row.fleet.in_profile:
        return Label(OUTSIDE, texts.gettext("outside profile"))
    return status_label(row.fleet.status, texts)


def severity_word(severity: Severity, texts: Texts) -> str:
    """Word of a severity."""
    return {
        Severity.CRITICAL: texts.gettext("critical"),
        Severity.HIGH: texts.gettext("high"),
        Severity.MEDIUM: texts.gettext("medium"),
        Severity.LOW: texts.gettext("low"),
        Severity.INFO: texts.gettext("info"),
    }[severity]


def kind_word(kind: EvidenceKind, texts: Texts) -> str:
    """How a control can be decided, in a word or two."""
    return {
        EvidenceKind.AUTO: texts.gettext("automatic"),
        EvidenceKind.PARTIAL: texts.gettext("partial"),
        EvidenceKind.ATTESTATION: texts.gettext("statement only"),
    }[kind]


def profile_word(profile: ProfileName, texts: Texts) -> str:
    """Name of a profile."""
    return {
        ProfileName.TECHNICAL: texts.gettext("technical"),
        ProfileName.FULL: texts.gettext("full"),
        ProfileName.CUSTOM: texts.gettext("custom"),
    }[profile]


def claim_word(claim: Claim, texts: Texts) -> str:
    """What a statement says."""
    return {
        Claim.MET: texts.gettext("met"),
        Claim.NOT_MET: texts.gettext("not met"),
        Claim.NOT_APPLICABLE: texts.gettext("not applicable"),
    }[claim]


def check_word(state: CheckState, texts: Texts) -> str:
    """What became of a check."""
    return {
        CheckState.BUILT: texts.gettext("built"),
        CheckState.PLANNED: texts.gettext("planned"),
        CheckState.NOT_PLANNED: texts.gettext("not planned"),
    }[state]


def gap_word(kind: GapKind, texts: Texts) -> str:
    """Why something was not looked at."""
    return {
        GapKind.UNREADABLE: texts.gettext("Unreadable"),
        GapKind.TOO_LARGE: texts.gettext("Too large"),
        GapKind.FORBIDDEN: texts.gettext("Forbidden"),
        GapKind.UNREACHABLE: texts.gettext("Unreachable"),
        GapKind.ABSENT: texts.gettext("Absent"),
        GapKind.NOT_RENDERED: texts.gettext("Not rendered"),
        GapKind.UNKNOWN_TEMPLATE: texts.gettext("Unknown pod template"),
        GapKind.POLICY: texts.gettext("Policy not loaded"),
        GapKind.INTERRUPTED: texts.gettext("Interrupted"),
        GapKind.NOT_COLLECTED: texts.gettext("Not collected"),
        GapKind.UNTRUSTED: texts.gettext("Not trusted"),
        GapKind.LATE: texts.gettext("Late"),
        GapKind.DUPLICATE: texts.gettext("Duplicate"),
        GapKind.FOREIGN: texts.gettext("Foreign"),
    }[kind]


def gate_word(met: bool | None, texts: Texts) -> tuple[str, str]:  # noqa: FBT001  # the three values of a gate
    """Class and word of a gate."""
    return {
        True: ("S", texts.gettext("met")),
        False: ("F", texts.gettext("failed")),
        None: ("I", texts.gettext("not decided")),
    }[met]


def reason_text(reason: Reason, row: ControlRow, texts: Texts) -> str:
    """One clause saying why, with the pairs counted."""
    deciding = [item for item in row.fleet.evidence if item.decides]
    counts = {
        Reason.FAILED_PAIRS: sum(item.failed for item in deciding),
        Reason.ERROR_PAIRS: sum(item.errors for item in deciding),
        Reason.WAIVED_PAIRS: sum(item.waived for item in deciding),
        Reason.PASSED_PAIRS: sum(item.passed for item in deciding),
    }
    number = counts.get(reason, 0)
    if reason in counts:
        return _counted(reason, number, texts)
    return {
        Reason.STATEMENT_NOT_MET: texts.gettext("its statement answers “not met”"),
        Reason.NO_DECIDING_RULE: texts.gettext("no loaded rule decides it"),
        Reason.NO_CHECK_BUILT: texts.gettext("no check built"),
        Reason.SOME_CHECK_NOT_BUILT: texts.gettext("some of its checks are not built yet"),
        Reason.MISSING_ANSWER: texts.gettext("due pairs got no answer"),
        Reason.ONLY_WARNINGS: texts.gettext("only warnings, which decide nothing"),
        Reason.DESELECTED_RULE: texts.gettext("a deciding rule was deselected"),
        Reason.GAP: texts.gettext("a gap may hide what decides it"),
        Reason.MEMBER_NOT_REACHED: texts.gettext("a registered cluster was not reached"),
        Reason.STALE_EVIDENCE: texts.gettext("the evidence is stale"),
        Reason.NO_EVIDENCE: texts.gettext("nothing was collected"),
        Reason.STATEMENT_OPEN: texts.gettext("needs a statement"),
        Reason.STATEMENT_EXPIRED: texts.gettext("its statement expired"),
        Reason.STATEMENT_MET: texts.gettext("a valid statement says it is met"),
        Reason.STATEMENT_NOT_APPLICABLE: texts.gettext("a valid statement says it does not apply"),
        Reason.NO_SUBJECT: texts.gettext("collection complete, and nothing of the kind exists"),
    }[reason]


def _counted(reason: Reason, number: int, texts: Texts) -> str:
    forms = {
        Reason.FAILED_PAIRS: texts.ngettext("{n} pair failed", "{n} pairs failed", number),
        Reason.ERROR_PAIRS: texts.ngettext(
            "{n} pair ended in an error", "{n} pairs ended in an error", number
        ),
        Reason.WAIVED_PAIRS: texts.ngettext(
            "{n} failing pair is waived", "{n} failing pairs are waived", number
        ),
        Reason.PASSED_PAIRS: texts.ngettext("{n} pair passed", "{n} pairs passed", number),
    }
    return forms[reason].format(n=number)


def meanings(texts: Texts) -> tuple[Meaning, ...]:
    """The statuses in words."""
    told = {
        ControlStatus.SATISFIED: texts.gettext(
            "Evidence supports the control on every registered cluster, and its statement, where one is needed, is valid."
        ),
        ControlStatus.NOT_SATISFIED: texts.gettext(
            "At least one unwaived failure in a deciding rule, or a statement answered “not met”."
        ),
        ControlStatus.WAIVED: texts.gettext(
            "Fails underneath; a dated waiver covers each failure. Never counts in the strict ratio."
        ),
        ControlStatus.INDETERMINATE: texts.gettext(
            "Could not be decided: an error, a missing answer, a gap, no deciding rule, or an open or expired statement."
        ),
        ControlStatus.NOT_APPLICABLE: texts.gettext(
            "Collection was complete and nothing of the kind exists, or a valid statement says so. Leaves the denominator, with its reason."
        ),
    }
    outside = Meaning(
        Label(OUTSIDE, texts.gettext("outside profile")),
        texts.gettext("Not part of the chosen profile: not counted anywhere, still listed."),
    )
    return (*(Meaning(status_label(status, texts), text) for status, text in told.items()), outside)


def formulas(score: FrameworkScore, texts: Texts) -> tuple[Formula, ...]:
    """How this framework's numbers came about."""
    p, f, w, i = score.satisfied, score.failed, score.waived, score.indeterminate
    strict = score.strict
    stated = texts.gettext("{p} / ({p} + {f} + {w} + {i}) = {share} = {percent}.").format(
        p=p, f=f, w=w, i=i, share=share(strict), percent=percent(strict, texts)
    )
    if not strict.denominator:
        stated = texts.gettext("Here 0/0: not stated.")
    return (
        Formula(
            texts.gettext("Strict ratio"),
            texts.gettext(
                "Of the controls in the profile that apply, how many does the evidence support in full? Satisfied, divided by satisfied plus not satisfied plus waived plus indeterminate:"
            )
            + f" {stated}",
        ),
        Formula(
            texts.gettext("Possible range"),
            texts.gettext(
                "Low end: every indeterminate control fails. High end: each of them holds, ({p} + {i}) / {n}: {low} to {high}."
            ).format(p=p, i=i, n=strict.denominator, low=share(strict), high=share(score.high)),
        ),
        _simple(
            texts.gettext("With waivers accepted"),
            texts.gettext("Satisfied plus waived, over the same denominator"),
            score.with_waivers,
        ),
        _simple(
            texts.gettext("Evidence coverage"),
            texts.gettext("Decided controls, over the same denominator; losing evidence lowers it"),
            score.evidence_coverage,
        ),
        _simple(
            texts.gettext("Statements ignored"),
            texts.gettext("The strict ratio by scan alone, statements and the need for them left out"),
            score.technical_only,
        ),
    )


def _simple(name: str, text: str, value: Fraction) -> Formula:
    return Formula(name, f"{text}: {share(value)}.")


def signature_word(status: str, texts: Texts) -> str:
    """Why nobody vouches for the source of a rule; empty when somebody does, and when nobody asked."""
    return {
        "unsigned": texts.gettext("unsigned"),
        "wrong_identity": texts.gettext("signed by somebody who may not"),
        "invalid": texts.gettext("signature invalid"),
        "could_not_check": texts.gettext("signature not checked"),
    }.get(status, "")
