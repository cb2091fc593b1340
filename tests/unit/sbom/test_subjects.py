"""What is described, and by which digest: in the ways in which generators write it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.sbom.reading import DIGEST, NOW, SETTINGS, cyclonedx, read, spdx

ESCAPED = DIGEST.replace(":", "%3A")


def purl(value: str) -> dict[str, Any]:
    return {
        "externalRefs": [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": value}
        ]
    }


@pytest.mark.parametrize(
    ("change", "images", "references"),
    [
        ({}, [DIGEST], ["registry.example.test/demo:1"]),
        ({"checksums": []}, [], ["registry.example.test/demo:1"]),
        ({"checksums": [], "versionInfo": DIGEST}, [DIGEST], ["registry.example.test/demo"]),
        (
            {
                "checksums": [],
                **purl(f"pkg:oci/demo@{ESCAPED}?repository_url=registry.example.test/demo&tag=2"),
            },
            [DIGEST],
            ["registry.example.test/demo:1", "registry.example.test/demo:2"],
        ),
        ({"checksums": [], "primaryPackagePurpose": "LIBRARY"}, [], []),
        (
            {"checksums": [{"algorithm": "SHA1", "checksumValue": "0" * 40}]},
            [],
            ["registry.example.test/demo:1"],
        ),
    ],
)
def test_spdx(change: dict[str, Any], images: list[str], references: list[str], tmp_path: Path) -> None:
    document = spdx()
    document["packages"][0] |= change
    [subject] = read(document, tmp_path)["subjects"]["listed"]
    assert (subject["images"], subject["references"]) == (images, references)


def test_a_described_file_counts_by_its_digests(tmp_path: Path) -> None:
    document = spdx()
    sums = [
        {"algorithm": "SHA1", "checksumValue": "0" * 40},
        {"algorithm": "SHA256", "checksumValue": "ab" * 32},
    ]
    document["files"] = [{"SPDXID": "SPDXRef-model", "fileName": "./model.safetensors", "checksums": sums}]
    document["relationships"][0]["relatedSpdxElement"] = "SPDXRef-model"
    [subject] = read(document, tmp_path)["subjects"]["listed"]
    assert (subject["kind"], subject["name"], subject["images"]) == ("file", "./model.safetensors", [DIGEST])


def test_what_is_described_and_not_there_has_no_digest(tmp_path: Path) -> None:
    document = spdx()
    document["relationships"][0]["relatedSpdxElement"] = "SPDXRef-gone"
    [subject] = read(document, tmp_path)["subjects"]["listed"]
    assert (subject["found"], subject["images"], subject["digests"]) == (False, [], [])


def test_cyclonedx_with_the_digest_as_version(tmp_path: Path) -> None:
    [subject] = read(cyclonedx(), tmp_path)["subjects"]["listed"]
    assert (subject["kind"], subject["images"]) == ("container", [DIGEST])


@pytest.mark.parametrize(
    ("value", "status", "days"),
    [
        ("2026-05-01T00:00:00Z", "known", 31),
        ("2026-05-01T02:00:00+02:00", "known", 31),
        ("2026-06-01T12:00:00Z", "known", 0),
        ("2027-01-01T00:00:00Z", "future", None),
        ("yesterday", "unreadable", None),
        (None, "absent", None),
    ],
)
def test_age(value: str | None, status: str, days: int | None, tmp_path: Path) -> None:
    assert SETTINGS.moment() == NOW
    document = cyclonedx()
    document["metadata"]["timestamp"] = value
    created = read(document, tmp_path)["created"]
    assert (created["status"], created["age_days"]) == (status, days)
