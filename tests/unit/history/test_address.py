"""Addresses: what is meant, what is refused, and that no message ever holds a password."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import UsageError
from audit.history.address import parse_address


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("history.db", "history.db"),
        ("/var/lib/fleetaudit/history.db", "/var/lib/fleetaudit/history.db"),
        ("sqlite:///history.db", "history.db"),
        ("sqlite:////var/lib/history.db", "/var/lib/history.db"),
        ("sqlite:///with%20blank.db", "with blank.db"),
        ("odd?name#1.db", "odd?name#1.db"),
    ],
)
def test_files(text: str, path: str) -> None:
    address = parse_address(text)
    assert (address.kind, address.path) == ("sqlite", Path(path))


def test_how_long_a_lock_is_waited_for() -> None:
    assert parse_address("sqlite:///history.db?timeout=2.5").wait_seconds == 2.5
    assert parse_address("history.db").wait_seconds == 30


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":memory:",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite://history.db",
        "sqlite:///h.db?timeout=soon",
        "sqlite:///h.db?timeout=nan",
        "sqlite:///h.db?timeout=-1",
        "sqlite:///h.db?mode=memory",
        "mysql://user:hunter2secret@host/db",
        "postgresql+asyncpg://user:hunter2secret@host/db",
        "postgresql://user:12/hunter2secret@host/db",
        "postgresql://user:hunter2/secret@host/db",
        "postgresql://user:12?hunter2secret@host/db",
        "postgresql://user:12#hunter2secret@host/db",
        "postgresql://user:hunter2secret@host:port/db",
        "postgresql://user:hunter2secret@[::1/db",
        "postgresql://user:hunter2\nsecret@host/db",
        "postgresql://" + "hunter2" * 1_000,
    ],
)
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_address(text)
    assert "hunter2" not in str(caught.value)
    assert "secret@" not in str(caught.value)


def test_a_server() -> None:
    address = parse_address(
        "postgres://au%40ditor:p%3A%2Fw@db.example.com:5433/fleet%20history?sslmode=require&password=other"
    )
    assert (address.user, address.password) == ("au@ditor", "p:/w")
    assert (address.host, address.port, address.database) == ("db.example.com", 5433, "fleet history")
    assert address.shown == "postgresql://au@ditor@db.example.com:5433/fleet history?sslmode=require"
    assert address.without_secrets("no p%3A%2Fw, no p:/w, no other") == "no ***, no ***, no ***"


@given(
    password=st.text(
        st.characters(min_codepoint=33, exclude_categories=("Cs", "Cc")), min_size=6, max_size=40
    ),
    as_query=st.booleans(),
)
def test_a_password_is_never_shown(password: str, as_query: bool) -> None:
    encoded = quote(password, safe="")
    text = f"postgresql://u@h/d?password={encoded}" if as_query else f"postgresql://u:{encoded}@h/d"
    address = parse_address(text)
    assert address.shown == "postgresql://u@h/d"
    said = address.without_secrets(f"cannot connect with {password} or {encoded} at h")
    assert password not in said
    assert encoded not in said
