"""Where twins differ, for a screen and for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from audit.cli.screen import Screen
from audit.cli.wording import count
from audit.evaluate.twins import Comparison
from audit.model.finding import PairAnswer
from audit.model.result import AssessmentResult
from audit.model.subject import SubjectRef
from audit.model.twin import TwinCount
from audit.report.texts import Texts
from audit.report.view_verdict import incomplete_text


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One object, and what each side says of it."""

    subject: SubjectRef
    rule: str
    answers: tuple[PairAnswer, ...]

    def plain(self) -> dict[str, Any]:
        """For other programs."""
        ref = self.subject
        return {
            "rule": self.rule,
            "cluster": ref.cluster,
            "kind": ref.kind_key,
            "namespace": ref.namespace,
            "name": ref.name,
            "source": ref.source,
            "line": ref.line,
            "answers": [
                {"rule": answer.rule, "outcome": answer.outcome.value, "text": _text(answer)}
                for answer in self.answers
            ],
        }


class TwinsPage:
    """Collects while an audit runs, and prints afterwards."""

    def __init__(self) -> None:
        self.differences: list[Difference] = []
        self.unjudged: list[Difference] = []
        self._counts: Sequence[TwinCount] = ()
        self._reasons: tuple[str, ...] = ()
        self._gaps: tuple[str, ...] = ()

    def tell(self, ref: SubjectRef, comparison: Comparison) -> None:
        """Take one object that is worth showing."""
        found = Difference(subject=ref, rule=comparison.twin.rule, answers=comparison.answers)
        (self.differences if comparison.judged else self.unjudged).append(found)

    def finish(self, counts: Sequence[TwinCount], result: AssessmentResult) -> None:
        """Take what is known at the end."""
        self._counts = counts
        self._reasons = tuple(incomplete_text(reason, Texts()) for reason in result.incomplete_reasons)
        self._gaps = tuple(f"{gap.source}: {gap.reason}" for gap in result.gaps if not gap.allowed)

    def plain(self) -> dict[str, Any]:
        """All of it for other programs."""
        return {
            "twins": [
                {
                    "rule": one.twin.rule,
                    "twins": list(one.twin.others),
                    "compared": one.compared,
                    "differing": one.differing,
                    "unjudged": one.unjudged,
                }
                for one in self._counts
            ],
            "differences": [one.plain() for one in self.differences],
            "unjudged": [one.plain() for one in self.unjudged],
            "incomplete": list(self._reasons),
            "gaps": list(self._gaps),
        }

    def show(self, screen: Screen) -> None:
        """All of it for people: the twins that were asked, then object by object where they differ."""
        rows = [
            (
                one.twin.rule,
                " + ".join(one.twin.others),
                str(one.compared),
                str(one.differing),
                str(one.unjudged),
            )
            for one in self._counts
            if one.compared or one.unjudged
        ]
        if rows:
            screen.table(("RULE", "TWIN", "COMPARED", "DIFFER", "NOT JUDGED"), rows)
        for title, style, found in (
            ("They differ", "bold red", self.differences),
            ("One side could not judge", "bold yellow", self.unjudged),
        ):
            if found:
                screen.line("")
                screen.line((title, style), f": {count(len(found), 'object')}")
                for one in found:
                    _show(screen, one)
        for text in (*self._gaps, *self._reasons):
            screen.line(("incomplete", "yellow"), f"  {text}")
        pairs = sum(one.compared for one in self._counts)
        screen.line("")
        screen.line(
            f"{count(len(rows), 'twin')}, {count(pairs, 'pair')} compared, {len(self.differences)} differ, "
            f"{len(self.unjudged)} not judged by one side"
        )


def _show(screen: Screen, found: Difference) -> None:
    ref = found.subject
    place = f"{ref.source}:{ref.line}" if ref.line else ref.source
    screen.line((ref.title, "bold"), f"  {ref.cluster}  {place}")
    for answer in found.answers:
        screen.line(f"  {answer.outcome.value:<6}{answer.rule}", f"  {_text(answer)}")


def _text(answer: PairAnswer) -> str:
    if answer.violations:
        return answer.violations[0].message
    return ": ".join(part for part in (answer.reason, answer.message) if part)
