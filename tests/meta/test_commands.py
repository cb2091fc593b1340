"""Commands shown in our pages are run, and what they print is what the page shows.

A block is ```` ```console ````; a line that starts with ``$ `` is a command, the lines under it are its output. A line ``...`` stands
for any lines, a ``...`` inside a line for any text. ``exit=3`` after the language is the code expected of the last command. A block
that isn't run says why: ``skip="reason"``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.meta.documents import CHECKOUT, Block, blocks

RUN = [block for block in blocks("console") if not block.skip]
SKIPPED = [block for block in blocks("console") if block.skip]


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples in it and nothing else, as a reader of the page would have."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copytree(CHECKOUT / "examples", folder / "examples")
    return folder


def commands(block: Block) -> list[tuple[str, list[str]]]:
    """Each command with the output shown under it."""
    found: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            assert found, f"{block.title}: output before the first command"
            found[-1][1].append(line)
    return found


def pattern_of(lines: list[str]) -> re.Pattern[str]:
    """Shown output as a pattern: ``...`` is whatever was left out; spaces at line ends don't matter."""
    parts = []
    for line in lines:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(r".*".join(re.escape(piece.rstrip()) for piece in line.split("...")) + r"[ ]*\n")
    return re.compile("".join(parts))


@pytest.mark.parametrize("block", RUN, ids=lambda block: block.title)
def test_the_block_shows_what_happens(block: Block, workplace: Path) -> None:
    expected = re.search(r"exit=(\d+)", block.info)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "110",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }
    code = 0
    for command, shown in commands(block):
        assert code == 0, f"an earlier command of the block returned {code}"
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=workplace,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        code = done.returncode
        printed = done.stdout + done.stderr
        wanted = "\n".join(shown)
        assert pattern_of(shown).search(printed), f"{command}\n-- shown:\n{wanted}\n-- printed:\n{printed}"
    assert code == (int(expected.group(1)) if expected else 0)


@pytest.mark.parametrize("block", SKIPPED, ids=lambda block: block.title)
def test_a_block_that_is_not_run_says_why(block: Block) -> None:
    assert len(block.skip.split()) >= 2


def test_the_readme_shows_something_that_is_run() -> None:
    assert any(block.file.name == "README.md" for block in RUN)


@pytest.mark.parametrize("language", ["sh", "bash", "shell"])
def test_commands_stand_in_console_blocks(language: str) -> None:
    assert not [block.title for block in blocks(language)]
