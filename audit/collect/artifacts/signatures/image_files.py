"""The small parts of an image layout, from a folder or an archive: indexes, manifests, signatures. Layers are not read."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from audit.collect.artifacts.reading import UnreadError
from audit.collect.artifacts.signatures import tar_stream
from audit.collect.artifacts.signatures.tar_stream import TarError
from audit.model.gap import GapKind

MAX_BLOB = 8 << 20
MAX_TOTAL = 256 << 20
MAX_BLOBS = 100_000
_NAMED = frozenset({"index.json", "oci-layout", "manifest.json", "repositories"})
_BLOB = re.compile(r"blobs/sha256/([0-9a-f]{64})")
_CONFIG = re.compile(r"([0-9a-f]{64})\.json")
_LAYER = re.compile(r"[0-9a-f]{64}/")


def layout_around(path: Path) -> Path | None:
    """The folder of the image layout that a file is a part of, going by its name: a blob, or ``oci-layout``."""
    if path.name == "oci-layout":
        return path.parent
    if len(path.parts) > 3 and _BLOB.fullmatch("/".join(path.parts[-3:])):
        return path.parents[2]
    return None


class ImageFiles(msgspec.Struct, frozen=True, kw_only=True):
    """What was kept."""

    named: dict[str, bytes]
    """``index.json`` and the like; configurations of old archives as ``<hex>.json``."""
    blobs: dict[str, bytes]
    """Small JSON blobs by ``sha256:...``, each with the digest that it is named by."""
    wrong: frozenset[str]
    """Blobs that do not have the digest that they are named by."""
    unread: Mapping[str, str] = {}
    """Codes of why blobs could not be had, by digest."""

    def why_not(self, digest: str) -> str:
        """The code of a blob that is not here."""
        return self.unread.get(digest, "blob_differs")


class _Keeper:
    def __init__(self) -> None:
        self.named: dict[str, bytes] = {}
        self.blobs: dict[str, bytes] = {}
        self.wrong: set[str] = set()
        self._total = 0
        self._seen = 0

    def offer(self, name: str, size: int, read: Callable[[int], bytes]) -> None:
        """Keep a file if it is one that is needed."""
        name = name.removeprefix("./")
        blob = _BLOB.fullmatch(name)
        if blob is None and name not in _NAMED and not _CONFIG.fullmatch(name):
            return
        self._seen += 1
        if self._seen > MAX_BLOBS:
            raise TarError(f"more than {MAX_BLOBS} blobs", too_large=True)
        if size > MAX_BLOB:
            if blob is None:
                raise TarError(f"{name} is larger than {MAX_BLOB} bytes", too_large=True)
            return
        start = read(1)
        if blob is not None and start not in (b"{", b"["):
            return
        data = start + read(size - 1) if size else b""
        if len(data) != size:
            raise TarError("the archive ends too early")
        self._total += size
        if self._total > MAX_TOTAL:
            raise TarError("its manifests and signatures are too large together", too_large=True)
        self._keep(name, data, blob[1] if blob is not None else None)

    def _keep(self, name: str, data: bytes, digest: str | None) -> None:
        if digest is None:
            if name in self.named:
                raise TarError(f"{name} stands in it twice")
            self.named[name] = data
        elif hashlib.sha256(data).hexdigest() == digest:
            self.blobs[f"sha256:{digest}"] = data
        else:
            self.wrong.add(f"sha256:{digest}")

    def done(self) -> ImageFiles:
        return ImageFiles(named=self.named, blobs=self.blobs, wrong=frozenset(self.wrong))


def image_files(path: Path) -> ImageFiles:
    """The small files of a layout.

    Raises:
        UnreadError: it is broken, or over its bounds.
        OSError: it can't be read.
    """
    keeper = _Keeper()
    try:
        folder = layout_folder(path)
        if folder is not None:
            for name, file in _in_folder(folder):
                with file.open("rb") as stream:
                    keeper.offer(name, os.fstat(stream.fileno()).st_size, stream.read)
        else:
            for member in tar_stream.members(path):
                keeper.offer(member.name, member.size, member.read)
    except TarError as error:
        kind = GapKind.TOO_LARGE if error.too_large else GapKind.UNREADABLE
        raise UnreadError(error.reason, kind=kind) from None
    return keeper.done()


def layout_folder(path: Path) -> Path | None:
    """The folder of a layout, from itself or its index.json; None when it is none."""
    folder = path.parent if path.name == "index.json" else path
    try:
        if folder.is_dir() and (folder / "index.json").is_file() and (folder / "blobs").is_dir():
            return folder
    except OSError:
        pass
    return None


def looks_like_image(path: Path, head: bytes) -> bool:
    """Whether a folder or archive is laid out as images are."""
    if layout_folder(path) is not None:
        return True
    name = tar_stream.first_name(head)
    if name is None:
        return False
    name = name.removeprefix("./")
    return (
        name in _NAMED
        or name in ("", "blobs", "blobs/", "blobs/sha256/")
        or any(one.match(name) is not None for one in (_BLOB, _CONFIG, _LAYER))
    )


def _in_folder(folder: Path) -> Iterator[tuple[str, Path]]:
    """Regular files only: a link may lead out of the folder."""
    for name in sorted(_NAMED):
        path = folder / name
        if path.is_file() and not path.is_symlink():
            yield name, path
    blobs = folder / "blobs" / "sha256"
    if blobs.is_dir() and not blobs.is_symlink() and not blobs.parent.is_symlink():
        with os.scandir(blobs) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    yield f"blobs/sha256/{entry.name}", blobs / entry.name
