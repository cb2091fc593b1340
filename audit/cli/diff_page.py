"""A comparison on the screen, as a comment, and as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audit.cli.screen import Screen
from audit.cli.wording import fraction_words
from audit.compare.model import Change, Comparison, GroupChange, RatioChange
from audit.model.assessment import Fraction
from audit.report.text import markdown

_WORDS = {
    Change.REGRESSED: "regressed",
    Change.NEW: "new",
    Change.NEWLY_SEEN: "newly seen",
    Change.LOST: "lost evidence",
    Change.WAIVED: "waived",
    Change.FIXED: "fixed",
    Change.REMOVED: "object removed",
    Change.UNCHANGED: "unchanged",
}
_STYLES = {
    Change.REGRESSED: "red",
    Change.NEW: "red",
    Change.NEWLY_SEEN: "yellow",
    Change.LOST: "yellow",
    Change.FIXED: "green",
}
_REASONS = {
    "waiver_ended": "its waiver ended",
    "rule_not_asked": "the rule was asked in one of the two runs only",
    "cluster_not_reached": "the cluster was not reached",
    "left_out": "the newer run leaves out more",
    "gap": "a gap may hide the object",
    "error": "the pair could not be judged",
    "no_population": "no population file to prove it by",
}
_SHOWN = 50


class DiffPage:
    """Shows a comparison.

    Args:
        found: what to show.
        runs: which two runs were compared, where they come out of a history.
    """

    def __init__(self, found: Comparison, runs: str = "") -> None:
        self._found = found
        self._runs = runs

    def show(self, screen: Screen) -> None:
        """On a screen: what changed line by line, what stayed as a number."""
        shown = [item for item in self._found.groups if item.change is not Change.UNCHANGED]
        if self._runs:
            screen.line(self._runs)
        if shown:
            screen.table(
                ("change", "severity", "group", "rule", "where"),
                [
                    (
                        (_WORDS[item.change], _STYLES.get(item.change, "")),
                        item.group.severity.value,
                        item.group.id,
                        item.group.rule,
                        _where(item),
                    )
                    for item in shown[:_SHOWN]
                ],
            )
        if len(shown) > _SHOWN:
            screen.line(f"and {len(shown) - _SHOWN} more; --format json has all")
        screen.line(self._summary())
        for ratio in self._found.ratios:
            screen.line(_ratio(ratio))
        if self._found.differs:
            screen.line(("note: ", "cyan"), self._caution())

    def markdown(self, screen: Screen) -> None:
        """A comment for a pull request."""
        for line in self._markdown():
            screen.line(line, limit=4_000)

    def plain(self) -> dict[str, Any]:
        """Everything, for programs; members stay in the reports."""
        found = self._found
        return {
            "before": found.before,
            "after": found.after,
            "differs": list(found.differs),
            "counts": {change.value: len(found.of(change)) for change in Change},
            "groups": [
                {
                    "change": item.change.value,
                    "reason": item.reason,
                    "id": item.group.id,
                    "rule": item.group.rule,
                    "severity": item.group.severity.value,
                    "owner": item.group.owner,
                    "container": item.group.container,
                    "path": item.group.path,
                    "clusters": list(item.group.clusters),
                    "before": item.before,
                    "after": item.after,
                }
                for item in found.groups
            ],
            "ratios": [
                {
                    "framework": ratio.framework,
                    "profile": ratio.profile,
                    "before": _plain(ratio.before),
                    "after": _plain(ratio.after),
                    "comparable": ratio.comparable,
                }
                for ratio in found.ratios
            ],
        }

    def _markdown(self) -> Iterator[str]:
        if self._runs:
            yield f"### {markdown(self._runs)}"
            yield ""
        yield f"**{self._summary()}**"
        yield ""
        shown = [item for item in self._found.groups if item.change is not Change.UNCHANGED]
        if shown:
            yield "| change | severity | group | rule | where |"
            yield "|---|---|---|---|---|"
        for item in shown[:_SHOWN]:
            cells = (item.group.severity.value, item.group.id, item.group.rule, _where(item))
            yield f"| {_WORDS[item.change]} | {' | '.join(markdown(cell) for cell in cells)} |"
        if len(shown) > _SHOWN:
            yield f"| and {len(shown) - _SHOWN} more | | | | |"
        yield ""
        for ratio in self._found.ratios:
            yield f"- {markdown(_ratio(ratio))}"
        if self._found.differs:
            yield f"- {self._caution()}"

    def _summary(self) -> str:
        counts = [(len(self._found.of(change)), _WORDS[change]) for change in Change]
        return (
            ", ".join(f"{number} {word}" for number, word in counts if number)
            or "no open group in either result"
        )

    def _caution(self) -> str:
        return f"the ratios can't be compared: {', '.join(self._found.differs)} differ"


def _where(item: GroupChange) -> str:
    place = " ".join(part for part in (item.group.owner, item.group.container) if part)
    reason = f" ({_REASONS[item.reason]})" if item.reason else ""
    return f"{place} in {', '.join(item.group.clusters)}{reason}"


def _ratio(ratio: RatioChange) -> str:
    sides = f"{fraction_words(ratio.before)} to {fraction_words(ratio.after)}"
    return f"{ratio.title}, {ratio.profile}: {sides}{'' if ratio.comparable else ', not comparable'}"


def _plain(value: Fraction | None) -> dict[str, int] | None:
    return None if value is None else {"numerator": value.numerator, "denominator": value.denominator}
