"""Reads runs, ratios and the files that were kept whole."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection, Table, select

from audit.errors import HistoryError
from audit.history.address import Address
from audit.history.database.connecting import open_engine, reading
from audit.history.database.migrating import check_readable
from audit.history.database.tables import (
    blob_chunk,
    cluster_ratio,
    control,
    finding_group,
    head,
    ratio,
    record,
    run,
)
from audit.history.model import ControlState, Details, GroupState, Link, Ratio, RunRow
from audit.history.packed import REPORT, unpack_population, unpack_report
from audit.record.population import FILE_NAME as POPULATION

_Row = TypeVar("_Row", bound=msgspec.Struct)


@contextlib.contextmanager
def opened(address: Address) -> Iterator[Stored]:
    """The history as it is at one moment.

    Raises:
        HistoryError: it can't be read, or is no history that this program knows.
    """
    with reading(open_engine(address), address) as connection:
        check_readable(connection, address)
        yield Stored(connection)


class Stored:
    """What can be asked of a history.

    Args:
        connection: in a transaction that sees one state.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def links(self) -> list[Link]:
        """Every run, by number."""
        return links_of(self._connection.execute(select(run).order_by(run.c.number)))

    def pause(self) -> None:
        """Let writers through; what is asked next may be of a newer state."""
        self._connection.rollback()

    def pruned(self, number: int) -> bool:
        """Whether a run has given up its details by now."""
        return bool(self._connection.execute(select(run.c.pruned_at).where(run.c.number == number)).scalar())

    def head(self) -> tuple[int, str] | None:
        """Number and digest of the newest run; (0, "") of an empty history, None when the row is gone."""
        found = self._connection.execute(select(head.c.number, head.c.digest)).one_or_none()
        return (found.number, found.digest) if found else None

    def ratios(self, *, clusters: bool = False, **wanted: str) -> dict[int, list[Ratio]]:
        """Ratios by run.

        Args:
            clusters: those of single clusters, instead of the fleet's and its functions'.
            wanted: columns and the value each must have.
        """
        table = cluster_ratio if clusters else ratio
        query = select(table).order_by(table.c.run, table.c.position)
        for name, value in wanted.items():
            query = query.where(table.c[name] == value)
        found: dict[int, list[Ratio]] = {}
        for row in self._connection.execute(query).mappings():
            found.setdefault(row["run"], []).append(_struct(Ratio, row))
        return found

    def ratios_of(self, number: int) -> tuple[Ratio, ...]:
        """Ratios of one run, in their order."""
        return self._rows(Ratio, ratio, number)

    def details(self, number: int) -> Details:
        """What pruning would remove of a run."""
        document = self._connection.execute(
            select(record.c.document).where(record.c.run == number)
        ).scalar_one_or_none()
        return Details(
            cluster_ratios=self._rows(Ratio, cluster_ratio, number),
            controls=self._rows(ControlState, control, number),
            groups=self._rows(GroupState, finding_group, number),
            record=document or "",
        )

    def pieces(self, sha256: str) -> Iterator[bytes]:
        """The bytes of a file that is kept whole, none when it isn't there."""
        query = (
            select(blob_chunk.c.content).where(blob_chunk.c.sha256 == sha256).order_by(blob_chunk.c.number)
        )
        rows = self._connection.execute(query, execution_options={"yield_per": 4})
        return (bytes(content) for (content,) in rows)

    def unpack(self, found: Link, folder: Path) -> None:
        """Write the report and the population of a run, as they were, into a folder.

        Raises:
            HistoryError: they were pruned, or are damaged.
        """
        if found.pruned_at:
            raise HistoryError(
                f"run {found.number} was pruned: its ratios are left, its findings are not",
                suggestion="fleetaudit history lists the runs; choose a newer one",
            )
        unpack_report(self.pieces(found.run.result_sha256), folder / REPORT, found.run)
        if found.run.population_sha256:
            unpack_population(self.pieces(found.run.population_sha256), folder / POPULATION)

    def _rows(self, kind: type[_Row], table: Table, number: int) -> tuple[_Row, ...]:
        query = select(table).where(table.c.run == number).order_by(table.c.position)
        return tuple(_struct(kind, row) for row in self._connection.execute(query).mappings())


def links_of(rows: Iterable[Any]) -> list[Link]:
    """Runs from rows of the table ``run``."""
    return [_link(row._mapping) for row in rows]  # noqa: SLF001  # SQLAlchemy's public name


def _link(row: Any) -> Link:
    return Link(
        number=row["number"],
        previous=row["previous"],
        appended_at=row["appended_at"],
        run=_struct(RunRow, row),
        digest=row["digest"],
        pruned_at=row["pruned_at"],
    )


def _struct(kind: type[_Row], row: Any) -> _Row:
    return kind(**{name: row[name] for name in kind.__struct_fields__})
