"""Suites written out for tests, and run with the real engines."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from audit.cli.progress import SilentProgress
from audit.errors import EngineError
from audit.evaluate.kyverno.binary import KyvernoCli, find_kyverno
from audit.testing.cases import Case, TestReport
from audit.testing.discover import discover
from audit.testing.options import RunOptions
from audit.testing.run import run_suites


class Suites:
    """A folder with suites in it.

    Args:
        root: an empty folder, which is the working folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, files: dict[str, str]) -> None:
        """Name to text; common indentation is taken away."""
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text), encoding="utf-8")

    def report(self, *paths: str, fail_fast: bool = False, **options: object) -> TestReport:
        """Run what is below these paths, the whole folder by default."""
        settings = RunOptions(**{"jobs": 2, **options})  # type: ignore[arg-type]  # as the test gives them
        return run_suites(discover(paths or (".",)), settings, SilentProgress(), fail_fast=fail_fast)

    def run(self, *paths: str, **options: object) -> dict[str, Case]:
        """Cases by name."""
        cases = self.report(*paths, **options).cases  # type: ignore[arg-type]  # as the test gives them
        found = {case.name: case for case in cases}
        assert len(found) == len(cases), "two cases of one name"
        return found

    def outcomes(self, *paths: str, **options: object) -> dict[str, str]:
        """``pass``, or ``not_evaluated no_rows`` with the reason."""
        return {
            name: f"{case.outcome.value} {case.reason}".strip()
            for name, case in self.run(*paths, **options).items()
        }


@pytest.fixture
def suites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Suites:
    monkeypatch.chdir(tmp_path)
    return Suites(tmp_path)


@pytest.fixture(scope="session")
def cli() -> KyvernoCli:
    """The real Kyverno CLI."""
    try:
        return find_kyverno()
    except EngineError as error:
        pytest.skip(str(error))
