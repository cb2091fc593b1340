"""A whole run over objects full of secrets: no format, log or file holds one (shared case 31)."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared_data import shared_dir
from tests.unit.report.pages import elements, tree

FORMATS = "html,json,sarif,junit,markdown,csv"


def _run(source: Path, output: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    command = Path(sys.executable).parent / "fleetaudit"
    return subprocess.run(
        [command, "--debug", "run", source, "--format", FORMATS, "--output", output, *options],
        capture_output=True,
        timeout=120,
        check=False,
        cwd=output.parent,
    )


@pytest.fixture(scope="module")
def secrets_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """All formats, everything logged; and what was printed."""
    folder = tmp_path_factory.mktemp("secrets")
    source = shared_dir("cases", "31-secrets-in-reports", "objects.yaml")
    ran = _run(source, folder / "out", "--log-file", str(folder / "log.txt"))
    assert ran.returncode in {0, 3}, ran.stderr.decode()
    return folder, ran.stdout + ran.stderr


def test_no_secret_is_in_any_output(secrets_run: tuple[Path, bytes]) -> None:
    folder, printed = secrets_run
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} >= {
        ".html",
        ".json",
        ".sarif",
        ".xml",
        ".md",
        ".csv",
        ".gz",
        ".txt",
    }
    for path in files:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for needle in (b"CANARYSECRET", b"Q0FOQVJZU0VDUkVU"):
            assert needle not in data, path.name
            assert needle not in printed


def test_findings_still_say_where_the_secrets_are(secrets_run: tuple[Path, bytes]) -> None:
    folder, _ = secrets_run
    rows = (folder / "out" / "findings.csv").read_text(encoding="utf-8")
    assert "secret/literal-in-env" in rows
    assert "objects.yaml" in rows


def test_a_run_over_the_markup_case_gives_an_inert_page(tmp_path: Path) -> None:
    ran = _run(shared_dir("cases", "29-html-injection"), tmp_path / "out")
    assert ran.returncode in {0, 3}, ran.stderr.decode()
    root = tree((tmp_path / "out" / "report.html").read_text(encoding="utf-8"))
    names = {str(node.tag) for node in elements(root)}
    assert not names & {"script", "img", "iframe", "object", "embed"}
    assert not [name for node in elements(root) for name in node.attrib if str(name).startswith("on")]
