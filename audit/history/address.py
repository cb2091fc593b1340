"""Where a history is: a URL or the path of a file, and the form of it that may be shown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import msgspec

from audit.errors import UsageError

_SCHEMES: dict[str, Literal["sqlite", "postgresql"]] = {
    "sqlite": "sqlite",
    "postgres": "postgresql",
    "postgresql": "postgresql",
    "postgresql+psycopg": "postgresql",
}
_HIDDEN = "***"
_LONGEST = 4_096
_WAIT_SECONDS = 30.0
_LONGEST_WAIT = 3_600
_SECRET_QUERY = re.compile(r"passw|secret|token", re.IGNORECASE)
_EXAMPLE = "write history.db, sqlite:///history.db or postgresql://USER@HOST/DATABASE"


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed address."""

    kind: Literal["sqlite", "postgresql"]
    path: Path | None = None
    """The file of an SQLite database."""
    user: str = ""
    password: str = ""
    host: str = ""
    port: int | None = None
    database: str = ""
    query: dict[str, str] = {}
    """Settings of the connection, for PostgreSQL."""
    wait_seconds: float = _WAIT_SECONDS
    """How long another process may hold the history before we give up: an audit must end."""
    shown: str
    """What may be printed and logged: no password."""
    secrets: tuple[str, ...] = ()
    """Texts that no message may hold, in each form they may turn up in."""

    def without_secrets(self, text: str) -> str:
        """The text with every secret of this address masked."""
        for secret in self.secrets:
            text = text.replace(secret, _HIDDEN)
        return text


def parse_address(text: str) -> Address:
    """The address that was written. A text without ``://`` is the path of an SQLite file.

    Raises:
        UsageError: it names no database that can be used. The message holds no part of the URL that may be secret.
    """
    if not text.isprintable() or len(text) > _LONGEST:
        raise UsageError("the address of the history has characters that no address has", suggestion=_EXAMPLE)
    scheme, found, rest = text.partition("://")
    if not found:
        return _sqlite(text, {})
    kind = _SCHEMES.get(scheme.lower())
    if kind is None:
        raise UsageError(f"no history is kept in a database of the kind {scheme[:40]!r}", suggestion=_EXAMPLE)
    if kind == "sqlite":
        if not rest.startswith("/"):
            raise UsageError(
                "the URL of an SQLite history has three slashes, or four before an absolute path",
                suggestion="write sqlite:///history.db",
            )
        path, _, query = rest[1:].partition("?")
        return _sqlite(unquote(path), dict(parse_qsl(query, keep_blank_values=True)))
    return _postgresql(rest)


def _sqlite(path: str, query: dict[str, str]) -> Address:
    if path in {"", ":memory:"}:
        raise UsageError("a history in memory would be gone with the run", suggestion=_EXAMPLE)
    unknown = sorted(query.keys() - {"timeout"})
    try:
        seconds = float(query.get("timeout", _WAIT_SECONDS))
    except ValueError:
        unknown = ["timeout"]
    if unknown or not 0 <= seconds <= _LONGEST_WAIT:
        raise UsageError(
            f"an SQLite history doesn't take ?{(unknown or ['timeout'])[0][:40]}= with such a value",
            suggestion=f"it takes ?timeout=SECONDS, at most {_LONGEST_WAIT}",
        )
    return Address(kind="sqlite", path=Path(path), wait_seconds=seconds, shown=path)


def _postgresql(rest: str) -> Address:
    try:
        parts = urlsplit(f"//{rest}")
        port = parts.port
    except ValueError:
        raise _no_url() from None
    if "@" in parts.path or parts.fragment or ("@" in parts.query and "@" not in parts.netloc):
        # A / ? or # in a password ends the part of the URL that it belongs to; what follows would be shown.
        raise _no_url()
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    host, database = parts.hostname or "", unquote(parts.path.removeprefix("/"))
    plain = {name: value for name, value in query.items() if not _SECRET_QUERY.search(name)}
    hidden = [password, *(value for name, value in query.items() if name not in plain)]
    at = f"[{host}]" if ":" in host else host
    return Address(
        kind="postgresql",
        user=user,
        password=password,
        host=host,
        port=port,
        database=database,
        query=query,
        shown=f"postgresql://{f'{user}@' if user else ''}{at}{f':{port}' if port else ''}/{database}"
        + (f"?{urlencode(plain)}" if plain else ""),
        secrets=_forms(hidden),
    )


def _no_url() -> UsageError:
    return UsageError(
        "the address of the history is no URL",
        suggestion="characters such as / : @ # ? in a password are written %2F %3A %40 %23 %3F",
    )


def _forms(secrets: list[str]) -> tuple[str, ...]:
    """Each secret plain and as a URL has it, the longest first."""
    forms = {form for secret in secrets for form in (secret, quote(secret), quote(secret, safe=""))}
    return tuple(sorted((form for form in forms if form), key=lambda form: (-len(form), form)))
