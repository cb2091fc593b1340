"""Policy files and the documents in them: lists unrolled, each with its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from audit.errors import ContentError
from audit.library.kyverno.go_yaml import read_documents
from audit.library.policy_source import PolicySource

_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_MAX_BYTES = 8 << 20


class PolicyDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One object found in a policy file."""

    file: str
    line: int
    value: dict[str, Any]
    builtin: bool

    @property
    def api_version(self) -> str:
        """``apiVersion``, empty when it is missing or no text."""
        return text_of(self.value.get("apiVersion"))

    @property
    def group(self) -> str:
        """API group; empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def kind(self) -> str:
        """``kind``, empty when it is missing or no text."""
        return text_of(self.value.get("kind"))

    @property
    def metadata(self) -> dict[str, Any]:
        """``metadata``, empty when it is no mapping."""
        return mapping_of(self.value.get("metadata"))

    @property
    def spec(self) -> dict[str, Any]:
        """``spec``, empty when it is no mapping."""
        return mapping_of(self.value.get("spec"))

    @property
    def name(self) -> str:
        """``metadata.name``."""
        return text_of(self.metadata.get("name"))

    @property
    def namespace(self) -> str:
        """``metadata.namespace``."""
        return text_of(self.metadata.get("namespace"))

    def error(self, message: str, *, key: str = "", suggestion: str = "") -> ContentError:
        """An error about this document."""
        return ContentError(
            message, file=self.file, line=self.line, key=key or None, suggestion=suggestion or None
        )


def find_documents(sources: Sequence[PolicySource]) -> Iterator[PolicyDocument | ContentError]:
    """All objects of all files, in the order of sources and names; what can't be read comes as an error."""
    for source in sources:
        files = _files(source)
        if isinstance(files, ContentError):
            yield files
            continue
        for file, label in files:
            yield from _documents(file, label, builtin=source.builtin)


def _files(source: PolicySource) -> list[tuple[Path, str]] | ContentError:
    if source.path.is_file():
        # A file that is named is read whatever its ending, but Rego is no YAML.
        return [] if source.path.suffix == ".rego" else [(source.path, source.label)]
    if not source.path.is_dir():
        return ContentError("no such policy file or folder", file=source.label)
    # Hidden folders hold test material (``.kyverno-test``, ``.chainsaw-test``), as for the CLI itself.
    found = sorted(
        path
        for path in source.path.rglob("*")
        if path.suffix in _SUFFIXES
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(source.path).parts)
    )
    return [(path, f"{source.label}/{path.relative_to(source.path).as_posix()}") for path in found]


def _documents(file: Path, label: str, *, builtin: bool) -> Iterator[PolicyDocument | ContentError]:
    try:
        if file.stat().st_size > _MAX_BYTES:
            yield ContentError(f"is larger than {_MAX_BYTES >> 20} MiB", file=label)
            return
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        yield ContentError(f"cannot be read: {error}", file=label)
        return
    for document in read_documents(text, label):
        if document.error is not None:
            yield document.error
        else:
            yield from _unroll(document.value, label, document.line, builtin=builtin)


def _unroll(value: Any, label: str, line: int, *, builtin: bool) -> Iterator[PolicyDocument]:
    if isinstance(value, list):
        items = value
    elif isinstance(value, dict) and isinstance(value.get("items"), list) and _is_list(value):
        items = value["items"]
    else:
        if isinstance(value, dict):
            yield PolicyDocument(file=label, line=line, value=value, builtin=builtin)
        return
    for item in items:
        yield from _unroll(item, label, line, builtin=builtin)


def _is_list(value: dict[str, Any]) -> bool:
    return text_of(value.get("kind")).endswith("List")


def text_of(value: Any) -> str:
    """The text, or an empty one where something else stands."""
    return value if isinstance(value, str) else ""


def mapping_of(value: Any) -> dict[str, Any]:
    """The mapping, or an empty one where something else stands."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """The list, or an empty one where something else stands."""
    return value if isinstance(value, list) else []


def texts_of(value: Any) -> tuple[str, ...]:
    """The texts in a list."""
    return tuple(item for item in list_of(value) if isinstance(item, str))
