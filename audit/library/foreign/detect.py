"""Which shape each part of a source has: what a policy reads tells what it expects to be given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from audit.library.foreign.adapters import ROOT
from audit.library.foreign.kubescape import is_rule_folder
from audit.library.foreign.module import Graph, Module, module
from audit.library.foreign.plain import ALLOWS, FAILURE, WARNING, is_combined
from audit.library.foreign.reading import SourceFile
from audit.library.foreign.steps import Path
from audit.library.policy_source import PolicySource
from audit.model.foreign import Shape
from audit.native.evaluator import PackageInfo

PLAIN = (Shape.CONFTEST, Shape.ADMISSION, Shape.LIST)
_CONTRACT = {"applies", "violations"}


class Detected(msgspec.Struct, frozen=True, kw_only=True):
    """A source, sorted."""

    native: tuple[Module, ...]
    """Modules of the project's own contract."""
    packages: dict[Shape, list[Path]]
    """Packages with decisions, by shape."""
    shared: tuple[Module, ...]
    """Every module that is not native: plain shapes see all of them."""
    folders: tuple[SourceFile, ...]
    """Files of Kubescape's rule folders."""
    template_sources: tuple[Module, ...]
    """Rego that belongs into a ConstraintTemplate and stands alone."""
    annotations: dict[Path, dict[str, Any] | None]
    reserved: tuple[Module, ...]
    """Modules in packages that are kept for adapters."""


def detect(
    source: PolicySource,
    files: Sequence[SourceFile],
    libraries: Sequence[Module],
    packages: Sequence[PackageInfo],
) -> Detected:
    """Sort the Rego of a source.

    Args:
        source: a shape that it states holds for all of it.
        files: its Rego.
        libraries: further Rego that its policies may use.
        packages: what the parser found; broken files are not in it.
    """
    folders = tuple(file for file in files if is_rule_folder(file)) if _may_be(source, Shape.LIST) else ()
    in_folders = {file.label for file in folders}
    modules = [module(file.label, file.text) for file in files if file.label not in in_folders]
    annotations: dict[Path, dict[str, Any] | None] = {}
    by_file = {package.file: package for package in packages}
    for part in modules:
        found = by_file.get(part.key)
        if found is not None and found.annotations:
            annotations[part.package] = found.annotations
    sorted_: dict[Shape, list[Path]] = {shape: [] for shape in PLAIN}
    native: list[Module] = []
    shared: list[Module] = []
    loose: list[Module] = []
    grouped: dict[Path, list[Module]] = {}
    for part in modules:
        grouped.setdefault(part.package, []).append(part)
    reserved = tuple(part for part in (*modules, *libraries) if part.package[:1] == (ROOT,))
    for part in reserved:
        grouped.pop(part.package, None)
    libraries = [part for part in libraries if part not in reserved]
    graph = Graph([*modules, *libraries])
    for package, parts in grouped.items():
        shape = _shape(source, package, graph, annotations.get(package))
        if shape is Shape.NATIVE:
            native += parts
            continue
        shared += parts
        if shape in PLAIN:
            sorted_[shape].append(package)
        elif shape is Shape.GATEKEEPER:
            loose += parts
    if source.shape is None and not any(sorted_.values()) and not folders and not loose and native:
        native, shared = modules, []  # helpers beside native rules are judged as the native loader does
    return Detected(
        native=tuple(native),
        packages={shape: found for shape, found in sorted_.items() if found},
        shared=(*shared, *libraries),
        folders=folders,
        template_sources=tuple(loose),
        reserved=reserved,
        annotations=annotations,
    )


def _may_be(source: PolicySource, shape: Shape) -> bool:
    return source.shape in (None, shape)


def _shape(
    source: PolicySource,
    package: Path,
    graph: Graph,
    annotations: Mapping[str, Any] | None,
) -> Shape | None:
    """Shape of a package; None when it decides nothing."""
    heads = graph.names(package)
    named = bool(source.rules) and bool(heads & set(source.rules))
    failing = any(FAILURE.match(name) or WARNING.match(name) for name in heads)
    allowing = any(ALLOWS.match(name) or name == "main" for name in heads)
    decides = named or failing or allowing
    if source.shape is Shape.NATIVE or (
        source.shape is None and _is_native(heads, annotations, decides=decides)
    ):
        return Shape.NATIVE
    if source.shape is not None:
        if source.shape is Shape.GATEKEEPER:
            return None
        return source.shape if named or failing or (allowing and source.shape is Shape.ADMISSION) else None
    if not decides:
        return None
    roots = _roots(package, heads, graph)
    if "review" in roots and failing:
        return Shape.GATEKEEPER
    if "request" in roots or package == ("system",):
        return Shape.ADMISSION
    if not (named or failing):
        return None  # an allow over a bare object is nobody's convention: it must be named
    uses = [graph.reachable((package, name)) for name in heads if FAILURE.match(name) or WARNING.match(name)]
    groups = [group for use in uses for group in use.values()]
    if "*" in roots and not is_combined(groups) and not source.combine:
        return Shape.LIST
    return Shape.CONFTEST


def _is_native(heads: set[str], annotations: Mapping[str, Any] | None, *, decides: bool) -> bool:
    custom = (annotations or {}).get("custom")
    meant = heads >= _CONTRACT or (bool(heads & _CONTRACT) and not decides)
    return meant or (isinstance(custom, dict) and "match" in custom)


def _roots(package: Path, heads: Iterable[str], graph: Graph) -> set[str]:
    """First steps below ``input`` that the decisions of a package read; ``*`` for elements of a list."""
    found: set[str] = set()
    for name in heads:
        if not (FAILURE.match(name) or WARNING.match(name) or ALLOWS.match(name) or name == "main"):
            continue
        for statements in graph.reachable((package, name)).values():
            for _, statement in statements:
                for reference in statement.references:
                    if reference.path[0] == "input" and len(reference.path) > 1:
                        found.add(reference.path[1])
    return found
