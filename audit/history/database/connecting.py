"""Opens a database, and says in one sentence what is wrong with it. No message holds a password."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from audit.errors import HistoryError
from audit.harmless import escaped
from audit.history.address import Address

_WRITES = "fleetaudit_writes"
_LOCK = 0x666C6565  # "flee": the number under which writers of ours exclude each other on a server
# A server that is gone without a word is given up, at first and later. What its database can't hold, it says itself.
_CONNECTION = {
    "application_name": "fleetaudit",
    "client_encoding": "utf8",
    "connect_timeout": "10",
    "keepalives_idle": "20",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "50000",
}

_SQLITE = (
    ("locked", "another process holds the history locked", "try again, or raise ?timeout=SECONDS in the URL"),
    ("readonly", "the history is read-only", "check the rights of the file and its folder"),
    ("disk is full", "there is no space left for the history", "free some space"),
    ("malformed", "the history is damaged", "restore it from a copy, or move it away to begin a new one"),
    ("not a database", "the file is no SQLite database", "name another file"),
    ("unable to open", "the history cannot be opened", "check the path and its rights"),
    ("disk I/O", "the disk refuses to read or write the history", "check the disk"),
)
# While connecting, psycopg hands on the server's words without their code.
_CONNECTING = (
    ("authentication failed", "28"),
    ("no password supplied", "28"),
    ("does not exist", "3D000"),
    ("starting up", "57P03"),
    ("too many clients", "53300"),
)
_POSTGRESQL = (
    ("28", "the server refuses the user or the password", "check the user and the password"),
    ("3D000", "the server has no such database", "create it, or name another one"),
    ("3F000", "there is no such schema", "create it, or name another one"),
    ("42501", "the user may not do this in the database", "grant it the schema and its tables"),
    ("22P05", "the database's encoding lacks characters of the result", "create one with ENCODING 'UTF8'"),
    ("25006", "the history is read-only", "name a server that takes writes"),
    ("53100", "there is no space left for the history", "free some space on the server"),
    ("53", "the server has no room for more", "try again, or give it more"),
    ("55P03", "another process holds the history locked", "try again"),
    ("57P03", "the server is not ready yet", "try again"),
    ("57", "the server ended the connection", "try again"),
)


def open_engine(address: Address, *, create: bool = False) -> Engine:
    """An engine for one command. Nothing is connected yet, but a file must be there.

    Args:
        address: where the history is.
        create: an SQLite file that is not there is about to be made.

    Raises:
        HistoryError: there is no such file, or it is empty.
    """
    if address.path is None:
        return _postgresql(address)
    if not create and not address.path.is_file():
        there = (
            "the history cannot be opened: this is no file"
            if address.path.exists()
            else "there is no history"
        )
        raise HistoryError(there, file=address.shown, suggestion="fleetaudit run --history FILE begins one")
    if not create and address.path.stat().st_size == 0:
        # A history is never made so: this one was cut down to nothing, and a new one in its place would hide that.
        raise HistoryError(
            "the file of the history is empty",
            file=address.shown,
            suggestion="restore it from a copy, or remove it to begin a new one",
        )
    return _sqlite(address, address.path, create=create)


@contextlib.contextmanager
def reading(engine: Engine, address: Address) -> Iterator[Connection]:
    """A transaction that sees one state of the history and changes nothing.

    Raises:
        HistoryError: whatever goes wrong in it.
    """
    with told(address), engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        yield connection


@contextlib.contextmanager
def writing(engine: Engine, address: Address) -> Iterator[Connection]:
    """A transaction that is whole in the end, or nothing. From its beginning it excludes every other writer.

    Raises:
        HistoryError: whatever goes wrong in it.
    """
    with told(address), engine.connect() as connection:
        connection.execution_options(**{_WRITES: True})
        with connection.begin():
            if engine.dialect.name == "postgresql":
                connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK}, hashtext(current_schema()))"))
            yield connection


@contextlib.contextmanager
def told(address: Address) -> Iterator[None]:
    """Errors of a database become ours.

    Raises:
        HistoryError: with the place, one sentence, and what to do.
    """
    try:
        yield
    except DBAPIError as error:
        # The chain of causes may quote the address: it goes no further.
        raise _explained(error.orig, address) from None
    except (sqlite3.Error, SQLAlchemyError) as error:
        raise _explained(error, address) from None


def _sqlite(address: Address, path: Path, *, create: bool) -> Engine:
    uri = f"file:{quote(str(path.absolute()))}?mode={'rwc' if create else 'rw'}"

    def connect() -> sqlite3.Connection:
        # The driver's own idea of when a transaction begins is turned off: ours begin where we say so.
        return sqlite3.connect(uri, uri=True, timeout=address.wait_seconds, isolation_level=None)

    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _: Any) -> None:
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A transaction that begins by reading could not be sure to write: somebody else may have written since.
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql(address: Address) -> Engine:
    url = URL.create(
        "postgresql+psycopg",
        username=address.user or None,
        password=address.password or None,
        host=address.host or None,
        port=address.port,
        database=address.database or None,
        query={**_CONNECTION, **address.query},
    )
    engine = create_engine(url, poolclass=NullPool)
    if "lock_timeout" not in address.query.get("options", ""):

        @event.listens_for(engine, "begin")
        def _begin(connection: Connection) -> None:
            # An audit must end, whoever holds the history.
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{address.wait_seconds:.0f}s'")

    return engine


def _explained(error: BaseException | None, address: Address) -> HistoryError:
    line = _one_line(error, address)
    if address.kind == "sqlite":
        for mark, message, suggestion in _SQLITE:
            if mark in line:
                return HistoryError(message, file=address.shown, suggestion=suggestion)
        return HistoryError(f"the history refuses: {line}", file=address.shown)
    state = getattr(error, "sqlstate", None) or next(
        (code for words, code in _CONNECTING if words in line), ""
    )
    for begin, message, suggestion in _POSTGRESQL:
        if state.startswith(begin):
            return HistoryError(message, file=address.shown, suggestion=suggestion)
    if state:
        return HistoryError(f"the history refuses: {line}", file=address.shown)
    return HistoryError(
        f"the history can't be reached: {line}",
        file=address.shown,
        suggestion="check that the server runs and that the address is right",
    )


def _one_line(error: BaseException | None, address: Address) -> str:
    """The first line of what a driver says, harmless and without secrets."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    line = re.sub(r"^(error|fatal):\s*", "", lines[0], flags=re.IGNORECASE) if lines else type(error).__name__
    return escaped(address.without_secrets(line))[:300]
