"""A comparison of policies on the screen, as a comment, and as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from audit.cli.screen import Part, Screen
from audit.cli.wording import count
from audit.model.consistency import (
    ClusterPolicies,
    ConsistencyState,
    DistributionClaim,
    EngineState,
    PolicyCell,
    PolicyChange,
    PolicyRow,
    UnseenKinds,
)
from audit.model.subject import EVERY_KIND
from audit.report.text import markdown
from audit.wiring.consistency import Compared

_WORDS = {
    ConsistencyState.SAME: ("same", "green"),
    ConsistencyState.WEAKENED: ("WEAKENED", "bold red"),
    ConsistencyState.WIDENED: ("WIDENED", "bold red"),
    ConsistencyState.MISSING: ("MISSING", "bold red"),
    ConsistencyState.EXTRA: ("extra", "yellow"),
    ConsistencyState.OTHER_VERSION: ("other version", "yellow"),
    ConsistencyState.NOT_SERVED: ("not served", "red"),
    ConsistencyState.NOT_COMPARABLE: ("not comparable", "yellow"),
    ConsistencyState.NOT_DUE: ("-", ""),
    ConsistencyState.LEFT_OUT: ("out of scope", ""),
}
_ENGINES = {
    EngineState.SAME: "",
    EngineState.OLDER: "OLDER",
    EngineState.MISSING: "MISSING",
    EngineState.STOPPED: "STOPPED",
    EngineState.UNKNOWN: "not comparable",
    EngineState.NOT_DUE: "-",
}
_READ = {"manifests": "files", "live": "now"}
_SAYS = {"applied": "is applied", "not_applied": "is not applied", "unknown": "may be applied"}
_WIDE = 8
"""Clusters that a table of policies has columns for; more of them become lines."""
_ROWS = 60
_CHANGES = 60
_LEAST = 4


class ConsistencyPage:
    """Shows a comparison.

    Args:
        compared: what to show.
    """

    def __init__(self, compared: Compared) -> None:
        self._gaps = compared.gaps
        self._found = compared.consistency
        self._names = [one.cluster for one in compared.consistency.clusters]
        self._open = [row for row in self._found.rows if row.differs or _unknown(row)]

    @property
    def complete(self) -> bool:
        """Whether everything that was to be compared could be."""
        return not self._found.gaps and all(gap.allowed for gap in self._gaps) and self._found.rows != ()

    def plain(self) -> dict[str, Any]:
        """All of it for other programs."""
        return {
            "complete": self.complete,
            **msgspec.to_builtins(self._found),
            "not_looked_at": [msgspec.to_builtins(gap) for gap in self._gaps],
        }

    def show(self, screen: Screen) -> None:
        """On a screen: the clusters, then each policy that isn't the same everywhere, then why."""
        screen.table(_HEAD, [_sum(one) for one in self._found.clusters])
        self._policies(screen)
        self._engines(screen)
        self._changes(screen)
        self._claims(screen)
        for one in self._found.unseen:
            screen.line(("not seen", "yellow"), f"  {_unseen(one)}")
        for gap in self._gaps:
            screen.line(("gap", "yellow"), f"  {gap.kind.value}: {gap.cluster or gap.source}: {gap.reason}")
        screen.line("")
        screen.line(self._total())

    def markdown(self, screen: Screen) -> None:
        """A comment for a pull request."""
        for line in self._markdown():
            screen.line(line, limit=4_000)

    def _policies(self, screen: Screen) -> None:
        if not self._open:
            return
        shown = self._open[:_ROWS]
        screen.line("")
        if len(self._names) <= _WIDE:
            rows: list[tuple[Part, ...]] = [
                (row.title, *(_WORDS[row.state_on(name)] for name in self._names)) for row in shown
            ]
            screen.table(("POLICY", *self._names), rows)
        else:
            screen.table(
                ("POLICY", "CLUSTER", "STATE"),
                [
                    (row.title, cell.cluster, _WORDS[cell.state])
                    for row in shown
                    for cell in row.cells
                    if cell.state.differs or cell.state is ConsistencyState.NOT_COMPARABLE
                ][:_ROWS],
            )
        if len(self._open) > len(shown):
            screen.line(f"and {len(self._open) - len(shown)} more; --json has all")

    def _engines(self, screen: Screen) -> None:
        rows = [
            (row.name, cell.cluster, cell.version or "?", _ENGINES[cell.state] or "same")
            for row in self._found.engines
            for cell in row.cells
            if cell.state is not EngineState.NOT_DUE
        ]
        if rows:
            screen.line("")
            screen.table(("ENGINE", "CLUSTER", "VERSION", "STATE"), rows[:_ROWS])

    def _changes(self, screen: Screen) -> None:
        told = list(_told(self._open))
        if told:
            screen.line("")
        for row, cell, change in told[:_CHANGES]:
            screen.line((row.title, "bold"), f"  {cell.cluster}  {_change(change)}")
        if len(told) > _CHANGES:
            screen.line(f"and {len(told) - _CHANGES} more; --json has all")

    def _claims(self, screen: Screen) -> None:
        wrong = [claim for claim in self._found.claims if claim.agrees is False]
        if wrong:
            screen.line("")
        for claim in wrong[:_CHANGES]:
            screen.line(("disagrees", "yellow"), f"  {_claim(claim)}")

    def _total(self) -> str:
        found = self._found
        against = f"against {found.baseline}" if found.baseline else "with each other"
        differing = sum(1 for row in found.rows if row.differs)
        text = (
            f"{count(len(found.rows), 'policy object')} of {count(len(self._names), 'cluster')} compared {against}: "
            f"{differing} differ, {found.count(ConsistencyState.NOT_COMPARABLE)} places not comparable"
        )
        for one in found.ignored:
            text += f"; {one.count} not compared ({one.what}: {one.reason})"
        return f"{text}; {found.built_in} built in" if found.built_in else text

    def _markdown(self) -> Iterator[str]:
        yield f"### Policies: {self._escaped_total()}"
        yield ""
        yield f"| {' | '.join(_HEAD)} |"
        yield f"|{'---|' * len(_HEAD)}"
        for one in self._found.clusters:
            yield f"| {' | '.join(markdown(_plain(cell)) for cell in _sum(one))} |"
        shown = self._open[:_ROWS]
        if shown:
            yield ""
            yield "| policy | cluster | state | what |"
            yield "|---|---|---|---|"
        for row in shown:
            for cell in row.cells:
                if cell.state.differs or cell.state is ConsistencyState.NOT_COMPARABLE:
                    what = "; ".join(_change(change) for change in cell.changes[:_LEAST]) or cell.reason
                    cells = (row.title, cell.cluster, _WORDS[cell.state][0], what)
                    yield f"| {' | '.join(markdown(text) for text in cells)} |"
        if len(self._open) > len(shown):
            yield ""
            yield f"and {len(self._open) - len(shown)} more policies"
        for unseen in self._found.unseen:
            yield f"- not seen: {markdown(_unseen(unseen))}"
        for claim in self._found.claims:
            if claim.agrees is False:
                yield f"- {markdown(_claim(claim))}"

    def _escaped_total(self) -> str:
        return markdown(self._total(), 1_000)


