"""The controllers that make policies act, on every cluster: missing, stopped, older than elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from audit.consistency.book import ClusterNotes
from audit.consistency.engines import FAMILIES, version_key
from audit.consistency.kinds import DEPLOYMENT, family_of
from audit.model.consistency import EngineCell, EngineRow, EngineState
from audit.model.gap import Gap


def engine_rows(clusters: Sequence[ClusterNotes], baseline: ClusterNotes | None) -> tuple[EngineRow, ...]:
    """A row for each engine that runs anywhere, or of which policies are somewhere."""
    everybody = [*clusters, *([baseline] if baseline else [])]
    found = {one.engine for notes in everybody for one in notes.engines}
    families = {
        engine for engine, family in FAMILIES.items() if any(_has(notes, family) for notes in everybody)
    }
    # Where no Deployment of an engine is among the inputs at all, its engine is simply somebody else's file.
    return tuple(
        _row(engine, clusters, baseline) for engine in sorted(found | _live_only(families, clusters))
    )


def _live_only(families: Iterable[str], clusters: Sequence[ClusterNotes]) -> set[str]:
    """Engines of which policies are on a server: there, a controller that isn't seen isn't there."""
    return {
        engine
        for engine in families
        if any(notes.is_server and _has(notes, FAMILIES[engine]) for notes in clusters)
    }


def _has(notes: ClusterNotes, family: str) -> bool:
    return any(family_of(key.key) == family for key in notes.policies)


def _row(engine: str, clusters: Sequence[ClusterNotes], baseline: ClusterNotes | None) -> EngineRow:
    newest = _newest(_versions(baseline, engine)) if baseline else ""
    newest = newest or _newest([version for notes in clusters for version in _versions(notes, engine)])
    somewhere = bool(baseline and _versions(baseline, engine, every=True))
    running = sum(1 for notes in clusters if _versions(notes, engine, every=True))
    seen = sum(1 for notes in clusters if not notes.hidden(DEPLOYMENT))
    due = somewhere or 2 * running >= seen > 0
    return EngineRow(
        name=engine,
        newest=newest,
        cells=tuple(_cell(engine, notes, newest, due=due) for notes in clusters),
    )


def _cell(engine: str, notes: ClusterNotes, newest: str, *, due: bool) -> EngineCell:
    found = [one for one in notes.engines if one.engine == engine]
    version = ", ".join(sorted({one.version for one in found if one.version}))
    state, reason = EngineState.SAME, ""
    if not found:
        hidden = notes.hidden(DEPLOYMENT)
        family = FAMILIES.get(engine)
        if hidden:
            state = EngineState.UNKNOWN
            reason = hidden.kind.value if isinstance(hidden, Gap) else hidden
        elif due or (family is not None and notes.is_server and _has(notes, family)):
            state = EngineState.MISSING
        else:
            state = EngineState.NOT_DUE
    elif all(one.stopped for one in found):
        state = EngineState.STOPPED
    else:
        keys = [version_key(one.version) for one in found if not one.stopped]
        known = [key for key in keys if key is not None]
        best = version_key(newest)
        if len(known) < len(keys):
            state, reason = EngineState.UNKNOWN, "no_version"
        elif best is not None and min(known) < best:
            state = EngineState.OLDER
    return EngineCell(cluster=notes.name, state=state, version=version, reason=reason)


def _versions(notes: ClusterNotes | None, engine: str, *, every: bool = False) -> list[str]:
    """Versions of an engine; with `every`, also of one whose version nobody knows."""
    found = [one.version for one in notes.engines if one.engine == engine] if notes else []
    return found if every else [version for version in found if version_key(version) is not None]


def _newest(versions: Sequence[str]) -> str:
    return max(versions, key=lambda version: (version_key(version) or (0, 0, 0, 0, ""), version), default="")
