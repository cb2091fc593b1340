"""Where snapshots lie: folders of this machine, and whatever fsspec has an address for.

A snapshot is whole once its manifest is there. It is written last: into a folder under another name on this machine, under
the final name elsewhere, where a name appears with its whole content or not at all.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from audit.collect.snapshot.form import MANIFEST, MARK, SIGNATURE, SnapshotError
from audit.errors import ReportError, UsageError
from audit.model.gap import GapKind

_PARTIAL = ".fleetaudit-collect-"
_MARK_BYTES = len(MARK)


class Place(Protocol):
    """Files of one snapshot, to read."""

    name: str
    """As people know it."""

    def open(self, name: str) -> BinaryIO:
        """A file, from its beginning.

        Raises:
            FileNotFoundError: it isn't there.
            OSError: it can't be read.
        """
        ...


class Target(Protocol):
    """Files of one snapshot, to write."""

    name: str

    def create(self, name: str) -> BinaryIO:
        """A new file. Raises `OSError` when it can't be written."""
        ...

    def publish(self) -> None:
        """Everything is written, the manifest last: from now on the snapshot is there."""
        ...

    def discard(self) -> None:
        """Leave nothing behind, if that can be had."""
        ...


def is_address(text: str) -> bool:
    """Whether a text is an address and no path of this machine."""
    return "://" in text


def is_snapshot(path: Path) -> bool:
    """Whether a folder holds a snapshot, whole or broken: it has a manifest that begins like one."""
    try:
        with (path / MANIFEST).open("rb") as file:
            return file.read(_MARK_BYTES) == MARK
    except OSError:
        return False


