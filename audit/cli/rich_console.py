"""Rich's console for our streams. Apart, because loading rich takes longer than most commands need."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

from rich.console import Console

PIPE_WIDTH = 120


class _Console(Console):
    """A console whose reader may go away: rich would end the process, and with it the audit's exit code."""

    give_up: Callable[[], None]

    def on_broken_pipe(self) -> None:
        self.quiet = True
        self.give_up()


def console_on(stream: TextIO, *, colored: bool, give_up: Callable[[], None]) -> Console:
    """A console that never reads text as markup.

    Args:
        stream: where to.
        colored: colour and other styles; without it not one escape sequence is written.
        give_up: called when the reader of a pipe has gone.
    """
    terminal = stream.isatty()
    console = _Console(
        file=stream,
        color_system="auto" if colored else None,
        force_terminal=terminal,
        width=None if terminal else PIPE_WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
    )
    console.give_up = give_up
    return console
