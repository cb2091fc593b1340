"""The real Kyverno CLI, and the rows of the shipped policies' own tests, made once."""

from __future__ import annotations

import pytest

from audit.errors import EngineError
from audit.evaluate.kyverno.binary import find_kyverno
from tests.policies.pack import Row, policies, rows_of


@pytest.fixture(scope="session")
def kyverno() -> str:
    try:
        return find_kyverno().path
    except EngineError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def rows(kyverno: str) -> list[Row]:
    classic = [policy.folder for policy in policies() if not policy.is_cel]
    cel = [policy.folder for policy in policies() if policy.is_cel]
    # Of policies in CEL each one more makes all others slower, so each has a call of its own.
    return [row for folders in (classic, *([folder] for folder in cel)) for row in rows_of(kyverno, folders)]
