"""Pages and files that scripts write are current, and the scripts notice when they are not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.meta.documents import CHECKOUT, pages

GENERATORS = {
    "generate_rule_catalogue.py": "rules.md",
    "generate_configuration_reference.py": "configuration.md",
    "generate_command_reference.py": "command-line.md",
}


def check(script: Path) -> int:
    done = subprocess.run(
        [sys.executable, script, "--check"],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        timeout=120,
        check=False,
    )
    return done.returncode


@pytest.mark.parametrize("name", GENERATORS)
def test_the_page_is_current(name: str) -> None:
    assert check(CHECKOUT / "scripts" / name) == 0, "run `make docs`"


@pytest.mark.parametrize("name", GENERATORS)
def test_a_stale_page_is_noticed(name: str, tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "docs").mkdir()
    shutil.copy(CHECKOUT / "scripts" / name, tmp_path / "scripts")
    page = CHECKOUT / "docs" / GENERATORS[name]
    stale = page.read_text(encoding="utf-8").replace("| ", "|  ")
    (tmp_path / "docs" / page.name).write_text(stale, encoding="utf-8")
    assert check(tmp_path / "scripts" / name) == 1


def test_every_generator_is_checked() -> None:
    assert {path.name for path in (CHECKOUT / "scripts").glob("generate_*.py")} == set(GENERATORS)


def test_generated_pages_are_pages_of_ours() -> None:
    assert set(GENERATORS.values()) <= {page.name for page in pages()}
