"""Helm charts and kustomizations rendered by their own tools; what can't be rendered is a gap, never skipped.

Rendering opens no connection: a kustomization that loads anything but files and folders that are here, anywhere below
it, is not run. Where the platform lets us, the tools run without a network besides.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from audit.collect.kustomization import Kustomization, has_kustomization, looks_remote, read_kustomization
from audit.process import find_tool, run_tool
from audit.redact import masked

_TIMEOUT_SECONDS = 120.0


class Rendered(msgspec.Struct, frozen=True, kw_only=True):
    """A rendering to be read like a file."""

    folder: Path
    tool: str
    data: bytes


class NotRendered(msgspec.Struct, frozen=True, kw_only=True):
    """A folder that should have been rendered and was not."""

    folder: Path
    tool: str
    reason: str
    hint: str


class KustomizePlan(msgspec.Struct, frozen=True, kw_only=True):
    """Which kustomizations to build, and which files their builds cover."""

    roots: tuple[Kustomization, ...]
    takes_in: dict[Path, frozenset[Path]]
    """Folder of each root to the resolved files that its build takes in, at any depth."""
    covered: frozenset[Path]
    """Resolved files that must not be judged raw."""
    unbuilt: tuple[NotRendered, ...]
    """Kustomizations that no build here reaches, so that what they cover is not judged at all."""


def plan_kustomize(folders: Iterable[Path]) -> KustomizePlan:
    """Find the roots: kustomizations no other one here builds on. Components are never built alone."""
    known = {k.folder.resolve(): k for k in map(read_kustomization, folders)}
    used = {path for k in known.values() for path in k.folders}
    roots = tuple(k for real, k in known.items() if not k.is_component and real not in used)
    takes_in: dict[Path, frozenset[Path]] = {}
    reached: set[Path] = set()
    for root in roots:
        below = list(_below(root, known))
        reached |= {k.folder.resolve() for k in below}
        takes_in[root.folder] = frozenset(path for k in below for path in k.files)
    unbuilt = tuple(_unbuilt(k) for real, k in known.items() if real not in reached)
    covered = frozenset(path for k in known.values() for path in k.files).union(*takes_in.values())
    return KustomizePlan(roots=roots, takes_in=takes_in, covered=covered, unbuilt=unbuilt)


def _below(root: Kustomization, known: dict[Path, Kustomization]) -> Iterator[Kustomization]:
    """A kustomization and all it builds on, each once; folders without a kustomization are left to the tool."""
    seen: set[Path] = set()
    waiting = [root]
    while waiting:
        current = waiting.pop()
        real = current.folder.resolve()
        if real in seen:
            continue
        seen.add(real)
        yield current
        waiting += [
            known.get(folder) or read_kustomization(folder)
            for folder in current.folders
            if folder in known or has_kustomization(folder)
        ]


def _unbuilt(kustomization: Kustomization) -> NotRendered:
    reason = (
        "no kustomization here takes this component in"
        if kustomization.is_component
        else "it and another kustomization take each other in"
    )
    return NotRendered(
        folder=kustomization.folder,
        tool="kustomize",
        reason=reason,
        hint="name the folder that builds on it as a PATH too",
    )


def render_kustomization(kustomization: Kustomization, *, max_bytes: int) -> Rendered | NotRendered:
    """Build one root with ``kubectl kustomize`` (or ``kustomize build``)."""

    def refuse(reason: str, hint: str = "") -> NotRendered:
        return NotRendered(folder=kustomization.folder, tool="kustomize", reason=reason, hint=hint)

    obstacle = _obstacle(kustomization)
    if obstacle:
        return refuse(
            obstacle, "build it yourself and audit the output: kubectl kustomize DIR | fleetaudit run -"
        )
    if kubectl := find_tool("kubectl"):
        command = [kubectl, "kustomize"]
    elif kustomize := find_tool("kustomize"):
        command = [kustomize, "build"]
    else:
        return refuse("neither kubectl nor kustomize is installed", "install kubectl, or kustomize")
    # Overlays commonly reach into ../base, which the tool allows for folders; files above the root stay refused.
    with tempfile.TemporaryDirectory(prefix="fleetaudit-") as home:
        result = run_tool(
            command[0],
            [*command[1:], str(kustomization.folder.resolve())],
            folder=kustomization.folder,
            home=Path(home),
            timeout_seconds=_TIMEOUT_SECONDS,
            max_bytes=max_bytes,
            offline=True,
        )
    if not result.ok:
        return refuse(f"kustomize failed: {result.problem}", "build it by hand to see the whole message")
    return Rendered(folder=kustomization.folder, tool="kustomize", data=result.stdout)


def render_chart(folder: Path, *, max_bytes: int) -> Rendered | NotRendered:
    """Render one chart with its default values through ``helm template``."""

    def refuse(reason: str, hint: str) -> NotRendered:
        return NotRendered(folder=folder, tool="helm", reason=reason, hint=hint)

    helm = find_tool("helm")
    if helm is None:
        return refuse(
            "helm is not installed", "install helm, or audit the output: helm template DIR | fleetaudit run -"
        )
    with tempfile.TemporaryDirectory(prefix="fleetaudit-") as home:
        result = run_tool(
            helm,
            ["template", "release-name", str(folder.resolve()), "--skip-tests"],
            folder=folder,
            home=Path(home),
            timeout_seconds=_TIMEOUT_SECONDS,
            max_bytes=max_bytes,
            offline=True,
        )
    if not result.ok:
        return refuse(
            f"helm template failed: {result.problem}", "render it by hand with the values you deploy"
        )
    return Rendered(folder=folder, tool="helm", data=result.stdout)


def _obstacle(root: Kustomization) -> str:
    """Why a kustomization can't be built offline, looking at everything below it; empty when it can."""
    for current in _below(root, {}):
        if current.problem:
            return f"{current.file.name} {current.problem}"
        if current.remote:
            entry = current.remote[0]
            absent = "" if looks_remote(entry) else " if it could: no such file or folder is here"
            return f"it would download {masked(entry)[:120]}{absent}"
        if current.needs_helm:
            return "it inflates Helm charts, which may be downloaded"
        for folder in current.folders:
            if not has_kustomization(folder):
                return f"{folder.name} has no kustomization file"
    return ""
