"""Words for gates and for what makes an audit incomplete."""

from __future__ import annotations

from audit.model.gate import Gate, GateReason, IncompleteCode, IncompleteReason
from audit.model.rule import Severity
from audit.report.nouns import counted
from audit.report.numbers import count, ratio
from audit.report.text import visible
from audit.report.texts import Texts
from audit.report.view_words import severity_word


def gate_detail(gate: Gate, texts: Texts) -> str:
    """What a gate was judged by: ``2 critical open``, ``1/4 (25.0 %)``."""
    severity = severity_word(gate.severity, texts) if gate.severity else ""
    if gate.reason is GateReason.OPEN_GROUPS:
        named = ", ".join(
            f"{count(gate.open[s.value])} {severity_word(s, texts)}"
            for s in Severity
            if gate.open.get(s.value)
        )
        return texts.gettext("{groups} open").format(groups=named)
    if gate.reason is GateReason.RATIO and gate.fraction is not None:
        return ratio(gate.fraction, texts)
    return {
        GateReason.OPEN_GROUPS: "",
        GateReason.RATIO: "",
        GateReason.NO_OPEN_GROUP: texts.gettext("no open finding of {severity} or worse"),
        GateReason.NOTHING_EVALUATED: texts.gettext("nothing was evaluated"),
        GateReason.NO_RULE_ASKED: texts.gettext("no rule of {severity} or worse was asked"),
        GateReason.NONE_JUDGED: texts.gettext("none of {pairs} of {severity} or worse could be judged"),
        GateReason.OBJECTS: "{objects}",
    }[gate.reason].format(
        severity=severity,
        pairs=counted(gate.number, "pair", texts),
        objects=counted(gate.number, "object", texts),
    )


def incomplete_text(reason: IncompleteReason, texts: Texts) -> str:
    """One reason in words."""
    return {
        IncompleteCode.STOPPED: texts.gettext("stopped before the end: {n} of {of} objects read were judged"),
        IncompleteCode.NO_RULE: texts.gettext("no rule was loaded"),
        IncompleteCode.NO_OBJECT: texts.gettext("no Kubernetes object was found"),
        IncompleteCode.NO_MATCH: texts.gettext("no rule matched any object"),
        IncompleteCode.GAPS: texts.gettext("{gaps} not in allow_gaps"),
        IncompleteCode.ERRORS: texts.gettext("{pairs} could not be judged"),
        IncompleteCode.MISSING: texts.ngettext(
            "{n} due pair got no answer", "{n} due pairs got no answer", reason.number
        ),
        IncompleteCode.GATE_NOT_DECIDED: texts.gettext("gate {gate} could not be decided"),
    }[reason.code].format(
        n=count(reason.number),
        of=count(reason.of),
        gaps=counted(reason.number, "gap", texts),
        pairs=counted(reason.number, "pair", texts),
        gate=visible(reason.gate),
    )
