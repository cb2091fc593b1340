"""Containers that an object runs at a place that no table of pod templates names."""

from __future__ import annotations

from collections.abc import Iterator

from audit.model.finding import render_path
from audit.model.gap import Gap, GapKind
from audit.native.events import DocumentRead


def unknown_places(event: DocumentRead, cluster: str, source: str, line: int | None) -> Iterator[Gap]:
    """A gap for each such place of one object."""
    where = f"{event.group}/{event.kind}" if event.group else event.kind
    for path in event.unknown_templates:
        place = render_path(path) or "its root"
        yield Gap(
            kind=GapKind.UNKNOWN_TEMPLATE,
            cluster=cluster,
            source=source,
            line=line,
            reason=f"{event.kind} {event.name} runs containers at {place} that no table names",
            # Every rule about pods may have something to say of it, so nothing that rests on such a rule is decided.
            kinds=None,
            hint=f"add {where} to a pod_templates file and name it in the configuration",
        )
