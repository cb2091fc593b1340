"""Servers that several tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.opa_server.programs import Remote, remote_server


@pytest.fixture(scope="package")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    """A running server that belongs to somebody else."""
    folder: Path = tmp_path_factory.mktemp("remote")
    with remote_server(folder) as server:
        yield server
