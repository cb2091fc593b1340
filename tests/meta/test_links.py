"""Links between our own pages lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.meta.documents import CHECKOUT, anchors, pages, prose

_LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_relative_links_resolve(page: Path) -> None:
    broken = []
    for target in _LINK.findall(prose(page)):
        path, _, anchor = target.partition("#")
        if target.startswith("https://"):
            continue
        aim = (page.parent / path).resolve() if path else page
        if (
            not aim.is_relative_to(CHECKOUT)
            or not aim.exists()
            or (anchor and aim.suffix == ".md" and anchor not in anchors(aim))
        ):
            broken.append(target)
    assert not broken


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [CHECKOUT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached and page.suffix == ".md" and page.exists():
            reached.add(page)
            waiting.extend(
                (page.parent / target.partition("#")[0]).resolve()
                for target in _LINK.findall(prose(page))
                if not target.startswith("https://") and target.partition("#")[0]
            )
    assert set(pages()) - reached == set()
