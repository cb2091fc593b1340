"""A file that is evidence, as documents of facts for the rules. One broken file costs its own facts, never the run."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from audit.collect.artifacts.reading import GROUP, Artifact, ArtifactReader, Facts, UnreadError
from audit.model.gap import Gap, GapKind, Notice
from audit.model.subject import kind_key

SEPARATOR = b"\n---\n"


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What the readers of one artifact gave."""

    documents: bytes
    """A stream of JSON documents; empty when there is none."""
    gaps: tuple[Gap, ...]
    notices: tuple[Notice, ...]


def evidence_of(artifact: Artifact, readers: Iterable[ArtifactReader], cluster: str) -> Evidence:
    """Ask all readers of an artifact."""
    documents: list[bytes] = []
    gaps: list[Gap] = []
    notices: list[Notice] = []
    for reader in readers:
        read: list[bytes] = []
        said: list[Notice] = []
        try:
            for facts in reader.read(artifact):
                read.append(msgspec.json.encode(facts.document()))
                said += _notices(facts)
            # Only now: half of a file is no fact.
            documents += read
            notices += said
        except UnreadError as error:
            gaps.append(_gap(artifact, reader, cluster, error.kind, error.reason, hint=error.hint))
        except OSError as error:
            kind = GapKind.FORBIDDEN if isinstance(error, PermissionError) else GapKind.UNREADABLE
            gaps.append(_gap(artifact, reader, cluster, kind, error.strerror or "unreadable"))
        except Exception as error:  # noqa: BLE001  # hostile input in many formats: what a library makes of it is no pass
            reason = f"its reader failed ({type(error).__name__}); please report it"
            gaps.append(_gap(artifact, reader, cluster, GapKind.UNREADABLE, reason))
    return Evidence(documents=SEPARATOR.join(documents), gaps=tuple(gaps), notices=tuple(notices))


def _notices(facts: Facts) -> list[Notice]:
    return [Notice(source=facts.name, **notice) for notice in facts.spec.get("notices", ())]


def _gap(
    artifact: Artifact, reader: ArtifactReader, cluster: str, kind: GapKind, reason: str, *, hint: str = ""
) -> Gap:
    return Gap(
        kind=kind,
        cluster=cluster,
        source=artifact.label,
        reason=f"{reader.name}: {reason}",
        kinds=tuple(sorted(kind_key(GROUP, name) for name in reader.kinds)),
        hint=hint,
    )
