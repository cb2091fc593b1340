"""The page about exit codes says what the code says."""

from __future__ import annotations

from audit.cli.exits import MEANINGS
from tests.meta.documents import CHECKOUT, table_under


def test_the_table_is_that_of_the_code() -> None:
    rows = table_under(CHECKOUT / "docs" / "exit-codes.md", "# Exit codes")
    assert rows == [[str(int(code)), meaning] for code, meaning in MEANINGS.items()]
