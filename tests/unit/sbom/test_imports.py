"""What reads bills of materials is loaded when one is met, and not before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli.terminal import CHECKOUT

HEAVY = ("spdx_tools", "license_expression", "jsonschema_rs", "yaml", "rdflib")
PROGRAM = """
import sys
from pathlib import Path
from audit.collect.artifacts.evidence.factory import readers as of_results
from audit.collect.artifacts.evidence.settings import EvidenceSettings
from audit.collect.artifacts.reading import Registry, look_at
from audit.collect.artifacts.sbom.reader import readers
from audit.collect.artifacts.sbom.settings import SbomSettings
registry = Registry([*readers(SbomSettings()), *of_results(EvidenceSettings())])
for name in sys.argv[2:]:
    for reader in registry.readers_of(look_at(Path(name), name, max_bytes=1 << 20)):
        list(reader.read(look_at(Path(name), name, max_bytes=1 << 20)))
print(*sorted(set(sys.argv[1].split(",")) & set(sys.modules)))
"""


@pytest.mark.parametrize(
    ("content", "loaded"),
    [
        (None, []),
        ("kind: Pod\napiVersion: v1\n", []),
        ('{"SchemaVersion": 2, "ArtifactName": "x", "Results": [{"Target": "x"}]}', []),
        ('{"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1}', ["jsonschema_rs"]),
        (
            '{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [{"type": "library", "name": "x",'
            ' "licenses": [{"expression": "MIT"}]}]}',
            ["jsonschema_rs", "license_expression"],
        ),
    ],
    ids=["nothing", "manifest", "scan", "bill of materials", "licences"],
)
def test_only_what_is_needed_is_loaded(content: str | None, loaded: list[str], tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(content or "", encoding="utf-8")
    names = [str(path)] if content else []
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, ",".join(HEAVY), *names],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == loaded
