"""Which gaps may hide a subject of some kinds on some cluster."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from audit.model.gap import Gap

Kinds = frozenset[str] | None
"""Kind keys; None means every kind."""


class GapIndex:
    """Gaps by cluster and by the kinds they may hide, so that thousands of them cost little.

    A gap without a cluster, or of a cluster nobody registered, applies to every member: it is not known where the
    hidden subject would have been.
    """

    def __init__(self, gaps: Sequence[Gap], clusters: Collection[str]) -> None:
        self._gaps = gaps
        self._grouped: dict[str, dict[tuple[str, ...] | None, list[int]]] = {name: {} for name in clusters}
        for index, gap in enumerate(gaps):
            members = [gap.cluster] if gap.cluster in self._grouped else list(clusters)
            for member in members:
                self._grouped[member].setdefault(gap.kinds, []).append(index)
        self._found: dict[tuple[str, Kinds], tuple[int, ...]] = {}

    def hiding(self, cluster: str, kinds: Kinds) -> tuple[int, ...]:
        """Sorted indexes of the gaps that may hide a subject of one of these kinds."""
        key = (cluster, kinds)
        found = self._found.get(key)
        if found is None:
            asked = tuple(kinds) if kinds is not None else ()
            indexes = [
                index
                for group in self._grouped.get(cluster, {}).values()
                if self._gaps[group[0]].may_hide(asked)
                for index in group
            ]
            found = self._found[key] = tuple(sorted(indexes))
        return found
