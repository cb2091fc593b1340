"""What makes a document unsound is named and counted, and reading goes on after the first fault."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.sbom.reading import codes, cyclonedx, read, read_file, spdx, spoilt_everywhere

Spoil = Callable[[dict[str, Any]], Any]


def relation(start: str, kind: str, end: str) -> dict[str, str]:
    return {"spdxElementId": start, "relationshipType": kind, "relatedSpdxElement": end}


SPDX_FAULTS: dict[str, Spoil] = {
    "duplicate_id": lambda d: d["packages"].append(dict(d["packages"][1])),
    "malformed_id": lambda d: d["packages"][1].update(SPDXID="SPDXRef-a_b"),
    "no_id": lambda d: d["packages"][1].pop("SPDXID"),
    "dangling_reference": lambda d: d["relationships"].append(
        relation("SPDXRef-lib", "CONTAINS", "SPDXRef-x")
    ),
    "no_describes": lambda d: d.update(relationships=d["relationships"][1:]),
    "unreachable": lambda d: d["packages"].append(
        {"SPDXID": "SPDXRef-z", "name": "z", "downloadLocation": "NONE"}
    ),
    "bad_namespace": lambda d: d.update(documentNamespace="https://sbom.example.test/demo#a"),
    "no_namespace": lambda d: d.pop("documentNamespace"),
    "bad_data_license": lambda d: d.update(dataLicense="MIT"),
    "bad_document_id": lambda d: d.update(SPDXID="SPDXRef-doc"),
    "bad_created": lambda d: d["creationInfo"].update(created="2026-05-01T00:00:00+02:00"),
    "no_created": lambda d: d["creationInfo"].pop("created"),
    "bad_creator": lambda d: d["creationInfo"]["creators"].append("somebody"),
    "bad_checksum": lambda d: d["packages"][0]["checksums"][0].update(checksumValue="ab"),
    "bad_external_ref": lambda d: d["packages"][0].update(
        externalRefs=[
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "npm/x"}
        ]
    ),
    "bad_relationship": lambda d: d["relationships"].append({"spdxElementId": "SPDXRef-lib"}),
    "verification_code_unexpected": lambda d: d["packages"][1].update(
        packageVerificationCode={"packageVerificationCodeValue": "0" * 40}
    ),
}
CYCLONEDX_FAULTS: dict[str, Spoil] = {
    "duplicate_id": lambda d: d["components"].append({"type": "library", "bom-ref": "lib", "name": "other"}),
    "dangling_reference": lambda d: d["dependencies"][1].update(dependsOn=["nowhere"]),
    "no_describes": lambda d: d["metadata"].pop("component"),
    "unreachable": lambda d: d["components"].append({"type": "library", "bom-ref": "z", "name": "z"}),
    "bad_namespace": lambda d: d.update(serialNumber="7"),
    "duplicate_dependency": lambda d: d["dependencies"].append({"ref": "lib", "dependsOn": []}),
    "bad_relationship": lambda d: d["dependencies"].append({"dependsOn": ["lib"]}),
    "bad_checksum": lambda d: d["components"][0].update(hashes=[{"alg": "SHA-256", "content": "ab"}]),
    "bad_external_ref": lambda d: d["components"][0].update(purl="npm/x"),
}


@pytest.mark.parametrize("make", [spdx, cyclonedx])
def test_the_sound_document_is_sound(make: Callable[[], dict[str, Any]], tmp_path: Path) -> None:
    spec = read(make(), tmp_path)
    assert spec["structure"]["problems"] == []
    assert spec["structure"]["status"] == "sound"
    assert spec["format"]["status"] == "valid"


@pytest.mark.parametrize(
    ("make", "code", "spoil"),
    [(spdx, *fault) for fault in SPDX_FAULTS.items()]
    + [(cyclonedx, *fault) for fault in CYCLONEDX_FAULTS.items()],
    ids=[f"spdx-{code}" for code in SPDX_FAULTS] + [f"cyclonedx-{code}" for code in CYCLONEDX_FAULTS],
)
def test_each_fault_has_its_name(
    make: Callable[[], dict[str, Any]], code: str, spoil: Spoil, tmp_path: Path
) -> None:
    document = make()
    spoil(document)
    spec = read(document, tmp_path)
    assert spec["structure"]["status"] == "unsound"
    assert codes(spec)[code] >= 1
    assert spec["content"]["status"] == "read", "reading goes on"


def test_all_faults_at_once_are_all_told(tmp_path: Path) -> None:
    together = {
        "duplicate_id",
        "dangling_reference",
        "bad_data_license",
        "bad_checksum",
        "bad_created",
        "bad_creator",
    }
    document = spdx()
    for code in together:
        SPDX_FAULTS[code](document)
    assert together <= codes(read(document, tmp_path)).keys()


def test_references_into_named_documents_are_not_dangling(tmp_path: Path) -> None:
    document = spdx()
    document["relationships"].append(relation("SPDXRef-lib", "DEPENDS_ON", "DocumentRef-other:SPDXRef-p"))
    assert codes(read(document, tmp_path)) == {"dangling_reference": 1}
    document["externalDocumentRefs"] = [
        {
            "externalDocumentId": "DocumentRef-other",
            "spdxDocument": "https://sbom.example.test/other",
            "checksum": {"algorithm": "SHA1", "checksumValue": "0" * 40},
        }
    ]
    assert codes(read(document, tmp_path)) == {}


@pytest.mark.parametrize("kind", ["DEPENDENCY_OF", "CONTAINED_BY", "PREREQUISITE_FOR"])
def test_types_that_read_from_the_part_connect_as_well(kind: str, tmp_path: Path) -> None:
    document = spdx()
    document["relationships"][1] = relation("SPDXRef-lib", kind, "SPDXRef-image")
    assert codes(read(document, tmp_path)) == {}


def test_described_by_describes(tmp_path: Path) -> None:
    document = spdx()
    document["relationships"][0] = relation("SPDXRef-image", "DESCRIBED_BY", "SPDXRef-DOCUMENT")
    spec = read(document, tmp_path)
    assert codes(spec) == {}
    assert [subject["id"] for subject in spec["subjects"]["listed"]] == ["SPDXRef-image"]


def verified(code: str, sha1: str = "d" * 40) -> dict[str, Any]:
    document = spdx()
    document["packages"][1] |= {
        "filesAnalyzed": True,
        "packageVerificationCode": {
            "packageVerificationCodeValue": code,
            "packageVerificationCodeExcludedFiles": ["./own.spdx"],
        },
    }
    document["files"] = [
        {
            "SPDXID": f"SPDXRef-f{i}",
            "fileName": name,
            "checksums": [{"algorithm": "SHA1", "checksumValue": value}],
        }
        for i, (name, value) in enumerate([("./a", sha1), ("./b", "c" * 40), ("./own.spdx", "e" * 40)])
    ]
    document["relationships"] += [relation("SPDXRef-lib", "CONTAINS", f"SPDXRef-f{i}") for i in range(3)]
    return document


def test_the_verification_code_is_worked_out(tmp_path: Path) -> None:
    # sha1 over the sorted digests of a and b; own.spdx is left out.
    right = hashlib.sha1(("c" * 40 + "d" * 40).encode()).hexdigest()
    assert codes(read(verified(right), tmp_path)) == {}
    of_capitals = hashlib.sha1(("C" * 40 + "D" * 40).encode()).hexdigest()
    assert codes(read(verified(of_capitals), tmp_path)) == {}
    assert codes(read(verified(right, sha1="f" * 40), tmp_path)) == {"verification_code_mismatch": 1}
    assert codes(read(verified("xyz"), tmp_path)) == {"bad_verification_code": 1}
    missing = verified(right)
    del missing["packages"][1]["packageVerificationCode"]
    assert codes(read(missing, tmp_path)) == {"verification_code_missing": 1}


@pytest.mark.parametrize("make", [spdx, cyclonedx])
def test_wrong_types_everywhere_are_read_past(make: Callable[[], dict[str, Any]], tmp_path: Path) -> None:
    whole = make()
    if make is spdx:
        whole = verified("0" * 40) | {
            "externalDocumentRefs": [
                {"externalDocumentId": "DocumentRef-a", "checksum": {"algorithm": "SHA1"}}
            ],
            "hasExtractedLicensingInfos": [{"licenseId": "LicenseRef-a"}],
            "documentDescribes": ["SPDXRef-image"],
        }
        whole["packages"][0]["externalRefs"] = [{"referenceType": "purl", "referenceLocator": "pkg:a/b"}]
    for spoilt in spoilt_everywhere(whole):
        path = tmp_path / "x"
        path.write_text(json.dumps(spoilt), encoding="utf-8")
        spec = read_file(path)
        assert spec is None or spec["content"]["status"] == "read"


def test_cycles_are_found_and_no_fault(tmp_path: Path) -> None:
    document = spdx()
    document["relationships"] += [
        relation("SPDXRef-lib", "DEPENDS_ON", "SPDXRef-image"),
        relation("SPDXRef-lib", "DEPENDS_ON", "SPDXRef-lib"),
    ]
    spec = read(document, tmp_path)
    assert spec["structure"]["status"] == "sound"
    assert spec["structure"]["cycles"] == {"count": 1, "examples": [["SPDXRef-image", "SPDXRef-lib"]]}
