"""Gatekeeper's objects in YAML files, with the line on which each begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from audit.errors import ContentError
from audit.library.foreign.reading import SourceFile
from audit.library.kyverno.documents import PolicyDocument
from audit.library.kyverno.go_yaml import read_documents

WORDS = ("gatekeeper.sh",)
"""A file without one of these holds no object of Gatekeeper's."""
_MAX_DEPTH = 8


def gatekeeper_documents(
    files: Sequence[SourceFile],
) -> Iterator[tuple[PolicyDocument, SourceFile] | ContentError]:
    """All objects of Gatekeeper's API groups, lists unrolled; a document that is no YAML comes as an error."""
    for file in files:
        for document in read_documents(file.text, file.label):
            if document.error is not None:
                yield document.error
                continue
            for value in _unrolled(document.value, 0):
                found = PolicyDocument(file=file.label, line=document.line, value=value, builtin=False)
                if found.group.endswith("gatekeeper.sh"):
                    yield found, file


def _unrolled(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _unrolled(item, depth + 1)
    elif isinstance(value, dict):
        items = value.get("items")
        if isinstance(items, list) and str(value.get("kind")).endswith("List"):
            yield from _unrolled(items, depth + 1)
        else:
            yield value


def line_of_block(text: str, after: int, block: str) -> int:
    """Line of a file on which an embedded text begins; the line given when it cannot be found.

    Args:
        text: the whole file.
        after: 1-based line from which to look.
        block: the embedded text.
    """
    wanted = [line.strip() for line in block.splitlines()]
    skipped = next((index for index, line in enumerate(wanted) if line), 0)
    wanted = wanted[skipped : skipped + 6]
    lines = [line.strip() for line in text.splitlines()]
    for index in range(max(after - 1, 0), len(lines) - len(wanted) + 1):
        if lines[index : index + len(wanted)] == wanted:
            return index + 1 - skipped
    return after
