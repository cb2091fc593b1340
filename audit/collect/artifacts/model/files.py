"""One model file as facts: what it is, and what its content shows."""

from __future__ import annotations

from typing import Any

from audit.collect.artifacts.model.gguf import gguf_facts
from audit.collect.artifacts.model.pickle_child import pickle_facts
from audit.collect.artifacts.model.recognition import (
    GGUF,
    NUMPY,
    PICKLE,
    SAFETENSORS,
    UNKNOWN,
    expected_format,
    format_of,
)
from audit.collect.artifacts.model.safetensors import safetensors_facts
from audit.collect.artifacts.model.settings import ModelSettings
from audit.collect.artifacts.reading import Artifact

EXAMINED = frozenset({PICKLE, SAFETENSORS, GGUF, NUMPY})


def file_spec(artifact: Artifact, sha256: str, settings: ModelSettings) -> dict[str, Any]:
    """The facts of a file that `format_of` recognises.

    ``examined`` is false for formats that are known by name alone: nothing is said of what is in them.

    Raises:
        OSError: it can't be read.
    """
    kind = format_of(artifact.name, artifact.head) or UNKNOWN
    expected = expected_format(artifact.name)
    pickled = pickle_facts(artifact.path, settings) if kind == PICKLE else None
    header = _header(kind, artifact, settings)
    if pickled is not None and _is_plain_array(pickled):
        kind, header = NUMPY, {"status": "valid", "reason": "", "problems": []}
    return {
        "file": {"label": artifact.label, "sha256": sha256, "bytes": artifact.size},
        "format": kind,
        "examined": kind in EXAMINED,
        "ending": {
            "status": "open" if expected is None else "fits" if expected == kind else "differs",
            "expected": expected,
        },
        "pickle": pickled,
        "header": header,
    }


def _is_plain_array(found: dict[str, Any]) -> bool:
    """An array of numbers, or an archive of them, with nothing else in it: NumPy loads it without a pickle."""
    return (
        found["form"] in ("npy", "npz")
        and found["status"] == "read"
        and found["pickles"] == 0
        and not any(found[key]["count"] for key in ("broken", "unexamined", "odd"))
    )


def _header(kind: str, artifact: Artifact, settings: ModelSettings) -> dict[str, Any] | None:
    if kind == SAFETENSORS:
        return safetensors_facts(artifact.path, max_header=settings.header_max_bytes)
    if kind == GGUF:
        return gguf_facts(artifact.path, max_entries=settings.max_entries)
    return None
