"""What a licence expression says, and what it must not be taken for."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.collect.artifacts.sbom.licences import MAX_ALTERNATIVES, licence_of
from tests.unit.sbom.reading import cyclonedx, read, spdx


@pytest.mark.parametrize(
    ("text", "alternatives"),
    [
        ("MIT", {("MIT",)}),
        ("mit", {("MIT",)}),
        ("(MIT)", {("MIT",)}),
        ("MIT OR ISC", {("MIT",), ("ISC",)}),
        ("MIT AND ISC", {("MIT", "ISC")}),
        ("MIT AND (ISC OR Zlib)", {("MIT", "ISC"), ("MIT", "Zlib")}),
        ("GPL-2.0-only WITH Classpath-exception-2.0", {("GPL-2.0-only WITH Classpath-exception-2.0",)}),
        ("LicenseRef-Apache", {("LicenseRef-Apache",)}),
        ("DocumentRef-a:LicenseRef-b", {("DocumentRef-a:LicenseRef-b",)}),
        ("MPL-1.1+", {("MPL-1.1+",)}),
    ],
)
def test_known(text: str, alternatives: set[tuple[str, ...]]) -> None:
    found = licence_of(text)
    assert found.status == "known"
    assert set(found.alternatives or ()) == alternatives


@pytest.mark.parametrize(
    "text",
    [
        "UNKNOWN", "MIT AND", "AND", "MIT OR OR ISC", "MIT ISC", "()", "(MIT", "MIT)", "MIT/X11", "GPL 2.0", "Apache 2.0",
        "MIT and ISC", "MIT or ISC", "GPL-2.0-only with Classpath-exception-2.0", "MIT WITH MIT", "Classpath-exception-2.0",
        "CDDL + GPLv2 with classpath exception", "noassertion", "none", "(" * 50_000 + "MIT" + ")" * 50_000,
        "MIT AND " * 20_000 + "MIT", "\0", "💥",
    ],
)  # fmt: skip
def test_unparsable(text: str) -> None:
    found = licence_of(text)
    assert found.status == "unparsable"
    assert found.reason
    assert not found.ids


def test_nothing_said_is_not_a_licence() -> None:
    assert [licence_of(text).status for text in (None, "", "  ", "NOASSERTION", "NONE")] == [
        "absent", "absent", "absent", "noassertion", "none",
    ]  # fmt: skip


def test_bombs_are_bounded() -> None:
    begun = time.process_time()
    bomb = " AND ".join(f"(MIT OR LicenseRef-{i})" for i in range(250))
    found = licence_of(bomb)
    assert found.status == "known"
    assert found.alternatives is None, f"more than {MAX_ALTERNATIVES}"
    assert len(found.ids) == 251
    assert time.process_time() - begun < 1


@given(st.text(alphabet="MITISC() ANDORWH-2.0+LicenseRef:", max_size=60))
def test_anything_has_a_status(text: str) -> None:
    found = licence_of(text)
    assert found.status in {"known", "none", "noassertion", "absent", "unparsable"}
    assert (found.status == "unparsable") == bool(found.reason)


def test_a_reference_is_known_when_the_document_declares_it(tmp_path: Path) -> None:
    document = spdx()
    document["packages"][0]["licenseConcluded"] = "LicenseRef-house"
    counts = read(document, tmp_path)["licences"]["counts"]
    assert (counts["undeclared_ref"], counts["known"]) == (1, 1)
    document["hasExtractedLicensingInfos"] = [{"licenseId": "LicenseRef-house", "extractedText": "be kind"}]
    counts = read(document, tmp_path)["licences"]["counts"]
    assert (counts["undeclared_ref"], counts["known"]) == (0, 2)


@pytest.mark.parametrize(
    ("licences", "expression"),
    [
        ([{"license": {"id": "MIT"}}, {"license": {"id": "ISC"}}], "MIT AND ISC"),
        ([{"license": {"name": "House licence"}}], "House licence"),
        ([{"expression": "MIT OR ISC"}], "MIT OR ISC"),
        (
            [
                {"license": {"id": "MIT", "acknowledgement": "declared"}},
                {"license": {"id": "ISC", "acknowledgement": "concluded"}},
            ],
            "ISC",
        ),
        ([], ""),
    ],
)
def test_entries_of_cyclonedx_hold_together(licences: list[object], expression: str, tmp_path: Path) -> None:
    document = cyclonedx()
    document["components"][0]["licenses"] = licences
    del document["metadata"]["component"]
    [row] = read(document, tmp_path)["licences"]["expressions"]
    assert row["expression"] == expression


def test_thousands_of_expressions_are_cut_and_said(tmp_path: Path) -> None:
    document = cyclonedx()
    document["components"] += [
        {"type": "library", "name": str(i), "licenses": [{"expression": f"LicenseRef-{i}"}]}
        for i in range(1000)
    ]
    found = read(document, tmp_path)["licences"]
    assert len(found["expressions"]) == 500
    assert found["left_out"] == 502
    assert sum(found["counts"].values()) == 1002
