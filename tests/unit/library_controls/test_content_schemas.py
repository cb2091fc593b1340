"""The published schemas are current and accept what the loaders accept."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from audit.library.authored import parse_document, read_document
from audit.library.json_schema import content_schemas
from audit.library.shipped import shipped_controls
from tests.shared_data import CHECKOUT
from tests.unit.library_controls.test_mapping_files import HEAD, ROW
from tests.unit.library_controls.test_statements_and_waivers import STATEMENT, WAIVER


def validator(kind: str) -> Any:
    return jsonschema_rs.validator_for(json.loads(content_schemas()[f"fleetaudit-{kind}-v1.schema.json"]))


@pytest.mark.parametrize("name", content_schemas())
def test_the_published_copy_is_current(name: str) -> None:
    assert (CHECKOUT / "docs" / "schema" / name).read_text(encoding="utf-8") == content_schemas()[name], (
        "make docs"
    )


@pytest.mark.parametrize(
    ("kind", "text"), [("statements", STATEMENT), ("waivers", WAIVER), ("mapping", HEAD + ROW)]
)
def test_what_loads_is_valid_and_a_slip_is_not(kind: str, text: str) -> None:
    check = validator(kind)
    assert check.is_valid(parse_document(text.encode(), "f").value)
    slips = ((": met", ": maybe"), ("author:", "autor:"), ("reason:", "raison:"), ("decides", "decide"))
    for old, new in slips:
        if old in text:
            assert not check.is_valid(parse_document(text.replace(old, new).encode(), "f").value), (old, new)


def test_the_shipped_and_example_files_are_valid() -> None:
    for path in shipped_controls().mappings:
        assert validator("mapping").is_valid(read_document(path).value), path
    for kind in ("statements", "waivers"):
        path = CHECKOUT / "examples" / "fleet" / f"{kind}.yaml"
        assert validator(kind).is_valid(read_document(path).value), path
