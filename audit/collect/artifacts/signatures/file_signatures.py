"""All signatures that speak of one file: beside it by name, or in a folder by its digest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from audit.collect.artifacts.reading import UnreadError
from audit.collect.artifacts.signatures.beside import SIGNATURE_SUFFIXES, in_folder
from audit.collect.artifacts.signatures.bundle_shape import UNKNOWN_FORM
from audit.collect.artifacts.signatures.contents import FileContent
from audit.collect.artifacts.signatures.desk import MAX_SIGNATURES, Desk
from audit.collect.artifacts.signatures.detached import check_detached
from audit.collect.artifacts.signatures.folder_index import documents_in
from audit.collect.artifacts.signatures.judging import Checked, refused
from audit.collect.artifacts.signatures.signers import CompiledPolicy
from audit.collect.artifacts.signatures.verdicts import RefusedError


def signatures_of(
    desk: Desk,
    path: Path,
    content: FileContent,
    policy: CompiledPolicy | None,
    *,
    digest: str,
    folders: Sequence[Path],
) -> tuple[list[tuple[Path, Checked]], bool]:
    """Each with the file that holds it, and whether there are more than are looked at.

    Args:
        desk: what the readers of signatures share.
        path: of the file.
        content: of the file.
        policy: who may sign it.
        digest: its SHA-256, in hexadecimal.
        folders: where signatures of other names may lie that name its digest.
    """
    own = [
        side
        for suffix in SIGNATURE_SUFFIXES
        if (side := in_folder(path.parent, path.name + suffix)) is not None
    ]
    others = [side for folder in folders for side in desk.folders.about(folder, digest) if side not in own]
    found: list[tuple[Path, Checked]] = []
    for side in (*own, *others):
        checks = _side(desk, side, content, policy)
        if side in others:
            # A file of another name may hold more; only what speaks of this very digest counts.
            checks = [check for check in checks if check.code != "subject_mismatch"]
        found += [(side, check) for check in checks]
        if len(found) > MAX_SIGNATURES:
            return found[:MAX_SIGNATURES], True
    return found, False


def _side(desk: Desk, side: Path, content: FileContent, policy: CompiledPolicy | None) -> list[Checked]:
    try:
        documents = documents_in(side)
    except UnreadError:
        return [refused(RefusedError("signature_unreadable"), form=UNKNOWN_FORM, policy=policy)]
    if not documents and side.name.lower().endswith(".sig"):
        return [check_detached(desk, side, content, policy)]
    return [desk.checker.bundle(raw, content, policy) for raw in documents]
