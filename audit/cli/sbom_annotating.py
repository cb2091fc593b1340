"""Reads a document and verdicts, and writes the document with them."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

import audit
from audit.collect.artifacts.evidence.scorecard import ScorecardReader
from audit.collect.artifacts.evidence.settings import EvidenceSettings
from audit.collect.artifacts.evidence.testgrid import TestGridReader
from audit.collect.artifacts.reading import Artifact, UnreadError, look_at
from audit.collect.artifacts.sbom.annotate import annotate, annotations_of
from audit.collect.artifacts.sbom.problems import FormatError
from audit.collect.artifacts.sbom.reader import plain_spdx2
from audit.errors import ReportError, UsageError

_MAX_BYTES = 256 << 20


def annotated(file: str, verdicts: Sequence[str], *, element: str, output: str | None) -> int:
    """Write the document with the verdicts; the number of annotations added.

    Raises:
        UsageError: a file is missing, is not what it should be, or the element is not there.
        ReportError: the result can't be written.
    """
    annotations = [one for name in verdicts for one in _annotations(name)]
    try:
        document = plain_spdx2(_artifact(file))
        added = annotate(document, element, annotations)
    except FormatError as error:
        raise UsageError(error.message, file=file) from None
    except UnreadError as error:
        raise UsageError(error.reason, file=file) from None
    _write(document, output)
    return added


def _annotations(name: str) -> list[dict[str, str]]:
    settings = EvidenceSettings()
    artifact = _artifact(name)
    reader = next(
        (r for r in (ScorecardReader(settings), TestGridReader(settings)) if r.recognises(artifact)), None
    )
    if reader is None:
        raise UsageError("is no result of Scorecard or TestGrid", file=name)
    try:
        annotator = f"Tool: fleetaudit-{audit.__version__}"
        return [
            one
            for facts in reader.read(artifact)
            for one in annotations_of(facts.kind, facts.spec, annotator)
        ]
    except FormatError as error:
        raise UsageError(error.message, file=name) from None
    except UnreadError as error:
        raise UsageError(error.reason, file=name) from None


def _artifact(name: str) -> Artifact:
    path = Path(name)
    try:
        if path.is_dir():
            raise UsageError("is a folder", file=name)
        return look_at(path, name, max_bytes=_MAX_BYTES)
    except FileNotFoundError:
        raise UsageError("there is no such file", file=name) from None
    except OSError as error:
        raise UsageError(error.strerror or "unreadable", file=name) from None


def _write(document: dict[str, Any], output: str | None) -> None:
    data = msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"
    if output is None or output == "-":
        sys.stdout.buffer.write(data)
        return
    path = Path(output)
    try:
        # Whole or not at all: the file named may be the document itself.
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
            Path(beside).chmod(mode)
            Path(beside).replace(path)
        except OSError:
            Path(beside).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ReportError(error.strerror or "it can't be written", file=output) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
