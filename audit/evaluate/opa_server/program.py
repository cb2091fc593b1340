"""What is to be evaluated, and what its modules need of each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from audit.evaluate.opa_server.scan import Module, Path, path_of
from audit.native.evaluator import EvalRule, PackageInfo


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """Modules that the embedded OPA has compiled already, their data, and the rules to ask."""

    modules: Mapping[str, str]
    """Label to source."""
    data: Mapping[str, object]
    """Documents below ``data``: ``parameters``, ``pod_templates``."""
    rules: tuple[EvalRule, ...]
    packages: tuple[PackageInfo, ...]
    """One for each module."""


class Use(msgspec.Struct, frozen=True):
    """One place where a module refers to something below ``data``."""

    token: int
    target: Path
    end: int
    """Where the literal part ends, in characters."""
    alias: str
    """The import it goes through; empty for ``data`` itself."""
    bare: bool
    """Nothing literal follows: for an alias, this may as well be a local variable of the same name."""


_FIRST_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Graph:
    """The modules of a program, taken apart, and who refers to whom."""

    def __init__(self, program: Program) -> None:
        self.modules = {label: Module(source) for label, source in program.modules.items()}
        self.package = {info.file: path_of(info.package) for info in program.packages}
        self.dialect = {info.file: info.dialect for info in program.packages}
        self.names: dict[Path, set[str]] = {}
        """Package to the first names of its rules."""
        for info in program.packages:
            firsts = (_FIRST_NAME.match(rule) for rule in info.rules)
            self.names.setdefault(path_of(info.package), set()).update(m[0] for m in firsts if m)
        self.uses = {label: tuple(self._uses(module)) for label, module in self.modules.items()}

    def needed_by(self, packages: Iterable[str]) -> list[str]:
        """Labels of the modules of these packages and of all that they need, each after those that it needs."""
        wanted = {path_of(package) for package in packages}
        return self.with_needs(label for label, path in sorted(self.package.items()) if path in wanted)

    def readers_of_inventory(self, packages: Iterable[str]) -> frozenset[str]:
        """Those of the packages whose answers may depend on ``data.inventory``."""
        readers = {
            label
            for label, uses in self.uses.items()
            if any(not use.target or use.target[0] == "inventory" for use in uses)
        }
        return frozenset(package for package in packages if not readers.isdisjoint(self.needed_by([package])))

    def with_needs(self, labels: Iterable[str]) -> list[str]:
        """The modules and all that they need, each after those that it needs."""
        order: list[str] = []
        done: set[str] = set()
        stack = [(label, False) for label in reversed(list(labels))]  # no recursion: chains may be long
        while stack:
            label, needs_are_in = stack.pop()
            if needs_are_in:
                order.append(label)
            elif label not in done:
                done.add(label)
                stack.append((label, True))
                stack += [(other, False) for other in sorted(self._targets(label), reverse=True)]
        return order

    def _targets(self, label: str) -> set[str]:
        return {
            other
            for use in self.uses[label]
            for other, path in self.package.items()
            if path[: len(use.target)] == use.target[: len(path)]
        }

    def _uses(self, module: Module) -> Iterator[Use]:
        aliases = {entry.alias: entry.path for entry in module.imports if entry.root == "data"}
        for at, word in module.words():
            if word == "data" or word in aliases:
                steps, end = module.steps_after(at)
                alias = "" if word == "data" else word
                yield Use(at, aliases.get(alias, ()) + steps, end, alias, bare=not steps)
        for entry in module.imports:
            if entry.root == "data":  # imported and perhaps never used
                yield Use(-1, entry.path, -1, entry.alias, bare=True)
