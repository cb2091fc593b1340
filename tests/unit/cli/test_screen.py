"""Printing: plain through pipes, coloured on terminals, harmless and unbreakable everywhere."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from audit.cli.failures import MOST_SHOWN, print_error, print_message, warn
from audit.cli.rich_console import PIPE_WIDTH
from audit.cli.safetext import safe
from audit.cli.screen import Screen
from audit.errors import ConfigError, UsageError


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def printed(*parts: str | tuple[str, str], stream: io.StringIO | None = None, color: bool = True) -> str:
    stream = stream or io.StringIO()
    Screen(stream, color=color).line(*parts)
    return stream.getvalue()


def test_pipes_get_plain_text() -> None:
    assert printed(("error: ", "bold red"), "x") == "error: x\n"


def test_terminals_get_colour_unless_it_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in printed(("x", "bold red"), stream=Terminal())
    assert printed(("x", "bold red"), stream=Terminal(), color=False) == "x\n"


@pytest.mark.parametrize(
    "text",
    [
        "a\x1b[2Jb",
        "a\x9b2Jb",
        "a\x07b",
        "a\rb",
        "a\nb",
        "a\u202eb",
        "a\u2066b",
        "a\u200bb",
        "a\udc80b",
        "a\x00b",
    ],
)
def test_no_control_character_gets_out(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    for shown in (printed(text), printed(text, stream=Terminal(), color=False)):
        assert shown.rstrip("\n").isprintable()
        assert shown.count("\n") == 1
        shown.encode("utf-8")
        assert shown.startswith("a")
        assert shown.endswith("b\n")


def test_markup_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "[bold]x[/bold] :smile:" in printed("[bold]x[/bold] :smile:", stream=Terminal())


def test_long_text_is_cut_and_says_so() -> None:
    assert len(safe("x" * 100_000)) < 500
    assert "more characters" in safe("x" * 100_000)


def test_tables_are_aligned() -> None:
    stream = io.StringIO()
    Screen(stream).table(("A", "B"), [("x", ("yy", "red")), ("long one", "z")])
    assert stream.getvalue() == "A         B\nx         yy\nlong one  z\n"
    Screen(stream).table(("A",), [])


class Broken(io.StringIO):
    """A pipe nobody reads."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self.file = file
        self.tries = 0

    def write(self, text: str) -> int:
        self.tries += 1
        raise BrokenPipeError

    def flush(self) -> None:
        raise BrokenPipeError

    def fileno(self) -> int:
        return self.file.fileno()


@pytest.fixture
def unread(tmp_path: Path) -> Iterator[Broken]:
    with (tmp_path / "stream").open("wb") as file:
        yield Broken(file)


def test_a_reader_that_goes_away_ends_the_printing_only(unread: Broken) -> None:
    stream = unread
    screen = Screen(stream)
    for _ in range(3):
        screen.line("x")
        screen.data("x")
    assert stream.tries == 1
    assert os.fstat(stream.fileno()).st_rdev == Path(os.devnull).stat().st_rdev


def test_data_is_json_that_no_terminal_obeys() -> None:
    stream = io.StringIO()
    told = {"a": "é\x1b[31m\x9b31m\u202e\u2028\U000e0001\n", "日": [1, None]}
    Screen(stream).data(told)
    assert json.loads(stream.getvalue()) == told
    assert all(c.isprintable() or c == "\n" for c in stream.getvalue())
    assert "é" in stream.getvalue()


def test_a_reader_that_went_away_is_noticed_at_the_end(unread: Broken) -> None:
    screen = Screen(unread)
    screen.flush()
    assert screen.closed


def test_rich_does_not_end_the_process_when_the_reader_goes_away(unread: Broken) -> None:
    screen = Screen(unread)
    console = screen.console()
    console.print("x")
    console.print("y")
    assert screen.closed


def test_pipes_have_a_width_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert Screen(io.StringIO()).console().width == PIPE_WIDTH


def test_errors_begin_with_their_place() -> None:
    stream = io.StringIO()
    print_error(
        Screen(stream),
        ConfigError("unknown key", file="f.yaml", line=3, column=5, key="a.b", suggestion="did you mean c?"),
    )
    assert stream.getvalue() == "error: f.yaml:3:5: a.b: unknown key\n       did you mean c?\n"


def test_errors_found_together_are_printed_together() -> None:
    stream = io.StringIO()
    many = [UsageError(f"e{number}") for number in range(1, 100)]
    print_error(Screen(stream), UsageError("e0", others=many))
    lines = stream.getvalue().splitlines()
    assert lines[:2] == ["error: e0", "error: e1"]
    assert lines[-2:] == [f"       and {100 - MOST_SHOWN} more", "100 errors"]


def test_messages_and_warnings() -> None:
    stream = io.StringIO()
    print_message(Screen(stream), "a\nb", "c")
    warn(Screen(stream), "d")
    assert stream.getvalue() == "error: a b\n       c\nwarning: d\n"
