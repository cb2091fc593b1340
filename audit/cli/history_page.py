"""The runs of a history on the screen and as data, and what verifying it found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from audit.cli.screen import Screen
from audit.cli.wording import count, fraction_words
from audit.history.model import Link, Ratio

if TYPE_CHECKING:
    from audit.history.database.verifying import Verdict

_DIGITS = 12


class HistoryPage:
    """Shows runs.

    Args:
        links: the runs, in the order they are shown.
        ratios: strict ratios of whole frameworks, by run.
    """

    def __init__(self, links: Sequence[Link], ratios: Mapping[int, Sequence[Ratio]]) -> None:
        self._links = links
        self._ratios = ratios

    def show(self, screen: Screen) -> None:
        """A line for each run."""
        if not self._links:
            screen.line("no run")
            return
        frameworks = list(
            dict.fromkeys(
                ratio.framework for link in self._links for ratio in self._ratios.get(link.number, ())
            )
        )
        several = len({link.run.title for link in self._links}) > 1
        header = ["RUN", "TIME", *(["FLEET"] if several else []), "CLUSTERS", "OBJECTS", "PAIRS", "GAPS"]
        header += [*(name.upper() for name in frameworks), "OPEN", "EXIT", "SCOPE", "RESULT", ""]
        screen.table(header, [self._row(link, frameworks, several=several) for link in self._links])
        last = max(self._links, key=lambda link: link.number)
        screen.line(f"{count(len(self._links), 'run')}; chain digest of run {last.number}: {last.digest}")

    def plain(self) -> list[dict[str, Any]]:
        """Everything about each run, for programs."""
        return [
            {
                "number": link.number,
                "appended_at": link.appended_at,
                "pruned_at": link.pruned_at or None,
                "digest": link.digest,
                "previous": link.previous,
                **msgspec.structs.asdict(link.run),
                "ratios": [
                    {
                        "framework": ratio.framework,
                        "profile": ratio.profile,
                        "numerator": ratio.numerator,
                        "denominator": ratio.denominator,
                        "percent": ratio.fraction.percent_truncated,
                    }
                    for ratio in self._ratios.get(link.number, ())
                ],
            }
            for link in self._links
        ]

    def _row(self, link: Link, frameworks: Sequence[str], *, several: bool) -> list[str]:
        run = link.run
        ratios = {
            ratio.framework: fraction_words(ratio.fraction) for ratio in self._ratios.get(link.number, ())
        }
        notes = [
            word for word, holds in (("incomplete", not run.complete), ("pruned", link.pruned_at)) if holds
        ]
        return [
            str(link.number),
            run.state_time,
            *([run.title] if several else []),
            f"{run.reached}/{run.clusters}",
            f"{run.objects:,}",
            f"{run.pairs_answered:,}",
            str(run.gaps),
            *(ratios.get(name, "none") for name in frameworks),
            str(run.open_groups),
            str(run.exit_code),
            run.scope_sha256[:_DIGITS],
            run.result_sha256[:_DIGITS],
            ", ".join(notes),
        ]


def show_verdict(screen: Screen, verdict: Verdict) -> None:
    """What verifying found, in one or two lines."""
    pruned = verdict.runs - verdict.whole
    if verdict.broken is None:
        held = f"the chain holds: {count(verdict.runs, 'run')}"
        screen.line(held + (f", {pruned} of them pruned to digests and ratios" if pruned else ""))
    else:
        broken = verdict.broken
        screen.line(("broken: ", "bold red"), f"run {broken.number}, {broken.kind}: {broken.what}")
    if verdict.head:
        screen.line(f"digest of the last run that holds: {verdict.head}")


def verdict_plain(verdict: Verdict) -> dict[str, Any]:
    """The same for programs."""
    return {
        "holds": verdict.broken is None,
        "runs": verdict.runs,
        "whole": verdict.whole,
        "head": verdict.head,
        "broken": None if verdict.broken is None else msgspec.structs.asdict(verdict.broken),
    }
