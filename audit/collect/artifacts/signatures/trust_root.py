"""The trusted root: which authorities and logs count, and when. Read from disk, never fetched."""

from __future__ import annotations

import datetime as dt
import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from audit.collect.artifacts.signatures.bundle_shape import Chain, LogId
from audit.collect.artifacts.signatures.settings import TrustedRoot
from audit.collect.artifacts.signatures.verdicts import RefusedError

MAX_ROOT_BYTES = 4 << 20
_PRODUCTION = "https://tuf-repo-cdn.sigstore.dev"


class Window(msgspec.Struct, frozen=True):
    """When something was trusted. Both ends belong to it."""

    start: dt.datetime
    end: dt.datetime | None = None

    def holds(self, moment: dt.datetime) -> bool:
        """Whether the moment is inside."""
        return self.start <= moment and (self.end is None or moment <= self.end)


class _Camel(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Fields that later versions add are not needed to verify, and are left alone."""


class LogKey(_Camel, frozen=True, kw_only=True):
    """A key with its time."""

    raw_bytes: bytes
    key_details: str
    valid_for: Window


class Log(_Camel, frozen=True, kw_only=True):
    """A transparency log, or a log of certificates."""

    public_key: LogKey
    log_id: LogId


class Authority(_Camel, frozen=True, kw_only=True):
    """Who may issue certificates."""

    cert_chain: Chain
    valid_for: Window


class Root(_Camel, frozen=True, kw_only=True):
    """A trusted root."""

    media_type: str
    tlogs: tuple[Log, ...] = ()
    certificate_authorities: tuple[Authority, ...] = ()
    ctlogs: tuple[Log, ...] = ()
    timestamp_authorities: tuple[Authority, ...] = ()


class LoadedRoot(msgspec.Struct, frozen=True, kw_only=True):
    """A root with the bytes that it was read from."""

    root: Root
    raw: bytes


class RootSource:
    """The root that the configuration names, read once, when it is first needed.

    Args:
        settings: where it is, and how old it may be; None for the one of the library.
        base: folder that relative paths begin at.
        now: the moment of judging.
    """

    def __init__(self, settings: TrustedRoot | None, *, base: Path, now: dt.datetime) -> None:
        self._settings = settings if settings is not None else TrustedRoot()
        self._base = base
        self._now = now
        self._raw: bytes | None = None
        self._loaded: LoadedRoot | None = None

    def load(self) -> LoadedRoot:
        """The root.

        Raises:
            RefusedError: it can't be read, is not the one named, or is too old.
        """
        raw = self._bytes()
        wanted = self._settings.sha256
        if wanted is not None and hashlib.sha256(raw).hexdigest() != wanted:
            raise RefusedError("root_differs")
        if self._age_status() == "stale":
            raise RefusedError("root_stale")
        if self._loaded is None:
            try:
                root = msgspec.json.decode(raw, type=Root)
            except (msgspec.MsgspecError, RecursionError):
                raise RefusedError("root_unreadable") from None
            if not root.media_type.startswith("application/vnd.dev.sigstore.trustedroot"):
                raise RefusedError("root_unreadable")
            self._loaded = LoadedRoot(root=root, raw=raw)
        return self._loaded

    def facts(self) -> dict[str, Any]:
        """What is known of the root itself; its age is a fact only where somebody stated when it was fetched."""
        settings = self._settings
        try:
            raw: bytes | None = self._bytes()
        except RefusedError:
            raw = None
        digest = hashlib.sha256(raw).hexdigest() if raw is not None else None
        status = self._age_status()
        if raw is None:
            status = "unreadable"
        elif settings.sha256 is not None and digest != settings.sha256:
            status = "differs"
        return {
            "source": "library" if settings.path is None else "file",
            "path": settings.path,
            "sha256": digest,
            "expected_sha256": settings.sha256,
            "fetched": settings.fetched.isoformat() if settings.fetched else None,
            "age_days": self._age(),
            "max_age_days": settings.max_age_days,
            "status": status,
        }

    def _age(self) -> int | None:
        fetched = self._settings.fetched
        return None if fetched is None else (self._now.date() - fetched).days

    def _age_status(self) -> str:
        age = self._age()
        if age is None:
            return "unknown"
        if age < 0:
            return "from_the_future"
        return "stale" if age > self._settings.max_age_days else "fresh"

    def _bytes(self) -> bytes:
        if self._raw is None:
            self._raw = self._read()
        return self._raw

    def _read(self) -> bytes:
        path = self._base / self._settings.path if self._settings.path is not None else _embedded()
        try:
            with path.open("rb") as file:
                raw = file.read(MAX_ROOT_BYTES + 1)
        except OSError:
            raise RefusedError("root_unreadable") from None
        if len(raw) > MAX_ROOT_BYTES:
            raise RefusedError("root_unreadable")
        return raw


def _embedded() -> Path:
    """The production root that comes with the sigstore package, found without importing the package."""
    spec = find_spec("sigstore")
    if spec is None or spec.origin is None:
        raise RefusedError("verifier_missing")
    return Path(spec.origin).parent / "_store" / quote(_PRODUCTION, safe="") / "trusted_root.json"
