"""``report.html``: one file, no script, no network; past five megabytes the findings go on in side files."""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.util
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import jinja2
import msgspec
from markupsafe import Markup

from audit.model.result import AssessmentResult
from audit.report.files import atomic, earlier_reports
from audit.report.html_findings import FindingsPages, SideFile, Sink
from audit.report.html_rows import ICONS, icon
from audit.report.json_writer import seal
from audit.report.text import css_string
from audit.report.texts import Texts
from audit.report.view import ReportView, build_view
from audit.report.view_findings import GroupFeed, GroupWords
from audit.report.view_parts import Piece
from audit.resources import content_dir

SIZE_LIMIT = 5_000_000
"""Bytes of one HTML file, about."""
_LINKS = 6
"""Groups linked from one control."""
_PIECES = 2000
"""Template pieces joined before they are encoded and written."""


class HtmlWriter:
    """Writes ``report.html`` and, when it would grow too large, ``findings-N.html``.

    Args:
        language: of the texts.
        size_limit: bytes after which findings move to side files; None never splits.
    """

    name = "html"
    file_name = "report.html"

    def __init__(self, language: str = "en", size_limit: int | None = SIZE_LIMIT) -> None:
        self._texts = Texts(language)
        self._limit = size_limit

    def write(self, result: AssessmentResult, folder: Path) -> list[Path]:
        """Write atomically, side files first; nothing of it stays when one fails.

        Raises:
            ReportError: the folder or disk refuses.
        """
        page = _Page(seal(result), self._texts)
        path = folder / self.file_name
        written: list[Path] = []
        try:
            main = page.first(self._limit)
            while not page.done:
                number = len(written) + 1
                side = folder / f"findings-{number}.html"
                with atomic(side) as stream:
                    page.side(side.name, number, self._limit, stream)
                written.append(side)
            with atomic(path) as stream:
                page.main(main, stream)
        except BaseException:
            for side in written:
                side.unlink(missing_ok=True)
            raise
        _remove_stale(folder, written)
        return [path, *written]

    def render_to(self, result: AssessmentResult, stream: BinaryIO) -> None:
        """Write one whole page to an open stream, however large."""
        page = _Page(seal(result), self._texts)
        page.main(page.first(None), stream)


