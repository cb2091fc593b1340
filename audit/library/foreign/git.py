"""Policies from a git repository, pinned to a commit: ``git+https://host/repo@<commit>#folder``.

Only what the commit names is taken, file by file and checked against its hash: no check-out, so no hooks, no filters, no
links, no submodules. Whatever was fetched once is used again without a connection.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import msgspec

from audit.errors import CollectionError, ContentError
from audit.process import find_tool, run_tool

PREFIX = "git+"
_COMMIT = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_SCHEMES = ("https://", "file://")
_SUFFIXES = frozenset({".rego", ".yaml", ".yml", ".json"})
_ENTRY = re.compile(r"(?P<mode>[0-7]{6}) (?P<type>[a-z]+) (?P<hash>[0-9a-f]+)\t(?P<path>.*)\Z", re.DOTALL)
_MAX_FILES = 20_000
_MAX_BYTES = 256 << 20
_SECONDS = 300.0
# Set before everything else, so that nothing on the machine or in the repository can make git do more than fetch.
_CLOSED = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.file.allow=always",
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "credential.helper=",
    "safe.directory=*",
)
# How to get out of the building, and whom to trust there.
_NETWORK = (
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)


class GitSource(msgspec.Struct, frozen=True, kw_only=True):
    """A pinned place in a repository."""

    url: str
    commit: str
    folder: str
    """Below the repository's root; empty for all of it."""

    @property
    def origin(self) -> str:
        """As it was written."""
        return f"{PREFIX}{self.url}@{self.commit}" + (f"#{self.folder}" if self.folder else "")


def is_git(path: str) -> bool:
    """Whether a policy path names a repository."""
    return path.startswith(PREFIX)


def parse_git(text: str) -> GitSource:
    """Read an address.

    Raises:
        ContentError: it is not pinned, or names something that is not fetched.
    """
    address, _, folder = text.removeprefix(PREFIX).partition("#")
    if not address.startswith(_SCHEMES):
        raise ContentError(
            "policies are fetched over https only",
            file=text,
            suggestion="write git+https://HOST/REPOSITORY@COMMIT, or clone it yourself and name the folder",
        )
    scheme, _, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    if "@" in host:
        raise ContentError(
            "an address with credentials would end up in reports",
            file=f"{PREFIX}{scheme}://{host.rpartition('@')[2]}{slash}{path}",
            suggestion="clone the repository yourself and name the folder",
        )
    path, at, commit = path.rpartition("@")
    if not at or not _COMMIT.match(commit):
        raise ContentError(
            "is not pinned to a commit: a branch or a tag can be moved, and with it what an audit means",
            file=text,
            suggestion="end the address with @ and the 40 hexadecimal digits of a commit",
        )
    steps = PurePosixPath(folder)
    if steps.is_absolute() or ".." in steps.parts:
        raise ContentError("the folder must lie inside the repository", file=text)
    return GitSource(url=f"{scheme}://{host}{slash}{path}", commit=commit, folder=folder.strip("/"))


def fetch(source: GitSource, cache: Path) -> Path:
    """The folder with the policies, fetched when it is not in the cache yet.

    Args:
        source: what to fetch.
        cache: folder that keeps what was fetched; made when missing.

    Raises:
        CollectionError: there is no git, the repository cannot be reached, or it has no such commit or folder.
    """
    place = cache / hashlib.sha256(source.url.encode()).hexdigest()[:24]
    done = place / source.commit
    if not done.is_dir():
        git = find_tool("git")
        if git is None:
            raise CollectionError("git is not installed, so policies cannot be fetched", file=source.origin)
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".fetch-", dir=place) as work:
                _Fetching(git, source, Path(work)).into(done)
        except OSError as error:
            raise CollectionError(
                f"cannot be kept in {place}: {error.strerror}", file=source.origin
            ) from error
    found = done / source.folder if source.folder else done
    if not found.exists():
        raise CollectionError(f"the commit has no policies in {source.folder}", file=source.origin)
    return found


class _Fetching:
    """One fetch, in a folder of its own that is removed afterwards."""

    def __init__(self, git: str, source: GitSource, work: Path) -> None:
        self._git = git
        self._source = source
        self._work = work
        self._repository = work / "repository"

    def into(self, done: Path) -> None:
        """Fetch, write the files, and put them in place whole or not at all."""
        commit = self._source.commit
        form = "sha256" if len(commit) == 64 else "sha1"
        self._run(
            ["init", "--quiet", "--bare", "--template=", f"--object-format={form}", str(self._repository)]
        )
        self._get()
        if self._run([*self._inside(), "cat-file", "-t", commit]).strip() != b"commit":
            raise self._failure(f"{commit} is no commit")
        content = self._work / "content"
        content.mkdir()
        for path, data in self._files(form):
            target = content / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        try:
            content.rename(done)
        except OSError:
            if not done.is_dir():  # somebody else was quicker
                shutil.move(content, done)

    def _get(self) -> None:
        """The one commit, or everything from a server that hands out no single commits."""
        url, commit = self._source.url, self._source.commit
        options = ["--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"]
        try:
            self._run([*self._inside(), "fetch", "--depth=1", *options, "--", url, commit])
        except CollectionError:
            self._run([*self._inside(), "fetch", *options, "--", url, "+refs/*:refs/remotes/all/*"])

    def _files(self, form: str) -> Iterator[tuple[str, bytes]]:
        listed = self._run([*self._inside(), "ls-tree", "-r", "-z", "--full-tree", self._source.commit])
        wanted: list[tuple[str, str]] = []
        for entry in listed.decode("utf-8", "replace").split("\0"):
            match = _ENTRY.match(entry)
            # Links (120000) and submodules (commit) are passed over.
            if (
                match
                and match["mode"].startswith("100")
                and match["type"] == "blob"
                and _is_wanted(match["path"])
            ):
                wanted.append((match["path"], match["hash"]))
        if len(wanted) > _MAX_FILES:
            raise self._failure(f"holds {len(wanted)} policy files; {_MAX_FILES} are read at most")
        asked = "".join(f"{name}\n" for _, name in wanted).encode()
        batch = self._run([*self._inside(), "cat-file", "--batch"], given=asked)
        start = 0
        for path, name in wanted:
            head = batch[start : batch.index(b"\n", start)]
            size = int(head.split()[2])
            begin = start + len(head) + 1
            data = batch[begin : begin + size]
            start = begin + size + 1
            digest = hashlib.new(form, f"blob {size}\0".encode() + data, usedforsecurity=False)
            if digest.hexdigest() != name:
                raise self._failure(f"{path} does not have the content that the commit names")
            yield path, data

    def _inside(self) -> list[str]:
        return ["--git-dir", str(self._repository)]

    def _run(self, arguments: list[str], *, given: bytes = b"") -> bytes:
        closed = [part for setting in _CLOSED for part in ("-c", setting)]
        result = run_tool(
            self._git,
            [*closed, *arguments],
            folder=self._work,
            home=self._work,
            timeout_seconds=_SECONDS,
            max_bytes=_MAX_BYTES,
            given=given,
            keep=_NETWORK,
        )
        if not result.ok:
            raise self._failure(f"cannot be fetched: {result.problem}")
        return result.stdout

    def _failure(self, message: str) -> CollectionError:
        return CollectionError(message, file=self._source.origin)


def _is_wanted(path: str) -> bool:
    steps = PurePosixPath(path)
    return steps.suffix in _SUFFIXES and ".." not in steps.parts and not steps.is_absolute()
