"""The same policies everywhere: clusters by policies, why they differ, and what distributing systems say of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from audit.model.consistency import (
    ClusterPolicies,
    ConsistencyState,
    DistributionClaim,
    EngineRow,
    EngineState,
    PolicyCell,
    PolicyChange,
    PolicyConsistency,
    PolicyRow,
    UnseenKinds,
)
from audit.model.subject import EVERY_KIND
from audit.report.nouns import counted
from audit.report.numbers import count
from audit.report.text import visible
from audit.report.texts import Texts
from audit.report.view_parts import minute

State = ConsistencyState

_COLUMNS = 12
_CLUSTERS = 40
_DIFFERENCES = 200
_CHANGES = 3
_CLAIMS = 60
_NAME = 80


class HeatCell(msgspec.Struct, frozen=True):
    """One policy on one cluster, or on several alike."""

    code: str
    """Class and icon: P same, M missing, W weakened or widened, T otherwise different, U unknown; empty for not due."""
    word: str
    shown: bool
    """Whether the word is printed; what is the same has its icon, and the word for who can't see it."""


class HeatRow(msgspec.Struct, frozen=True):
    """One cluster, or all others."""

    name: str
    cells: tuple[HeatCell, ...]
    equal: str
    """Policies that are the same, out of those that are due: over all policies, not only over those with a column."""


class ClusterSum(msgspec.Struct, frozen=True):
    """One line of the table of clusters."""

    name: str
    role_bindings: str
    same: str
    differing: str
    unknown: str
    engines: str
    collected: str
    code: str
    """S, F or I."""


class DifferenceView(msgspec.Struct, frozen=True):
    """One thing that is unlike, with where."""

    policy: str
    clusters: str
    word: str
    code: str
    changes: tuple[str, ...]


class ConsistencyView(msgspec.Struct, frozen=True):
    """The whole section."""

    differing: int
    intro: str
    columns: tuple[str, ...]
    more_columns: int
    heat: tuple[HeatRow, ...]
    more_clusters: int
    sums: tuple[ClusterSum, ...]
    differences: tuple[DifferenceView, ...]
    more_differences: int
    engines: tuple[str, ...]
    claims_line: str
    claims: tuple[str, ...]
    unseen: tuple[str, ...]
    none: str
    """What is said instead of the table where no policy differs."""
    notes: tuple[str, ...]


def consistency(found: PolicyConsistency | None, state: str, texts: Texts) -> ConsistencyView | None:
    """Word a comparison; None where there is none.

    Args:
        found: the comparison.
        state: the moment of the report, as it is printed: when running clusters were read.
        texts: language.
    """
    if found is None:
        return None
    telling = [row for row in found.rows if row.differs or _somewhere(row, State.NOT_COMPARABLE)]
    columns = telling[:_COLUMNS]
    partly = {name for one in found.unseen for name in one.clusters}
    special = [
        one
        for one in found.clusters
        if one.differing or one.not_comparable or one.engines != 0 or one.cluster in partly
    ]
    shown = special[:_CLUSTERS]
    words = _words(texts)
    differences = list(_differences(telling, words, texts))
    return ConsistencyView(
        differing=sum(1 for row in found.rows if row.differs),
        intro=_intro(found, texts),
        columns=tuple(visible(row.title, _NAME) for row in columns),
        more_columns=len(telling) - len(columns),
        heat=(
            *(_heat_row(one, columns, words) for one in shown),
            *_others([one for one in found.clusters if one not in special], columns, words, texts),
        ),
        more_clusters=len(special) - len(shown),
        sums=tuple(
            _sum(one, state, texts, partly=one.cluster in partly)
            for one in [*shown, *_equal(found.clusters, special)]
        ),
        differences=tuple(differences[:_DIFFERENCES]),
        more_differences=max(0, len(differences) - _DIFFERENCES),
        engines=tuple(_engines(found.engines, texts)),
        claims_line=_claims_line(found.claims, texts),
        claims=tuple(
            _claim(claim, words, texts) for claim in found.claims[:_CLAIMS] if claim.agrees is False
        ),
        unseen=tuple(_unseen(one, texts) for one in found.unseen[:_CLUSTERS]),
        none=_none(found, texts),
        notes=_notes(found, texts),
    )


def _words(texts: Texts) -> dict[State, tuple[str, str]]:
    """Class and word of each state."""
    return {
        State.SAME: ("P", texts.gettext("same")),
        State.WEAKENED: ("W", texts.gettext("weakened")),
        State.WIDENED: ("W", texts.gettext("widened")),
        State.MISSING: ("M", texts.gettext("missing")),
        State.EXTRA: ("T", texts.gettext("extra")),
        State.OTHER_VERSION: ("T", texts.gettext("other version")),
        State.NOT_SERVED: ("M", texts.gettext("kind not served")),
        State.NOT_COMPARABLE: ("U", texts.gettext("not comparable")),
        State.NOT_DUE: ("", texts.gettext("not expected")),
        State.LEFT_OUT: ("", texts.gettext("out of scope")),
    }


