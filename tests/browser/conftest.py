"""One Chromium for all browser tests, and reports to look at."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from audit.model.gate import IncompleteCode, IncompleteReason
from audit.report.html import HtmlWriter
from tests import builders as b
from tests.unit.report.hostile import PAYLOADS, hostile
from tests.unit.report.story import _found, story


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The installed Chromium, headless."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium is installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-background-networking"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports by name: the story in both languages, a hostile one, an empty one, and a split one with its side page."""
    root = tmp_path_factory.mktemp("reports")
    many = b.display_order([b.group(_found(n % 8, f"app{n}", number=n), id=f"G-{n:08x}") for n in range(400)])
    split = HtmlWriter(size_limit=150_000).write(story(listed=many), root / "split")
    empty = b.result(
        scores=(),
        controls=(),
        rules=(),
        mappings=(),
        checks=(),
        complete=False,
        incomplete_reasons=(IncompleteReason(code=IncompleteCode.NO_RULE),),
    )
    return {
        "story": HtmlWriter().write(story(), root / "story")[0],
        "chinese": HtmlWriter("zh-CN").write(story(), root / "chinese")[0],
        "hostile": HtmlWriter().write(hostile("".join(PAYLOADS) + "x" * 400), root / "hostile")[0],
        "empty": HtmlWriter().write(empty, root / "empty")[0],
        "split": split[0],
        "side": split[1],
    }
