"""What a schema finds in a document of any size, bounded in memory.

The validator copies what an error is about, and makes all errors at once: a document in which each of a hundred thousand
relationships is wrong would take a gigabyte. So it is asked about the document without its long lists, and then about the
lists in portions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from audit.collect.artifacts.sbom.problems import Problems, short

MAX_ERRORS = 1_000
"""More of them say nothing new, and each costs time."""
_PORTION = 5_000
"""Keys and items that the validator is asked about at once."""
_GRAPH = "@graph"
_DEEP = "something in it is not valid"


def errors_in(validator: Any, document: Mapping[str, Any]) -> tuple[Problems, bool]:
    """The problems of a document that is not valid, alike ones counted together, and whether all were listed."""
    problems = Problems()
    whole = True
    for number, (place, message) in enumerate(_errors(validator, document), 1):
        problems.add(f"schema:{short(_shape(place))}", _said(message), _exact(place))
        if number >= MAX_ERRORS:
            whole = False
            break
    if not problems:
        problems.add("schema:document", "not valid as a whole, though every part of it is")
    return problems, whole


def _errors(validator: Any, document: Mapping[str, Any]) -> Iterator[tuple[list[str | int], str]]:
    long = {key: value for key, value in document.items() if isinstance(value, list) and _is_large(value)}
    large = [key for key, value in document.items() if key not in long and _is_large(value)]
    rest = {key: [] if key in long else value for key, value in document.items() if key not in large}
    for error in validator.iter_errors(rest):
        yield list(error.instance_path), error.message
    for key in large:
        if _is_worse(validator, rest, key, document[key]):
            yield [key], _DEEP
    for key, items in long.items():
        yield from (
            _in_graph(validator, rest, items) if key == _GRAPH else _in_list(validator, rest, key, items)
        )


def _is_worse(validator: Any, rest: Mapping[str, Any], key: str, value: Any) -> bool:
    """Whether a part makes a valid rest invalid."""
    return validator.is_valid(rest) and not validator.is_valid({**rest, key: value})


def _in_list(
    validator: Any, rest: Mapping[str, Any], key: str, items: list[Any]
) -> Iterator[tuple[list[str | int], str]]:
    for start, portion in _portions(items):
        if len(portion) == 1 and _is_large(portion[0]):
            if _is_worse(validator, rest, key, portion):
                yield [key, start], _DEEP
            continue
        for error in validator.iter_errors({key: portion}):
            place = list(error.instance_path)
            # What the document lacks besides is no fault of the list.
            if place[:1] == [key]:
                if len(place) > 1 and isinstance(place[1], int):
                    place[1] += start
                yield place, error.message


def _in_graph(
    validator: Any, rest: Mapping[str, Any], items: list[Any]
) -> Iterator[tuple[list[str | int], str]]:
    """SPDX 3 describes an element as one of many classes: only whether it is one can be asked, element by element."""
    for start, portion in _portions(items):
        if validator.is_valid({**rest, _GRAPH: portion}):
            continue
        for at, item in enumerate(portion, start):
            if not validator.is_valid({**rest, _GRAPH: [item]}):
                kind = short(item.get("type")) if isinstance(item, dict) else "element"
                yield [_GRAPH, at], f"no valid {kind}"


def _portions(items: list[Any]) -> Iterator[tuple[int, list[Any]]]:
    start, weight = 0, 0
    for at, item in enumerate(items):
        own = _weight(item)
        if weight + own > _PORTION and at > start:
            yield start, items[start:at]
            start, weight = at, 0
        weight += own
    if start < len(items):
        yield start, items[start:]


def _is_large(value: Any) -> bool:
    return _weight(value) > _PORTION


def _weight(value: Any) -> int:
    """Keys and items in a value, itself included; counted no further than one over a portion."""
    total, waiting = 1, [value]
    while waiting and total <= _PORTION:
        one = waiting.pop()
        if isinstance(one, dict | list):
            total += len(one)
            if total <= _PORTION:
                waiting += one.values() if isinstance(one, dict) else one
    return min(total, _PORTION + 1)


def _said(message: str) -> str:
    return message if len(message) <= 300 else f"{message[:299]}…"


def _shape(place: list[str | int]) -> str:
    return ".".join("[]" if isinstance(part, int) else part for part in place) or "document"


def _exact(place: list[str | int]) -> str:
    return ".".join(str(part) for part in place)