_HEAD = (
    "CLUSTER",
    "ROLE BINDINGS",
    "SAME",
    "DIFFERING POLICIES",
    "NOT COMPARABLE",
    "ENGINES",
    "COLLECTED AT",
)


def _sum(one: ClusterPolicies) -> tuple[Part, ...]:
    return (
        one.cluster,
        "?" if one.role_bindings is None else str(one.role_bindings),
        str(one.same),
        (str(one.differing), "bold red" if one.differing else ""),
        (str(one.not_comparable), "yellow" if one.not_comparable else ""),
        "?" if one.engines is None else f"{one.engines} wrong" if one.engines else "ok",
        one.collected_at or _READ.get(one.kind, "") if one.reached else "not reached",
    )


def _plain(part: Part) -> str:
    return part if isinstance(part, str) else part[0]


def _unknown(row: PolicyRow) -> bool:
    return any(cell.state is ConsistencyState.NOT_COMPARABLE for cell in row.cells)


def _told(rows: list[PolicyRow]) -> Iterator[tuple[PolicyRow, PolicyCell, PolicyChange]]:
    for row in rows:
        for cell in row.cells:
            for change in cell.changes[:_LEAST]:
                yield row, cell, change


def _change(change: PolicyChange) -> str:
    if change.reference and change.here:
        return f"{change.kind}: {change.place}: {change.reference} -> {change.here}"
    if change.here:
        return f"{change.kind}: {change.place}: + {change.here}"
    return f"{change.kind}: {change.place}: - {change.reference}"


def _unseen(one: UnseenKinds) -> str:
    kinds = ", ".join(one.kinds[:6]) + (f" and {len(one.kinds) - 6} more" if len(one.kinds) > 6 else "")
    names = ", ".join(one.clusters[:6]) + (
        f" and {len(one.clusters) - 6} more" if len(one.clusters) > 6 else ""
    )
    return f"{one.reason}: {'all kinds' if kinds == EVERY_KIND else kinds} on {names}"


def _claim(claim: DistributionClaim) -> str:
    shows = _WORDS[claim.shows][0].lower() if claim.shows is not None else "nothing"
    return (
        f"{claim.stated_by} on {claim.hub} says that {claim.policy} {_SAYS[claim.says]} on {claim.cluster}, "
        f"which shows: {shows}"
    )
