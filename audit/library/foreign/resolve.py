"""References followed through variables and helper rules, down to the object under audit."""

from __future__ import annotations

from collections.abc import Iterator

from audit.library.foreign.module import Graph, Module, Node
from audit.library.foreign.outline import Reference, Statement
from audit.library.foreign.steps import Path
from audit.model.foreign import Shape

_OBJECT: dict[Shape, tuple[Path, ...]] = {
    Shape.CONFTEST: (("input",),),
    Shape.ADMISSION: (("input", "request", "object"),),
    Shape.GATEKEEPER: (("input", "review", "object"),),
    Shape.LIST: (("input", "*"),),
}
_MAX_HOPS = 6


def object_fields(graph: Graph, root: Node, shape: Shape) -> Iterator[tuple[Module, Reference]]:
    """Every field of the object that a rule reads, with its path from the object's root."""
    for (package, _), statements in graph.reachable(root).items():
        for owner, statement in statements:
            for reference in (*statement.references, *statement.locals):
                path = _resolved(reference.path, statement, package, graph)
                for prefix in _OBJECT.get(shape, ()):
                    if path[: len(prefix)] == prefix and len(path) > len(prefix):
                        yield owner, reference._replace(path=path[len(prefix) :])


def _resolved(path: Path, statement: Statement, package: Path, graph: Graph) -> Path:
    for _ in range(_MAX_HOPS):
        first = path[0]
        if first in ("input", "data"):
            return path
        stands_for = statement.aliases.get(first) or _rule_alias(package, first, graph)
        if not stands_for or stands_for[0] == first:
            return path
        path = (*stands_for, *path[1:])
    return path


def _rule_alias(package: Path, name: str, graph: Graph) -> Path:
    """What a rule of the package stands for, when it has one definition and that is a reference."""
    statements = graph.statements((package, name))
    if len(statements) != 1:
        return ()
    return statements[0][1].aliases.get(name, ())
