"""The shipped controls, loaded against the rules that the checkout has, and small files of a test's own."""

from __future__ import annotations

import functools
import textwrap
from pathlib import Path

import pytest

from audit.errors import ContentError
from audit.library.controls import ControlLibrary, load_controls
from audit.library.mappings import MappingContext
from audit.library.meanings import load_meanings
from audit.library.shipped import shipped_controls
from tests.shared_data import CHECKOUT


@functools.cache
def rule_ids() -> frozenset[str]:
    """Ids of the rules in the checkout, by folder, and of the reader's own."""
    folders = {file.parent for file in (CHECKOUT / "rego").glob("*/*/*.rego")}
    return frozenset(f"{folder.parent.name}/{folder.name}".replace("_", "-") for folder in folders) | {
        "manifest/duplicate-key"
    }


@functools.cache
def shipped() -> ControlLibrary:
    """All shipped controls."""
    return load_controls(rule_ids())


@functools.cache
def context() -> MappingContext:
    """What a mapping file of a test may speak of."""
    return MappingContext(
        catalogs=shipped().catalogs,
        checks=shipped().checks,
        meanings=load_meanings(shipped_controls().meanings, shipped().catalogs),
        rule_ids=rule_ids(),
        warn_only={"image/pull-policy"},
    )


def written(folder: Path, text: str, name: str = "authored.yaml") -> Path:
    """A file with this text."""
    path = folder / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def all_errors(caught: pytest.ExceptionInfo[ContentError]) -> list[str]:
    """Every error of a load, the first one first."""
    return [str(caught.value), *(str(other) for other in caught.value.others)]
