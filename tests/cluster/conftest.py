"""A real API server for each file of this folder: one that stayed up would take its share of all tests after it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster.server import ApiServer, api_server
from tests.cluster.world import fill


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """A server with a small world in it."""
    with api_server(tmp_path_factory.mktemp("server")) as found:
        fill(found)
        yield found
