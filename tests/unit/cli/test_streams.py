"""Standard streams that are closed, full or unread: no internal error, no wrong exit code, whatever the command."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.unit.cli.terminal import CHECKOUT, COMMAND, environment, run

FLEET = CHECKOUT / "examples" / "fleet" / "us-east-02"
# (arguments, exit code when everything is well)
COMMANDS = [
    (f"check {FLEET}", 1),
    (f"run {FLEET} -o - -f json", 0),
    ("report out/report.json -f markdown -o -", 0),
    ("rules", 0),
    ("run --help", 0),
    ("--version", 0),
    ("nonsense", 2),
]
# (redirection, whether what standard output gets is lost; None: it may be)
STREAMS = [
    ("<&-", False),
    ("2>&-", False),
    ("2>/dev/full", False),
    (">&-", True),
    ("<&- >&- 2>&-", True),
    ("| true", None),
    ("| head -1", None),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams")
    assert run("run", str(FLEET), "-o", "out", "-q", cwd=folder).returncode == 0
    return folder


def shell(place: Path, arguments: str, streams: str) -> tuple[int, str, str]:
    done = subprocess.run(
        ["bash", "-c", f"{' '.join(COMMAND)} {arguments} {streams}; exit ${{PIPESTATUS[0]}}"],
        cwd=place,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("arguments", "code"), COMMANDS, ids=lambda value: str(value).replace("/", " "))
def test_a_stream_that_is_not_there_changes_nothing_but_what_is_printed(
    place: Path, arguments: str, code: int
) -> None:
    for streams, lost in STREAMS:
        ended, _, said = shell(place, arguments, streams)
        # A report that was to go to standard output and cannot is no success.
        wanted = {False: {code}, True: {2}, None: {2, code}}[lost] if " -o -" in arguments else {code}
        assert ended in wanted, (streams, said)
        for word in ("internal error", "Traceback", "Exception ignored"):
            assert word not in said, streams


@pytest.mark.parametrize(("arguments", "code"), COMMANDS, ids=lambda value: str(value).replace("/", " "))
def test_a_full_standard_output_is_2_and_says_so(place: Path, arguments: str, code: int) -> None:
    ended, _, said = shell(place, arguments, ">/dev/full")
    assert ended == 2, said
    assert code == 2 or "No space left" in said
    assert code == 2 or "standard output" in said or "report cannot be printed" in said
    assert "Traceback" not in said


def test_closed_standard_input_is_said_when_it_is_to_be_read(place: Path) -> None:
    ended, _, said = shell(place, "run - -o out3", "<&-")
    assert (ended, said.splitlines()[0]) == (
        2,
        "error: standard input is closed, and - is to be read from there",
    )
    ended, _, _ = shell(place, f"run {FLEET} -o out4", "<&-")
    assert ended == 0


def test_no_file_of_ours_takes_the_place_of_a_closed_stream(place: Path) -> None:
    """Children get /dev/null in place of what was closed, never the population file."""
    code = (
        "import os, sys\nfrom audit.cli.streams import prepare_streams\nprepare_streams()\n"
        "handle = os.open('taken', os.O_CREAT | os.O_WRONLY)\n"
        "os.write(handle, str(handle).encode())\n"
    )
    subprocess.run(
        ["bash", "-c", f'{COMMAND[0]} -c "{code}" <&- >&- 2>&-'], cwd=place, env=environment(), check=True
    )
    assert int((place / "taken").read_text(encoding="utf-8")) > 2
