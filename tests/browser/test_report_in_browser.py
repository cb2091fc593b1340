"""The report as a browser shows it: quiet, self-contained, accessible, inside the window, printable."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.packages import npm_file

pytestmark = pytest.mark.browser

NAMES = ("story", "chinese", "hostile", "empty", "split", "side")
WIDTHS = (360, 390, 800, 1024, 1440)
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")


@contextmanager
def _opened(browser: Browser, path: Path, width: int = 1440, scheme: Scheme = "light") -> Iterator[Page]:
    """A page that must stay quiet and ask for nothing but itself."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    complaints: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    try:
        yield page
        assert complaints == []
        assert requests == [path.as_uri()]
    finally:
        context.close()


def _open_all(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")


@pytest.mark.parametrize("name", NAMES)
def test_the_page_is_quiet_and_asks_for_nothing(chromium: Browser, pages: dict[str, Path], name: str) -> None:
    with _opened(chromium, pages[name]) as page:
        assert page.title()
        assert page.locator("h1").count() == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_page_never_scrolls_sideways(chromium: Browser, pages: dict[str, Path], name: str) -> None:
    with _opened(chromium, pages[name]) as page:
        _open_all(page)
        wide = {}
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 900})
                wide[scheme, width] = page.evaluate("document.documentElement.scrollWidth")
        assert {key: found for key, found in wide.items() if found > key[1]} == {}


@pytest.mark.parametrize("name", ["story", "chinese", "empty", "side"])
def test_the_page_is_accessible(chromium: Browser, pages: dict[str, Path], name: str) -> None:
    axe = npm_file("axe-core/axe.min.js").read_text(encoding="utf-8")
    told = []
    with _opened(chromium, pages[name]) as page:
        _open_all(page)
        page.evaluate(axe)
        for scheme, width in zip(SCHEMES, (1440, 390), strict=True):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            told += [
                (scheme, width, item["id"], [node["target"] for node in item["nodes"][:3]])
                for item in found["violations"]
            ]
    assert told == [], "\n".join(map(str, told))


def test_the_policy_refuses_scripts_that_someone_adds(
    chromium: Browser, pages: dict[str, Path], tmp_path: Path
) -> None:
    tampered = tmp_path / "report.html"
    text = pages["story"].read_text(encoding="utf-8")
    tampered.write_text(
        text.replace("</main>", "<script>document.title = 'ran'</script></main>"), encoding="utf-8"
    )
    context = chromium.new_context()
    page = context.new_page()
    page.goto(tampered.as_uri())
    title = page.title()
    context.close()
    assert title != "ran"


def test_the_style_is_applied_under_the_policy(chromium: Browser, pages: dict[str, Path]) -> None:
    with _opened(chromium, pages["story"]) as page:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert colour == "rgb(253, 252, 250)"
    with _opened(chromium, pages["story"], scheme="dark") as page:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert colour == "rgb(20, 23, 26)"


def test_every_part_can_be_reached_by_keyboard(chromium: Browser, pages: dict[str, Path]) -> None:
    with _opened(chromium, pages["story"]) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("location.hash") == "#summary"


@pytest.mark.parametrize("name", ["story", "chinese", "side"])
def test_it_prints_with_closed_details_shown(chromium: Browser, pages: dict[str, Path], name: str) -> None:
    with _opened(chromium, pages[name]) as page:
        printed = page.pdf(format="A4", print_background=True, prefer_css_page_size=True)
        assert printed.startswith(b"%PDF-")
        assert printed.count(b"/Type /Page\n") > 1
        page.emulate_media(media="print")
        heights = page.evaluate(
            "[...document.querySelectorAll('details:not([open]) > :not(summary)')].map(e => e.getBoundingClientRect().height)"
        )
        assert all(height > 0 for height in heights)
