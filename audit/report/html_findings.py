"""The findings part of the pages: rendered while the groups stream, cut where a page is full."""

from __future__ import annotations

import io

import jinja2
import msgspec

from audit.model.result import GroupCounts
from audit.model.rule import Severity
from audit.report.html_rows import RowWriter
from audit.report.nouns import counted
from audit.report.text import visible
from audit.report.texts import Texts
from audit.report.view_findings import GroupFeed, GroupWords

OPEN_BLOCKS = 12
"""Critical groups are shown open up to this number, and high ones too while both together are no more."""


class SideFile(msgspec.Struct, frozen=True):
    """One side file, as the main page lists it."""

    name: str
    groups: int
    first: str
    last: str


class Sink:
    """Collects rendered text and knows whether more fits.

    Args:
        text: where it goes.
        limit: characters wanted at most; None for no limit.
    """

    def __init__(self, text: io.StringIO, limit: int | None) -> None:
        self.text = text
        self._limit = limit
        self._size = 0

    def add(self, piece: str) -> None:
        """Take a rendered piece."""
        self._size += self.text.write(piece)

    def room(self) -> bool:
        """Whether another group may begin."""
        return self._limit is None or self._size < self._limit


class FindingsPages:
    """Renders the feed page by page.

    Args:
        environment: the templates.
        feed: the groups.
        words: what groups say.
        texts: language.
        counts: totals over all groups.
    """

    def __init__(
        self,
        environment: jinja2.Environment,
        feed: GroupFeed,
        words: GroupWords,
        texts: Texts,
        counts: GroupCounts,
    ) -> None:
        self._template = environment.get_template("findings.html.j2")
        self._feed = feed
        serious = counts.open.get("critical", 0), counts.open.get("high", 0)
        lesser = sum(counts.open.get(name, 0) for name in ("medium", "low", "info"))
        opened = set()
        if serious[0] <= OPEN_BLOCKS:
            opened.add(Severity.CRITICAL)
        if sum(serious) <= OPEN_BLOCKS:
            opened.add(Severity.HIGH)
        self._rows = RowWriter(words, texts, frozenset(opened))
        self._headings = {
            "blocks": (texts.gettext("Critical and high"), counted(sum(serious), "open group", texts)),
            "rest": (texts.gettext("Critical and high, one line each"), ""),
            "lines": (texts.gettext("Medium, low and info"), counted(lesser, "open group", texts)),
            "errors": (
                texts.gettext("Errors: could not be evaluated"),
                counted(counts.errors, "group", texts),
            ),
            "warns": (
                texts.gettext("Warnings: answered, unscored, decide nothing"),
                counted(counts.warns, "group", texts),
            ),
        }
        self.files: list[SideFile] = []

    def render(self, sink: Sink) -> None:
        """Fill one page."""
        context = {
            "parts": self._feed.parts(sink.room),
            "headings": self._headings,
            "rows": self._rows.rows,
        }
        for piece in self._template.generate(context):
            sink.add(piece)

    def render_side(self, sink: Sink, name: str) -> None:
        """Fill one side page and remember what is in it."""
        self._feed.begin(name)
        self._rows.begin("report.html")
        self.render(sink)
        self.files.append(
            SideFile(name, self._feed.number, visible(self._feed.first, 40), visible(self._feed.last, 40))
        )
