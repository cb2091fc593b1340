"""YAML with the line of every part: suites are told by file and line, and a plain ``no`` stays what its author typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import yaml

from audit.config.suggest import did_you_mean
from audit.errors import ContentError
from audit.library.kyverno.go_yaml import read_documents, resolve

_PLAIN = "!plain"
_MEND_YAML = "mend the YAML: look at brackets, quotes and indentation before that line"


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One value of a document, read when it is asked for."""

    file: str
    node: Any
    """PyYAML's node; None when the value is absent."""
    above: int
    """Line to name when the value is absent."""

    @property
    def line(self) -> int:
        """1-based."""
        return self.above if self.node is None else int(self.node.start_mark.line) + 1

    @property
    def absent(self) -> bool:
        """Not there, or null."""
        return self.node is None or (isinstance(self.node, yaml.ScalarNode) and self.value is None)

    @property
    def value(self) -> Any:
        """A scalar as Go reads it; None for everything else."""
        if not isinstance(self.node, yaml.ScalarNode):
            return None
        return resolve(self.node.value) if self.node.tag == _PLAIN else self.node.value

    @property
    def typed(self) -> str:
        """A scalar as its author typed it, without quotes."""
        return str(self.node.value) if isinstance(self.node, yaml.ScalarNode) else ""

    def error(self, message: str, *, key: str = "", suggestion: str | None = None) -> ContentError:
        """An error about this place."""
        return ContentError(
            message, file=self.file, line=self.line, key=key or None, suggestion=suggestion or None
        )

    def keys(self) -> Iterator[tuple[str, Part]]:
        """Keys of a mapping, each with its own place."""
        if isinstance(self.node, yaml.MappingNode):
            for key, _ in self.node.value:
                yield str(key.value), msgspec.structs.replace(self, node=key)

    def get(self, key: str) -> Part:
        """A value of a mapping; absent when there is none. The last of two equal keys wins, as in Go."""
        found = None
        if isinstance(self.node, yaml.MappingNode):
            for name, value in self.node.value:
                if name.value == key:
                    found = value
        return msgspec.structs.replace(self, node=found, above=self.line)

    def items(self, key: str) -> list[Part]:
        """The list below a key; empty when it is absent.

        Raises:
            ContentError: something else stands there.
        """
        part = self.get(key)
        if part.absent:
            return []
        if not isinstance(part.node, yaml.SequenceNode):
            raise part.error("must be a list", key=key, suggestion="put a - before each entry")
        return [msgspec.structs.replace(self, node=item, above=part.line) for item in part.node.value]

    def text(self, key: str) -> str:
        """The text below a key; empty when it is absent.

        Raises:
            ContentError: something else stands there.
        """
        part = self.get(key)
        if part.absent:
            return ""
        return part.as_text(key)

    def as_text(self, key: str) -> str:
        """This value, which must be a text. What YAML takes for a number or a truth value is refused, as by Go."""
        if not isinstance(self.node, yaml.ScalarNode):
            raise self.error("must be a text", key=key, suggestion="write one value")
        if not isinstance(self.value, str):
            raise self.error("must be a text", key=key, suggestion=f"put {self.node.value} in quotes")
        return self.value

    def texts(self, key: str) -> list[str]:
        """The list of texts below a key."""
        return [item.as_text(key) for item in self.items(key)]

    def flag(self, key: str) -> bool:
        """The truth value below a key; false when it is absent.

        Raises:
            ContentError: something else stands there.
        """
        part = self.get(key)
        if part.absent:
            return False
        if not isinstance(part.value, bool):
            raise part.error("must be true or false", key=key, suggestion="write it without quotes")
        return part.value

    def known_keys(self, known: Iterable[str]) -> None:
        """Refuse keys that nobody would read.

        Raises:
            ContentError: there is one.
        """
        allowed = tuple(known)
        for name, place in self.keys():
            if name not in allowed:
                raise place.error("no such field", key=name, suggestion=did_you_mean(name, allowed))


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # chosen when it is imported
    """Composes nodes; plain scalars get a tag of their own, so that quotes can be told."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> Any:
        if kind is yaml.ScalarNode and implicit[0]:
            return _PLAIN
        return super().resolve(kind, value, implicit)


def parts_of(text: str, label: str) -> list[Part]:
    """The mappings among the documents of a file.

    Raises:
        ContentError: one of them is no YAML, or unfolds to more than a suite can hold.
    """
    for document in read_documents(text, label):
        if document.error is not None:
            wrong = document.error
            raise ContentError(wrong.message, file=label, line=wrong.line, suggestion=_MEND_YAML)
    try:
        nodes = list(yaml.compose_all(text.removeprefix("\ufeff"), Loader=_Loader))
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        raise ContentError(
            f"is not YAML: {getattr(error, 'problem', None) or error}",
            file=label,
            line=mark.line + 1 if mark else None,
            suggestion=_MEND_YAML,
        ) from error
    return [Part(file=label, node=node, above=1) for node in nodes if isinstance(node, yaml.MappingNode)]
