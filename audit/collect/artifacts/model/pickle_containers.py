"""Finds the pickles in a file: bare ones, torch archives of three ages, NumPy arrays of objects. Standard library only.

Nothing is written and no member is extracted. What is not looked at is named, so that nobody takes it for harmless.
"""

from __future__ import annotations

import ast
import lzma
import tarfile
import zipfile
import zlib
from typing import Any, BinaryIO

from audit.collect.artifacts.model.pickle_machine import TORCH, Found, read_pickle
from audit.collect.artifacts.model.pickle_source import MalformedError, OverLimitError, Readable, Source

MAX_PICKLES = 10_000
MAX_ENTRIES = 200_000
MAX_HEADER = 1 << 20
_LISTED = 50
_PICKLE_ENDINGS = (".pkl", ".pickle", ".joblib", ".dill")
_ARCHIVE_ENDINGS = (
    ".zip",
    ".pt",
    ".pth",
    ".ckpt",
    ".bin",
    ".npz",
    ".tar",
    ".gz",
    ".7z",
    ".xz",
    ".bz2",
    ".zst",
)
_PROTOCOLS = tuple(bytes([0x80, version]) for version in range(2, 6))
_NPY = b"\x93NUMPY"
_TORCH_PARTS = 5
"""Pickles of an old torch file before its raw tensors: magic number, protocol, machine, the object, keys of the tensors."""


