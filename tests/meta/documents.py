"""The project's Markdown: which files there are, their fenced blocks, headings and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parent.parent.parent
_FENCE = re.compile(r"^(?P<ticks>`{3,})(?P<info>[^`]*)$")


class Block(NamedTuple):
    """A fenced block."""

    file: Path
    line: int
    language: str
    info: str
    """What follows the language, for example ``skip="needs helm"``."""
    text: str

    @property
    def title(self) -> str:
        return f"{self.file.relative_to(CHECKOUT)}:{self.line}"

    @property
    def skip(self) -> str:
        """The reason for not running it; empty when it is run."""
        found = re.search(r'skip="([^"]*)"', self.info)
        return found.group(1) if found else ""


def pages() -> list[Path]:
    """Every Markdown page of ours, sorted."""
    return sorted(
        [*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").rglob("*.md"), *(CHECKOUT / "examples").rglob("*.md")]
    )


def blocks(language: str) -> list[Block]:
    """All fenced blocks in one language."""
    return [block for page in pages() for block in _blocks_of(page) if block.language == language]


def prose(page: Path) -> str:
    """The page without fenced blocks and without code in backticks; lines stay where they are."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for block in _blocks_of(page):
        for number in range(block.line - 1, block.line + block.text.count("\n") + 1):
            lines[number] = ""
    return re.sub(r"`[^`\n]*`", "``", "\n".join(lines))


def anchors(page: Path) -> set[str]:
    """Anchors of the page's headings, as the usual renderers make them."""
    found = set()
    for line in prose_with_code(page).splitlines():
        if line.startswith("#"):
            words = line.lstrip("#").strip().lower().replace("`", "")
            found.add(re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", words)))
    return found


def prose_with_code(page: Path) -> str:
    """The page without fenced blocks, code in backticks kept."""
    lines = page.read_text(encoding="utf-8").splitlines()
    for block in _blocks_of(page):
        for number in range(block.line - 1, block.line + block.text.count("\n") + 1):
            lines[number] = ""
    return "\n".join(lines)


def table_under(page: Path, heading: str) -> list[list[str]]:
    """Cells of the first table under a heading, without the head."""
    text = page.read_text(encoding="utf-8")
    _, found, rest = text.partition(f"{heading}\n")
    assert found, f"{page.name} has no heading {heading!r}"
    rows = []
    for line in rest.splitlines():
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif rows:
            break
    return rows[2:]


def _blocks_of(page: Path) -> Iterator[Block]:
    start, ticks, info, text = 0, "", "", []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        fence = _FENCE.match(line)
        if not ticks and fence:
            start, ticks, info, text = number, fence["ticks"], fence["info"].strip(), []
        elif ticks and line.strip() == ticks:
            language, _, more = info.partition(" ")
            yield Block(page, start, language, more, "".join(f"{row}\n" for row in text))
            ticks = ""
        elif ticks:
            text.append(line)
    assert not ticks, f"{page}: the block at line {start} never ends"
