"""Databases that are down, full, locked, damaged, read-only or somebody else's: one clear error, and no password in it."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from audit.errors import HistoryError
from audit.history.address import parse_address
from audit.history.database import writing as module
from audit.history.database.connecting import open_engine
from audit.history.database.reading import opened
from audit.history.database.verifying import verify
from tests import builders as b
from tests.history.postgresql import PASSWORD, Server
from tests.history.runs import append, result


def refused(url: str, *, reading: bool = True) -> str:
    """What is said when a run is appended, and when it is read."""
    with pytest.raises(HistoryError) as caught:
        append(url, result(1))
    text = str(caught.value)
    if reading:
        with pytest.raises(HistoryError), opened(parse_address(url)) as stored:
            verify(stored)
    for secret in (PASSWORD, *PASSWORD.split("/")):
        assert secret not in text
    assert "Traceback" not in text
    assert "\n" not in text
    return text


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A history of one run in SQLite."""
    append(str(tmp_path / "history.db"), result())
    return tmp_path / "history.db"


@pytest.mark.parametrize("size", [0, 100, 1_000, 40_000, 80_000])
def test_a_file_that_was_cut(file: Path, size: int) -> None:
    assert file.stat().st_size > size
    os.truncate(file, size)
    text = refused(str(file))
    assert any(words in text for words in ("damaged", "no SQLite database", "empty"))
    assert file.stat().st_size == size


def test_a_file_that_is_something_else(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("dear diary " * 2_000)
    assert "no SQLite database" in refused(str(tmp_path / "notes.txt"))


def test_a_database_of_another_program(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE customers (name TEXT)")
    other.close()
    assert "another program: it has tables such as customers" in refused(str(tmp_path / "other.db"))
    with sqlite3.connect(tmp_path / "other.db") as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("customers",)]
    other.close()


def test_a_file_that_another_process_holds(file: Path) -> None:
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        assert "holds the history locked" in refused(f"sqlite:///{file}?timeout=0.2")
    finally:
        holder.close()
    append(str(file), result(1))


def test_a_disk_that_is_full(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def small(*arguments: Any, **options: Any) -> Any:
        engine = open_engine(*arguments, **options)
        # SQLite's own limit: its error is that of a full disk.
        event.listen(
            engine, "connect", lambda connection, _: connection.execute("PRAGMA max_page_count = 40").close()
        )
        return engine

    monkeypatch.setattr(module, "open_engine", small)
    many = [b.group(b.finding(subject=b.subject(f"web-{number}"))) for number in range(3_000)]
    with pytest.raises(HistoryError, match="no space left"):
        append(str(file), result(1, *many))
    monkeypatch.undo()
    with opened(parse_address(str(file))) as stored:
        assert verify(stored).runs == 1  # nothing of the run was written


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    assert "cannot be made" in refused(str(tmp_path / "taken" / "history.db"))


def test_a_folder_in_place_of_a_file(tmp_path: Path) -> None:
    assert "cannot be opened" in refused(str(tmp_path), reading=False)


def test_a_file_that_may_only_be_read() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        append(str(folder / "history.db"), result())
        (folder / "history.db").chmod(0o444)
        folder.chmod(0o555)
        was = os.geteuid()
        if was == 0:
            os.seteuid(65_534)  # root may write everything
        try:
            assert "read-only" in refused(str(folder / "history.db"), reading=False)
            with opened(parse_address(str(folder / "history.db"))) as stored:
                assert verify(stored).runs == 1
        finally:
            os.seteuid(was)
            folder.chmod(0o755)


def test_no_such_history(tmp_path: Path) -> None:
    with (
        pytest.raises(HistoryError, match="there is no history"),
        opened(parse_address(str(tmp_path / "no.db"))),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_down(server: Server) -> None:
    text = refused(server._replace(port=1).url("postgres"))
    assert "can't be reached" in text
    assert "postgresql://auditor@127.0.0.1:1/postgres" in text


def test_a_host_that_does_not_exist(server: Server) -> None:
    assert "can't be reached" in refused(server.url("postgres").replace("127.0.0.1", "no-such-host.invalid"))


def test_a_wrong_password(server: Server) -> None:
    wrong = "not:the/one@at#all"
    text = refused(server.url("postgres", password=wrong))
    assert "refuses the user or the password" in text
    assert wrong not in text


def test_a_database_that_is_not_there(server: Server) -> None:
    assert "no such database" in refused(server.url("nowhere"))


def test_a_server_that_takes_no_writes(server: Server) -> None:
    url = server.make("readonly")
    append(url, result())
    text = refused(url.replace("options=", "options=-cdefault_transaction_read_only%3Don%20"), reading=False)
    assert "read-only" in text


def test_a_server_without_space(server: Server) -> None:
    url = server.make("full")
    append(url, result())
    with server.connect("postgres") as own:
        own.execute("SET search_path = 'full'")
        own.execute(
            "CREATE FUNCTION full_up() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$"
        )
        own.execute("CREATE TRIGGER t BEFORE INSERT ON blob_chunk FOR EACH ROW EXECUTE FUNCTION full_up()")
    with pytest.raises(HistoryError, match="no space left"):
        append(url, result(1, b.group()))
    with opened(parse_address(url)) as stored:
        assert verify(stored).runs == 1


def test_a_server_on_which_another_process_holds_the_history(server: Server) -> None:
    url = server.make("held")
    append(url, result())
    with server.connect("postgres") as holder:
        holder.execute("SET search_path = held")
        holder.autocommit = False
        holder.execute("SELECT pg_advisory_xact_lock(%s, hashtext(current_schema()))", [0x666C6565])
        short = url.replace("options=", "options=-clock_timeout%3D200%20")
        with pytest.raises(HistoryError, match="holds the history locked"):
            append(short, result(1))
    append(url, result(1))


def test_a_database_whose_encoding_is_too_small(server: Server) -> None:
    with server.connect("postgres") as own:
        own.execute("CREATE DATABASE small ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
    append(server.url("small"), result(title="Straße"))
    with pytest.raises(HistoryError, match="encoding lacks characters"):
        append(server.url("small"), result(1, title="集群"))
    with opened(parse_address(server.url("small"))) as stored:
        assert [link.run.title for link in stored.links()] == ["Straße"]


def test_a_user_without_rights(server: Server) -> None:
    url = server.make("closed")
    with server.connect("postgres") as own:
        own.execute("CREATE USER guest PASSWORD 'guest-secret-77'")
    text = refused(
        url.replace("auditor:", "guest:").replace(url.split(":")[2].split("@")[0], "guest-secret-77")
    )
    assert "may not do this" in text or "no such schema" in text
    assert "guest-secret-77" not in text


def test_a_connection_that_is_cut_while_it_waits(server: Server) -> None:
    import threading
    import time

    url = server.make("cut")
    append(url, result())
    said: list[str] = []

    def late() -> None:
        try:
            append(url, result(1))
        except HistoryError as error:
            said.append(str(error))

    with server.connect("postgres") as holder, server.connect("postgres") as admin:
        holder.execute("SET search_path = cut")
        holder.autocommit = False
        holder.execute("SELECT pg_advisory_xact_lock(%s, hashtext(current_schema()))", [0x666C6565])
        thread = threading.Thread(target=late)
        thread.start()
        for _ in range(200):
            waiting = admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                " AND application_name = 'fleetaudit'"
            ).fetchall()
            if waiting:
                break
            time.sleep(0.02)
        thread.join(20)
    assert said
    assert "ended the connection" in said[0]
    with opened(parse_address(url)) as stored:
        assert verify(stored).runs == 1
