"""Helm charts and kustomizations rendered by their own tools; what can't be rendered is a gap, never skipped.

Rendering opens no connection: a kustomization that names a URL, anywhere below it, is not run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

import msgspec

from audit.collect.kustomization import Kustomization, read_kustomization
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
    covered: frozenset[Path]
    """Resolved files that must not be judged raw."""


def plan_kustomize(folders: Iterable[Path]) -> KustomizePlan:
    """Find the roots: kustomizations no other one here builds on. Components are never built alone."""
    all_of_them = [read_kustomization(folder) for folder in folders]
    used = {path for k in all_of_them for path in k.folders}
    roots = tuple(k for k in all_of_them if not k.is_component and k.folder.resolve() not in used)
    return KustomizePlan(roots=roots, covered=frozenset(path for k in all_of_them for path in k.files))


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
        )
    if not result.ok:
        return refuse(
            f"helm template failed: {result.problem}", "render it by hand with the values you deploy"
        )
    return Rendered(folder=folder, tool="helm", data=result.stdout)


def _obstacle(root: Kustomization) -> str:
    """Why a kustomization can't be built offline, looking at everything below it; empty when it can."""
    seen: set[Path] = set()
    waiting = [root]
    while waiting:
        current = waiting.pop()
        if current.folder.resolve() in seen:
            continue
        seen.add(current.folder.resolve())
        if current.problem:
            return f"{current.file.name} {current.problem}"
        if current.remote:
            return f"it would download {masked(current.remote[0])[:120]}"
        if current.needs_helm:
            return "it inflates Helm charts, which may be downloaded"
        for folder in current.folders:
            try:
                waiting.append(read_kustomization(folder))
            except StopIteration:
                return f"{folder.name} has no kustomization file"
    return ""
