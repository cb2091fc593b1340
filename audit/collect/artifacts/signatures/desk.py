"""What the readers of signatures share: policies, the trusted root, and a checker that is built when it is first needed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from audit.collect.artifacts.digests import Digests
from audit.collect.artifacts.signatures.contents import FileContent
from audit.collect.artifacts.signatures.folder_index import FolderIndex
from audit.collect.artifacts.signatures.judging import Checked
from audit.collect.artifacts.signatures.settings import SignatureSettings
from audit.collect.artifacts.signatures.signers import CompiledPolicy, Policies
from audit.collect.artifacts.signatures.trust_root import RootSource
from audit.collect.artifacts.signatures.verdicts import CODES, Status

if TYPE_CHECKING:
    from audit.collect.artifacts.signatures.checking import Checker

MAX_SIGNATURES = 100
_MAX_FILES = 5000


class Desk:
    """One configuration with what was already read for it.

    Args:
        settings: whom to trust; None when nothing is configured: then no signature is ever good.
        base: folder that relative paths of the settings begin at.
        now: the moment of judging.
        digests: of files, computed once for all readers.
    """

    def __init__(
        self,
        settings: SignatureSettings | None,
        *,
        base: Path,
        now: dt.datetime,
        digests: Digests | None = None,
    ) -> None:
        filled = settings.trusted_root if settings is not None else None
        self.settings = settings
        self.policies = Policies(settings.policies if settings is not None else ())
        self.root = RootSource(filled, base=base, now=now)
        self.folders = FolderIndex()
        self._base = base
        self._now = now
        self._checker: Checker | None = None
        self._digests = digests or Digests()
        self._files: dict[tuple[str, int, int], FileContent] = {}

    @property
    def checker(self) -> Checker:
        """The checker, and with it the cryptography that it needs."""
        if self._checker is None:
            from audit.collect.artifacts.signatures.checking import Checker  # heavy: only for signatures

            self._checker = Checker(self.settings, base=self._base, now=self._now, root=self.root)
        return self._checker

    def file(self, path: Path, *, max_memory: int) -> FileContent:
        """A file as content; hashed once however many signatures speak of it."""
        stat = path.stat()
        key = (str(path), stat.st_size, stat.st_mtime_ns)
        if key not in self._files:
            if len(self._files) >= _MAX_FILES:
                self._files.clear()
            limit = self.settings.max_artifact_bytes if self.settings is not None else 64 << 30
            self._files[key] = FileContent(
                path, max_bytes=limit, max_memory=max_memory, digests=self._digests
            )
        return self._files[key]


def combined(checks: Sequence[Checked], policy: CompiledPolicy | None) -> str:
    """The code of an artifact from those of its signatures.

    A signature that could not be checked may be the one that is missing, so nobody knows; a wrong one beside enough right
    ones does not take them away.
    """
    if not checks:
        return "unsigned"
    allowed = [check.who for check in checks if check.verified and check.who is not None]
    if policy is not None and policy.are_enough(allowed):
        return "verified"
    unknown = [check for check in checks if CODES[check.code][0] is Status.COULD_NOT_CHECK]
    if unknown:
        return unknown[0].code
    if allowed:
        return "signers_missing"
    strangers = [check for check in checks if check.valid]
    return (strangers or checks)[0].code
