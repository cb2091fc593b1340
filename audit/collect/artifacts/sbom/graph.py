"""Reachability, cycles and depth, without recursion and in linear time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec


class Shape(msgspec.Struct, frozen=True):
    """What a graph looks like."""

    unreachable: tuple[str, ...]
    depth: int
    """Steps from a root to the farthest node, by the shortest way."""
    cycles: tuple[tuple[str, ...], ...]
    """Sets of nodes that lead to each other; a node that leads to itself is one of its own. Sorted."""


def shape_of(nodes: Sequence[str], edges: Iterable[tuple[str, str]], roots: Iterable[str]) -> Shape:
    """Look at a graph; edges may name nodes that are not listed."""
    after: dict[str, list[str]] = {}
    for start, end in edges:
        after.setdefault(start, []).append(end)
    level = list(dict.fromkeys(roots))
    seen = set(level)
    depth = 0
    while level:
        following = []
        for node in level:
            for end in after.get(node, ()):
                if end not in seen:
                    seen.add(end)
                    following.append(end)
        level = following
        depth += bool(following)
    unreachable = tuple(node for node in nodes if node not in seen)
    return Shape(unreachable, depth, tuple(sorted(_cycles(after))))


def _cycles(after: dict[str, list[str]]) -> list[tuple[str, ...]]:
    """Tarjan's components over what is left when everything that no cycle holds is peeled off."""
    incoming: dict[str, int] = dict.fromkeys(after, 0)
    for ends in after.values():
        for end in ends:
            incoming[end] = incoming.get(end, 0) + 1
    free = [node for node, number in incoming.items() if number == 0]
    while free:
        for end in after.get(free.pop(), ()):
            incoming[end] -= 1
            if incoming[end] == 0:
                free.append(end)
    left = {node: [end for end in after.get(node, ()) if incoming[end]] for node, n in incoming.items() if n}
    return _strong(left)


def _strong(after: dict[str, list[str]]) -> list[tuple[str, ...]]:
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    inside: set[str] = set()
    found: list[tuple[str, ...]] = []
    for root, first in after.items():
        if root in order:
            continue
        work = [(root, iter(first))]
        order[root] = low[root] = len(order)
        open_.append(root)
        inside.add(root)
        while work:
            node, ends = work[-1]
            for end in ends:
                if end not in order:
                    order[end] = low[end] = len(order)
                    open_.append(end)
                    inside.add(end)
                    work.append((end, iter(after[end])))
                    break
                if end in inside:
                    low[node] = min(low[node], order[end])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    _close(node, open_, inside, after, found)
    return found


def _close(
    node: str, open_: list[str], inside: set[str], after: dict[str, list[str]], found: list[tuple[str, ...]]
) -> None:
    members = []
    while True:
        member = open_.pop()
        inside.discard(member)
        members.append(member)
        if member == node:
            break
    if len(members) > 1 or node in after[node]:
        found.append(tuple(sorted(members)))
