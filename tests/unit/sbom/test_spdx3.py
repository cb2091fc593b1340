"""SPDX 3 in JSON-LD, with models and data sets."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.sbom.reading import codes, read, read_file, spoilt_everywhere

BASE = "https://sbom.example.test/"


def element(id_: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "spdxId": BASE + id_, "creationInfo": "_:made", **more}


def relation(name: str, start: str, kind: str, *ends: str) -> dict[str, Any]:
    to = [end if ":" in end else BASE + end for end in ends]
    return element(name, "Relationship", **{"from": BASE + start, "relationshipType": kind, "to": to})


_DOCUMENT: dict[str, Any] = {
    "@context": "https://spdx.org/rdf/3.0.1/spdx-context.jsonld",
    "@graph": [
        {
            "type": "CreationInfo",
            "@id": "_:made",
            "specVersion": "3.0.1",
            "created": "2026-05-01T00:00:00Z",
            "createdBy": [BASE + "ann"],
        },
        element("ann", "Person", name="Ann"),
        element(
            "doc",
            "SpdxDocument",
            rootElement=[BASE + "bom"],
            profileConformance=["core", "software", "ai", "dataset"],
        ),
        element("bom", "software_Sbom", rootElement=[BASE + "model"]),
        element(
            "model",
            "ai_AIPackage",
            name="llm-7b",
            software_packageVersion="1",
            suppliedBy=BASE + "ann",
            verifiedUsing=[{"type": "Hash", "algorithm": "sha256", "hashValue": "ab" * 32}],
        ),
        element("data", "dataset_DatasetPackage", name="corpus", dataset_datasetType=["text"]),
        element("mit", "simplelicensing_LicenseExpression", simplelicensing_licenseExpression="MIT"),
        element("isc", "simplelicensing_LicenseExpression", simplelicensing_licenseExpression="ISC"),
        relation("r1", "model", "trainedOn", "data"),
        relation("r2", "model", "hasDeclaredLicense", "mit", "isc"),
        relation(
            "r3",
            "data",
            "hasConcludedLicense",
            "https://spdx.org/rdf/3.0.1/terms/ExpandedLicensing/NoAssertionLicense",
        ),
    ],
}


def document() -> dict[str, Any]:
    return copy.deepcopy(_DOCUMENT)


def test_models_and_data_sets_are_recognised(tmp_path: Path) -> None:
    spec = read(document(), tmp_path)
    assert spec["format"]["status"] == "valid", spec["format"]["problems"]
    assert (spec["standard"], spec["version"], spec["serialisation"]) == ("SPDX", "3.0.1", "json-ld")
    assert spec["profiles"] == ["ai", "dataset", "software"]
    assert (spec["counts"]["models"], spec["counts"]["datasets"], spec["counts"]["edges"]) == (1, 1, 1)
    assert codes(spec) == {}
    assert spec["authors"] == ["Ann"]
    [subject] = spec["subjects"]["listed"]
    assert (subject["name"], subject["images"]) == ("llm-7b", ["sha256:" + "ab" * 32])


def test_licences_stand_in_relationships(tmp_path: Path) -> None:
    found = {row["examples"][0]: row for row in read(document(), tmp_path)["licences"]["expressions"]}
    assert found["llm-7b"]["alternatives"] == [["MIT", "ISC"]]
    assert found["corpus"]["status"] == "noassertion"


FAULTS: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "duplicate_id": lambda graph: graph.append(dict(graph[5])),
    "dangling_reference": lambda graph: graph.append(relation("r4", "model", "dependsOn", "nowhere")),
    "no_describes": lambda graph: graph[3].pop("rootElement"),
    "no_id": lambda graph: graph[5].pop("spdxId"),
    "no_document": lambda graph: graph.pop(2),
    "bad_created": lambda graph: graph[0].update(created="yesterday"),
    "no_created": lambda graph: graph[0].pop("created"),
    "bad_checksum": lambda graph: graph[4]["verifiedUsing"][0].update(hashValue="ab"),
    "bad_external_ref": lambda graph: graph[4].update(software_packageUrl="llm"),
    "unreachable": lambda graph: graph.pop(8),
    "bad_relationship": lambda graph: graph[8].pop("from"),
    "empty_profile": lambda graph: (graph.pop(8), graph.pop(5)),
}


@pytest.mark.parametrize("code", FAULTS)
def test_each_fault_has_its_name(code: str, tmp_path: Path) -> None:
    spoilt = document()
    if code == "no_describes":
        spoilt["@graph"][2].pop("rootElement")
    FAULTS[code](spoilt["@graph"])
    assert code in codes(read(spoilt, tmp_path))


def test_what_another_document_defines_is_not_dangling(tmp_path: Path) -> None:
    spoilt = document()
    spoilt["@graph"].append(relation("r4", "model", "dependsOn", "elsewhere"))
    spoilt["@graph"][2]["import"] = [{"type": "ExternalMap", "externalSpdxId": BASE + "elsewhere"}]
    assert codes(read(spoilt, tmp_path)) == {}


def test_the_schema_is_asked(tmp_path: Path) -> None:
    spoilt = document()
    spoilt["@graph"][4]["name"] = 7
    assert read(spoilt, tmp_path)["format"]["status"] == "invalid"


def test_wrong_types_everywhere_are_read_past(tmp_path: Path) -> None:
    for spoilt in spoilt_everywhere(document()):
        path = tmp_path / "x"
        path.write_text(json.dumps(spoilt), encoding="utf-8")
        spec = read_file(path)
        assert spec is None or spec["content"]["status"] == "read"
