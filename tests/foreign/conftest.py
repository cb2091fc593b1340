"""One real engine for all tests of foreign policies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from audit.native.evaluator import Evaluator

Write = Callable[..., Path]


@pytest.fixture(scope="session")
def evaluator() -> Iterator[Evaluator]:
    with Evaluator(jobs=1) as started:
        yield started


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write files into a folder called ``policy``: name to text."""

    def writer(files: dict[str, str], folder: str = "policy") -> Path:
        root = tmp_path / folder
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return root

    return writer
