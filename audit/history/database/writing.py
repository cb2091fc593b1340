"""Appends runs and takes their details away again. Both happen whole or not at all."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Connection, Table, delete, insert, select, update

from audit.errors import HistoryError
from audit.history.address import Address
from audit.history.chain import link
from audit.history.database.connecting import open_engine, writing
from audit.history.database.migrating import bring_up
from audit.history.database.reading import links_of
from audit.history.database.tables import (
    DETAILS,
    blob,
    blob_chunk,
    cluster_ratio,
    control,
    finding_group,
    head,
    ratio,
    record,
    run,
)
from audit.history.model import Details, Entry, Link, Retention
from audit.history.packed import CHUNK, Packed
from audit.history.retention import outlived

_AT_ONCE = 1_000
"""Rows of one statement."""


def append(
    address: Address,
    entry: Entry,
    files: Sequence[Packed],
    retention: Retention,
    now: dt.datetime,
    *,
    once: bool = False,
) -> tuple[Link, bool]:
    """Make a run the end of the chain, and prune what has outlived its time.

    Args:
        address: where; the tables are made or brought up to date.
        entry: the rows.
        files: kept whole.
        retention: how long details are kept.
        now: aware; when the run is appended.
        once: do nothing when the same run, by result and time, is there already.

    Returns:
        The run in its place, and whether it was appended now.

    Raises:
        HistoryError: nothing was appended.
    """
    _begin_file(address)
    with writing(open_engine(address), address) as connection:
        bring_up(connection, address)
        if once and (found := _same(connection, entry)) is not None:
            return found, False
        end = connection.execute(select(head.c.number, head.c.digest)).one_or_none()
        if end is None:
            raise HistoryError(
                "the history has lost the end of its chain",
                file=address.shown,
                suggestion="fleetaudit history verify",
            )
        added = link(end.number + 1, end.digest, _stamp(now), entry.run)
        connection.execute(insert(run).values(**_columns(added)))
        connection.execute(update(head).values(number=added.number, digest=added.digest))
        _insert_rows(connection, ratio, added.number, entry.ratios)
        _insert_details(connection, added.number, entry.details)
        for file in files:
            _insert_file(connection, file)
        _prune(connection, retention, now)
    return added, True


def prune(address: Address, retention: Retention, now: dt.datetime) -> list[int]:
    """Take away the details that nothing wants any longer; the numbers of the runs they belonged to.

    Raises:
        HistoryError: nothing was taken away.
    """
    with writing(open_engine(address), address) as connection:
        bring_up(connection, address)
        return _prune(connection, retention, now)


def _begin_file(address: Address) -> None:
    """Make an SQLite file that isn't there.

    It gets its tables beside its place and is then put there: a file in that place is never empty, so that one cut down to
    nothing is not taken for a new history.
    """
    path = address.path
    if path is None or path.exists():
        return
    partial = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = msgspec.structs.replace(address, path=partial)
        with writing(open_engine(beside, create=True), address) as connection:
            bring_up(connection, address)
        _put_in_place(partial, path)
    except OSError as error:
        raise HistoryError(
            f"the history cannot be made: {error.strerror or error}", file=address.shown
        ) from None
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


def _put_in_place(partial: Path, path: Path) -> None:
    try:
        os.link(partial, path)  # refuses when another process was quicker: then theirs is used
    except FileExistsError:
        return
    except OSError:
        # Some file systems have no links.
        if not path.exists():
            partial.rename(path)


def _same(connection: Connection, entry: Entry) -> Link | None:
    wanted = run.c.result_sha256 == entry.run.result_sha256, run.c.state_time == entry.run.state_time
    found = links_of(connection.execute(select(run).where(*wanted).order_by(run.c.number)))
    return found[0] if found else None


def _columns(added: Link) -> dict[str, Any]:
    return {
        "number": added.number,
        "previous": added.previous,
        "digest": added.digest,
        "appended_at": added.appended_at,
        "pruned_at": "",
        **msgspec.structs.asdict(added.run),
    }


def _insert_details(connection: Connection, number: int, details: Details) -> None:
    _insert_rows(connection, cluster_ratio, number, details.cluster_ratios)
    _insert_rows(connection, control, number, details.controls)
    _insert_rows(connection, finding_group, number, details.groups)
    connection.execute(insert(record).values(run=number, document=details.record))


def _insert_rows(connection: Connection, table: Table, number: int, rows: Sequence[msgspec.Struct]) -> None:
    for begin in range(0, len(rows), _AT_ONCE):
        connection.execute(
            insert(table),
            [
                {"run": number, "position": begin + place, **msgspec.structs.asdict(row)}
                for place, row in enumerate(rows[begin : begin + _AT_ONCE])
            ],
        )


def _insert_file(connection: Connection, file: Packed) -> None:
    if connection.execute(select(blob.c.sha256).where(blob.c.sha256 == file.sha256)).first():
        return
    chunks = -(-file.size // CHUNK)
    connection.execute(insert(blob).values(sha256=file.sha256, bytes=file.size, chunks=chunks))
    for number, content in enumerate(file.pieces()):
        connection.execute(insert(blob_chunk).values(sha256=file.sha256, number=number, content=content))


def _prune(connection: Connection, retention: Retention, now: dt.datetime) -> list[int]:
    if retention.keeps_all:
        return []
    whole = links_of(connection.execute(select(run).where(run.c.pruned_at == "")))
    numbers = outlived(whole, retention, now)
    for part in _parts(numbers):
        for table in DETAILS:
            connection.execute(delete(table).where(table.c.run.in_(part)))
        connection.execute(update(run).where(run.c.number.in_(part)).values(pruned_at=_stamp(now)))
    if numbers:
        wanted = (
            select(run.c.result_sha256)
            .where(run.c.pruned_at == "")
            .union(select(run.c.population_sha256).where(run.c.pruned_at == ""))
        )
        connection.execute(delete(blob_chunk).where(blob_chunk.c.sha256.not_in(wanted)))
        connection.execute(delete(blob).where(blob.c.sha256.not_in(wanted)))
    return numbers


def _parts(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    return (numbers[begin : begin + _AT_ONCE] for begin in range(0, len(numbers), _AT_ONCE))


def _stamp(now: dt.datetime) -> str:
    return now.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
