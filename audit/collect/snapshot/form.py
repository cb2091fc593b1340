"""What a snapshot consists of: ``manifest.json``, its signature, and one file of compressed JSON lines for each kind."""

from __future__ import annotations

import datetime as dt
import re
from typing import Annotated

import msgspec
from msgspec import Meta

from audit.collect.cluster.kinds import Served, ServedKind
from audit.model.canonical import canonical_json
from audit.model.gap import Gap, GapKind, Notice
from audit.model.run import ServerFacts
from audit.native.events import Redaction

VERSION = 1
MANIFEST = "manifest.json"
SIGNATURE = "manifest.json.sig"
MARK = b'{"fleetaudit_snapshot":'
"""Beginning of every manifest, whatever its version."""
MAX_MANIFEST_BYTES = 64 << 20
FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,180}\.jsonl\.gz", re.ASCII)
_TIME = "%Y-%m-%dT%H:%M:%SZ"

Count = Annotated[int, Meta(ge=0)]
Text = Annotated[str, Meta(max_length=4096)]


class SnapshotError(Exception):
    """A snapshot, or a file of it, that can't be believed or read.

    Args:
        kind: what kind of gap it makes.
        reason: one line for people.
        hint: what helps.
    """

    def __init__(self, kind: GapKind, reason: str, *, hint: str = "") -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.hint = hint


class Page(msgspec.Struct, frozen=True, array_like=True):
    """A page of a list, as the server gave it."""

    number: Count
    documents: Count
    """Objects in it, those that could not be read among them."""


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """One kind that was asked for: a file of objects, and what was not told."""

    kind: ServedKind
    file: Text = ""
    """Empty when there is no object."""
    sha256: Text = ""
    """Of the file, hex."""
    bytes: Count = 0
    """Size of the file."""
    content_bytes: Count = 0
    """Size of what it unpacks to."""
    objects: Count = 0
    pages: tuple[Page, ...] = ()
    restarted: bool = False
    """The list expired and was begun again."""
    gaps: tuple[Gap, ...] = ()
    notices: tuple[Notice, ...] = ()


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What was collected of one cluster, and what was not."""

    fleetaudit_snapshot: int = VERSION
    cluster: Text
    """Name that whoever collected knows it by."""
    collected_at: Text
    """ISO 8601, UTC: when collecting began."""
    finished_at: Text
    fleetaudit: Text
    """Version that collected."""
    server: ServerFacts | None
    """None when it wasn't reached."""
    rights: dict[str, str]
    """What came of asking for each kind: ``list``, or the kind of the gap."""
    stale: tuple[Text, ...] = ()
    """API groups whose own server didn't answer: their kinds are not known."""
    not_asked: tuple[ServedKind, ...] = ()
    """Served, and left alone."""
    gaps: tuple[Gap, ...] = ()
    """That concern the whole cluster."""
    notices: tuple[Notice, ...] = ()
    listed: tuple[Listed, ...] = ()

    @property
    def uid(self) -> str:
        """Identity of the cluster; empty when it was not seen."""
        return self.server.uid if self.server else ""

    @property
    def objects(self) -> int:
        """Objects of all kinds."""
        return sum(entry.objects for entry in self.listed)

    def served(self) -> Served:
        """What discovery told."""
        kinds = [*(entry.kind for entry in self.listed), *self.not_asked]
        return Served(kinds=tuple(sorted(kinds, key=lambda kind: kind.key)), stale=self.stale)

    def collected(self) -> dt.datetime:
        """Aware, UTC.

        Raises:
            ValueError: no such time.
        """
        return dt.datetime.strptime(self.collected_at, _TIME).replace(tzinfo=dt.UTC)


class Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a file: an object, and where the server told it."""

    page: Count
    document: Count
    """From 1."""
    redactions: tuple[Redaction, ...] = ()
    object: msgspec.Raw
    """Redacted canonical JSON."""


class _Version(msgspec.Struct):
    fleetaudit_snapshot: int


def time_text(moment: dt.datetime) -> str:
    """A moment as manifests have it."""
    return moment.astimezone(dt.UTC).strftime(_TIME)


def encode_manifest(manifest: Manifest) -> bytes:
    """One line of JSON, its version first."""
    content = msgspec.to_builtins(manifest)
    del content["fleetaudit_snapshot"]
    return MARK + b"%d," % manifest.fleetaudit_snapshot + canonical_json(content)[1:] + b"\n"


def decode_manifest(data: bytes) -> Manifest:
    """Read a manifest.

    Raises:
        SnapshotError: it is none, or of another version, or contradicts itself.
    """
    hint = "collect the cluster again"
    try:
        version = msgspec.json.decode(data, type=_Version).fleetaudit_snapshot
        if version != VERSION:
            reason = f"the snapshot has format {version}, and this version reads {VERSION}"
            raise SnapshotError(GapKind.UNREADABLE, reason, hint="use the version that collected it")
        manifest = msgspec.json.decode(data, type=Manifest)
        manifest.collected()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        reason = "its manifest is truncated, or no manifest"
        raise SnapshotError(GapKind.UNREADABLE, reason, hint=hint) from error
    names = [entry.file for entry in manifest.listed if entry.file]
    keys = [kind.key for kind in manifest.served().kinds]
    if len(set(names)) != len(names) or len(set(keys)) != len(keys):
        raise SnapshotError(GapKind.UNREADABLE, "its manifest names a kind or a file twice", hint=hint)
    if any(FILE_NAME.fullmatch(name) is None for name in names):
        raise SnapshotError(
            GapKind.UNTRUSTED, "its manifest names a file by a path, which no collector writes", hint=hint
        )
    return manifest
