"""Read a document as a run would, from bytes or from a file."""

from __future__ import annotations

import copy
import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audit.collect.artifacts.reading import look_at
from audit.collect.artifacts.sbom.reader import SbomReader
from audit.collect.artifacts.sbom.settings import SbomSettings

NOW = dt.datetime(2026, 6, 1, tzinfo=dt.UTC)
SETTINGS = SbomSettings(deep=False, now=NOW)
DIGEST = "sha256:" + "ab" * 32

_SPDX: dict[str, Any] = {
    "spdxVersion": "SPDX-2.3",
    "dataLicense": "CC0-1.0",
    "SPDXID": "SPDXRef-DOCUMENT",
    "name": "demo",
    "documentNamespace": "https://sbom.example.test/demo",
    "creationInfo": {
        "created": "2026-05-01T00:00:00Z",
        "creators": ["Organization: example", "Tool: hand-1"],
    },
    "packages": [
        {
            "SPDXID": "SPDXRef-image",
            "name": "registry.example.test/demo",
            "versionInfo": "1",
            "supplier": "Organization: example",
            "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False,
            "licenseConcluded": "Apache-2.0",
            "primaryPackagePurpose": "CONTAINER",
            "checksums": [{"algorithm": "SHA256", "checksumValue": "ab" * 32}],
        },
        {
            "SPDXID": "SPDXRef-lib",
            "name": "lib",
            "versionInfo": "2",
            "supplier": "Person: Ann",
            "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False,
            "licenseDeclared": "MIT",
        },
    ],
    "relationships": [
        {
            "spdxElementId": "SPDXRef-DOCUMENT",
            "relationshipType": "DESCRIBES",
            "relatedSpdxElement": "SPDXRef-image",
        },
        {
            "spdxElementId": "SPDXRef-image",
            "relationshipType": "CONTAINS",
            "relatedSpdxElement": "SPDXRef-lib",
        },
    ],
}
_CYCLONEDX: dict[str, Any] = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.6",
    "serialNumber": "urn:uuid:3e671687-395b-41f5-a30f-a58921a69b79",
    "version": 1,
    "metadata": {
        "timestamp": "2026-05-01T02:00:00+02:00",
        "authors": [{"name": "Ann"}],
        "component": {"type": "container", "bom-ref": "image", "name": "demo", "version": DIGEST},
    },
    "components": [
        {
            "type": "library",
            "bom-ref": "lib",
            "name": "lib",
            "version": "2",
            "licenses": [{"license": {"id": "MIT"}}],
        }
    ],
    "dependencies": [{"ref": "image", "dependsOn": ["lib"]}, {"ref": "lib"}],
}


def spdx() -> dict[str, Any]:
    """A sound SPDX 2.3 document, to be spoilt."""
    return copy.deepcopy(_SPDX)


def cyclonedx() -> dict[str, Any]:
    """A sound CycloneDX 1.6 document, to be spoilt."""
    return copy.deepcopy(_CYCLONEDX)


def read_file(path: Path, settings: SbomSettings = SETTINGS) -> dict[str, Any] | None:
    """The facts of a file; None when it is no SBOM."""
    reader = SbomReader(settings)
    artifact = look_at(path, path.name, max_bytes=64 << 20)
    if not reader.recognises(artifact):
        return None
    [facts] = reader.read(artifact)
    json.dumps(facts.document())
    return dict(facts.spec)


def read(
    content: bytes | dict[str, Any], tmp_path: Path, settings: SbomSettings = SETTINGS
) -> dict[str, Any]:
    """The facts of a document."""
    path = tmp_path / "document"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    found = read_file(path, settings)
    assert found is not None, "not recognised"
    return found


def codes(spec: dict[str, Any]) -> dict[str, int]:
    """Structural problems with their counts."""
    return {problem["code"]: problem["count"] for problem in spec["structure"]["problems"]}


WRONG = (None, 7, "x", [[]], [{}], {"a": {}})
"""Values that stand where something else should."""


def spoilt_everywhere(whole: Any) -> Iterator[Any]:
    """The document with each place in turn replaced by something wrong."""
    for place in places(whole):
        for value in WRONG:
            changed = copy.deepcopy(whole)
            holder = changed
            for key in place[:-1]:
                holder = holder[key]
            holder[place[-1]] = value
            yield changed


def places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where anything stands in a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield (*before, key)
        yield from places(part, (*before, key))