def _intro(found: PolicyConsistency, texts: Texts) -> str:
    policies = texts.ngettext("{n} policy object", "{n} policy objects", len(found.rows)).format(
        n=count(len(found.rows))
    )
    clusters = counted(len(found.clusters), "cluster", texts)
    if found.baseline:
        told = texts.gettext("{policies} on {clusters}, compared with {baseline}.").format(
            policies=policies, clusters=clusters, baseline=visible(found.baseline)
        )
    else:
        told = texts.gettext("{policies} on {clusters}, compared with each other.").format(
            policies=policies, clusters=clusters
        )
    return f"{told} " + texts.gettext(
        "Defaults, order, status and the server's own metadata make no difference. What was not seen is not comparable, and "
        "never the same."
    )


def _heat_row(
    one: ClusterPolicies, columns: Sequence[PolicyRow], words: dict[State, tuple[str, str]]
) -> HeatRow:
    return HeatRow(
        name=visible(one.cluster, _NAME),
        cells=tuple(_heat_cell(row.state_on(one.cluster), words) for row in columns),
        equal=f"{one.same}/{one.same + one.differing + one.not_comparable}",
    )


def _heat_cell(state: State, words: dict[State, tuple[str, str]]) -> HeatCell:
    code, word = words[state]
    return HeatCell(code, word, shown=state is not State.SAME)


def _others(
    alike: Sequence[ClusterPolicies],
    columns: Sequence[PolicyRow],
    words: dict[State, tuple[str, str]],
    texts: Texts,
) -> Iterable[HeatRow]:
    """One row for the clusters on which nothing differs, so that the sums are right."""
    if not alike or not columns:
        return
    name = texts.ngettext("{n} other", "{n} others", len(alike)).format(n=count(len(alike)))
    cells = []
    for row in columns:
        states = {row.state_on(one.cluster) for one in alike}
        cells.append(_heat_cell(State.SAME if State.SAME in states else State.NOT_DUE, words))
    same = sum(one.same for one in alike)
    yield HeatRow(name=name, cells=tuple(cells), equal=f"{same}/{same}")


def _equal(clusters: Iterable[ClusterPolicies], special: Sequence[ClusterPolicies]) -> list[ClusterPolicies]:
    names = {one.cluster for one in special}
    return [one for one in clusters if one.cluster not in names][:_CLUSTERS]


def _sum(one: ClusterPolicies, state: str, texts: Texts, *, partly: bool) -> ClusterSum:
    """A cluster of which a kind was not seen is not green, though nothing of what was seen differs."""
    if one.differing or one.engines:
        code = "F"
    elif one.not_comparable or one.engines is None or not one.reached or partly:
        code = "I"
    else:
        code = "S"
    if not one.reached:
        collected = texts.gettext("not reached")
    elif one.collected_at:
        collected = minute(one.collected_at)
    else:
        collected = state if one.kind == "live" else texts.gettext("from files")
    return ClusterSum(
        name=visible(one.cluster, _NAME),
        role_bindings=texts.gettext("not known") if one.role_bindings is None else count(one.role_bindings),
        same=count(one.same),
        differing=count(one.differing),
        unknown=count(one.not_comparable),
        engines=texts.gettext("not known") if one.engines is None else count(one.engines),
        collected=collected,
        code=code,
    )


def _differences(
    rows: Iterable[PolicyRow], words: dict[State, tuple[str, str]], texts: Texts
) -> Iterable[DifferenceView]:
    """Each policy with the clusters on which it is unlike in the same way."""
    for row in rows:
        alike: dict[tuple[State, str, tuple[PolicyChange, ...], int], list[PolicyCell]] = {}
        for cell in row.cells:
            if cell.state.differs or cell.state is State.NOT_COMPARABLE:
                alike.setdefault((cell.state, cell.reason, cell.changes, cell.more), []).append(cell)
        for (state, reason, changes, more), cells in alike.items():
            code, word = words[state]
            told = [_change(change, texts) for change in changes[:_CHANGES]]
            rest = len(changes) - len(told) + more
            if rest > 0:
                told.append(texts.gettext("{n} more").format(n=count(rest)))
            names = ", ".join(visible(cell.cluster, _NAME) for cell in cells[:8])
            if len(cells) > 8:
                names += f" +{len(cells) - 8}"
            yield DifferenceView(
                policy=visible(row.title, 200),
                clusters=names,
                word=f"{word}: {_reason(reason, texts)}" if reason else word,
                code={"W": "F", "M": "F", "T": "D", "U": "I"}.get(code, "N"),
                changes=tuple(told),
            )


