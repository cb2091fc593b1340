"""Public documents: every one is read, and valid ones are told from invalid ones."""

from __future__ import annotations

import collections
from pathlib import Path
from typing import Any

import pytest

from audit.collect.artifacts.sbom.settings import SbomSettings
from tests.shared_data import shared_dir
from tests.unit.sbom.reading import NOW, read_file

pytestmark = pytest.mark.corpora
FORMS = ("json", "yaml", "xml", "tag-value", "rdf-xml")


def files(*parts: str) -> list[Path]:
    return sorted(path for path in shared_dir("corpora", "sbom", *parts).rglob("*") if path.is_file())


def test_cyclonedx_fixtures_are_judged_as_their_names_say() -> None:
    totals: collections.Counter[tuple[str, str]] = collections.Counter()
    for path in files("cyclonedx-fixtures"):
        if path.suffix != ".json":
            continue
        spec = read_file(path)
        assert spec is not None, path
        named = "valid" if path.name.startswith("valid") else "invalid"
        assert spec["format"]["status"] == named, (path, spec["format"]["problems"])
        assert spec["format"]["checked_by"] == f"JSON schema of CycloneDX {spec['version']}"
        totals[path.parent.name, named] += 1
    print(dict(totals))
    assert sum(totals.values()) >= 190


def examples() -> dict[str, dict[str, Any]]:
    found = {}
    for path in files("spdx-tools-data"):
        if "Example-UTF-16" in path.name:
            spec = read_file(path)
            assert spec is not None, path
            found[spec["serialisation"]] = spec
    return found


def test_one_document_in_five_forms_has_one_content() -> None:
    by_form = examples()
    assert set(by_form) == set(FORMS)
    for form, spec in by_form.items():
        assert (spec["format"]["status"], spec["file"]["encoding"]) == ("valid", "utf-16-le"), form
        for key in ("name", "namespace", "created", "profiles"):
            assert spec[key] == by_form["json"][key], (form, key)
        assert _sorted(spec["structure"]) == _sorted(by_form["json"]["structure"]), form
        for key in ("completeness", "licences"):
            assert _counts(spec[key]) == _counts(by_form["json"][key]), (form, key)
        ids = {one["id"]: set(one["digests"]) for one in spec["subjects"]["listed"]}
        assert ids == {one["id"]: set(one["digests"]) for one in by_form["json"]["subjects"]["listed"]}, form


def _sorted(structure: dict[str, Any]) -> Any:
    return (
        sorted((row["code"], row["count"]) for row in structure["problems"]),
        structure["depth"],
        structure["cycles"],
    )


def _counts(value: Any) -> Any:
    """Without names: RDF has no order, and writes an expression in its own way."""
    if isinstance(value, dict):
        left_out = {"examples", "expression", "alternatives", "licences"}
        return {key: _counts(one) for key, one in value.items() if key not in left_out}
    return [_counts(one) for one in value] if isinstance(value, list) else value


def test_every_spdx_document_is_read_and_the_tool_agrees() -> None:
    settings = SbomSettings(now=NOW)
    read = 0
    for path in files("spdx-tools-data"):
        if path.name == "LICENSE":
            continue
        spec = read_file(path, settings)
        assert spec is not None, path
        assert spec["content"]["status"] == "read", path
        broken = "invalid" in str(path.relative_to(shared_dir("corpora")))
        if not broken and spec["format"]["deep"]["status"] == "done":
            assert spec["format"]["deep"]["errors"] == 0 or spec["format"]["status"] == "invalid", path
        assert (spec["format"]["status"] == "valid") is not broken or "file_to_test" in path.name, path
        read += 1
    print(f"{read} read")
    assert read >= 11
