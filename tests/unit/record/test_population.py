"""The population file: every pair once, safe to open in a spreadsheet, its digest checkable by hand."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import resource
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from audit.errors import ReportError
from audit.model.finding import Outcome, PairAnswer
from audit.model.subject import SubjectRef
from audit.record.population import COLUMNS, PopulationWriter, cell, neutral, original


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(gzip.decompress(path.read_bytes()).decode())))


def test_rows_come_back_as_written(tmp_path: Path) -> None:
    ref = SubjectRef(
        cluster="a",
        group="apps",
        version="v1",
        kind="Deployment",
        namespace="m,l",
        name='we"b\nx',
        source="x.yaml",
        document=2,
        item="items[0]",
        digest="ff",
    )
    writer = PopulationWriter(tmp_path)
    writer.add(
        ref,
        [
            (PairAnswer(rule="a/b", outcome=Outcome.PASS), ""),
            (PairAnswer(rule="a/c", outcome=Outcome.FAIL), "w-1"),
        ],
    )
    digest = writer.finish()
    rows = rows_of(tmp_path / "population.csv.gz")
    assert [tuple(row) for row in rows] == [COLUMNS, COLUMNS]
    assert rows[1] == {
        "rule": "a/c",
        "cluster": "a",
        "kind": "apps/Deployment",
        "namespace": "m,l",
        "name": 'we"b\\u000ax',
        "source": "x.yaml",
        "document": "2",
        "item": "items[0]",
        "digest": "ff",
        "outcome": "fail",
        "reason": "",
        "waiver": "w-1",
    }
    assert (
        hashlib.sha256(gzip.decompress((tmp_path / "population.csv.gz").read_bytes())).hexdigest() == digest
    )


def test_equal_pairs_give_equal_bytes(tmp_path: Path) -> None:
    written = []
    for folder in ("one", "two"):
        writer = PopulationWriter(tmp_path / folder)
        writer.add(
            SubjectRef(cluster="a", group="", version="v1", kind="Pod"),
            [(PairAnswer(rule="a/b", outcome=Outcome.PASS), "")],
        )
        writer.finish()
        written.append((tmp_path / folder / "population.csv.gz").read_bytes())
    assert written[0] == written[1]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_formulas_are_text(text: str) -> None:
    (row,) = csv.reader(io.StringIO(cell(text) + "\n"))
    assert row[0].startswith("'")


HOSTILE = [
    "\x1b[31mred",
    "safe\u202egpj.exe",
    "a\u200bb",
    "\x00",
    "a\r\nb",
    "\udcff.yaml",
    "\x9b",
    "\U000e0001",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_control_character_reaches_the_file(tmp_path: Path, text: str) -> None:
    ref = SubjectRef(
        cluster=text,
        group=text,
        version="v1",
        kind=text,
        namespace=text,
        name=text,
        source=text,
        item=text,
        digest="ff",
    )
    writer = PopulationWriter(tmp_path)
    writer.add(ref, [(PairAnswer(rule=text, outcome=Outcome.ERROR, reason=text), text)])
    writer.finish()
    lines = gzip.decompress(writer.path.read_bytes()).decode().splitlines()
    assert len(lines) == 2
    assert all(line.isprintable() for line in lines)
    [row] = rows_of(writer.path)
    assert {original(row[column]) for column in ("cluster", "namespace", "name", "source", "rule")} == {text}


@given(st.text(max_size=60))
@example("\\u001b")
@example("'=\\")
def test_every_cell_is_printable_and_comes_back(text: str) -> None:
    [shown] = next(csv.reader(io.StringIO(cell(text) + "\n"))) or [""]
    assert shown.isprintable()
    assert original(shown) == text
    assert neutral(text) == shown


def test_unfinished_file_never_appears(tmp_path: Path) -> None:
    writer = PopulationWriter(tmp_path)
    writer.discard()
    assert list(tmp_path.iterdir()) == []


def test_unwritable_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportError, match="population file"):
        PopulationWriter(tmp_path / "file" / "below")


def test_a_file_that_may_not_grow_is_said_and_removed(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    writer = PopulationWriter(tmp_path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(ReportError, match="population file can't be written: File too large") as caught:
            writer.finish()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert caught.value.file == str(tmp_path / "population.csv.gz")
    assert list(tmp_path.iterdir()) == []


def test_two_writers_in_one_folder_do_not_meet(tmp_path: Path) -> None:
    writers = [PopulationWriter(tmp_path) for _ in range(2)]
    digests = []
    for number, writer in enumerate(writers):
        writer.add(
            SubjectRef(cluster=f"c{number}", group="", version="v1", kind="Pod"),
            [(PairAnswer(rule="a/b", outcome=Outcome.PASS), "")],
        )
    for writer in writers:
        digests.append(writer.finish())
        found = hashlib.sha256(gzip.decompress(writer.path.read_bytes())).hexdigest()
        assert found == digests[-1]
    assert digests[0] != digests[1]