class Folder:
    """A `Place` in a folder. Links are not followed: a snapshot is what lies in its folder."""

    def __init__(self, path: Path, name: str = "") -> None:
        self._path = path
        self.name = name or path.as_posix()

    def open(self, name: str) -> BinaryIO:
        """A regular file of the folder."""
        handle = os.open(self._path / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise OSError(0, "no regular file")
        return os.fdopen(handle, "rb")


class FolderTarget:
    """A `Target` that appears in its folder in one step.

    Args:
        parent: folder of snapshots; made when missing.
        name: of the snapshot's own folder. An earlier snapshot there is replaced; anything else stays.

    Raises:
        ReportError: nothing can be written there.
        UsageError: something else has the name.
    """

    def __init__(self, parent: Path, name: str) -> None:
        self._final = parent / name
        self.name = self._final.as_posix()
        if self._final.exists() and not is_snapshot(self._final):
            raise UsageError(
                "there is something else, which is not replaced by a snapshot",
                file=self.name,
                suggestion="name another folder with --to",
            )
        try:
            parent.mkdir(parents=True, exist_ok=True)
            _remove_abandoned(parent)
            self._working = parent / f"{_PARTIAL}{secrets.token_hex(8)}"
            self._working.mkdir()
            self._held = _lock(self._working)
        except OSError as error:
            raise _unwritable(self.name, error) from error

    def create(self, name: str) -> BinaryIO:
        """A new file of the working folder."""
        return (self._working / name).open("xb")

    def publish(self) -> None:
        """Put the folder in its place.

        Raises:
            ReportError: that can't be done; an earlier snapshot stays.
        """
        aside = self._working.with_name(self._working.name + ".old")
        try:
            if self._final.exists():
                self._final.rename(aside)
            self._working.rename(self._final)
        except OSError as error:
            with contextlib.suppress(OSError):
                aside.rename(self._final)
            raise _unwritable(self.name, error) from error
        finally:
            self._release()
        shutil.rmtree(aside, ignore_errors=True)

    def discard(self) -> None:
        """Remove the working folder."""
        shutil.rmtree(self._working, ignore_errors=True)
        self._release()

    def _release(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None


class Remote:
    """A `Place` and a `Target` under an address.

    Args:
        address: of the snapshot.

    Raises:
        UsageError: nothing installed can reach such an address.
    """

    def __init__(self, address: str) -> None:
        self.name = address.rstrip("/")
        self._files, self._root = _file_system(self.name)
        self._written: list[str] = []
        self._before: list[str] = []

    def open(self, name: str) -> BinaryIO:
        """A file."""
        with _as_os_error():
            return cast("BinaryIO", self._files.open(f"{self._root}/{name}", "rb"))

    def create(self, name: str) -> BinaryIO:
        """A new file."""
        with _as_os_error():
            if not self._written:
                self._files.makedirs(self._root, exist_ok=True)
                self._before = [str(path) for path in self._files.ls(self._root, detail=False)]
            path = f"{self._root}/{name}"
            self._written.append(path)
            return cast("BinaryIO", self._files.open(path, "wb"))

    def publish(self) -> None:
        """The manifest is there: files of the snapshot before it are in nobody's way any more."""
        kept = {path.rpartition("/")[2] for path in self._written}
        for path in self._before:
            if path.rpartition("/")[2] not in kept and path.endswith((".jsonl.gz", SIGNATURE)):
                with contextlib.suppress(Exception):  # stores raise what they like, and nothing rests on this
                    self._files.rm_file(path)

    def discard(self) -> None:
        """Remove what was written, the manifest first."""
        for path in sorted(self._written, key=lambda one: not one.endswith(MANIFEST)):
            with contextlib.suppress(Exception):  # as above
                self._files.rm_file(path)


def place_of(text: str) -> Place:
    """Where a snapshot is read from.

    Raises:
        SnapshotError: nothing installed can reach the address.
    """
    if not is_address(text):
        return Folder(Path(text), text)
    try:
        return Remote(text)
    except UsageError as error:
        raise SnapshotError(GapKind.UNREACHABLE, error.message, hint=error.suggestion or "") from error


def target_of(parent: str, name: str) -> Target:
    """Where a snapshot is written to.

    Raises:
        ReportError: nothing can be written there.
        UsageError: there is something else, or nothing installed can reach the address.
    """
    if is_address(parent):
        return Remote(f"{parent.rstrip('/')}/{name}")
    return FolderTarget(Path(parent), name)


def addresses_matching(pattern: str) -> list[str]:
    """Addresses of the snapshots that a pattern such as ``s3://bucket/2026-11-30/*`` names, sorted.

    Raises:
        UsageError: nothing installed can reach such an address.
        OSError: the store doesn't answer.
    """
    if "*" not in pattern and "?" not in pattern:
        return [pattern.rstrip("/")]
    files, root = _file_system(pattern.rstrip("/"))
    with _as_os_error():
        found = files.glob(f"{root}/{MANIFEST}")
        return sorted(str(files.unstrip_protocol(path)).rpartition("/")[0] for path in found)


def _file_system(address: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise UsageError(
            f"{address.partition('://')[0]}: addresses need fsspec",
            suggestion="pip install 'fleetaudit[objectstore]', and the package that knows the store, such as s3fs",
        ) from error
    try:
        files, root = url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise UsageError(
            f"{address.partition('://')[0]}: nothing installed knows such addresses",
            suggestion="install the package that does, such as s3fs, gcsfs or adlfs",
        ) from error
    return files, str(root)


@contextlib.contextmanager
def _as_os_error() -> Iterator[None]:
    """Stores raise what they like; to us it is one thing."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise OSError(0, f"{type(error).__name__}: {error}"[:300]) from error


def _remove_abandoned(parent: Path) -> None:
    """What a killed run left. One that still works holds its folder."""
    for path in parent.glob(f"{_PARTIAL}*"):
        held = _lock(path)
        if held is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(held)


def _lock(folder: Path) -> int | None:
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _unwritable(name: str, error: OSError) -> ReportError:
    return ReportError(
        f"the snapshot cannot be written: {error.strerror or error}",
        file=name,
        suggestion="name another folder with --to",
    )
