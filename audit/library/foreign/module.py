"""Rego modules of a source with their outlines, and what reaches what inside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from audit.library.foreign.outline import Form, Outline, Reference, Statement, outline
from audit.library.foreign.steps import Path


class Module(NamedTuple):
    """One piece of Rego."""

    key: str
    """Unique name, given to the engine."""
    file: str
    """File it stands in, as the user knows it."""
    text: str
    outline: Outline
    first_line: int = 1
    """Line of the file on which it begins: policies may be embedded in YAML."""

    @property
    def package(self) -> Path:
        """Steps of its package."""
        return self.outline.package

    def line(self, line: int) -> int:
        """Line in the file of a line in the text."""
        return self.first_line + line - 1


def module(key: str, text: str, *, file: str = "", first_line: int = 1) -> Module:
    """Outline a text."""
    return Module(key, file or key, text, outline(text), first_line)


Node = tuple[Path, str]
"""A rule: its package and its name."""


class Graph:
    """Which rules use which, over all modules of one program."""

    def __init__(self, modules: Iterable[Module]) -> None:
        self._statements: dict[Node, list[tuple[Module, Statement]]] = {}
        self._packages: set[Path] = set()
        for part in modules:
            self._packages.add(part.package)
            for statement in part.outline.statements:
                node = (part.package, statement.name.partition(".")[0])
                self._statements.setdefault(node, []).append((part, statement))

    def statements(self, node: Node) -> list[tuple[Module, Statement]]:
        """Where a rule is defined."""
        return self._statements.get(node, [])

    def packages(self) -> set[Path]:
        """All packages."""
        return self._packages

    def names(self, package: Path) -> set[str]:
        """Rules of a package."""
        return {name for owner, name in self._statements if owner == package}

    def reachable(self, root: Node) -> dict[Node, list[tuple[Module, Statement]]]:
        """The rule and everything it uses."""
        found: dict[Node, list[tuple[Module, Statement]]] = {}
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node in found:
                continue
            found[node] = self.statements(node)
            for owner, statement in found[node]:
                waiting.extend(self._used(owner, statement))
        return found

    def _used(self, owner: Module, statement: Statement) -> Iterator[Node]:
        for name in statement.names:
            first, _, rest = name.partition(".")
            if (owner.package, first) in self._statements:
                yield (owner.package, first)
            imported = owner.outline.imports.get(first)
            if imported and imported[0] == "data":
                yield from self.nodes((*imported, *rest.split(".")) if rest else imported)
        for reference in statement.references:
            yield from self.nodes(reference.path)

    def nodes(self, path: Path) -> Iterator[Node]:
        """Rules a reference from ``data`` may mean; a whole package means all of its rules."""
        if path[:1] != ("data",):
            return
        steps = path[1:]
        for package in self._packages:
            size = len(package)
            if steps[:size] == package and len(steps) > size:
                yield (package, steps[size])
            elif package[: len(steps)] == steps:
                yield from ((package, name) for name in self.names(package))

    def unresolved(self, root: Node, data: dict[str, object]) -> list[tuple[Module, Reference]]:
        """References below ``data`` that neither a rule nor a data document answers: they are silently undefined."""
        missing: list[tuple[Module, Reference]] = []
        seen: set[Path] = set()
        for uses in self.reachable(root).values():
            for owner, statement in uses:
                for reference in statement.references:
                    path = reference.path
                    if path[0] == "data" and path not in seen and not self._answered(path[1:], data):
                        seen.add(path)
                        missing.append((owner, reference))
        return missing

    def _answered(self, steps: Path, data: dict[str, object]) -> bool:
        if not steps or "*" in steps[:1]:
            return True
        for package in self._packages:
            size = len(package)
            if steps[:size] == package:
                if len(steps) == size or steps[size] == "*" or (package, steps[size]) in self._statements:
                    return True
            elif package[: len(steps)] == steps:
                return True
        value: object = data
        for step in steps:
            if not isinstance(value, dict):
                return step == "*" or isinstance(value, list)
            if step == "*":
                return True
            if step not in value:
                return False
            value = value[step]
        return True


def is_function(statements: Iterable[tuple[Module, Statement]]) -> bool:
    """Whether a rule takes arguments."""
    return any(statement.form is Form.FUNCTION for _, statement in statements)
