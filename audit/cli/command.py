"""Typer command and groups whose examples stand at the end of the help, line by line, as they are typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from typer.core import TyperCommand, TyperGroup

WIDTH = 80
"""Columns that help fits into, whatever the terminal's own width is."""

Handler = Callable[..., int]
"""What a sub-command is: it returns the exit code."""


class _Examples:
    """Takes the epilog away from the help formatter, which would fill it into a paragraph.

    The help itself is prose: line ends of the source are no line ends on the screen.
    """

    def __init__(self, *args: Any, epilog: str | None = None, help: str | None = None, **kwargs: Any) -> None:  # noqa: A002  # click's name
        kwargs["help"] = _filled(help)
        super().__init__(*args, **kwargs)
        self.examples = epilog or ""

    def get_params(self, ctx: Any) -> list[Any]:
        """Parameters whose Python types stay out of the help: our users need not know Python."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # mixed into a command, which has it
        for param in params:
            if getattr(param, "is_flag", False) or param.param_type_name == "argument":
                param.display_type_rich = _no_type  # read by newer versions of Typer
        return params

    def format_help(self, ctx: Any, formatter: Any) -> None:
        super().format_help(ctx, formatter)  # type: ignore[misc]  # mixed into a command, which has it
        if self.examples:
            formatter.write(f"\n{self.examples}\n")


class Command(_Examples, TyperCommand):
    """A command with examples."""


class Group(_Examples, TyperGroup):
    """A group with examples."""


class ListingGroup(Group):
    """A group that lists when no sub-command is named: ``fleetaudit rules --json``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put ``list`` in front of options, and into nothing."""
        if not args or (args[0].startswith("-") and args[0] not in {"-h", "--help"}):
            args = ["list", *args]
        return super().parse_args(ctx, args)


def _filled(text: str | None) -> str | None:
    if text is None:
        return None
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _no_type(ctx: Any) -> None:
    del ctx  # Typer's signature


def examples(*lines: str) -> str:
    """The block of examples: command lines, each explained behind a ``#``, or above it where that would be too wide."""
    parted = [line.partition("  # ") for line in lines]
    width = max((len(command) for command, _, comment in parted if comment), default=0)
    shown = [
        f"  {command.ljust(width)}  # {comment}" if comment else f"  {command}"
        for command, _, comment in parted
    ]
    if max(map(len, shown)) > WIDTH:
        shown = [
            f"  # {comment}\n  {command}" if comment else f"  {command}" for command, _, comment in parted
        ]
    return "\n".join(["Examples:", *shown])
