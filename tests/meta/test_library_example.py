"""The lines of docs/library-use.md run and print what the page says."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import audit
from tests.meta.documents import CHECKOUT, blocks


def test_the_example_prints_what_the_page_says(tmp_path: Path) -> None:
    shutil.copytree(CHECKOUT / "examples", tmp_path / "examples")
    (program,) = [block.text for block in blocks("python") if block.file.name == "library-use.md"]
    (printed,) = [block.text for block in blocks("text") if block.file.name == "library-use.md"]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(CHECKOUT)!r})\n{program}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == (printed, "", 0)
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"report.html", "report.json"}


def test_public_names_are_those_of_the_page() -> None:
    page = (CHECKOUT / "docs" / "library-use.md").read_text(encoding="utf-8")
    for name in audit.__all__:
        assert getattr(audit, name)
        assert name == "__version__" or f"`{name}`" in page


def test_an_unknown_name_is_an_ordinary_error() -> None:
    assert not hasattr(audit, "certify")


def test_the_version_is_stated_once() -> None:
    settings = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    assert audit.__version__ == settings["project"]["version"]
