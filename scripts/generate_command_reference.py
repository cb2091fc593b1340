#!/usr/bin/env python3
"""Writes docs/command-line.md from the commands themselves.

With ``--check`` nothing is written and the exit code is 1 when the page is not current.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from audit.cli.main import NAME, application

PAGE = Path(__file__).resolve().parent.parent / "docs" / "command-line.md"
HEAD = """# Command line

<!-- Written by scripts/generate_command_reference.py from the commands. Edit those, then run `make docs`. -->

`fleetaudit COMMAND --help` prints the same, and `fleetaudit --install-completion` teaches your shell. What the codes mean is on
[exit codes](exit-codes.md), what can be configured instead on [configuration](configuration.md).
"""


def main() -> int:
    """Write or check the page; returns the exit code."""
    wanted = page()
    if "--check" in sys.argv[1:]:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


def page() -> str:
    """The whole page."""
    root: Any = typer.main.get_command(application(rich_help=False))
    commands = list(_commands(root, NAME))
    overview = "".join(
        f"| [`{path}`](#{path.replace(' ', '-')}) | {_lead(command)} |\n" for path, command in commands
    )
    return "\n".join(
        [
            HEAD,
            f"| command | what it does |\n|---|---|\n{overview}",
            *(_section(*entry) for entry in commands),
        ]
    )


def _commands(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if getattr(command, "commands", None):
            yield from _commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def _lead(command: Any) -> str:
    return _paragraphs(command)[0]


def _paragraphs(command: Any) -> list[str]:
    return [" ".join(part.split()) for part in inspect.cleandoc(command.help or "").split("\n\n")]


def _section(path: str, command: Any) -> str:
    parts = [f"## `{path}`", *_paragraphs(command)]
    rows = [_row(parameter) for parameter in command.params if not getattr(parameter, "hidden", False)]
    parts.append("\n".join(["| argument or option | meaning |", "|---|---|", *rows]))
    if command.examples:
        parts.append(f"```text\n{inspect.cleandoc(command.examples.partition(chr(10))[2])}\n```")
    return "\n\n".join(parts) + "\n"


def _row(parameter: Any) -> str:
    metavar = parameter.metavar or ("" if getattr(parameter, "is_flag", False) else parameter.name.upper())
    names = ", ".join(f"`{name}`" for name in parameter.opts if name.startswith("-"))
    shown = f"{names} `{metavar}`" if names and metavar else names or f"`{metavar}`"
    return f"| {shown} | {' '.join((parameter.help or '').split()).replace('|', '&#124;')} |"


if __name__ == "__main__":
    sys.exit(main())
