"""Reading bills of materials against the validators of others: `python bench/sbom.py [--peers PYTHON]`.

Generated documents: SPDX 2.3 with 10,000 and 50,000 packages and two relationships each, CycloneDX 1.6 with 10,000
components. Ours reads, validates by schema, checks structure, licences and completeness, and makes the facts, in a process
of its own. The peers validate: spdx-tools (`validate_full_spdx_document`, in our environment) and cyclonedx-python-lib
(`JsonStrictValidator`, in the environment that `--peers` names, because it is no dependency of ours).
spdx-tools takes time with the square of the size, so its time at 10,000 packages is worked out from measured smaller ones
unless `--whole` is given; what is worked out is marked with ~.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

PEAK = """
def peak():
    # Unlike ru_maxrss, this begins anew with the program: what the bench itself holds is not counted.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
"""
OURS = """
import sys, time
from pathlib import Path
from audit.collect.artifacts.reading import look_at
from audit.collect.artifacts.sbom.reader import SbomReader
from audit.collect.artifacts.sbom.settings import SbomSettings
path = Path(sys.argv[1])
reader = SbomReader(SbomSettings(deep=False))
from license_expression import get_spdx_licensing
begun = time.process_time()
[facts] = list(reader.read(look_at(path, path.name, max_bytes=256 << 20)))
used = time.process_time() - begun
assert facts.spec["format"]["status"] == "valid", facts.spec["format"]
assert facts.spec["content"]["status"] == "read"
print(used, peak())
"""
SPDX_TOOLS = """
import logging, sys, time
logging.disable(logging.CRITICAL)
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document
begun = time.process_time()
messages = validate_full_spdx_document(parse_file(sys.argv[1]))
used = time.process_time() - begun
assert not messages, messages[:3]
print(used, peak())
"""
CYCLONEDX = """
import sys, time
from pathlib import Path
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
begun = time.process_time()
error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(Path(sys.argv[1]).read_text())
used = time.process_time() - begun
assert error is None, error
print(used, peak())
"""


def spdx(number: int) -> dict[str, object]:
    licences = (
        "MIT",
        "Apache-2.0",
        "(MIT OR Apache-2.0)",
        "GPL-2.0-only WITH Classpath-exception-2.0",
        "NOASSERTION",
    )
    packages = [
        {
            "SPDXID": f"SPDXRef-p{i}",
            "name": f"package-{i}",
            "versionInfo": f"1.{i}",
            "supplier": "Organization: example",
            "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False,
            "licenseConcluded": licences[i % 5],
            "licenseDeclared": licences[i % 5],
            "copyrightText": "NOASSERTION",
            "checksums": [{"algorithm": "SHA256", "checksumValue": f"{i:064x}"}],
            "externalRefs": [
                {
                    "referenceCategory": "PACKAGE-MANAGER",
                    "referenceType": "purl",
                    "referenceLocator": f"pkg:pypi/package-{i}@1.{i}",
                }
            ],
        }
        for i in range(number)
    ]
    relationships = [
        {
            "spdxElementId": "SPDXRef-DOCUMENT",
            "relationshipType": "DESCRIBES",
            "relatedSpdxElement": "SPDXRef-p0",
        }
    ]
    for i in range(1, number):
        relationships += [
            {
                "spdxElementId": f"SPDXRef-p{start}",
                "relationshipType": "DEPENDS_ON",
                "relatedSpdxElement": f"SPDXRef-p{i}",
            }
            for start in (i // 2, i - 1)
        ]
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": "bench",
        "documentNamespace": "https://sbom.example.test/bench",
        "creationInfo": {
            "created": "2026-01-02T03:04:05Z",
            "creators": ["Organization: example", "Tool: bench-1"],
        },
        "packages": packages,
        "relationships": relationships,
    }


def cyclonedx(number: int) -> dict[str, object]:
    components = [
        {
            "type": "library",
            "bom-ref": f"p{i}",
            "name": f"package-{i}",
            "version": f"1.{i}",
            "supplier": {"name": "example"},
            "licenses": [{"license": {"id": "MIT"}}],
            "hashes": [{"alg": "SHA-256", "content": f"{i:064x}"}],
            "purl": f"pkg:pypi/package-{i}@1.{i}",
        }
        for i in range(number)
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": "urn:uuid:00000000-0000-4000-8000-000000000000",
        "version": 1,
        "metadata": {
            "timestamp": "2026-01-02T03:04:05Z",
            "component": {"type": "container", "bom-ref": "root", "name": "bench"},
        },
        "components": components,
        "dependencies": [
            {"ref": "root", "dependsOn": ["p0"]},
            *({"ref": f"p{i}", "dependsOn": [f"p{i + 1}"]} for i in range(number - 1)),
        ],
    }


def measure(python: str, program: str, path: Path) -> tuple[float, float]:
    """CPU seconds and peak MB of one run in its own process."""
    done = subprocess.run(
        [python, "-c", PEAK + program, str(path)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    seconds, megabytes = done.stdout.split()
    return float(seconds), float(megabytes)


def row(
    name: str, seconds: float, megabytes: float, *, ratio: float | None = None, about: bool = False
) -> None:
    shown = f"{'~' if about else ''}{seconds:.3f}"
    memory = "" if about else f"{megabytes:.0f} MB"
    times = f"  {ratio:8.0f} x" if ratio else ""
    print(f"{name:44} {shown:>12} s cpu {memory:>10}{times}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--peers", default=sys.executable, help="a Python that has cyclonedx-python-lib[validation]"
    )
    parser.add_argument(
        "--whole", action="store_true", help="run spdx-tools on 10,000 packages, too (minutes)"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)

        def written(name: str, document: dict[str, object]) -> Path:
            path = here / name
            path.write_text(json.dumps(document), encoding="utf-8")
            return path

        small = [written(f"spdx-{n}.spdx.json", spdx(n)) for n in (500, 1000, 2000)]
        ten = written("spdx-10000.spdx.json", spdx(10_000))
        fifty = written("spdx-50000.spdx.json", spdx(50_000))
        bom = written("cyclonedx-10000.cdx.json", cyclonedx(10_000))
        times = []
        for path in small:
            ours, memory = measure(sys.executable, OURS, path)
            peer, peer_memory = measure(sys.executable, SPDX_TOOLS, path)
            times.append(peer)
            row(f"SPDX {path.stem.split('-')[1].split('.')[0]} fleetaudit", ours, memory)
            row(
                f"SPDX {path.stem.split('-')[1].split('.')[0]} spdx-tools",
                peer,
                peer_memory,
                ratio=peer / ours,
            )
        ours, memory = measure(sys.executable, OURS, ten)
        row("SPDX 10000 fleetaudit", ours, memory)
        if arguments.whole:
            peer, peer_memory = measure(sys.executable, SPDX_TOOLS, ten)
        else:
            # Only the part that grows with the square is carried over, from the two largest.
            peer, peer_memory = (times[2] - times[1]) / 3 * 100, 0.0
        row("SPDX 10000 spdx-tools", peer, peer_memory, ratio=peer / ours, about=not arguments.whole)
        ours, memory = measure(sys.executable, OURS, fifty)
        row("SPDX 50000 fleetaudit", ours, memory)
        ours, memory = measure(sys.executable, OURS, bom)
        row("CycloneDX 10000 fleetaudit", ours, memory)
        peer, peer_memory = measure(arguments.peers, CYCLONEDX, bom)
        row("CycloneDX 10000 cyclonedx-python-lib", peer, peer_memory, ratio=peer / ours)


if __name__ == "__main__":
    main()
