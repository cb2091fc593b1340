"""Ids that a help text gives as an example are there: whoever types one finds what it promises."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from audit import wiring
from audit.cli.lookup import find_control
from audit.config.check import rule_matches
from audit.config.schema import Config
from audit.library.library import Library
from tests.meta.documents import CHECKOUT

HELP = (CHECKOUT / "docs" / "command-line.md").read_text(encoding="utf-8")  # generated from the help texts
EXPECTED = CHECKOUT / "tests" / "golden" / "fleet" / "expected.json"


@pytest.fixture(scope="module")
def library() -> Library:
    return wiring.load_library(Config())


def controls(library: Library) -> Iterator[str]:
    """``framework:ID``, and ids of the shape that a catalog uses."""
    frameworks = "|".join(re.escape(catalog.id) for catalog in library.catalogs)
    functions = {word for catalog in library.catalogs for word in catalog.functions}
    yield from re.findall(rf"\b(?:{frameworks}):[A-Za-z0-9-]+", HELP)
    yield from re.findall(rf"(?<![\w-])(?:{'|'.join(sorted(functions))})[ -]\d[\d.]*\d", HELP)


def test_controls_exist(library: Library) -> None:
    shown = set(controls(library))
    assert len(shown) > 2
    assert {name for name in shown if find_control(library.catalogs, name) is None} == set()


def test_rules_exist(library: Library) -> None:
    families = {rule.family for rule in library.rules}
    shown = set(re.findall(rf"\b(?:{'|'.join(sorted(families))})/[a-z*][a-z*-]*", HELP))
    assert len(shown) > 2
    missing = {name for name in shown if not any(rule_matches(name, rule.id) for rule in library.rules)}
    assert missing == set()


def test_frameworks_exist(library: Library) -> None:
    shown = set(re.findall(r"--(?:framework|min-ratio|min-coverage) ([a-z][a-z-]*)", HELP))
    assert shown
    assert shown <= {catalog.id for catalog in library.catalogs}


def test_findings_are_those_of_the_example() -> None:
    shown = set(re.findall(r"\bG-[0-9a-f]+\b", HELP))
    assert shown
    assert shown <= {group["id"] for group in json.loads(EXPECTED.read_text(encoding="utf-8"))["groups"]}
