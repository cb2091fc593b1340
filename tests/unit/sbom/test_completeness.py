"""Minimum elements are counted one by one: there, missing, NOASSERTION, NONE."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.sbom.reading import cyclonedx, read, spdx


def rows(spec: dict[str, Any], profile: str) -> dict[str, tuple[int, int, int, int]]:
    elements = spec["completeness"][profile]["elements"]
    assert all(e["total"] == e["present"] + e["absent"] + e["noassertion"] + e["none"] for e in elements)
    return {e["name"]: (e["present"], e["absent"], e["noassertion"], e["none"]) for e in elements}


def test_a_complete_document(tmp_path: Path) -> None:
    spec = read(spdx(), tmp_path)
    assert spec["completeness"]["ntia"]["status"] == "complete"
    assert set(rows(spec, "ntia")) == {
        "author", "timestamp", "supplier", "name", "version", "relationship", "identifier",
    }  # fmt: skip


def test_four_ways_to_say_something(tmp_path: Path) -> None:
    document = spdx()
    for i, supplier in enumerate((None, "NOASSERTION", "NONE", "Organization: ", "Organization: x")):
        package = {"SPDXID": f"SPDXRef-{i}", "name": "p", "downloadLocation": "NONE", "versionInfo": "1"}
        document["packages"].append(package | ({"supplier": supplier} if supplier else {}))
    found = rows(read(document, tmp_path), "ntia")
    assert found["supplier"] == (3, 2, 1, 1)
    assert found["relationship"] == (2, 5, 0, 0)
    assert read(document, tmp_path)["completeness"]["ntia"]["status"] == "incomplete"


@pytest.mark.parametrize(
    ("profile", "element", "change"),
    [
        ("cisa", "hash", {"hashes": [{"alg": "MD5", "content": "0" * 32}]}),
        ("cisa", "licence", {"licenses": [{"expression": "MIT"}]}),
        ("cisa", "copyright", {"copyright": "Ann"}),
        ("cisa", "identifier", {"purl": "pkg:pypi/lib@2"}),
        ("ntia", "supplier", {"supplier": {"name": "Ann"}}),
        ("ntia", "supplier", {"publisher": "Ann"}),
        ("ntia", "version", {"version": "2"}),
        ("bsi", "sha512", {"hashes": [{"alg": "SHA-512", "content": "0" * 128}]}),
        ("bsi", "filename", {"properties": [{"name": "bsi:component:filename", "value": "lib.whl"}]}),
        (
            "bsi",
            "executable",
            {"properties": [{"name": "bsi:component:executable", "value": "non-executable"}]},
        ),
        ("bsi", "archive", {"properties": [{"name": "bsi:component:archive", "value": "archive"}]}),
        ("bsi", "structured", {"properties": [{"name": "bsi:component:structured", "value": "structured"}]}),
    ],
)
def test_each_element_is_found_where_cyclonedx_has_it(
    profile: str, element: str, change: dict[str, Any], tmp_path: Path
) -> None:
    document = cyclonedx()
    del document["metadata"]["component"]
    bare = {"type": "library", "name": "lib"}
    document["components"] = [bare]
    assert rows(read(document, tmp_path), profile)[element][:2] == (0, 1)
    document["components"] = [bare | change]
    assert rows(read(document, tmp_path), profile)[element][:2] == (1, 0)


def test_what_has_no_place_is_said_and_not_counted(tmp_path: Path) -> None:
    bsi = read(spdx(), tmp_path)["completeness"]["bsi"]
    assert bsi["unchecked"] == ["executable", "archive", "structured"]
    assert not {"executable", "archive"} & {element["name"] for element in bsi["elements"]}


def test_a_document_of_nothing_is_not_complete(tmp_path: Path) -> None:
    document = spdx()
    document["packages"] = []
    assert {one["status"] for one in read(document, tmp_path)["completeness"].values()} == {"incomplete"}


def test_an_author_who_can_be_reached(tmp_path: Path) -> None:
    document = spdx()
    assert rows(read(document, tmp_path), "bsi")["contact"] == (0, 1, 0, 0)
    document["creationInfo"]["creators"].append("Person: Ann (ann@example.test)")
    assert rows(read(document, tmp_path), "bsi")["contact"] == (1, 0, 0, 0)