def _change(change: PolicyChange, texts: Texts) -> str:
    kinds = {
        "weakened": texts.gettext("weaker"),
        "widened": texts.gettext("lets more through"),
        "stricter": texts.gettext("stricter"),
        "differs": texts.gettext("differs"),
    }
    place, reference, here = (
        visible(change.place, 160),
        visible(change.reference, 160),
        visible(change.here, 160),
    )
    if reference and here:
        what = texts.gettext("{reference} became {here}").format(reference=reference, here=here)
    elif here:
        what = texts.gettext("{here}, only here").format(here=here)
    else:
        what = texts.gettext("{reference}, not here").format(reference=reference)
    return f"{kinds[change.kind]}: {place}: {what}"


def _reason(code: str, texts: Texts) -> str:
    """Why something can't be compared."""
    words = {
        "not_asked": texts.gettext("the kind was not asked for"),
        "not_reached": texts.gettext("the cluster was not reached"),
        "not_collected": texts.gettext("the kind was not collected"),
        "ambiguous": texts.gettext("two documents say different things"),
        "redacted": texts.gettext("a redacted value stands in it"),
        "baseline": texts.gettext("the baseline was not read as a whole"),
        "no_version": texts.gettext("its image names no version"),
        "forbidden": texts.gettext("listing it is forbidden"),
        "unreachable": texts.gettext("no answer"),
        "absent": texts.gettext("nothing is there to read"),
    }
    return words.get(code, texts.gettext("a gap may hide it ({code})").format(code=visible(code, 40)))


def _engines(rows: Iterable[EngineRow], texts: Texts) -> Iterable[str]:
    for row in rows:
        for cell in row.cells:
            name, cluster = visible(row.name, _NAME), visible(cell.cluster, _NAME)
            version = visible(cell.version, 60)
            if cell.state is EngineState.OLDER:
                yield texts.gettext("{engine} on {cluster}: {version}, older than {newest}").format(
                    engine=name, cluster=cluster, version=version, newest=visible(row.newest, 60)
                )
            elif cell.state is EngineState.MISSING:
                yield texts.gettext("{engine} on {cluster}: missing").format(engine=name, cluster=cluster)
            elif cell.state is EngineState.STOPPED:
                yield texts.gettext("{engine} on {cluster}: stopped, it has no replicas").format(
                    engine=name, cluster=cluster
                )
            elif cell.state is EngineState.UNKNOWN:
                yield texts.gettext("{engine} on {cluster}: not comparable, {reason}").format(
                    engine=name, cluster=cluster, reason=_reason(cell.reason, texts)
                )


def _claims_line(claims: Sequence[DistributionClaim], texts: Texts) -> str:
    if not claims:
        return ""
    wrong = sum(1 for claim in claims if claim.agrees is False)
    unknown = sum(1 for claim in claims if claim.agrees is None)
    return texts.gettext(
        "Claims of Karmada and Open Cluster Management about members: {n}. {wrong} disagree with what the member shows, "
        "{unknown} could not be checked. The member is believed."
    ).format(n=count(len(claims)), wrong=count(wrong), unknown=count(unknown))


def _claim(claim: DistributionClaim, words: dict[State, tuple[str, str]], texts: Texts) -> str:
    says = texts.gettext("put in place") if claim.says == "applied" else texts.gettext("not put in place")
    shows = words[claim.shows][1] if claim.shows is not None else ""
    return texts.gettext("{by} on {hub}: {policy} is {says} on {cluster}; there: {shows}").format(
        by=visible(claim.stated_by, 160),
        hub=visible(claim.hub, _NAME),
        policy=visible(claim.policy, 160),
        says=says,
        cluster=visible(claim.cluster, _NAME),
        shows=shows,
    )


def _unseen(one: UnseenKinds, texts: Texts) -> str:
    kinds = ", ".join(visible(kind, _NAME) for kind in one.kinds[:8])
    if one.kinds == (EVERY_KIND,):
        kinds = texts.gettext("all kinds")
    elif len(one.kinds) > 8:
        kinds += f" +{len(one.kinds) - 8}"
    names = ", ".join(visible(name, _NAME) for name in one.clusters[:8])
    names += f" +{len(one.clusters) - 8}" if len(one.clusters) > 8 else ""
    return texts.gettext("{kinds} on {clusters}: {reason}").format(
        kinds=kinds, clusters=names, reason=_reason(one.reason, texts)
    )


def _none(found: PolicyConsistency, texts: Texts) -> str:
    if not found.rows:
        return texts.gettext("No policy was seen on any cluster, so nothing could be compared.")
    if found.unseen:
        return texts.gettext("No policy that was seen differs.")
    return texts.gettext("No policy differs, and each could be compared.")


def _notes(found: PolicyConsistency, texts: Texts) -> tuple[str, ...]:
    notes = [
        texts.gettext("Not compared: {what} ({n}), {reason}").format(
            what=visible(one.what, 160), n=count(one.count), reason=visible(one.reason)
        )
        for one in found.ignored
    ]
    if found.built_in:
        notes.append(
            texts.gettext("{n} roles that API servers make and mend themselves are not compared.").format(
                n=count(found.built_in)
            )
        )
    return tuple(notes)


def _somewhere(row: PolicyRow, state: State) -> bool:
    return any(cell.state is state for cell in row.cells)
