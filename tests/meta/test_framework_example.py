"""The framework shown in docs/add-a-framework.md loads, with the loaders that a run uses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from audit.errors import ContentError
from audit.library.catalogs import load_catalogs
from audit.library.checks import load_checks
from audit.library.mappings import MappingContext, Mappings, load_mappings
from audit.library.meanings import load_meanings
from audit.library.shipped import shipped_controls
from tests.meta.documents import blocks

RULES = ("image/digest-pinned", "namespace/owner-label")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The page's files, written where the page says; the key is the folder or file under ``controls/``."""
    written = {}
    for block in blocks("yaml"):
        name = re.search(r"file=(\S+)", block.info)
        if block.file.name == "add-a-framework.md" and name:
            path = tmp_path / name.group(1)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
            written[path.parent.name if path.parent.name != "controls" else path.stem] = path
    return written


def load(files: dict[str, Path]) -> Mappings:
    shipped = shipped_controls()
    house = load_catalogs([files["catalogs"]])
    everything = load_catalogs([*shipped.catalogs, files["catalogs"]])
    checks = load_checks(files["checks"], house, RULES)
    context = MappingContext(
        catalogs=house,
        checks=checks,
        meanings=load_meanings(shipped.meanings, everything),
        rule_ids=RULES,
    )
    return load_mappings([files["mappings"]], context)


def test_the_three_files_load_together(files: dict[str, Path]) -> None:
    assert set(files) == {"catalogs", "checks", "mappings"}
    entries = load(files).entries
    assert [(entry.control, entry.rule, entry.strength.value) for entry in entries] == [
        ("RUN 1.1", "image/digest-pinned", "decides"),
        ("RUN 1.2", "namespace/owner-label", "supports"),
    ]


def test_a_lost_control_stops_the_load_as_the_page_says(files: dict[str, Path]) -> None:
    catalog = yaml.safe_load(files["catalogs"].read_text(encoding="utf-8"))
    del catalog["functions"][0]["controls"][1]
    files["catalogs"].write_text(yaml.safe_dump(catalog, sort_keys=False), encoding="utf-8")
    with pytest.raises(ContentError):
        load(files)
