"""What the report says of the policies themselves: rules that applied to nothing, and rules and controls that miss each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from audit.model.control import EvidenceKind
from audit.model.quality import UnservedControl
from audit.model.result import AssessmentResult
from audit.report.nouns import counted
from audit.report.numbers import count
from audit.report.text import visible
from audit.report.texts import Texts
from audit.report.view_parts import Anchors, Piece, control_pieces

_SHOWN = 400
"""Names in one list; report.json has them all, and the list says how many more there are."""


class QualityLine(msgspec.Struct, frozen=True):
    """One thing said of all rules, or of all controls, and which ones are meant."""

    term: str
    text: str
    listed: tuple[Piece, ...]
    """Empty where the text says it all."""


def quality(result: AssessmentResult, anchors: Anchors, texts: Texts) -> tuple[QualityLine, ...]:
    """Applied, vacuous, without a control, controls without a rule, and how good the tests are."""
    found = result.quality
    asked = {state.rule.id for state in result.rules if state.selected and not state.twin_of}
    applied = sum(1 for use in found.rules if use.rule in asked and use.applied)
    lines = [
        QualityLine(
            texts.gettext("Applied"),
            texts.gettext("{n} of {rules} asked gave a verdict on something").format(
                n=count(applied), rules=counted(len(asked), "rule", texts)
            ),
            (),
        ),
        QualityLine(
            texts.gettext("Vacuous"),
            texts.gettext("{rules}: asked, and nothing they apply to was there").format(
                rules=counted(len(found.vacuous), "rule", texts)
            ),
            _rules(found.vacuous, anchors),
        ),
        QualityLine(
            texts.gettext("In no control"),
            texts.gettext("{rules} that no control uses").format(
                rules=counted(len(found.unused), "rule", texts)
            ),
            _rules(found.unused, anchors),
        ),
    ]
    by_framework: dict[str, list[UnservedControl]] = defaultdict(list)
    for control in found.unserved:
        by_framework[control.framework].append(control)
    titles = {score.framework: score.title for score in result.scores}
    for framework, title in titles.items():
        lines.append(_unserved(by_framework[framework], framework, visible(title, 80), anchors, texts))
    lines.append(QualityLine(texts.gettext("Tests of rules"), _tests(result, texts), ()))
    return tuple(lines)


def _unserved(
    controls: list[UnservedControl], framework: str, title: str, anchors: Anchors, texts: Texts
) -> QualityLine:
    stated = sum(1 for item in controls if item.evidence_kind is EvidenceKind.ATTESTATION)
    return QualityLine(
        texts.gettext("Served by no rule"),
        texts.gettext("{title}: {controls} that no rule serves, {n} of them for statements only").format(
            title=title, controls=counted(len(controls), "control", texts), n=count(stated)
        ),
        _parted(control_pieces(framework, [item.control for item in controls], anchors, cap=_SHOWN)),
    )


def _tests(result: AssessmentResult, texts: Texts) -> str:
    """Measured rules together, and how many nobody measured."""
    scores = [state.rule.mutation for state in result.rules]
    known = [score for score in scores if score is not None]
    if not known:
        return texts.gettext("none measured")
    text = texts.gettext("{noticed} of {planted} planted faults noticed, in {rules}").format(
        noticed=count(sum(score.noticed for score in known)),
        planted=count(sum(score.planted for score in known)),
        rules=counted(len(known), "rule", texts),
    )
    rest = len(scores) - len(known)
    if rest:
        text += texts.gettext("; {rules} not measured").format(rules=counted(rest, "rule", texts))
    return text


def _rules(rules: tuple[str, ...], anchors: Anchors) -> tuple[Piece, ...]:
    pieces = [
        Piece(visible(rule), f"#{anchor}" if (anchor := anchors.rule(rule)) else "")
        for rule in rules[:_SHOWN]
    ]
    if len(rules) > _SHOWN:
        pieces.append(Piece(f"+{len(rules) - _SHOWN}"))
    return _parted(pieces)


def _parted(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """With a comma between each two."""
    out: list[Piece] = []
    for piece in pieces:
        out += [Piece(", "), piece] if out else [piece]
    return tuple(out)
