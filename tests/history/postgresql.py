"""A real PostgreSQL on loopback, with a password, in a folder that is gone afterwards."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import psycopg
import pytest

USER = "auditor"
PASSWORD = "p:a/s@s#w?o%r d-Zx81"
_START_SECONDS = 60
_INITIAL = f"-U {USER} --auth scram-sha-256 -E UTF8 --locale C --no-sync --no-instructions".split()


class Server(NamedTuple):
    """A running server."""

    port: int
    folder: Path
    binaries: Path

    def url(self, database: str, *, user: str = USER, password: str = PASSWORD, query: str = "") -> str:
        """The address of a database, as a user writes it."""
        return f"postgresql://{user}:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}" + (
            f"?{query}" if query else ""
        )

    def connect(self, database: str) -> psycopg.Connection:
        """A connection of one's own, to look behind the program's back."""
        return psycopg.connect(
            host="127.0.0.1", port=self.port, user=USER, password=PASSWORD, dbname=database, autocommit=True
        )

    def make(self, name: str) -> str:
        """An empty schema; the address of a history in it. Quicker than a database of its own, and as good."""
        with self.connect("postgres") as connection:
            connection.execute(f'CREATE SCHEMA "{name}"')
        return self.url("postgres", query=f"options=-csearch_path%3D{name}")


def binaries() -> Path:
    """Where the server's programs are; without any, the test is skipped."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for place in places:
        if (place / "initdb").is_file() and (place / "postgres").is_file():
            return place
    pytest.skip("PostgreSQL is not installed: scripts/find-postgresql")


@contextlib.contextmanager
def postgresql() -> Iterator[Server]:
    """Start a server, and stop it in the end."""
    programs = binaries()
    as_user: dict[str, object] = {}
    if os.geteuid() == 0:
        # initdb refuses root.
        as_user = {"user": _somebody(), "group": "nogroup", "extra_groups": []}
    # Not below pytest's own folder, which nobody but root could enter.
    with tempfile.TemporaryDirectory(prefix="fleetaudit-pg-") as name:
        folder = Path(name)
        secret = folder / "secret"
        secret.write_text(PASSWORD)
        if as_user:
            for path in (folder, secret):
                shutil.chown(path, user=str(as_user["user"]))
        data = folder / "data"
        subprocess.run(
            [programs / "initdb", "-D", data, *_INITIAL, "--pwfile", secret],
            check=True,
            capture_output=True,
            cwd=folder,
            **as_user,  # type: ignore[call-overload]
        )
        port = _free_port()
        settings = {
            "port": port,
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "off",
        }
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [programs / "postgres", "-D", data]
                + [part for key, value in settings.items() for part in ("-c", f"{key}={value}")],
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=folder,
                **as_user,  # type: ignore[call-overload]
            )
        try:
            server = Server(port, folder, programs)
            _wait(server, process)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _somebody() -> str:
    import pwd

    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(server: Server, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _START_SECONDS
    while True:
        try:
            server.connect("postgres").close()
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > end:
                pytest.fail((server.folder / "log").read_text())
            time.sleep(0.05)
        else:
            return
