"""A bounded store of small values on disk, by key. Whatever goes wrong with it costs speed, never an answer.

Every value carries a checksum over its key and itself, so a damaged or mixed-up entry is a miss. A file that the database
can't read is thrown away. A disk that is full or read-only ends the writing, and says so once.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path

_FILE = "answers-1.sqlite"
"""The number is that of the layout below; another layout gets another file."""
_CHECK_BYTES = 8
_WRITE_AT = 500
_HOUR = 3600
_SHRINK_TO = 0.8
_BUSY_SECONDS = 5.0
_OPEN = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",
    "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, used INTEGER NOT NULL, value BLOB NOT NULL) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS answers_used ON answers (used)",
)


class AnswerStore:
    """Values by key, least recently used ones forgotten first.

    Args:
        folder: made when it is missing, for its owner alone.
        max_bytes: size that the file is brought back to when the store is closed.
        say: told once of anything that makes the store useless.
        clock: seconds since 1970.
    """

    def __init__(
        self,
        folder: Path,
        max_bytes: int,
        say: Callable[[str], None],
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = folder / _FILE
        self._max_bytes = max_bytes
        self._say = say
        self._hour = int(clock() // _HOUR)
        self._waiting: list[tuple[bytes, int, bytes]] = []
        self._touched: list[bytes] = []
        self.damaged = 0
        """Entries found damaged."""
        self._database: sqlite3.Connection | None = None
        try:
            _own_folder(folder)
            self._database = self._opened()
        except (OSError, sqlite3.Error) as error:
            self._useless(error)

    def read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The values that are there and whole; at most a few hundred keys at a time."""
        if self._database is None or not keys:
            return {}
        marks = ",".join("?" * len(keys))
        try:
            rows = self._database.execute(
                f"SELECT key, used, value FROM answers WHERE key IN ({marks})",  # noqa: S608 - question marks only
                list(keys),
            ).fetchall()
        except sqlite3.Error as error:
            self._throw_away(error)
            return {}
        found: dict[bytes, bytes] = {}
        for key, used, sealed in rows:
            value = _opened_seal(key, sealed)
            if value is None:
                self.damaged += 1
                continue
            found[key] = value
            if used < self._hour:
                self._touched.append(key)
        return found

    def write(self, key: bytes, value: bytes) -> None:
        """Remember a value; it is on disk once the store is closed."""
        if self._database is None:
            return
        self._waiting.append((key, self._hour, _seal(key, value)))
        if len(self._waiting) >= _WRITE_AT:
            self._flush()

    def close(self) -> None:
        """Write what waits, and forget what is too much."""
        self._flush()
        self._shrink()
        if self._database is not None:
            with contextlib.suppress(sqlite3.Error):
                self._database.close()
        self._database = None

    def _opened(self) -> sqlite3.Connection:
        try:
            return _connect(self._path)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise  # not there, not writable, locked: not damaged
            self._say(f"the result cache {self._path} is damaged ({error}) and is begun anew")
            _remove(self._path)
            return _connect(self._path)

    def _flush(self) -> None:
        if self._database is None or not (self._waiting or self._touched):
            return
        try:
            with self._database:
                self._database.executemany(
                    "INSERT OR REPLACE INTO answers (key, used, value) VALUES (?, ?, ?)", self._waiting
                )
                self._database.executemany(
                    "UPDATE answers SET used = ? WHERE key = ?", [(self._hour, key) for key in self._touched]
                )
        except sqlite3.OperationalError as error:
            self._useless(error)
        except sqlite3.Error as error:
            self._throw_away(error)
        self._waiting.clear()
        self._touched.clear()

    def _shrink(self) -> None:
        if self._database is None:
            return
        try:
            size = _content_bytes(self._database)
            if size <= self._max_bytes:
                return
            with self._database:
                (count,) = self._database.execute("SELECT count(*) FROM answers").fetchone()
                surplus = int(count * (1 - self._max_bytes * _SHRINK_TO / size)) + 1
                self._database.execute(
                    "DELETE FROM answers WHERE key IN (SELECT key FROM answers ORDER BY used LIMIT ?)",
                    (surplus,),
                )
            self._database.execute("VACUUM")
        except sqlite3.Error as error:
            self._useless(error)

    def _useless(self, error: Exception) -> None:
        reason = getattr(error, "strerror", None) or str(error)
        self._say(f"no result cache in {self._path.parent}: {reason}")
        if self._database is not None:
            with contextlib.suppress(sqlite3.Error):
                self._database.close()
        self._database = None

    def _throw_away(self, error: Exception) -> None:
        self._useless(error)
        _remove(self._path)


def _connect(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=_BUSY_SECONDS, check_same_thread=False)
    database.text_factory = bytes  # a damaged value may have become text, and need not be UTF-8
    try:
        for statement in _OPEN:
            database.execute(statement)
        database.commit()
    except sqlite3.Error:
        database.close()
        raise
    return database


def _own_folder(folder: Path) -> None:
    """Make the folder; refuse one that others may write to, because who can write an answer can turn a verdict.

    Raises:
        OSError: it can't be made, or isn't its user's own.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name != "posix":
        return
    found = folder.stat()
    if found.st_uid != os.getuid():
        raise PermissionError(1, "the folder belongs to somebody else")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(1, "others may write to the folder; chmod go-w it")


def _content_bytes(database: sqlite3.Connection) -> int:
    numbers = [
        database.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    ]
    pages, free, size = (int(number) for number in numbers)
    return (pages - free) * size


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        with contextlib.suppress(OSError):
            path.with_name(path.name + suffix).unlink()


def _check(key: bytes, value: bytes) -> bytes:
    return hashlib.blake2b(value, digest_size=_CHECK_BYTES, key=key[:64]).digest()


def _seal(key: bytes, value: bytes) -> bytes:
    return _check(key, value) + value


def _opened_seal(key: bytes, sealed: object) -> bytes | None:
    if not isinstance(sealed, bytes) or len(sealed) < _CHECK_BYTES:
        return None
    value = sealed[_CHECK_BYTES:]
    return value if _check(key, value) == sealed[:_CHECK_BYTES] else None
