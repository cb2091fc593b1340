"""One model file as facts: what it is, and what its content shows."""

from __future__ import annotations

from typing import Any

from audit.collect.artifacts.model.gguf import gguf_facts
from audit.collect.artifacts.model.pickle_child import pickle_facts
from audit.collect.artifacts.model.recognition import (
    GGUF,
    PICKLE,
    SAFETENSORS,
    UNKNOWN,
    expected_format,
    format_of,
)
from audit.collect.artifacts.model.safetensors import safetensors_facts
from audit.collect.artifacts.model.settings import ModelSettings
from audit.collect.artifacts.reading import Artifact

EXAMINED = frozenset({PICKLE, SAFETENSORS, GGUF})


def file_spec(artifact: Artifact, sha256: str, settings: ModelSettings) -> dict[str, Any]:
    """The facts of a file that `format_of` recognises.

    ``examined`` is false for formats that are known by name alone: nothing is said of what is in them.

    Raises:
        OSError: it can't be read.
    """
    kind = format_of(artifact.name, artifact.head) or UNKNOWN
    expected = expected_format(artifact.name)
    return {
        "file": {"label": artifact.label, "sha256": sha256, "bytes": artifact.size},
        "format": kind,
        "examined": kind in EXAMINED,
        "ending": {
            "status": "open" if expected is None else "fits" if expected == kind else "differs",
            "expected": expected,
        },
        "pickle": pickle_facts(artifact.path, settings) if kind == PICKLE else None,
        "header": _header(kind, artifact, settings),
    }


def _header(kind: str, artifact: Artifact, settings: ModelSettings) -> dict[str, Any] | None:
    if kind == SAFETENSORS:
        return safetensors_facts(artifact.path, max_header=settings.header_max_bytes)
    if kind == GGUF:
        return gguf_facts(artifact.path, max_entries=settings.max_entries)
    return None
