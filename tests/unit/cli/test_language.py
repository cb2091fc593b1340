"""``--lang`` on the command line: the pages people read, and what a page says about checking itself."""

from __future__ import annotations

import gzip
import hashlib
import html
import json
import re
import shlex
from pathlib import Path

import pytest

from tests.unit.cli.terminal import CHECKOUT, run

HAN = re.compile(r"[一-鿿]")
FORMATS_FOR_PEOPLE = {"html": "report.html", "markdown": "report.md"}
FORMATS_FOR_PROGRAMS = {
    "json": "report.json",
    "sarif": "report.sarif",
    "junit": "report.junit.xml",
    "csv": "findings.csv",
    "prometheus": "fleetaudit.prom",
    "policy-reports": "policy-reports.yaml",
    "openreports": "openreports.yaml",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("language")
    formats = ",".join((*FORMATS_FOR_PEOPLE, *FORMATS_FOR_PROGRAMS))
    for name, arguments in {"en": (), "zh-CN": ("--lang", "zh-CN")}.items():
        done = run(
            "run",
            str(CHECKOUT / "examples/fleet/us-east-02"),
            "-o",
            name,
            "-f",
            formats,
            *arguments,
            cwd=folder,
        )
        assert done.returncode == 0, done.stderr
        (folder / f"{name}.txt").write_text(done.stdout, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_pages_for_people_are_in_the_language(place: Path, name: str) -> None:
    assert not HAN.search((place / "en" / name).read_text(encoding="utf-8"))
    assert len(HAN.findall((place / "zh-CN" / name).read_text(encoding="utf-8"))) > 100


def test_so_is_the_summary(place: Path) -> None:
    assert not HAN.search((place / "en.txt").read_text(encoding="utf-8"))
    assert len(HAN.findall((place / "zh-CN.txt").read_text(encoding="utf-8"))) > 50


@pytest.mark.parametrize("name", FORMATS_FOR_PROGRAMS.values())
def test_what_programs_read_is_the_same_in_every_language(place: Path, name: str) -> None:
    one, other = ((place / language / name).read_text(encoding="utf-8") for language in ("en", "zh-CN"))
    moment = r"\d{4}-\d\d-\d\dT[\d:]+Z|(?<=run_timestamp_seconds )[\d.]+|(?<=.seconds.:)\d+"
    assert re.sub(moment, "", one) == re.sub(moment, "", other)
    assert not HAN.search(other)


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_the_commands_of_the_page_do_what_the_page_says(place: Path, language: str) -> None:
    """The first makes the page again, byte for byte; the last draws pairs. As printed, beside the page."""
    page = (place / language / "report.html").read_bytes()
    (shown,) = re.findall(r'<pre class="cmd"><code>(fleetaudit report.*?)</code>', page.decode(), re.DOTALL)
    lines = [shlex.split(line) for line in html.unescape(shown).splitlines() if line.strip()]
    assert [line[:2] for line in lines if line[0] == "fleetaudit"] == [
        ["fleetaudit", "report"],
        ["fleetaudit", "sample"],
    ]
    assert lines[1] == ["gzip", "-dc", "population.csv.gz", "|", "sha256sum"]
    record = json.loads((place / language / "report.json").read_bytes())["record"]
    population = gzip.decompress((place / language / "population.csv.gz").read_bytes())
    assert hashlib.sha256(population).hexdigest() == record["population_sha256"]
    again, sample = (line[1:] for line in lines if line[0] == "fleetaudit")
    done = run(*again, "-o", "again", cwd=place / language)
    assert done.returncode == 0, done.stderr
    assert (place / language / "again" / "report.html").read_bytes() == page
    done = run(*sample, cwd=place / language)
    assert done.returncode == 0, done.stderr
    assert "      again fleetaudit run " in done.stdout
