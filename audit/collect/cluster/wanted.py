"""Which of the kinds that a server serves are asked for, and what is known to be out of sight before anything is listed."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from audit.collect.cluster.kinds import Served, ServedKind
from audit.model.gap import Gap, GapKind
from audit.model.subject import CLUSTER_GROUP, EVIDENCE_GROUP, kind_listed

SECRET = "Secret"
SECRETS_PATH = "/api/v1/secrets"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What follows from discovery."""

    kinds: tuple[ServedKind, ...]
    """In the order of their keys."""
    not_served: tuple[str, ...]
    """Kinds that the rules look for and that the server doesn't know: there are no such objects."""
    gaps: tuple[Gap, ...]


def wanted_of(served: Served, kinds: Collection[str], *, cluster: str, secrets: bool) -> Wanted:
    """Compare what is served with what is needed.

    Args:
        served: what discovery told.
        kinds: kind keys that the rules need; ``group/*`` is every kind of a group.
        cluster: for the gaps.
        secrets: whether Secrets are to be had, as metadata.
    """
    # A custom kind under a group of ours would pass for what only our own readers may state.
    real = [kind for kind in served.kinds if kind.group not in (CLUSTER_GROUP, EVIDENCE_GROUP)]
    wanted = [kind for kind in real if kind_listed(kind.key, kinds)]
    gaps: list[Gap] = []
    stale = set(served.stale)
    hidden = [key for key in kinds if key.rpartition("/")[0] in stale]
    if any(key.startswith("*/") for key in kinds):
        hidden += [key for group in sorted(stale) if (key := f"{group}/*") not in hidden]
    if hidden:
        gaps.append(
            Gap(
                kind=GapKind.UNREACHABLE,
                cluster=cluster,
                source=", ".join(sorted(stale)),
                reason="the server behind these API groups doesn't answer",
                kinds=tuple(hidden),
            )
        )
    if not secrets and any(kind.key == SECRET for kind in wanted):
        wanted = [kind for kind in wanted if kind.key != SECRET]
        gaps.append(
            Gap(
                kind=GapKind.FORBIDDEN,
                cluster=cluster,
                source=SECRETS_PATH,
                reason="Secrets are not listed unless the configuration asks for their metadata",
                kinds=(SECRET,),
                hint="set server.secret_metadata: true; values are never read",
            )
        )
    known = {kind.key for kind in served.kinds}
    missing = sorted(key for key in kinds if key not in known and key not in hidden and "*" not in key)
    return Wanted(kinds=tuple(wanted), not_served=tuple(missing), gaps=tuple(gaps))
