"""Which files .gitignore leaves out, judged by git itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.collect.discovery import FoundFile, Selection, discover

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

FILES = (
    "a.yaml",
    "b.json",
    "sub/a.yaml",
    "sub/b.json",
    "sub/deep/a.yaml",
    "other/a.yaml",
    "other/sub/b.json",
)


def kept_by_git(folder: Path) -> list[str]:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    asked = subprocess.run(
        ["git", "-C", str(folder), "ls-files", "--others", "--exclude-standard", "-z"],
        check=True,
        capture_output=True,
        text=True,
    )
    return sorted(name for name in asked.stdout.split("\0") if name.endswith((".yaml", ".json")))


def kept_by_us(folder: Path) -> list[str]:
    return sorted(
        found.path.relative_to(folder).as_posix()
        for found in discover(folder, Selection())
        if isinstance(found, FoundFile)
    )


def plant(folder: Path, top: str, below: str = "") -> None:
    for name in FILES:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    (folder / ".gitignore").write_text(top)
    (folder / "sub" / ".gitignore").write_text(below)


@pytest.mark.parametrize(
    ("top", "below"),
    [
        ("*\n!*/\n!*.yaml\n", ""),
        ("*\n!sub/\n!a.yaml\n", ""),
        ("sub/*\n!sub/a.yaml\n", ""),
        ("sub/**\n!sub/a.yaml\n", ""),
        ("sub\n!sub/\n", ""),
        ("sub/\n!sub/a.yaml\n", ""),
        ("/sub\n", ""),
        ("**/sub\n", ""),
        ("a.yaml\n", "!a.yaml\n"),
        ("!a.yaml\n", "a.yaml\n"),
        ("", "*\n!.gitignore\n"),
        ("*.yaml/\n", ""),
        ("deep/\n", ""),
        ("other/*/b.json\n", ""),
        ("# remark\n\n\\#a\n", ""),
    ],
)
def test_keeps_what_git_keeps(tmp_path: Path, top: str, below: str) -> None:
    plant(tmp_path, top, below)
    assert kept_by_us(tmp_path) == kept_by_git(tmp_path)


PATTERNS = st.lists(
    st.builds(
        "{}{}{}".format,
        st.sampled_from(["", "!", "/", "!/"]),
        st.sampled_from(
            [
                "*",
                "sub",
                "deep",
                "a.yaml",
                "*.yaml",
                "sub/*",
                "sub/**",
                "**/deep",
                "other/sub",
                "o*",
                "?.json",
            ]
        ),
        st.sampled_from(["", "", "/"]),
    ),
    max_size=4,
).map("\n".join)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(top=PATTERNS, below=PATTERNS)
def test_keeps_what_git_keeps_for_any_patterns(
    tmp_path_factory: pytest.TempPathFactory, top: str, below: str
) -> None:
    folder = tmp_path_factory.mktemp("tree")
    plant(folder, top, below)
    assert kept_by_us(folder) == kept_by_git(folder), (top, below)
