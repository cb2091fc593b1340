"""Help: every command has one, with examples; it is quick, plain without a terminal, and loads nothing heavy."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from audit.cli.choices import FORMATS, SEVERITIES
from audit.cli.exits import MEANINGS
from audit.cli.main import application
from tests.unit.cli.terminal import CHECKOUT, environment, run, run_on_terminal


def every_command(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """All commands there are, so that none is forgotten here."""
    for name, command in group.commands.items():
        yield (*path, name)
        if getattr(command, "commands", None):
            yield from every_command(command, (*path, name))


COMMANDS = list(every_command(typer.main.get_command(application(rich_help=False))))
RUN_OPTIONS = [
    "--policy",
    "--output",
    "-o",
    "--format",
    "--config",
    "--no-config",
    "--include",
    "--exclude",
    "--no-gitignore",
    "--engine",
    "--rule",
    "--skip-rule",
    "--cluster",
    "--profile",
    "--fail-on",
    "--min-ratio",
    "--min-coverage",
    "--min-objects",
    "--jobs",
    "--quiet",
    "--verbose",
    "--log-file",
    "--no-progress",
    "--lang",
]
HEAVY = (
    "kubernetes",
    "sigstore",
    "spdx_tools",
    "opa_client",
    "jinja2",
    "rich",
    "yaml",
    "msgspec",
    "audit.wiring",
)


@pytest.fixture(scope="module")
def helps(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], str]:
    folder = tmp_path_factory.mktemp("help")
    found = {}
    for command in [(), *COMMANDS]:
        done = run(*command, "--help", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        found[command] = done.stdout
    return found


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_examples(
    helps: dict[tuple[str, ...], str], command: tuple[str, ...]
) -> None:
    text = helps[command]
    assert f"Usage: fleetaudit {' '.join(command)} " in text
    _, examples = text.split("\nExamples:\n")
    lines = [line for line in examples.splitlines() if line.strip() and not line.startswith("  # ")]
    assert len(lines) >= 2
    # Examples are as typed: one to a line, starting where the line starts, of this very command.
    assert all(line.startswith("  ") for line in lines)
    assert sum(f"fleetaudit {command[0]}" in line for line in lines) == len(lines)
    assert "list[str]" not in text


def test_the_root_names_every_command_and_every_exit_code(helps: dict[tuple[str, ...], str]) -> None:
    text = helps[()]
    for command in COMMANDS:
        assert f"\n  {command[0]} " in text
    for code, meaning in MEANINGS.items():
        assert f" {int(code)} {meaning}" in " ".join(text.split())


@pytest.mark.parametrize("command", ["run", "check"])
def test_run_and_check_have_the_same_options(helps: dict[tuple[str, ...], str], command: str) -> None:
    text = helps[command,]
    for option in RUN_OPTIONS:
        assert f"{option} " in text or f"{option}," in text, option
    for word in (*FORMATS, *SEVERITIES):
        assert word in text


def test_h_is_help_too(tmp_path: Path, helps: dict[tuple[str, ...], str]) -> None:
    assert run("run", "-h", cwd=tmp_path).stdout == helps["run",]


def test_help_through_a_pipe_is_plain(helps: dict[tuple[str, ...], str]) -> None:
    for text in helps.values():
        assert "\x1b" not in text
        assert "╭" not in text


def test_help_on_a_terminal_is_rich_and_has_the_examples_too(tmp_path: Path) -> None:
    shown = run_on_terminal("run", "--help", cwd=tmp_path)
    assert shown.code == 0
    assert "\x1b[" in shown.shown
    assert "What is audited" in shown.shown
    assert (
        "Examples:\r\n  # one cluster, report in fleetaudit-report/\r\n  fleetaudit run k8s/\r\n"
        in shown.shown
    )


def test_help_speaks_no_python_and_fits_80_columns(tmp_path: Path, helps: dict[tuple[str, ...], str]) -> None:
    for command, text in helps.items():
        shown = run_on_terminal(*command, "--help", cwd=tmp_path, COLUMNS="80").shown
        plain = run(*command, "--help", cwd=tmp_path, COLUMNS="80").stdout
        for told in (text, plain, re.sub(r"\x1b\[[0-9;]*m", "", shown)):
            assert not re.search(r"<\w+>|list\[", told)
        for told in (plain, re.sub(r"\x1b\[[0-9;]*m", "", shown)):
            assert [line for line in told.splitlines() if len(line.rstrip()) > 80] == []


def test_no_color_holds_for_help(tmp_path: Path) -> None:
    assert "\x1b[3" not in run_on_terminal("run", "--help", cwd=tmp_path, NO_COLOR="1").shown


def test_version(tmp_path: Path) -> None:
    import audit

    done = run("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"fleetaudit {audit.__version__}\n")


def test_no_command_is_no_success(tmp_path: Path) -> None:
    done = run(cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Commands:" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("rnu",), "No such command 'rnu'"),
        (("run", "--polcy", "x"), "No such option: --polcy"),
        (("run", "--jobs", "0"), "--jobs"),
        (("run", "--jobs", "many"), "--jobs"),
        (("run", "--min-objects", "-3"), "--min-objects"),
        (("run", "--config"), "--config"),
        (("report",), "RESULT.json"),
        (("explain",), "FINDING|RULE|CONTROL"),
        (("rules", "show"), "ID"),
        (("sample",), "--control"),
    ],
)
def test_usage_errors_end_with_2_and_one_line(tmp_path: Path, arguments: tuple[str, ...], part: str) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert part in done.stderr
    assert "Traceback" not in done.stderr
    assert "--help" in done.stderr


def test_completion_scripts(tmp_path: Path) -> None:
    done = run(cwd=tmp_path, _FLEETAUDIT_COMPLETE="source_bash")
    assert done.returncode == 0
    assert "fleetaudit" in done.stdout
    assert "complete" in done.stdout


def test_completion_knows_values(tmp_path: Path) -> None:
    words = "fleetaudit run --fail-on cri"
    done = run(cwd=tmp_path, _FLEETAUDIT_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD="3")
    assert done.stdout.split() == ["critical"]


def test_help_loads_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom audit.cli.main import main\ncode = main(['--help'])\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)), code, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == "[] 0\n"


def test_the_package_is_run_as_a_module() -> None:
    assert (CHECKOUT / "audit" / "__main__.py").is_file()
