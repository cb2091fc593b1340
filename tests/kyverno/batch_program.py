"""The batch child that `make tools` builds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from audit.evaluate.kyverno.batch.program import OVERRIDE
from tests.cluster.server import tool


def batch_program() -> Path:
    """Its path; the environment may name another."""
    return Path(os.environ.get(OVERRIDE) or tool("fleetaudit-kyverno-batch"))


@pytest.fixture
def batch(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The child is used by every engine that wants it."""
    program = batch_program()
    monkeypatch.setenv(OVERRIDE, str(program))
    return program
