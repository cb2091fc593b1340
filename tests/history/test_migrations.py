"""Tables are brought up, never down: an older history is mended on writing, a newer one is left alone."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from audit.errors import HistoryError
from audit.history.address import parse_address
from audit.history.database.connecting import open_engine, reading, writing
from audit.history.database.migrating import MIGRATIONS, bring_up, check_readable
from audit.history.database.reading import opened
from audit.history.database.verifying import verify
from tests.history.runs import append, result

Sql = Callable[[str], list[tuple[object, ...]]]
NEXT = """
import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade():
    op.add_column("run", sa.Column("note", sa.Text(), nullable=True))
"""


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """Migrations of a fleetaudit to come."""
    folder = tmp_path / "newer"
    shutil.copytree(MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "r0002_notes.py").write_text(NEXT)
    return folder


def test_an_older_history_is_brought_up_and_loses_nothing(url: str, newer: Path, own_sql: Sql) -> None:
    link = append(url, result())
    address = parse_address(url)
    with reading(open_engine(address), address) as connection:
        with pytest.raises(HistoryError, match="older form"):
            check_readable(connection, address, newer)
    with writing(open_engine(address), address) as connection:
        bring_up(connection, address, newer)
    assert own_sql("SELECT version_num FROM fleetaudit_history") == [("0002",)]
    assert own_sql("SELECT number, digest, note FROM run") == [(1, link.digest, None)]


def test_a_newer_history_is_refused_and_left_alone(url: str, newer: Path, own_sql: Sql) -> None:
    append(url, result())
    address = parse_address(url)
    with writing(open_engine(address), address) as connection:
        bring_up(connection, address, newer)
    with pytest.raises(HistoryError, match=r"a form \(0002\) that this fleetaudit doesn't know") as caught:
        append(url, result(1))
    assert "newer fleetaudit" in (caught.value.suggestion or "")
    with pytest.raises(HistoryError, match="doesn't know"), opened(address):
        pass
    assert own_sql("SELECT count(*) FROM run") == [(1,)]


def test_a_migration_that_fails_half_way_changes_nothing(url: str, newer: Path, own_sql: Sql) -> None:
    append(url, result())
    address = parse_address(url)
    broken = NEXT + '    op.execute("INSERT INTO nowhere VALUES (1)")\n'
    (newer / "versions" / "r0002_notes.py").write_text(broken)
    with pytest.raises(HistoryError, match="refuses"):
        with writing(open_engine(address), address) as connection:
            bring_up(connection, address, newer)
    assert own_sql("SELECT version_num FROM fleetaudit_history") == [("0001",)]
    append(url, result(1))
    with opened(address) as stored:
        assert verify(stored).broken is None


def test_another_programs_tables_are_refused(url: str, own_sql: Sql) -> None:
    append(url, result())
    own_sql("DROP TABLE fleetaudit_history")
    with pytest.raises(HistoryError, match="another program"):
        append(url, result(1))
    with pytest.raises(HistoryError, match="another program"), opened(parse_address(url)):
        pass


def test_a_migration_goes_up_only() -> None:
    for module in (MIGRATIONS / "versions").glob("r*.py"):
        assert "def downgrade" not in module.read_text(encoding="utf-8")
