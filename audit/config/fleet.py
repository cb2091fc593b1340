"""Which clusters are expected, and whose snapshots of them are believed."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from msgspec import Meta

from audit.config.fields import Name, PathText, Section

Uid = Annotated[
    str,
    Meta(
        pattern=r"^[0-9A-Za-z][0-9A-Za-z-]{0,63}$(?!\n)",
        description="uid of its namespace kube-system: kubectl get ns kube-system -o jsonpath={.metadata.uid}",
    ),
]
Age = Annotated[
    str,
    Meta(pattern=r"^[1-9][0-9]{0,4}[hd]$(?!\n)", description="Hours or days.", examples=["36h", "7d"]),
]


class RegisteredCluster(Section, frozen=True, kw_only=True):
    """A cluster of the fleet. It stays in every denominator, whether it was reached or not."""

    name: Name
    uid: Annotated[
        Uid | None, Meta(description="Without it, only a running cluster of this name is meant.")
    ] = None
    key: Annotated[
        Name | None,
        Meta(description="The one of snapshots.keys that signs for this cluster; any of them by default."),
    ] = None
    region: Annotated[str, Meta(max_length=200)] = ""
    tier: Annotated[str, Meta(max_length=200, description="For example production.")] = ""
    owner: Annotated[str, Meta(max_length=200, description="Team that owns the cluster.")] = ""
    max_age: Annotated[
        Age | None, Meta(description="Older snapshots are late, and not judged; no limit by default.")
    ] = None

    def oldest(self) -> dt.timedelta | None:
        """`max_age` as a span of time; None without a limit."""
        if self.max_age is None:
            return None
        number = int(self.max_age[:-1])
        return dt.timedelta(days=number) if self.max_age.endswith("d") else dt.timedelta(hours=number)


class RegisterFile(Section, frozen=True, kw_only=True):
    """The fleet register."""

    clusters: Annotated[tuple[RegisteredCluster, ...], Meta(min_length=1)]


class SnapshotKey(Section, frozen=True, kw_only=True):
    """A public key in PEM: ECDSA, RSA or Ed25519."""

    name: Name
    path: Annotated[PathText, Meta(description="Relative to this file.")]


class SnapshotsConfig(Section, frozen=True, kw_only=True):
    """How snapshots are believed and read."""

    keys: Annotated[
        tuple[SnapshotKey, ...],
        Meta(
            description="Who may have signed. With keys, a snapshot that none of them signed is not judged."
        ),
    ] = ()
    max_kind_bytes: Annotated[
        int, Meta(ge=1024, description="Unpacked size of one kind's objects; more is not read.")
    ] = 8 << 30
