"""A page of at most 25 lines: parts in order of worth, the least worthy shortened first."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from audit.cli.screen import Screen
from audit.cli.wording import label
from audit.cli.wrapping import wrapped

MOST_LINES = 25
WIDTH = 90


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A label and its lines."""

    label: str
    lines: tuple[str, ...]
    least: int = 1
    """Lines that are kept when the page is too long; what is cut is marked."""


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Headline and sections."""

    headline: str
    severity_style: str = ""
    sections: tuple[Section, ...]

    def lines(self) -> list[tuple[str, str]]:
        """(label, text) pairs after the headline, never more than fit."""
        kept = {index: len(section.lines) for index, section in enumerate(self.sections)}
        room = MOST_LINES - 1
        # Sections give way from the last to the first, each down to its least, until the page fits.
        for index in reversed(range(len(self.sections))):
            surplus = sum(kept.values()) - room
            if surplus <= 0:
                break
            kept[index] = max(min(self.sections[index].least, kept[index]), kept[index] - surplus)
        for index in reversed(range(len(self.sections))):
            surplus = sum(kept.values()) - room
            if surplus <= 0:
                break
            kept[index] = max(0, kept[index] - surplus)
        found: list[tuple[str, str]] = []
        for index, section in enumerate(self.sections):
            shown = list(section.lines[: kept[index]])
            if shown and len(shown) < len(section.lines):
                shown[-1] += f"  ... {len(section.lines) - len(shown)} more"
            found += [(section.label if position == 0 else "", text) for position, text in enumerate(shown)]
        return found

    def print(self, screen: Screen) -> None:
        """Headline in bold, labels dimmed."""
        screen.line((self.headline, "bold"))
        for name, text in self.lines():
            screen.line(label(name), text)


def prose(name: str, text: str, *, least: int = 1) -> Section:
    """A section of filled lines; empty text gives an empty section."""
    return Section(label=name, lines=tuple(wrapped(text, width=WIDTH)), least=least)


def listed(name: str, lines: Iterable[str], *, least: int = 1) -> Section:
    """A section of lines that are kept as they are."""
    return Section(label=name, lines=tuple(lines), least=least)
