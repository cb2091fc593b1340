"""Signed models (OpenSSF Model Signing): the files of a folder held against the list that was signed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from audit.collect.artifacts.model.recognition import MODEL_ENDINGS
from audit.collect.artifacts.signatures.beside import in_folder, without_suffix
from audit.collect.artifacts.signatures.desk import Desk
from audit.collect.artifacts.signatures.statements import MODEL, Statement
from audit.collect.artifacts.signatures.verdicts import RefusedError

MAX_FILES = 200_000
_LISTED = 50
_KINDS = ("changed", "missing", "unsigned", "links")
_LOADABLE = MODEL_ENDINGS | {".py", ".pyc", ".so", ".pyd", ".dll", ".dylib", ".sh"}


class ModelState(msgspec.Struct, kw_only=True):
    """How the files differ from the signed list; empty lists when they don't."""

    changed: list[str] = []
    missing: list[str] = []
    unsigned: list[str] = []
    links: list[str] = []
    loadable: list[str] = []
    """Files that the signer chose to leave out, and that a loader of models could load or run."""
    ignored: int = 0
    """Files that the signer chose to leave out."""

    @property
    def same(self) -> bool:
        """Whether the folder holds what was signed, no more and no less."""
        return not (self.changed or self.missing or self.unsigned or self.links)

    def facts(self) -> dict[str, Any]:
        """As rules see it."""
        lists = {name: getattr(self, name) for name in (*_KINDS, "loadable")}
        return {
            **{
                name: {"count": len(found), "listed": [one[:500] for one in sorted(found)[:_LISTED]]}
                for name, found in lists.items()
            },
            "ignored": self.ignored,
        }


def is_model(statement: Statement) -> bool:
    """Whether a statement is the signed list of a model."""
    return statement.predicate_type == MODEL


def place_of(statement: Statement, signature: Path, label: str) -> dict[str, Any]:
    """What is signed, as people know it: the label of a folder, and the name of a file in it where only that is signed.

    Args:
        statement: the signed list.
        signature: file that holds it.
        label: of that file.
    """
    above = label.rpartition("/")[0]
    if statement.single_file:
        return {"folder": above or ".", "file": statement.subjects[0].name[:500]}
    root = _root_of(signature)
    inside = "/".join(part for part in (above, root.name if root != signature.parent else "") if part)
    return {"folder": inside or ".", "file": None}


def compare(desk: Desk, statement: Statement, signature: Path, *, memory: int) -> tuple[str, ModelState]:
    """The code of a model, and how it differs from what was signed.

    Args:
        desk: what the readers of signatures share.
        statement: the signed list, verified.
        signature: file that holds it: in the folder of the model, or beside a folder or file of its name.
        memory: larger files are not read whole.

    Raises:
        RefusedError: it can't be compared.
    """
    settings = statement.predicate.get("serialization")
    if not isinstance(settings, Mapping) or settings.get("method") != "files":
        raise RefusedError("unsupported_form")
    signed = {subject.name: next(iter(subject.digests.items()), None) for subject in statement.subjects}
    if len(signed) != len(statement.subjects) or not all(map(_stays_inside, signed)):
        raise RefusedError("bad_statement")
    if None in signed.values():
        raise RefusedError("unsupported_hash")
    state = ModelState()
    single = in_folder(signature.parent, next(iter(signed))) if len(signed) == 1 else None
    if statement.single_file:
        if single is None:
            raise RefusedError("no_artifact")
        found: dict[str, Path] = {single.name: single}
    else:
        root = _root_of(signature)
        ignored = [PurePosixPath(one) for one in _texts(settings.get("ignore_paths"))]
        links = settings.get("allow_symlinks") is True
        found = dict(_files(root, signature, ignored, state, links_allowed=links))
    for name, stated in signed.items():
        path = found.pop(name, None)
        if path is None:
            state.missing.append(name)
        elif stated is not None and desk.file(path, max_memory=memory).digest(stated[0]).hex() != stated[1]:
            state.changed.append(name)
    state.unsigned += found
    return ("verified" if state.same else "model_differs"), state


def _root_of(signature: Path) -> Path:
    """The folder that is signed: one beside the signature that has its name, or the one that it lies in."""
    name = without_suffix(signature.name)
    beside = signature.parent / name if name else signature.parent
    return beside if beside.is_dir() and not beside.is_symlink() else signature.parent


def _files(
    root: Path,
    signature: Path,
    ignored: Sequence[PurePosixPath],
    state: ModelState,
    *,
    links_allowed: bool,
) -> Iterator[tuple[str, Path]]:
    """Every file of the model by its name in the list. Links count only where the signer allows them, and inside only."""
    count, home = 0, root.resolve()
    for folder, folders, names in os.walk(root):
        for name in sorted((*folders, *names)):
            path = Path(folder) / name
            relative = path.relative_to(root).as_posix()
            linked = path.is_symlink()
            if name in folders and not linked:
                continue
            count += 1
            if count > MAX_FILES:
                raise RefusedError("artifact_too_large")
            if path == signature:
                continue
            if any(PurePosixPath(relative).is_relative_to(one) for one in ignored):
                state.ignored += 1
                if path.suffix.lower() in _LOADABLE:
                    state.loadable.append(relative)
            elif linked and not (links_allowed and path.is_file() and path.resolve().is_relative_to(home)):
                state.links.append(relative)
            elif path.is_file():
                yield relative, path
            else:
                state.unsigned.append(relative)


def _stays_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(name) and not path.is_absolute() and ".." not in path.parts and path.as_posix() == name


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str) and one] if isinstance(value, list) else []
