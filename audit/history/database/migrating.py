"""Brings a database to this program's tables, and refuses what isn't ours or is newer than this program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect

from audit.errors import HistoryError
from audit.history.address import Address

MIGRATIONS = Path(__file__).parent / "migrations"
_VERSION_TABLE = "fleetaudit_history"
"""A name of our own, so that another program that uses Alembic is not taken for a history."""


def bring_up(connection: Connection, address: Address, migrations: Path = MIGRATIONS) -> None:
    """Run the migrations that are missing, in the transaction of `connection`.

    Args:
        connection: in a transaction that excludes every other writer.
        address: for messages.
        migrations: Alembic's folder.

    Raises:
        HistoryError: the database belongs to another program, or to a newer fleetaudit.
    """
    scripts = _scripts(migrations)
    found = _version(connection)
    _refuse_what_is_not_ours(connection, address, scripts, found)
    if found == scripts.get_current_head():
        return

    def steps(revision: Any, _: Any) -> Any:
        return scripts._upgrade_revs("head", revision)  # noqa: SLF001  # how Alembic's own documentation calls it

    with EnvironmentContext(Config(), scripts, fn=steps) as environment:
        environment.configure(connection=connection, version_table=_VERSION_TABLE)
        environment.run_migrations()


def check_readable(connection: Connection, address: Address, migrations: Path = MIGRATIONS) -> None:
    """See that the tables are those this program knows; nothing is changed.

    Raises:
        HistoryError: they are not.
    """
    scripts = _scripts(migrations)
    found = _version(connection)
    _refuse_what_is_not_ours(connection, address, scripts, found)
    if found is None:
        raise HistoryError(
            "the database holds no history yet",
            file=address.shown,
            suggestion="fleetaudit run --history URL begins one",
        )
    if found != scripts.get_current_head():
        raise HistoryError(
            f"the history has an older form ({found})",
            file=address.shown,
            suggestion="the next fleetaudit run --history brings it up to date",
        )


def _scripts(migrations: Path) -> ScriptDirectory:
    return ScriptDirectory(str(migrations))


def _version(connection: Connection) -> str | None:
    context = MigrationContext.configure(connection, opts={"version_table": _VERSION_TABLE})
    heads = context.get_current_heads()
    return heads[0] if heads else None


def _refuse_what_is_not_ours(
    connection: Connection, address: Address, scripts: ScriptDirectory, found: str | None
) -> None:
    if found is None:
        names = [name for name in inspect(connection).get_table_names() if name != _VERSION_TABLE]
        if names:
            listed = ", ".join(sorted(names)[:3])
            raise HistoryError(
                f"the database belongs to another program: it has tables such as {listed}",
                file=address.shown,
                suggestion="give the history a database, or a schema, of its own",
            )
        return
    if found not in {script.revision for script in scripts.walk_revisions()}:
        raise HistoryError(
            f"the history has a form ({found[:20]}) that this fleetaudit doesn't know",
            file=address.shown,
            suggestion="a newer fleetaudit wrote to it: use that version, or a newer one",
        )
