"""YAML as Kubernetes reads it: scalars are resolved by the rules of Go's yaml.v2, not by PyYAML's.

The two disagree on what people write in policies: Go takes ``y``, ``n`` and ``0777`` for booleans and an octal
number, PyYAML takes ``1:30`` for ninety and ``2026-01-01`` for a date. A policy means what the cluster would read.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec
import yaml

from audit.errors import ContentError

if TYPE_CHECKING:
    from yaml import SafeLoader as _Base
else:
    # libyaml where PyYAML was built with it: ten times faster, same nodes.
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_PLAIN = "!plain"
_STANDARD = "tag:yaml.org,2002:"

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"))
_FALSE = frozenset(("n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"))
_SPECIAL_FLOATS = {
    **dict.fromkeys((".nan", ".NaN", ".NAN"), "nan"),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), "inf"),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), "-inf"),
}
_INT = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]*|[1-9][0-9]*)\Z", re.ASCII)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z", re.ASCII)
_SEPARATOR = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)

# A file that unfolds to more than this is not a policy: YAML aliases can write gigabytes in a few lines.
_MAX_NODES = 500_000
_MAX_DEPTH = 200


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """One YAML document that was read, or the reason why it was not."""

    line: int
    """1-based line on which it starts."""
    value: Any = None
    error: ContentError | None = None


def read_documents(text: str, label: str) -> Iterator[Document]:
    """All documents of a file. A broken one costs itself only: files are split before they are parsed."""
    for line, part in _split(text.removeprefix("\ufeff")):
        try:
            node = yaml.compose(part, Loader=_GoLoader)
            if node is None:
                continue
            value = _Builder().value(node, 0)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            mark = getattr(error, "problem_mark", None)
            yield Document(
                line=line,
                error=ContentError(
                    f"is not YAML: {getattr(error, 'problem', None) or str(error).splitlines()[0]}",
                    file=label,
                    line=line + mark.line if mark else line,
                ),
            )
            continue
        start = line + node.start_mark.line
        yield Document(line=start, value=value)


def _split(text: str) -> Iterator[tuple[int, str]]:
    begins = [0, *(match.start() for match in _SEPARATOR.finditer(text)), len(text)]
    line = 1
    for begin, end in itertools.pairwise(begins):
        part = text[begin:end]
        if any(text.strip() and not text.startswith(("#", "%")) for text in part.splitlines()):
            # The separator itself is blanked, so that columns and lines stay true.
            yield line, _SEPARATOR.sub("   ", part, count=1)
        line += part.count("\n")


class _GoLoader(_Base):
    """Composes nodes and resolves nothing by itself: a plain scalar gets a tag of its own."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        if kind is yaml.ScalarNode and implicit[0]:
            return _PLAIN
        return super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]  # the stubs leave it bare


class _Builder:
    def __init__(self) -> None:
        self._nodes = 0

    def value(self, node: yaml.Node, depth: int) -> Any:
        self._nodes += 1
        if self._nodes > _MAX_NODES or depth > _MAX_DEPTH:
            raise ValueError("unfolds to more than a policy can hold")
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, depth + 1) for item in node.value]
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, depth)
        raise ValueError("is no scalar, list or mapping")

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        own: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise ValueError("a mapping key must be a scalar")  # noqa: TRY004  # one error type: bad YAML
            if key_node.value == "<<" and key_node.tag == _PLAIN:
                merged = self._merge(value_node, depth) | merged
            else:
                # The last of two equal keys wins, as on the server.
                own[_key(_scalar(key_node))] = self.value(value_node, depth + 1)
        return merged | own

    def _merge(self, node: yaml.Node, depth: int) -> dict[str, Any]:
        parts = node.value if isinstance(node, yaml.SequenceNode) else [node]
        merged: dict[str, Any] = {}
        for part in parts:
            if not isinstance(part, yaml.MappingNode):
                raise ValueError("a merge key takes mappings")  # noqa: TRY004  # one error type: bad YAML
            merged = self.value(part, depth + 1) | merged
        return merged


def _scalar(node: yaml.ScalarNode) -> Any:
    text: str = node.value
    if node.tag == _PLAIN:
        return resolve(text)
    # An explicit tag such as !!int asks for a value; quoted text, !!str and unknown tags stay text.
    asks = node.tag.startswith(_STANDARD) and node.tag != f"{_STANDARD}str"
    return resolve(text) if asks else text


def resolve(text: str) -> Any:
    """What Go makes of a plain scalar."""
    if text in _NULLS:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text in _SPECIAL_FLOATS:
        raise ValueError(f"{text} can't be written as JSON")
    plain = text.replace("_", "")
    if plain[0:1] in "+-.0123456789" and plain:
        if _INT.match(plain):
            return _integer(plain)
        if _FLOAT.match(plain):
            number = float(plain)
            return int(number) if number.is_integer() and abs(number) < 1 << 53 else number
    return text


def _integer(plain: str) -> int | float:
    sign = -1 if plain[0] == "-" else 1
    digits = plain.lstrip("+-").lower()
    if digits.startswith("0x"):
        number = int(digits[2:], 16)
    elif digits.startswith("0b"):
        number = int(digits[2:], 2)
    elif len(digits) > 1 and digits.startswith("0"):
        number = int(digits.removeprefix("0o").lstrip("0") or "0", 8)
    else:
        number = int(digits)
    number *= sign
    if -(1 << 63) <= number < 1 << 64:
        return number
    return float(number)


def _key(value: Any) -> str:
    if value is None:
        raise ValueError("a mapping key can't be null")
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
