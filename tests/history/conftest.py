"""A server for each process that runs tests, and an empty history in each kind of database."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from audit.history.address import parse_address
from audit.history.database.connecting import open_engine
from tests.history.postgresql import Server, postgresql

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """PostgreSQL; skipped where it isn't installed."""
    with postgresql() as found:
        yield found


def new_history(kind: str, request: pytest.FixtureRequest, folder: Path) -> str:
    """The address of a history that isn't there yet."""
    if kind == "sqlite":
        return str(folder / "history.db")
    found: Server = request.getfixturevalue("server")
    return found.make(f"history{next(_NUMBERS)}")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a history that isn't there yet."""
    return new_history(request.param, request, tmp_path)


@pytest.fixture
def own_sql(url: str) -> Callable[[str], list[tuple[object, ...]]]:
    """Runs SQL on the history of `url`, behind the program's back."""

    def run(statement: str) -> list[tuple[object, ...]]:
        with open_engine(parse_address(url)).connect() as connection:
            found = connection.exec_driver_sql(statement)
            rows = [tuple(row) for row in found] if found.returns_rows else []
            connection.commit()
            return rows

    return run
