"""Reports are whole or not there."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from audit.errors import ReportError
from audit.model.finding import FindingGroup
from audit.ports import ReportWriter
from audit.report.csv_writer import CsvWriter
from audit.report.files import atomic
from audit.report.html import HtmlWriter
from audit.report.json_writer import JsonWriter
from audit.report.junit import JunitWriter
from audit.report.markdown import MarkdownWriter
from audit.report.sarif import SarifWriter
from tests import builders as b
from tests.unit.report.story import story

WRITERS: list[ReportWriter] = [
    HtmlWriter(),
    JsonWriter(),
    SarifWriter(),
    JunitWriter(),
    MarkdownWriter(),
    CsvWriter(),
]


def _named(writer: ReportWriter) -> str:
    return writer.name


@pytest.mark.parametrize("writer", WRITERS, ids=_named)
def test_what_is_written_is_named_and_nothing_else_is_there(writer: ReportWriter, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "out"
    paths = writer.write(story(), folder)
    assert sorted(folder.iterdir()) == sorted(paths)
    assert all(path.stat().st_size for path in paths)


@pytest.mark.parametrize("writer", WRITERS, ids=_named)
def test_equal_results_give_equal_files(writer: ReportWriter, tmp_path: Path) -> None:
    first = writer.write(story(), tmp_path / "a")
    second = writer.write(story(), tmp_path / "b")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


@pytest.mark.parametrize("writer", WRITERS, ids=_named)
def test_a_folder_that_is_a_file_is_named(writer: ReportWriter, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.write_text("in the way")
    with pytest.raises(ReportError) as caught:
        writer.write(story(), folder)
    assert str(folder) in (caught.value.file or "")


@pytest.fixture
def _full_disk() -> Iterator[None]:
    """No file of this process may grow beyond a kilobyte: the kernel refuses the rest, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.usefixtures("_full_disk")
@pytest.mark.parametrize("writer", WRITERS, ids=_named)
def test_a_full_disk_is_an_error_with_the_path_and_leaves_no_part(
    writer: ReportWriter, tmp_path: Path
) -> None:
    with pytest.raises(ReportError) as caught:
        writer.write(story(), tmp_path)
    assert str(tmp_path) in (caught.value.file or "")
    assert list(tmp_path.iterdir()) == []


def test_the_report_before_it_survives_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("yesterday's")

    def fail_half_way() -> None:
        with atomic(path) as stream:
            stream.write(b"half of today's")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert path.read_text() == "yesterday's"
    assert list(tmp_path.iterdir()) == [path]


def test_files_get_the_usual_rights(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        (path,) = JsonWriter().write(story(), tmp_path)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o644


def test_side_files_go_away_when_a_later_page_fails(tmp_path: Path) -> None:
    class Breaking(b.ListedGroups):
        def groups(self) -> Iterator[FindingGroup]:
            yield from super().groups()
            raise OSError(28, "No space left on device")

    groups = [b.group(b.finding(subject=b.subject(f"web-{n}"))) for n in range(200)]
    result = story()
    broken = b.result(groups, record=b.record(result_sha256=b.sha("sealed")), group_source=Breaking(groups))
    assert result.record.result_sha256 == ""
    with pytest.raises((ReportError, OSError)):
        HtmlWriter(size_limit=60_000).write(broken, tmp_path)
    assert list(tmp_path.iterdir()) == []