class _Page:
    """One report being written: the view, the feed of groups, and what both know of each other."""

    def __init__(self, result: AssessmentResult, texts: Texts) -> None:
        self._environment = environment(texts.language)
        self._view, anchors = build_view(result, texts)
        self._feed = GroupFeed(result)
        words = GroupWords(result, anchors, texts)
        self._findings = FindingsPages(self._environment, self._feed, words, texts, self._view.counts)
        self._frame = _frame(self._view, texts)

    @property
    def done(self) -> bool:
        return self._feed.done

    def first(self, limit: int | None) -> io.StringIO:
        """The main page's findings. Kept as text: control rows further down link to groups, wherever they end up."""
        sink = Sink(io.StringIO(), None if limit is None else limit * 4 // 5)
        self._findings.render(sink)
        return sink.text

    def side(self, name: str, number: int, limit: int | None, stream: BinaryIO) -> None:
        sink = Sink(io.StringIO(), limit)
        self._findings.render_side(sink, name)
        template = self._environment.get_template("findings_page.html.j2")
        _write(
            template,
            {
                **self._frame,
                "title": self._view.title,
                "state": self._view.state,
                "number": number,
                "chunks": _chunks(sink.text),
            },
            stream,
        )

    def main(self, findings: io.StringIO, stream: BinaryIO) -> None:
        told = _Findings(
            chunks=functools.partial(_chunks, findings),
            files=tuple(self._findings.files),
            critical=tuple(self._feed.critical),
            links=self._feed.links,
            overflow=self._feed.overflow,
        )
        template = self._environment.get_template("report.html.j2")
        _write(template, {**self._frame, "view": self._view, "findings": told}, stream)


class _Findings(msgspec.Struct, frozen=True):
    """What the main page needs of the findings."""

    chunks: Callable[[], Iterator[Markup]]
    files: tuple[SideFile, ...]
    critical: tuple[Piece, ...]
    links: Mapping[str, Sequence[Piece]]
    overflow: Mapping[str, int]

    def of(self, rules: Iterable[str]) -> list[Piece]:
        """The first groups of these rules, worst rule first in the order given, at most a handful."""
        return [link for rule in rules for link in self.links.get(rule, ())][:_LINKS]

    def more(self, rules: Iterable[str]) -> int:
        """How many groups of these rules are not among them."""
        total = sum(len(self.links.get(rule, ())) + self.overflow.get(rule, 0) for rule in rules)
        return max(0, total - _LINKS) if total else 0


def _chunks(text: io.StringIO) -> Iterator[Markup]:
    text.seek(0)
    while chunk := text.read(1 << 18):
        yield Markup(chunk)  # noqa: S704 - rendered by an escaping template a moment ago


def _write(template: jinja2.Template, context: dict[str, Any], stream: BinaryIO) -> None:
    pieces = template.stream(context)
    pieces.enable_buffering(_PIECES)
    for piece in pieces:
        stream.write(piece.encode("utf-8", "backslashreplace"))


def _frame(view: ReportView, texts: Texts) -> dict[str, Any]:
    style = content("style.css") + _page_box(view, texts)
    return {
        "language": view.language,
        "version": view.version,
        "style": Markup(style),  # noqa: S704 - our own sheet; the two dynamic strings are CSS-escaped
        "style_hash": base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        "sprite": Markup(content("sprite.svg")),  # noqa: S704 - our own file
    }


def _page_box(view: ReportView, texts: Texts) -> str:
    """Running heads of the printed pages: the only place where CSS carries text of the report."""
    sans = 'font: 7.5pt system-ui, "Noto Sans", sans-serif; color: #47515b;'
    mono = 'font: 7.5pt ui-monospace, "Noto Sans Mono", monospace; color: #47515b;'
    state = css_string(f"{view.title}  {view.state}")
    kind = css_string(texts.gettext("Evidence report, not a certificate"))
    digest = css_string(f"result sha256 {view.result_digest[:16]}")
    return (
        "\n@page { size: A4; margin: 14mm 12mm 14mm;\n"
        f"  @top-left {{ content: {state}; {sans} }}\n"
        f"  @top-right {{ content: {kind}; {sans} }}\n"
        f"  @bottom-left {{ content: {digest}; {mono} }}\n"
        f'  @bottom-right {{ content: counter(page) " / " counter(pages); {sans} }} }}\n'
        "@page :first { @top-left { content: none; } @top-right { content: none; } }\n"
    )


@functools.cache
def content(name: str) -> str:
    """Text of a file beside the templates."""
    return (content_dir("reports") / "templates" / name).read_text(encoding="utf-8")


@functools.cache
def environment(language: str) -> jinja2.Environment:
    """The template environment of one language: escaping always, an unknown name is an error."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(content_dir("reports") / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        bytecode_cache=_bytecode_cache(),
        extensions=["jinja2.ext.i18n"],
    )
    made.install_gettext_translations(Texts(language).native, newstyle=True)  # type: ignore[attr-defined]  # from the i18n extension
    made.globals["icons"] = {name: Markup(icon(name)) for name in ICONS}  # noqa: S704 - constants
    return made


def _bytecode_cache() -> jinja2.BytecodeCache | None:
    """Compiled templates where Python keeps this module's own bytecode; none where Python would write none."""
    folder = Path(importlib.util.cache_from_source(__file__)).parent
    if sys.dont_write_bytecode:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return jinja2.FileSystemBytecodeCache(str(folder)) if os.access(folder, os.W_OK) else None


def _remove_stale(folder: Path, written: list[Path]) -> None:
    """Side files of an earlier, longer report would pass for parts of this one."""
    for path in earlier_reports(folder, "findings-*.html"):
        if path not in written:
            path.unlink()
