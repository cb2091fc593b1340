"""For every test: caches of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test may find answers that another run left behind, nor leave any."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLEETAUDIT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
