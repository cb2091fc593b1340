"""A folder with artifacts, a configuration, and the facts that the readers give for it."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from audit.collect.artifacts.reading import Artifact, ArtifactReader, Facts, Registry, look_at
from audit.collect.artifacts.signatures.factory import readers
from audit.collect.artifacts.signatures.settings import SignatureSettings
from tests.signatures.sigstore_chain import ISSUER, NOW, SUBJECT, Chain

LATER = NOW + dt.timedelta(days=1)
OURS: dict[str, Any] = {
    "name": "ours",
    "artifacts": ["**"],
    "any_of": [{"name": "release", "issuer": ISSUER, "subject": SUBJECT}],
}


class Workbench:
    """One folder."""

    def __init__(self, folder: Path, chain: Chain | None = None) -> None:
        self.folder = folder
        self.chain = chain or Chain()
        self.config: dict[str, Any] = {"policies": [OURS], "trusted_root": {"path": "root.json"}}
        self.now = LATER
        self.root(self.chain.trusted_root())

    def root(self, document: Any) -> None:
        (self.folder / "root.json").write_text(json.dumps(document))

    def put(self, name: str, value: Any) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
        return path

    def readers(self) -> Sequence[ArtifactReader]:
        settings = msgspec.convert(self.config, SignatureSettings) if self.config else None
        return readers(settings, base=self.folder, now=self.now)

    def artifact(self, name: str, *, max_bytes: int = 64 << 20) -> Artifact:
        return look_at(self.folder / name, name, max_bytes=max_bytes)

    def facts(self, name: str, *, kind: str | None = None) -> list[Facts]:
        artifact = self.artifact(name)
        found = Registry(self.readers()).readers_of(artifact)
        assert found, f"no reader for {name}"
        facts = [(one, reader) for reader in found for one in reader.read(artifact)]
        assert all(one.kind in reader.kinds for one, reader in facts)
        return [one for one, _ in facts if kind is None or one.kind == kind]

    def spec(self, name: str, *, kind: str = "SignatureBundle") -> dict[str, Any]:
        (facts,) = self.facts(name, kind=kind)
        plain: dict[str, Any] = json.loads(json.dumps(facts.document()["spec"]))  # plain JSON values only
        return plain
