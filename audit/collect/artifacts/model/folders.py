"""A model folder as facts: configuration, label, card, licence, code, weights, and the digest over all of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from audit.collect.artifacts.model.card import card_facts
from audit.collect.artifacts.model.config_files import code_facts, config_facts, shard_facts
from audit.collect.artifacts.model.files import EXAMINED
from audit.collect.artifacts.model.gguf import gguf_facts
from audit.collect.artifacts.model.label import label_facts
from audit.collect.artifacts.model.licence import licence_facts
from audit.collect.artifacts.model.recognition import GGUF, SAFETENSORS, format_of
from audit.collect.artifacts.model.safetensors import safetensors_facts
from audit.collect.artifacts.model.settings import ModelSettings
from audit.collect.artifacts.reading import HEAD_BYTES
from audit.collect.artifacts.sbom.problems import short
from audit.collect.artifacts.signatures.beside import in_folder, is_signature

_LISTED = 100
_MAX_HEADERS = 20
VERSION_CONTROL = frozenset({".git", ".gitattributes", ".github", ".gitignore"})
"""What signers of models leave out by default."""


def folder_spec(
    folder: Path, label: str, digest: Callable[[Path], str], settings: ModelSettings
) -> dict[str, Any]:
    """The facts of a model folder.

    Args:
        folder: of the model.
        label: of the folder, as people know it.
        digest: SHA-256 of a file, in hexadecimal.
        settings: limits.

    Raises:
        OSError: something in it can't be read.
    """
    files, links, whole = _files(folder, settings.max_folder_files)
    config, document = config_facts(folder)
    adapter = in_folder(folder, "adapter_config.json") is not None
    card = card_facts(folder)
    weights = _weights(files)
    read = config["status"] != "malformed"
    return {
        "folder": label,
        "config": config,
        "adapter": adapter,
        "label": label_facts(document, adapter=adapter) if read else _no_label(config["reason"]),
        "card": card,
        "licence": licence_facts(folder, card, _headers(weights, settings)),
        "code": {**code_facts(folder), "python": _named(name for name, _ in files if name.endswith(".py"))},
        "shards": shard_facts(folder),
        "weights": {
            "count": len(weights),
            "listed": [
                {"name": short(name), "format": kind, "digest": f"sha256:{digest(path)}"}
                for name, path, kind in weights[:_LISTED]
            ],
            "unexamined": sum(kind not in EXAMINED for _, _, kind in weights),
        },
        "links": _named(iter(links)),
        "files": len(files),
        "digest": _digest(files, digest) if whole else {"status": "unknown", "value": None},
    }


def _no_label(reason: str) -> dict[str, Any]:
    return {"status": "unknown", "place": "", "problems": [{"place": "config.json", "message": reason}]}


def _named(names: Iterator[str]) -> dict[str, Any]:
    found = sorted(names)
    return {"count": len(found), "listed": [short(name) for name in found[:_LISTED]]}


def _files(root: Path, most: int) -> tuple[list[tuple[str, Path]], list[str], bool]:
    """Files by name, links, and whether these are all. Signatures and version control are no part of a model."""
    files: list[tuple[str, Path]] = []
    links: list[str] = []
    for folder, folders, names in os.walk(root):
        here, own = Path(folder), names
        if here == root:
            folders[:] = [name for name in folders if name not in VERSION_CONTROL]
            own = [name for name in names if name not in VERSION_CONTROL and not is_signature(name)]
        links += [
            (here / name).relative_to(root).as_posix() for name in folders if (here / name).is_symlink()
        ]
        for name in own:
            path = here / name
            relative = path.relative_to(root).as_posix()
            if path.is_symlink():
                links.append(relative)
            elif path.is_file():
                files.append((relative, path))
            if len(files) + len(links) > most:
                return sorted(files), links, False
    return sorted(files), links, True


def _weights(files: list[tuple[str, Path]]) -> list[tuple[str, Path, str]]:
    found = []
    for name, path in files:
        with path.open("rb") as file:
            kind = format_of(path.name, file.read(HEAD_BYTES))
        if kind is not None:
            found.append((name, path, kind))
    return found


def _headers(weights: list[tuple[str, Path, str]], settings: ModelSettings) -> Iterator[dict[str, Any]]:
    for _, path, kind in weights[:_MAX_HEADERS]:
        if kind == GGUF:
            yield gguf_facts(path, max_entries=settings.max_entries)["metadata"]
        elif kind == SAFETENSORS:
            yield safetensors_facts(path, max_header=settings.header_max_bytes)["metadata"]


def _digest(files: list[tuple[str, Path]], digest: Callable[[Path], str]) -> dict[str, Any]:
    """As OpenSSF Model Signing counts it: the digest over the digests of all files in order of their names."""
    if not files:
        return {"status": "unknown", "value": None}
    whole = hashlib.sha256()
    for _, path in files:
        whole.update(bytes.fromhex(digest(path)))
    return {"status": "known", "value": f"sha256:{whole.hexdigest()}"}
