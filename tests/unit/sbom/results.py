"""Read results of other tools as a run would."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

from audit.collect.artifacts.evidence.factory import readers
from audit.collect.artifacts.evidence.settings import EvidenceSettings
from audit.collect.artifacts.reading import ArtifactReader, Facts, look_at

NOW = dt.datetime(2026, 6, 1, tzinfo=dt.UTC)
READERS = readers(EvidenceSettings(now=NOW))


def reader_of(path: Path) -> ArtifactReader | None:
    """The only reader that recognises a file."""
    artifact = look_at(path, path.name, max_bytes=64 << 20)
    found = [reader for reader in READERS if reader.recognises(artifact)]
    assert len(found) <= 1, [reader.name for reader in found]
    return found[0] if found else None


def facts_of(path: Path) -> list[Facts]:
    """All facts of a file."""
    reader = reader_of(path)
    assert reader is not None, f"{path.name} is not recognised"
    found = list(reader.read(look_at(path, path.name, max_bytes=64 << 20)))
    assert {facts.kind for facts in found} <= reader.kinds
    json.dumps([facts.document() for facts in found])
    return found


def spec_of(content: Any, tmp_path: Path) -> dict[str, Any]:
    """The facts of a document with one result."""
    path = tmp_path / "result"
    data = content if isinstance(content, bytes) else content.encode() if isinstance(content, str) else None
    path.write_bytes(data if data is not None else json.dumps(content).encode())
    [facts] = facts_of(path)
    return dict(facts.spec)