class Contents:
    """What was found in one file.

    Args:
        found: what its pickles import.
    """

    def __init__(self, found: Found) -> None:
        self.found = found
        self.form = ""
        self.pickles = 0
        self.names: list[str] = []
        self.broken: list[tuple[str, str]] = []
        """Members that could not be read to their end, with the reason."""
        self.unexamined: list[tuple[str, str]] = []
        """Parts that nobody looked at, with the reason."""
        self.odd: list[tuple[str, str]] = []
        """What no honest archive has."""

    def facts(self) -> dict[str, Any]:
        """Plain JSON values."""
        found = self.found
        return {
            "form": self.form,
            "pickles": self.pickles,
            "names": self.names[:_LISTED],
            "opcodes": found.opcodes,
            "imports": [[name, count] for name, count in found.imports.items()],
            "others": found.others,
            "unresolved": found.unresolved,
            "extensions": found.extensions,
            "changed_imports": found.changed_imports,
            "persistent_ids": found.persistent_ids,
            **{
                name: {"count": len(rows), "listed": [[what[:200], why] for what, why in rows[:_LISTED]]}
                for name, rows in (
                    ("broken", self.broken),
                    ("unexamined", self.unexamined),
                    ("odd", self.odd),
                )
            },
        }

    # ---- forms

    def examine(self, file: BinaryIO) -> None:
        """Look at a file, whatever it is.

        Raises:
            OverLimitError: it needs more than it may.
        """
        head = file.read(512)
        file.seek(0)
        if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            self._zip(file)
        elif head[257:262] == b"ustar" or (not head.startswith(_PROTOCOLS) and _is_old_tar(file)):
            self._tar(file)
        elif head.startswith(_NPY):
            self.form = "npy"
            self._npy("", file)
        else:
            self.form = "pickle"
            self._pickles("", file)

    def _pickles(self, name: str, file: Readable) -> None:
        """A file of pickles, one behind the other; loading takes the first, or all of them."""
        source = Source(file)
        self._count(name)
        number = 0
        while number == 0 or source.left():
            if number >= MAX_PICKLES:
                raise OverLimitError(f"more than {MAX_PICKLES} pickles one behind the other")
            if number and not source.data[source.at : source.at + 2].startswith(_PROTOCOLS):
                self.unexamined.append((name, "bytes behind the end of the pickle"))
                return
            try:
                value = read_pickle(source, self.found)
            except MalformedError as error:
                self.broken.append((name, str(error)))
                return
            number += 1
            if number == 1 and value == TORCH:
                self._old_torch(name, source)
                return

    def _old_torch(self, name: str, source: Source) -> None:
        """The rest of it; what follows its pickles are the bytes of tensors."""
        self.form = "torch before 1.6" if not name else self.form
        for _ in range(_TORCH_PARTS - 1):
            try:
                read_pickle(source, self.found)
            except MalformedError as error:
                self.broken.append((name, str(error)))
                return

    def _one_pickle(self, name: str, file: Readable) -> None:
        """A member that is one pickle."""
        self._count(name)
        source = Source(file)
        try:
            read_pickle(source, self.found)
            if source.left():
                self.unexamined.append((name, "bytes behind the end of the pickle"))
        except MalformedError as error:
            self.broken.append((name, str(error)))

    def _count(self, name: str) -> None:
        self.pickles += 1
        if name and len(self.names) < _LISTED:
            self.names.append(name[:200])

    def _npy(self, name: str, file: Readable) -> None:
        """An array: only one of objects holds a pickle."""
        source = Source(file)
        try:
            version = source.take(8)[6]
            length = int.from_bytes(source.take(2 if version == 1 else 4), "little")
            if length > MAX_HEADER:
                raise OverLimitError("the header of an array is longer than headers are")
            header: Any = ast.literal_eval(source.take(length).decode("utf-8", "strict").strip())
            objects = _has_objects(header["descr"])
        except (
            MalformedError,
            ValueError,
            SyntaxError,
            TypeError,
            KeyError,
            RecursionError,
            MemoryError,
        ) as error:
            reason = str(error) if isinstance(error, MalformedError) else "its header can't be read"
            self.broken.append((name, reason))
            return
        if objects:
            self._count(name)
            try:
                read_pickle(source, self.found)
            except MalformedError as error:
                self.broken.append((name, str(error)))

    def _zip(self, file: BinaryIO) -> None:
        self.form = "zip"
        try:
            with zipfile.ZipFile(file) as archive:
                self._members(archive)
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            self.broken.append(("", _reason(error)))

    def _members(self, archive: zipfile.ZipFile) -> None:
        entries = archive.infolist()
        if len(entries) > MAX_ENTRIES:
            raise OverLimitError(f"more than {MAX_ENTRIES} members")
        self._judge_names([entry.filename for entry in entries])
        names = {entry.filename for entry in entries}
        if any(name.rpartition("/")[2] == "data.pkl" for name in names):
            self.form = "torch archive"
        elif any(name.endswith(".npy") for name in names):
            self.form = "npz"
        if any("/code/" in name or name.startswith("code/") for name in names):
            self.unexamined.append(("code/", "a TorchScript program"))
        for entry in entries:
            if entry.is_dir():
                continue
            try:
                self._member(archive, entry)
            except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError) as error:
                self.broken.append((entry.filename, _reason(error)))
            except (RuntimeError, NotImplementedError, ValueError) as error:
                self.broken.append((entry.filename, _reason(error)))

    def _member(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
        name = entry.filename
        lower = name.lower()
        with archive.open(entry) as file:
            if lower.endswith(_PICKLE_ENDINGS):
                self._one_pickle(name, file)
            elif lower.endswith(".npy"):
                self._npy(name, file)
            elif _is_tensor(name):
                return
            elif lower.endswith(_ARCHIVE_ENDINGS):
                self.unexamined.append((name, "an archive in the archive"))
            elif _begins_like_pickle(head := file.read(2)):
                self._one_pickle(name, _Behind(head, file))

    def _judge_names(self, names: list[str]) -> None:
        seen: set[str] = set()
        for name in names:
            if name in seen:
                self.odd.append(
                    (name, "two members have this name, and which one is loaded depends on the reader")
                )
            seen.add(name)
            parts = name.replace("\\", "/").split("/")
            if ".." in parts or name.startswith(("/", "\\")) or ":" in parts[0]:
                self.odd.append((name, "its name leads out of the archive"))

    def _tar(self, file: BinaryIO) -> None:
        """What torch wrote before 0.1.10, or any other tar."""
        self.form = "tar"
        count = 0
        names: list[str] = []
        try:
            with tarfile.open(fileobj=file, mode="r:") as archive:
                for member in archive:
                    count += 1
                    if count > MAX_ENTRIES:
                        raise OverLimitError(f"more than {MAX_ENTRIES} members")
                    names.append(member.name)
                    content = archive.extractfile(member) if member.isreg() else None
                    if content is None:
                        if not member.isdir():
                            self.odd.append((member.name, "a member that is no file"))
                    elif member.name in ("pickle", "sys_info") or member.name.lower().endswith(
                        _PICKLE_ENDINGS
                    ):
                        self._one_pickle(member.name, content)
                    else:
                        self.unexamined.append((member.name, "a member of a tar archive"))
        except (tarfile.TarError, ValueError, OSError, EOFError) as error:
            self.broken.append(("", _reason(error)))
        self._judge_names(names)


class _Behind:
    """A member whose first bytes were read already."""

    def __init__(self, head: bytes, file: Readable) -> None:
        self._head = head
        self._file = file

    def read(self, size: int, /) -> bytes:
        """The head first."""
        if self._head:
            head, self._head = self._head, b""
            return head
        return self._file.read(size)


def _begins_like_pickle(head: bytes) -> bool:
    return head in _PROTOCOLS


def _is_tensor(name: str) -> bool:
    """The raw bytes of a tensor in a torch archive: ``NAME/data/NUMBER``."""
    folder, _, last = name.rpartition("/")
    return folder.rpartition("/")[2] in ("data", "constants", "tensors") and last.isdigit()


def _has_objects(descr: object) -> bool:
    """Whether the type of an array has objects in it; what is not understood may have."""
    if isinstance(descr, str):
        return "O" in descr
    if isinstance(descr, list):
        # Fields: name, type, and perhaps a shape. A name says nothing about the type.
        return any(not isinstance(one, tuple) or len(one) < 2 or _has_objects(one[1]) for one in descr)
    if isinstance(descr, tuple) and descr:
        return _has_objects(descr[0])
    return True


def _is_old_tar(file: BinaryIO) -> bool:
    """A tar without the word in its header that later ones have."""
    try:
        with tarfile.open(fileobj=file, mode="r:") as archive:
            return archive.next() is not None
    except (tarfile.TarError, ValueError, OSError, EOFError):
        return False
    finally:
        file.seek(0)


def _reason(error: Exception) -> str:
    """One line without values of the file."""
    if isinstance(error, RuntimeError) and "encrypted" in str(error):
        return "it is encrypted"
    if isinstance(error, NotImplementedError):
        return "packed in a way that is not known"
    return f"the archive can't be read ({type(error).__name__})"
