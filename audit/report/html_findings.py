"""The findings part of the pages: rendered while the groups stream, cut where a page is full."""

from __future__ import annotations

import io

import jinja2
import msgspec

from audit.report.texts import Texts
from audit.report.view_findings import GroupFeed


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
        texts: language.
    """

    def __init__(self, environment: jinja2.Environment, feed: GroupFeed, texts: Texts) -> None:
        self._template = environment.get_template("findings.html.j2")
        self._feed = feed
        self._words = _words(texts)
        self._headings = {
            "lines": texts.gettext("Medium, low and info"),
            "errors": texts.gettext("Errors: could not be evaluated"),
            "warns": texts.gettext("Warnings: answered, unscored, decide nothing"),
        }
        self.files: list[SideFile] = []

    def render(self, sink: Sink) -> None:
        """Fill one page."""
        context = {
            "parts": self._feed.parts(sink.room),
            "words": self._words,
            "headings": self._headings,
        }
        for piece in self._template.generate(context):
            sink.add(piece)

    def render_side(self, sink: Sink, name: str) -> None:
        """Fill one side page and remember what is in it."""
        self._feed.page, self._feed.file = "report.html", name
        self._feed.begin()
        self.render(sink)
        self.files.append(SideFile(name, self._feed.number, self._feed.first, self._feed.last))


def _words(texts: Texts) -> dict[str, str]:
    """Words repeated for each group: looked up once."""
    return {
        "absent": texts.gettext("absent"),
        "clusters": texts.gettext("clusters"),
        "container": texts.gettext("container"),
        "decides": texts.gettext("Decides"),
        "expected": texts.gettext("Expected"),
        "findings": texts.gettext("findings"),
        "fix": texts.gettext("Smallest fix"),
        "fixword": texts.gettext("fix:"),
        "hidden": texts.gettext("more are not shown here; report.json has them all"),
        "inside": texts.gettext("seen, expected, fix"),
        "none": texts.gettext("No finding."),
        "nothing": texts.gettext("no control"),
        "on": texts.gettext("On"),
        "path": texts.gettext("Path"),
        "places": texts.gettext("Other places"),
        "seen": texts.gettext("Seen"),
        "waived": texts.gettext("waived"),
        "what": texts.gettext("What"),
    }
