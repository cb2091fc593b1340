"""Prints lines and tables: with colour on a terminal, as plain text everywhere else."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

from audit.cli.safetext import DEFAULT_LIMIT, safe

if TYPE_CHECKING:
    from rich.console import Console

Part = str | tuple[str, str]
"""Text, or text with a style such as ``bold red``."""


class Screen:
    """One output stream. A reader that goes away (``| head``) ends the printing, not the audit.

    Args:
        stream: standard output or standard error.
        color: allow colour; used only when the stream is a terminal.
    """

    def __init__(self, stream: TextIO, *, color: bool = True) -> None:
        self.stream = stream
        self.is_terminal = stream.isatty()
        self.closed = False
        self._colored = color and self.is_terminal
        self._console: Console | None = self.console() if self._colored else None

    def console(self) -> Console:
        """The stream for what lays itself out with rich; plain text, and wider, where no terminal is."""
        from audit.cli.rich_console import console_on

        return console_on(self.stream, colored=self._colored, give_up=self._give_up)

    def line(self, *parts: Part, limit: int = DEFAULT_LIMIT) -> None:
        """Print one line. Parts are made safe here, so no caller can forget it; `limit` is for each of them."""
        pairs = [(part, "") if isinstance(part, str) else part for part in parts]
        cleaned = [(safe(text, limit), style) for text, style in pairs]
        if self._console is None:
            self._write("".join(text for text, _ in cleaned).rstrip() + "\n")
            return
        from rich.text import Text

        self._console.print(Text.assemble(*cleaned), soft_wrap=True)

    def table(self, header: Sequence[str], rows: Sequence[Sequence[Part]]) -> None:
        """Print columns, each as wide as its longest cell; the last one runs on."""
        cells = [[part if isinstance(part, str) else part[0] for part in row] for row in rows]
        cells = [[safe(cell) for cell in row] for row in cells]
        widths = [max(len(row[i]) for row in [list(header), *cells]) for i in range(len(header))]
        self.line(*[(title.ljust(width + 2), "bold") for title, width in zip(header, widths, strict=True)])
        for row, texts in zip(rows, cells, strict=True):
            self.line(
                *[
                    (text.ljust(width + 2), "" if isinstance(part, str) else part[1])
                    for part, text, width in zip(row, texts, widths, strict=True)
                ]
            )

    def data(self, data: Any) -> None:
        """Print plain data as JSON, for other programs; what a terminal might obey is escaped in JSON's own way."""
        import json

        text = json.dumps(data, indent=2, ensure_ascii=False)
        self._write("".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text) + "\n")

    def flush(self) -> None:
        """Push out what is buffered; a reader gone away is noticed here at the latest."""
        try:
            self.stream.flush()
        except BrokenPipeError:
            self._give_up()

    def _write(self, text: str) -> None:
        if self.closed:
            return
        try:
            self.stream.write(text)
        except BrokenPipeError:
            self._give_up()

    def _give_up(self) -> None:
        self.closed = True
        self._console = None
        abandon(self.stream)


def abandon(stream: TextIO) -> None:
    """Point a broken stream at nothing, so that the interpreter's last flush does not complain."""
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)
    except (OSError, ValueError):
        return


def stdout_screen(*, color: bool = True) -> Screen:
    """Results go here."""
    return Screen(sys.stdout, color=color)


def stderr_screen(*, color: bool = True) -> Screen:
    """Progress, warnings and errors go here."""
    return Screen(sys.stderr, color=color)
