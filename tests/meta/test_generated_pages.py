"""Pages and files that scripts write are current, and the scripts notice when they are not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.meta.documents import CHECKOUT

GENERATORS = {
    "generate_rule_catalogue.py": "docs/rules.md",
    "generate_configuration_reference.py": "docs/configuration.md",
    "generate_command_reference.py": "docs/command-line.md",
    "generate_kyverno_policies.py": "docs/kyverno-policies.md",
    "generate_content_schemas.py": "docs/schema/fleetaudit-statements-v1.schema.json",
    "generate_chart_role.py": "deploy/helm/fleetaudit/files/rules.yaml",
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
    shutil.copy(CHECKOUT / "scripts" / name, tmp_path / "scripts")
    for folder in ("docs", "deploy"):
        shutil.copytree(CHECKOUT / folder, tmp_path / folder)
    page = tmp_path / GENERATORS[name]
    assert check(tmp_path / "scripts" / name) == 0
    page.write_text(page.read_text(encoding="utf-8").replace("e", "E"), encoding="utf-8")
    assert check(tmp_path / "scripts" / name) == 1


def test_every_generator_is_checked() -> None:
    assert {path.name for path in (CHECKOUT / "scripts").glob("generate_*.py")} == set(GENERATORS)
