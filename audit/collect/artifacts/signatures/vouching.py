"""Who vouches for files that decide what is judged, and how: policies, mappings and the like, one folder after the other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

import msgspec

from audit.collect.artifacts.signatures.beside import without_suffix
from audit.collect.artifacts.signatures.desk import Desk, combined
from audit.collect.artifacts.signatures.file_signatures import signatures_of
from audit.collect.artifacts.signatures.folder_index import statements_in
from audit.collect.artifacts.signatures.statements import Statement
from audit.collect.artifacts.signatures.verdicts import CODES, RefusedError, Status

MAX_MEMORY = 64 << 20
_SHOWN = 5
_ANNOTATION = re.compile(
    r"^\s*[\"']?(cosign\.sigstore\.dev/(?:message|signature)[a-zA-Z0-9_]*)[\"']?\s*:", re.M
)
"""Where ``kubectl sigstore`` and Kyverno keep a signature inside the manifest that it is about."""


class Member(msgspec.Struct, frozen=True):
    """A file that decides something."""

    path: Path
    label: str
    """As the user knows it."""


class Vouched(msgspec.Struct, frozen=True, kw_only=True):
    """What the signatures of one file are worth."""

    label: str
    status: Status
    message: str
    sha256: str = ""
    """Of the file, hexadecimal; empty when it could not be read."""
    signers: tuple[str, ...] = ()
    """Names of the policy's signers who vouch for it."""
    annotations: tuple[str, ...] = ()
    """Signatures inside of the file that are not looked at."""

    @property
    def good(self) -> bool:
        """Whether an allowed signer vouches for it."""
        return self.status is Status.VERIFIED


class Vouching:
    """Asks for the signatures of files below one folder.

    Args:
        desk: what the readers of signatures share.
        root: the folder; signatures in it and in the folders between it and a file count.
    """

    def __init__(self, desk: Desk, root: Path) -> None:
        self._desk = desk
        self._root = root
        self._lists: dict[Path, Statement] = {}
        """Verified lists that vouch for a file, by the file that holds them."""

    def of(self, member: Member) -> Vouched:
        """The verdict on one file."""
        policy = self._desk.policies.of([member.label])
        content = self._desk.file(member.path, max_memory=MAX_MEMORY)
        try:
            digest = content.digest("sha256").hex()
        except RefusedError as refusal:
            return Vouched(label=member.label, status=Status.COULD_NOT_CHECK, message=refusal.message)
        checks, too_many = signatures_of(
            self._desk, member.path, content, policy, digest=digest, folders=self._folders(member.path)
        )
        for side, check in checks:
            if (
                check.verified
                and check.statement is not None
                and without_suffix(side.name) != member.path.name
            ):
                self._lists[side] = check.statement
        code = "too_many_signatures" if too_many else combined([check for _, check in checks], policy)
        if code == "unsigned" and self._listed_otherwise(member, digest):
            code = "digest_mismatch"
        status, message = CODES[code]
        return Vouched(
            label=member.label,
            status=status,
            message=message,
            sha256=digest,
            signers=tuple(sorted({name for _, check in checks if check.verified for name in check.signers})),
            annotations=_annotations(member.path),
        )

    def missing(self, label: str) -> Iterator[Vouched]:
        """Files that a list vouches for and that are not there: a policy that is taken away is a change, too.

        Args:
            label: of the folder.
        """
        for side, statement in sorted(self._lists.items()):
            names = [one.name for one in statement.subjects if _is_inside(one.name)]
            gone = sorted(name for name in names if not (side.parent / name).is_file())
            if gone:
                more = f" and {len(gone) - _SHOWN} more" if len(gone) > _SHOWN else ""
                message = f"the signed list {side.name} names files that are not there: {', '.join(gone[:_SHOWN])}{more}"
                yield Vouched(label=label, status=Status.INVALID, message=message)

    def _folders(self, path: Path) -> list[Path]:
        """The folder of a file, and those above it up to the root."""
        above = [folder for folder in path.parents if folder == self._root or self._root in folder.parents]
        return above or [path.parent]

    def _listed_otherwise(self, member: Member, digest: str) -> bool:
        """Whether a list names this very file with another digest: then it was changed, and not forgotten."""
        for folder in self._folders(member.path):
            name = member.path.relative_to(folder).as_posix()
            for statement in statements_in(folder):
                named = [one for one in statement.subjects if one.name == name]
                if any(one.digests.get("sha256") not in (None, digest) for one in named):
                    return True
        return False


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return (
        bool(name) and name != "." and not path.is_absolute() and ".." not in path.parts and "\0" not in name
    )


def _annotations(path: Path) -> tuple[str, ...]:
    if path.suffix not in (".yaml", ".yml", ".json"):
        return ()
    try:
        with path.open("rb") as file:
            text = file.read(MAX_MEMORY).decode("utf-8", "replace")
    except OSError:
        return ()
    return tuple(sorted(set(_ANNOTATION.findall(text))))


def worst(found: Iterable[Vouched]) -> Status:
    """The verdict on all of them together: what is wrong before what nobody knows; nothing at all is unsigned."""
    order = (Status.INVALID, Status.WRONG_IDENTITY, Status.UNSIGNED, Status.COULD_NOT_CHECK, Status.VERIFIED)
    statuses = {one.status for one in found}
    return next((status for status in order if status in statuses), Status.UNSIGNED)
