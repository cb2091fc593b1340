"""The environment is read in one file, and odd values are refused."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from audit.config.environment import read_environment
from audit.errors import UsageError

PACKAGE = Path(__file__).resolve().parents[3] / "audit"
# Each with its reason. None of these may decide what is audited or how it is judged.
ELSEWHERE = {
    "process.py": "hands PATH on to helm and kubectl",
    "native/child.py": "hands on what the engine needs to start",
    "native/binary.py": "another engine binary, for development; the run record has its digest",
    "evaluate/kyverno/process.py": "hands PATH on to the Kyverno CLI",
    "evaluate/kyverno/binary.py": "another Kyverno binary; the run record has its digest",
    "evaluate/kyverno/batch/program.py": "another batch child, for development; the run record has its digest",
}


def test_an_empty_environment_asks_for_nothing() -> None:
    surroundings = read_environment({})
    assert (surroundings.jobs, surroundings.no_color, surroundings.debug) == (None, False, False)
    assert surroundings.warnings == ()


@pytest.mark.parametrize(
    ("variables", "no_color"),
    [
        ({"NO_COLOR": "1"}, True),
        ({"NO_COLOR": "0"}, True),
        ({"NO_COLOR": ""}, False),
        ({"TERM": "dumb"}, True),
        ({"TERM": "xterm"}, False),
    ],
)
def test_no_color(variables: dict[str, str], no_color: bool) -> None:
    assert read_environment(variables).no_color is no_color


def test_values_are_taken() -> None:
    surroundings = read_environment(
        {
            "FLEETAUDIT_CONFIG": "f.yaml",
            "FLEETAUDIT_JOBS": "4",
            "FLEETAUDIT_LANG": "zh-CN",
            "FLEETAUDIT_DEBUG": "1",
            "LC_ALL": "C.UTF-8",
            "LANG": "de_DE",
            "PATH": "/bin",
            "HTTPS_PROXY": "http://user:secret@proxy",
            "SSL_CERT_FILE": "/ca.pem",
        }
    )
    assert (surroundings.config, surroundings.jobs, surroundings.lang) == ("f.yaml", 4, "zh-CN")
    assert surroundings.debug
    assert surroundings.locale == "C.UTF-8"
    assert surroundings.proxies == ("HTTPS_PROXY",)
    assert "secret" not in repr(surroundings)
    assert surroundings.authorities == {"SSL_CERT_FILE": "/ca.pem"}


@pytest.mark.parametrize("jobs", ["0", "-1", "many", "1.5", "٣", "1025", "9" * 5000])
def test_jobs_must_be_a_number_of_cores(jobs: str) -> None:
    with pytest.raises(UsageError, match="FLEETAUDIT_JOBS"):
        read_environment({"FLEETAUDIT_JOBS": jobs})


def test_language_must_be_known() -> None:
    with pytest.raises(UsageError, match="FLEETAUDIT_LANG"):
        read_environment({"FLEETAUDIT_LANG": "de"})


def test_a_typing_error_in_a_name_is_noticed() -> None:
    assert "FLEETAUDIT_CONFIG" in read_environment({"FLEETAUDIT_CONFG": "x"}).warnings[0]
    assert read_environment({"FLEETAUDIT_SHARED": "x"}).warnings == ()


def test_no_other_file_reads_the_environment() -> None:
    readers = set()
    for file in PACKAGE.rglob("*.py"):
        place = file.relative_to(PACKAGE)
        if "_content" in place.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in {"environ", "environb", "getenv"}:
                readers.add(place.as_posix())
    assert readers - set(ELSEWHERE) == {"config/environment.py"}
