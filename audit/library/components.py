"""Loads component profiles: the shipped ones, and the user's, which may replace a shipped one by its id."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from audit.errors import ContentError
from audit.library.authored import read_document
from audit.library.entries import Problems, entries_of, suggest
from audit.model.component import Component, ComponentProfile

WORKLOADS = ("Pod", "apps/DaemonSet", "apps/Deployment", "apps/ReplicaSet", "apps/StatefulSet")
"""Kinds whose pod template is where everybody expects it."""
_SHORT = 64


def load_components(paths: Sequence[Path], rules: Collection[str]) -> tuple[Component, ...]:
    """Load profiles, later files winning over earlier ones.

    Args:
        paths: files with a list under ``components``, the shipped one first.
        rules: ids of every rule that exists.

    Raises:
        ContentError: a key is unknown or missing, a rule or kind doesn't exist, an id stands twice in one file, an image names a
            tag. All errors of all files are attached.
    """
    problems = Problems()
    found: dict[str, Component] = {}
    for path in paths:
        try:
            document = read_document(path)
        except ContentError as error:
            problems.add(error)
            continue
        here: set[str] = set()
        for place, row in entries_of(document, "components", ComponentProfile, problems):
            for message, hint in _wrong(row, rules, here):
                problems.add(
                    ContentError(message, file=document.file, line=document.line(place), suggestion=hint)
                )
            here.add(row.id)
            found[row.id] = Component(
                **msgspec.structs.asdict(row), file=document.file, line=document.line(place)
            )
    problems.raise_any()
    return tuple(found[id_] for id_ in sorted(found))


def _wrong(
    row: ComponentProfile, rules: Collection[str], here: Collection[str]
) -> list[tuple[str, str | None]]:
    wrong: list[tuple[str, str | None]] = []
    if row.id in here:
        wrong.append((f"component {row.id} stands twice", "keep one"))
    if row.version < 1:
        wrong.append((f"component {row.id}: a version counts from 1", None))
    wrong += [
        (f"component {row.id}: {key} may not be empty", "a profile for everything is no profile")
        for key in ("kinds", "namespaces", "images", "needs")
        if not getattr(row, key)
    ]
    wrong += [
        (f"component {row.id}: {kind} has no profile", f"one of {', '.join(WORKLOADS)}")
        for kind in row.kinds
        if kind not in WORKLOADS
    ]
    for image in row.images:
        name = image.repository.rpartition("/")[2]
        if "@" in image.repository or ":" in name or "*" in image.repository:
            wrong.append(
                (
                    f"component {row.id}: {image.repository[:_SHORT]} is no repository",
                    "without tag and digest",
                )
            )
        wrong += [
            (f"component {row.id}: {digest[:_SHORT]} is no digest", "sha256: and 64 hexadecimal digits")
            for digest in image.digests
            if not _is_digest(digest)
        ]
    for need in row.needs:
        if need.rule not in rules:
            wrong.append((f"component {row.id}: there is no rule {need.rule}", suggest(need.rule, rules)))
        if not need.containers and not need.fields and any(isinstance(value, bool) for value in need.values):
            wrong.append(
                (
                    f"component {row.id}, {need.rule}: which switch of the pod is meant?",
                    "name it under fields, for example [hostNetwork]",
                )
            )
        if not need.values:
            wrong.append(
                (f"component {row.id}, {need.rule}: values may not be empty", "list what may be found")
            )
    return wrong


def _is_digest(text: str) -> bool:
    algorithm, _, value = text.partition(":")
    return algorithm == "sha256" and len(value) == 64 and set(value) <= set("0123456789abcdef")
