"""Whether what a history needs is installed. It is an extra: most audits keep none."""

from __future__ import annotations

import importlib

from audit.errors import UsageError
from audit.history.address import Address


def require_extra(address: Address) -> None:
    """Find out before the audit begins, and not when it ends.

    Raises:
        UsageError: something is missing.
    """
    names = ["sqlalchemy", "alembic", *(["psycopg"] if address.kind == "postgresql" else [])]
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            # psycopg says so too where the system has no libpq for it.
            raise UsageError(
                f"a history needs {name}, which is not installed or does not work",
                suggestion="pip install 'fleetaudit[history]'",
            ) from None
