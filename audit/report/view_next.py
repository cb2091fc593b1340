"""What to do next: the cheapest steps and the ratio each would give, counted alone."""

from __future__ import annotations

from itertools import zip_longest

import msgspec

from audit.model.assessment import FrameworkScore, NextStep
from audit.model.result import AssessmentResult
from audit.report.numbers import percent, share, width
from audit.report.text import tail, visible
from audit.report.texts import Texts
from audit.report.view_parts import Anchors, Piece, control_pieces

SHOWN = 5


class Gain(msgspec.Struct, frozen=True):
    """What a step gives one framework."""

    framework: str
    share: str
    percent: str
    certain: bool
    base_width: str
    gain_width: str
    end: str


class StepView(msgspec.Struct, frozen=True):
    """One step; the same fix for several frameworks is one step with several gains."""

    title: str
    pieces: tuple[Piece, ...]
    gains: tuple[Gain, ...]


_Pair = tuple[FrameworkScore, NextStep]


def steps(result: AssessmentResult, anchors: Anchors, texts: Texts) -> tuple[StepView, ...]:
    """At most five, the frameworks' steps in turn."""
    columns = [[(score, step) for step in score.next_steps] for score in result.scores]
    dealt = [pair for turn in zip_longest(*columns) for pair in turn if pair is not None]
    return tuple(_step(result, pairs, anchors, texts) for pairs in _together(dealt)[:SHOWN])


def _together(dealt: list[_Pair]) -> list[list[_Pair]]:
    """Steps that do the same thing, side by side; statements and checks are each framework's own."""
    found: dict[object, list[_Pair]] = {}
    for number, (score, step) in enumerate(dealt):
        shared = (step.kind, step.rules, step.gaps) if step.rules or step.gaps else number
        found.setdefault(shared, []).append((score, step))
    return list(found.values())


def title(result: AssessmentResult, step: NextStep, texts: Texts) -> str:
    """The step as an order."""
    number = len(step.controls)
    rules = {state.rule.id: state.rule for state in result.rules}
    name = ", ".join(visible(rules[rule].title if rule in rules else rule, 120) for rule in step.rules[:2])
    if step.kind == "statements":
        return texts.ngettext(
            "Answer or renew {n} statement", "Answer or renew {n} statements", number
        ).format(n=number)
    if step.kind == "fix_rule":
        return texts.gettext("Fix what fails: {rule}").format(rule=name)
    if step.kind == "close_gap":
        return _gap_title(result, step, texts)
    if step.kind == "renew_waiver":
        return texts.gettext("Fix, or waive anew: {rule}").format(rule=name)
    return texts.ngettext(
        "Build the check of {n} control", "Build the checks of {n} controls", number
    ).format(n=number)


def _gap_title(result: AssessmentResult, step: NextStep, texts: Texts) -> str:
    known = [result.gaps[index] for index in step.gaps if 0 <= index < len(result.gaps)]
    if not known:
        return texts.gettext("Close the gaps")
    source = tail(known[0].source, 64)
    if len(known) == 1:
        return texts.gettext("Close the gap {source}").format(source=source)
    return texts.gettext("Close {n} gaps, first {source}").format(n=len(known), source=source)


def _step(result: AssessmentResult, pairs: list[_Pair], anchors: Anchors, texts: Texts) -> StepView:
    first = pairs[0][1]
    pieces: list[Piece] = []
    for number, rule in enumerate(first.rules[:2]):
        anchor = anchors.rule(rule)
        pieces += [Piece(", ")] if number else []
        pieces.append(Piece(visible(rule), f"#{anchor}" if anchor else ""))
    hints = [result.gaps[index].hint for index in first.gaps if 0 <= index < len(result.gaps)]
    if hints and hints[0]:
        pieces.append(Piece(visible(hints[0])))
    links = [
        link
        for score, step in pairs
        for link in control_pieces(score.framework, step.controls, anchors, cap=4)
    ]
    if links:
        word = texts.gettext("decides") if first.certain else texts.gettext("may decide")
        pieces.append(Piece(f"; {word} " if pieces else f"{word} "))
    for number, link in enumerate(links):
        pieces += [Piece(", ")] if number else []
        pieces.append(link)
    return StepView(
        title=title(result, first, texts),
        pieces=tuple(pieces),
        gains=tuple(_gain(score, step, texts) for score, step in pairs),
    )


def _gain(score: FrameworkScore, step: NextStep, texts: Texts) -> Gain:
    base, gives = score.strict, step.gives
    return Gain(
        framework=visible(score.title),
        share=share(gives),
        percent=percent(gives, texts),
        certain=step.certain,
        base_width=width(base.numerator, base.denominator),
        gain_width=width(max(0, gives.numerator - base.numerator), base.denominator),
        end=width(gives.numerator, gives.denominator),
    )
