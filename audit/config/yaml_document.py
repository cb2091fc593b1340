"""YAML as people author it, read safely: plain data, the place of every key, duplicate keys refused.

PyYAML's safe loader alone keeps the last of two equal keys, turns dates into objects and expands nested aliases without
bound; a configuration deserves better.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import msgspec
import yaml

from audit.errors import ConfigError

MAX_BYTES = 1024 * 1024
MAX_NODES = 50_000
MAX_DEPTH = 60

Path = tuple[str | int, ...]
_SCALARS = {f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "str")}
_MERGE = "tag:yaml.org,2002:merge"


class Spot(msgspec.Struct, frozen=True):
    """1-based line and column."""

    line: int
    column: int


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """One YAML document as plain data, and where each part of it stands."""

    file: str
    data: Any
    places: dict[Path, Spot]
    """Path of each value to the place of its key, or of the value itself inside lists."""
    duplicates: tuple[ConfigError, ...] = ()

    def spot(self, path: Path) -> Spot | None:
        """Place of the value at `path`, or of the nearest value around it."""
        for end in range(len(path), -1, -1):
            if (found := self.places.get(path[:end])) is not None:
                return found
        return None

    def error(self, path: Path, message: str, suggestion: str | None = None) -> ConfigError:
        """A configuration error at `path`."""
        spot = self.spot(path)
        return ConfigError(
            message,
            file=self.file,
            line=spot.line if spot else None,
            key=dotted(path) or None,
            suggestion=suggestion,
        )


def dotted(path: Path) -> str:
    """``clusters.0.name``."""
    return ".".join(str(segment) for segment in path)


def parse_document(raw: bytes, file: str) -> Document:
    """Read the only document of a file. An empty file is an empty mapping.

    Raises:
        ConfigError: not UTF-8, too large, no valid YAML, more than one document, an alias bomb, a tag or key that plain
            data does not have.
    """
    if len(raw) > MAX_BYTES:
        raise ConfigError(f"the file is larger than {MAX_BYTES // 1024} KiB", file=file)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError("the file is not valid UTF-8", file=file, line=line) from None
    try:
        loader = _Loader(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError("no valid YAML: a control character", file=file, line=line) from None
    try:
        root = loader.get_single_node()
        reader = _Reader(loader, file)
        data = {} if root is None else reader.value(root, (), 0)
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error, file) from None
    except yaml.YAMLError as error:
        raise ConfigError(f"no valid YAML: {' '.join(str(error).split())}", file=file) from None
    except RecursionError:
        raise ConfigError("the file is nested too deeply", file=file) from None
    finally:
        loader.dispose()
    return Document(
        file=file,
        data={} if data is None else data,
        places=reader.places,
        duplicates=tuple(reader.duplicates),
    )


class _Loader(yaml.SafeLoader):
    """The safe loader without timestamps: dates stay text, so that one rule reads them all."""

    yaml_implicit_resolvers = {  # noqa: RUF012  # the shape PyYAML reads
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


class _Reader:
    """One walk over the node graph, within a budget that aliases cannot outgrow."""

    def __init__(self, loader: _Loader, file: str) -> None:
        self.loader = loader
        self.file = file
        self.places: dict[Path, Spot] = {}
        self.duplicates: list[ConfigError] = []
        self.nodes = 0

    def value(self, node: yaml.Node, path: Path, depth: int) -> Any:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise self.error(node, path, "the file expands to too many values; are aliases nested?")
        if depth > MAX_DEPTH:
            raise self.error(node, path, "the file is nested too deeply")
        self.places.setdefault(path, _spot(node))
        if isinstance(node, yaml.MappingNode) and node.tag == "tag:yaml.org,2002:map":
            return self.mapping(node, path, depth)
        if isinstance(node, yaml.SequenceNode) and node.tag == "tag:yaml.org,2002:seq":
            return [self.value(child, (*path, index), depth + 1) for index, child in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode) and node.tag in _SCALARS:
            return self.scalar(node, path)
        raise self.error(node, path, f"the YAML tag {node.tag!r} is not supported here")

    def mapping(self, node: yaml.MappingNode, path: Path, depth: int) -> dict[str, Any]:
        data: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key, child, key_node in self.entries(node, path):
            line = _spot(key_node).line
            if key in lines:
                self.duplicates.append(
                    ConfigError(
                        f"the key stands twice, first in line {lines[key]}",
                        file=self.file,
                        line=line,
                        key=dotted((*path, key)),
                        suggestion="keep one of them",
                    )
                )
                continue
            lines[key] = line
            self.places[*path, key] = _spot(key_node)
            data[key] = self.value(child, (*path, key), depth + 1)
        return data

    def entries(self, node: yaml.MappingNode, path: Path) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
        for key_node, child in node.value:
            if key_node.tag == _MERGE:
                raise self.error(key_node, path, "merge keys (<<) are not supported here")
            if not isinstance(key_node, yaml.ScalarNode) or key_node.tag != "tag:yaml.org,2002:str":
                raise self.error(key_node, path, "a key must be text", "put the key in quotes")
            yield key_node.value, child, key_node

    def scalar(self, node: yaml.ScalarNode, path: Path) -> Any:
        try:
            value = self.loader.construct_object(node)
        except ValueError:
            raise self.error(node, path, f"{node.value[:40]!r} is no number that can be used") from None
        if isinstance(value, float) and not math.isfinite(value):
            raise self.error(node, path, "infinity and not-a-number are not accepted")
        return value

    def error(self, node: yaml.Node, path: Path, message: str, suggestion: str | None = None) -> ConfigError:
        return ConfigError(
            message,
            file=self.file,
            line=_spot(node).line,
            key=dotted(path) or None,
            suggestion=suggestion,
        )


def _spot(node: yaml.Node) -> Spot:
    return Spot(node.start_mark.line + 1, node.start_mark.column + 1)


def _syntax_error(error: yaml.MarkedYAMLError, file: str) -> ConfigError:
    mark = error.problem_mark or error.context_mark
    problem = error.problem or "it cannot be parsed"
    suggestion = None
    if "document" in (error.context or ""):
        problem, suggestion = "a second document begins here", "keep one document in the file"
    elif "\\t" in problem:
        suggestion = "indent with spaces, not tabs"
    return ConfigError(
        f"no valid YAML: {problem}",
        file=file,
        line=mark.line + 1 if mark else None,
        column=mark.column + 1 if mark else None,
        suggestion=suggestion,
    )
