"""Makes one module of many, below a prefix of our own.

A server compiles all its policies whenever one comes or goes, so a hundred modules one by one cost it a minute, and
two processes could leave half of them behind. Merged, they come and go in one request.

Rules of package number 3 are renamed from ``name`` to ``p3_name`` wherever the word stands by itself in their modules.
Local variables of the same name are renamed along, so nothing is shadowed that wasn't before. References to
them from elsewhere, ``data.lib.workload.containers`` or ``workload.containers`` through an import, become
``data.PREFIX.p3_containers``. What can't be told from the text keeps its package and goes as a module of its own: packages
that somebody refers to as a whole or by a computed name, or through an import whose name also stands alone (it may be a
variable), modules with imports that change the language, rules named like a keyword, and
rules named like a package below theirs. Lines stay lines, so errors can be traced back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from audit.errors import EngineError
from audit.evaluate.opa_server.program import Graph, Use
from audit.evaluate.opa_server.scan import Import, Path, path_of

_PLAIN_IMPORTS = {
    ("rego", ("v1",)),
    ("future", ("keywords",)),
    *(("future", ("keywords", word)) for word in ("in", "every", "if", "contains")),
}
_KEYWORDS = frozenset(
    ("and", "as", "contains", "default", "else", "every", "false", "if", "import", "in", "not", "null", "or")
) | {"package", "some", "true", "with"}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Piece(NamedTuple):
    """Lines of one source inside a module that was put together."""

    label: str
    first: int
    """Line where the source begins, counted from 1."""
    lines: int


class Merged(NamedTuple):
    """What to send, in this order."""

    texts: tuple[str, ...]
    pieces: tuple[tuple[Piece, ...], ...]
    """For each text, where its lines come from."""
    packages: tuple[Path, ...]
    """Package of each number that stands in the new names."""


class Merger:
    """Merges the modules of a program.

    Args:
        graph: the modules.
        labels: those to merge, in the order that the server may compile them.
        prefix: a plain name, for all of them to live below.

    Raises:
        EngineError: a module can't be moved at all.
    """

    def __init__(self, graph: Graph, labels: Sequence[str], prefix: str) -> None:
        self._graph = graph
        self._labels = labels
        self._prefix = prefix
        self._refuse()
        packages = {graph.package[label] for label in labels}
        whole = self._with_needs(self._kept_whole(packages))
        self._number = {path: number for number, path in enumerate(sorted(packages - whole))}

    def name(self, package: str, rule: str) -> str:
        """Where a rule is now."""
        return self._moved((*path_of(package), rule))

    def merge(self, appendix: str) -> Merged:
        """The texts, with more rules at the end of the last, which is the merged module."""
        alone = [label for label in self._labels if self._graph.package[label] not in self._number]
        texts = [self._alone(label) for label in alone]
        pieces: list[tuple[Piece, ...]] = [
            (Piece(label, 1, text.count("\n") + 1),) for label, text in zip(alone, texts, strict=True)
        ]
        inside = [label for label in self._labels if label not in alone]
        head = [f"package {self._prefix}"]
        bodies = [self._inside(label, f"i{number}_", head) for number, label in enumerate(inside)]
        places: list[Piece] = []
        line = len(head) + 1
        for label, body in zip(inside, bodies, strict=True):
            places.append(Piece(label, line, body.count("\n") + 1))
            line += body.count("\n") + 1
        texts.append("\n".join([*head, *bodies, appendix]))
        return Merged(tuple(texts), (*pieces, tuple(places)), tuple(self._number))

    def _refuse(self) -> None:
        for label in self._labels:
            if self._graph.dialect.get(label) == "v0":
                raise EngineError(
                    f"{label} is written in Rego v0, which a server takes as a bundle only",
                    suggestion="rewrite it with `opa fmt --write --v0-v1`, or use the embedded engine",
                )
            module = self._graph.modules[label]
            if any(entry.alias in _KEYWORDS for entry in module.imports):
                raise EngineError(
                    f"{label} imports something under a name that is a keyword, and can't be moved",
                    suggestion="import it `as` another name",
                )
            if any(
                word == "rego" and module.steps_after(at)[0][:1] == ("metadata",)
                for at, word in module.words()
            ):
                raise EngineError(
                    f"{label} uses rego.metadata, which answers differently once a module was moved",
                    suggestion="load the rules as a bundle (engine.opa.bundle), or use the embedded engine",
                )

    def _kept_whole(self, packages: set[Path]) -> set[Path]:
        """Packages that keep their name."""
        whole = {path for path in packages if self._graph.names[path] & _KEYWORDS}
        for path in packages:
            inner = {other for other in packages if other[: len(path)] == path and other != path}
            shared = {other for other in inner if other[len(path)] in self._graph.names[path]}
            whole |= shared | ({path} if shared else set())
        whole |= {
            self._graph.package[label]
            for label in self._labels
            for entry in self._graph.modules[label].imports
            if entry.root not in {"data", "input"} and (entry.root, entry.path) not in _PLAIN_IMPORTS
        }
        for label in self._labels:
            for use in self._graph.uses[label]:
                if use.token < 0 and self._never_bare(label, use.alias):
                    continue
                if self._rule_of(use.target, packages) is None:
                    whole |= {path for path in packages if path[: len(use.target)] == use.target}
        return whole

    def _with_needs(self, whole: set[Path]) -> set[Path]:
        """They go before the merged module, so all that they need must too."""
        roots = [label for label in self._labels if self._graph.package[label] in whole]
        return {self._graph.package[label] for label in self._graph.with_needs(roots)}

    def _never_bare(self, label: str, alias: str) -> bool:
        """Every use of an import goes on with literal steps, so its name is no variable."""
        return not any(use.bare and use.token >= 0 for use in self._graph.uses[label] if use.alias == alias)

    def _rule_of(self, target: Path, packages: set[Path] | dict[Path, int]) -> int | None:
        """Length of the package part of a path that leads to a rule in one of the packages."""
        for length in range(len(target) - 1, 0, -1):
            path = target[:length]
            if path in packages and target[length] in self._graph.names[path]:
                return length
        return None

    def _moved(self, target: Path) -> str:
        """The new reference for a path below ``data``."""
        length = self._rule_of(target, self._number)
        if length is None:
            return f"data.{self._prefix}{reference_steps(target)}"
        number = self._number[target[:length]]
        return f"data.{self._prefix}.p{number}_{target[length]}{reference_steps(target[length + 1 :])}"

    def _alone(self, label: str) -> str:
        """A module that keeps its package, below the prefix."""
        module = self._graph.modules[label]
        changes: dict[int, tuple[str, int]] = {}
        at = module.package_word()
        changes[at] = (f"{self._prefix}.{module.tokens[at].text}", module.tokens[at].end)
        for entry in module.imports:
            if entry.root == "data":
                end = module.tokens[entry.last].end
                keep = (
                    ""
                    if self._dissolved(label, entry)
                    else f"import {self._moved(entry.path)} as {entry.alias}"
                )
                changes[entry.first] = (keep, end)
        changes |= {use.token: (self._moved(use.target), use.end) for use in self._replaceable(label)}
        return _changed(label, self._graph, changes, comments=True)

    def _inside(self, label: str, mark: str, head: list[str]) -> str:
        """A module without package and imports, its rules renamed. Imports that stay go to `head`."""
        module = self._graph.modules[label]
        package = self._graph.package[label]
        number = self._number[package]
        changes: dict[int, tuple[str, int]] = {}
        at = module.package_word()
        _, end = module.steps_after(at)
        changes[self._word_before(label, at)] = ("", end)
        aliases: dict[str, str] = {}
        for entry in module.imports:
            changes[entry.first] = ("", module.tokens[entry.last].end)
            if entry.root in {"data", "input"} and not self._dissolved(label, entry):
                aliases[entry.alias] = f"{mark}{entry.alias}"
                path = (
                    self._moved(entry.path) if entry.root == "data" else f"input{reference_steps(entry.path)}"
                )
                head.append(f"import {path} as {mark}{entry.alias}")
        names = self._graph.names[package]
        for at, word in module.words():
            new = aliases.get(word) or (f"p{number}_{word}" if word in names else "")
            if new:
                changes[at] = (new, module.tokens[at].end)
        changes |= {use.token: (self._moved(use.target), use.end) for use in self._replaceable(label)}
        return _changed(label, self._graph, changes, comments=False)

    def _replaceable(self, label: str) -> Iterator[Use]:
        """Uses that are written out in full."""
        for use in self._graph.uses[label]:
            if use.token >= 0 and (not use.alias or self._never_bare(label, use.alias)):
                yield use

    def _dissolved(self, label: str, entry: Import) -> bool:
        """Whether all uses of an import are written out, so that it isn't needed any more."""
        return entry.root == "data" and self._never_bare(label, entry.alias)

    def _word_before(self, label: str, at: int) -> int:
        tokens = self._graph.modules[label].tokens
        return next(index for index in range(at - 1, -1, -1) if tokens[index].kind == "word")


def _changed(label: str, graph: Graph, changes: dict[int, tuple[str, int]], *, comments: bool) -> str:
    """The source of a module with changes: token to (new text, where the old text ends)."""
    parts: list[str] = []
    skipped_to = 0
    module = graph.modules[label]
    for at, token in enumerate(module.tokens):
        start = token.end - len(token.text)
        if start < skipped_to:
            continue
        if at in changes:
            text, skipped_to = changes[at]
            parts.append(text)
        elif comments or token.kind != "comment":
            parts.append(token.text)
    return "".join(parts)


def reference_steps(path: Path) -> str:
    """A path as people write it after ``data``."""
    plain = (_NAME.fullmatch(step) and step not in _KEYWORDS for step in path)
    return "".join(
        f".{step}" if is_plain else f'["{step}"]' for step, is_plain in zip(path, plain, strict=True)
    )
