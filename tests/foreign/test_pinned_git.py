"""Policies from a git repository: pinned, fetched once, and nothing of the repository is run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from audit.errors import CollectionError, ContentError
from audit.library.foreign.git import fetch, parse_git
from audit.library.foreign.opening import open_source

POLICY = 'package main\n\nimport rego.v1\n\ndeny contains "x" if input.kind == "Pod"\n'
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def git(folder: Path, *arguments: str) -> str:
    identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com"}
    identity |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com"}
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        capture_output=True,
        check=True,
        env={**os.environ, **identity, **settings},
    )
    return done.stdout.decode().strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / "policies").mkdir(parents=True)
    git(tmp_path, "init", "--quiet", str(folder))
    (folder / "policies" / "p.rego").write_text(POLICY)
    (folder / "policies" / "notes.txt").write_text("no policy")
    (folder / "policies" / "link.rego").symlink_to("/etc/passwd")
    # A filter and an attribute that would change the content if anything were checked out or archived.
    (folder / ".gitattributes").write_text("*.rego filter=evil export-ignore text eol=crlf\n")
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "-m", "one")
    return folder


def address(repository: Path, commit: str, folder: str = "policies") -> str:
    return f"git+file://{repository}@{commit}#{folder}"


def test_the_pinned_commit_is_fetched_byte_for_byte(repository: Path, tmp_path: Path) -> None:
    pinned = git(repository, "rev-parse", "HEAD")
    (repository / "policies" / "p.rego").write_text("package changed\n")
    git(repository, "commit", "--quiet", "-am", "two")
    found = fetch(parse_git(address(repository, pinned)), tmp_path / "cache")
    assert {path.name for path in found.iterdir()} == {"p.rego"}
    assert (found / "p.rego").read_bytes() == POLICY.encode()


def test_what_was_fetched_needs_no_repository_any_more(repository: Path, tmp_path: Path) -> None:
    source = parse_git(address(repository, git(repository, "rev-parse", "HEAD")))
    first = fetch(source, tmp_path / "cache")
    shutil.rmtree(repository)
    assert fetch(source, tmp_path / "cache") == first
    assert [path.name for path in (tmp_path / "cache").glob("*/*")] == [source.commit]


def test_nothing_of_a_repository_or_a_machine_is_run(repository: Path, tmp_path: Path) -> None:
    proof = tmp_path / "ran"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {proof}\n")
        (hooks / name).chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        f"[core]\n\thooksPath = {hooks}\n\tfsmonitor = {hooks}/post-checkout\n"
        f'[filter "evil"]\n\tsmudge = touch {proof}\n\trequired = true\n[url "file:///nowhere/"]\n\tinsteadOf = file://\n'
    )
    previous = os.environ.get("HOME")
    os.environ["HOME"] = str(home)
    try:
        found = fetch(
            parse_git(address(repository, git(repository, "rev-parse", "HEAD"))), tmp_path / "cache"
        )
    finally:
        os.environ["HOME"] = previous or ""
    assert (found / "p.rego").read_text() == POLICY
    assert not proof.exists()


def test_submodules_are_passed_over(repository: Path, tmp_path: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{head},policies/sub")
    (repository / ".gitmodules").write_text(
        '[submodule "sub"]\n\tpath = policies/sub\n\turl = file:///nowhere\n'
    )
    git(repository, "add", ".gitmodules")
    git(repository, "commit", "--quiet", "-m", "sub")
    found = fetch(parse_git(address(repository, git(repository, "rev-parse", "HEAD"))), tmp_path / "cache")
    assert {path.name for path in found.iterdir()} == {"p.rego"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("git+https://example.com/policies", "is not pinned"),
        ("git+https://example.com/policies@main", "is not pinned"),
        ("git+https://example.com/policies@v1.2.3#sub", "is not pinned"),
        (f"git+https://example.com/policies@{COMMIT[:12]}", "is not pinned"),
        (f"git+https://example.com/policies@{COMMIT.upper()}", "is not pinned"),
        (f"git+http://example.com/policies@{COMMIT}", "over https only"),
        (f"git+ssh://git@example.com/policies@{COMMIT}", "over https only"),
        (f"git+ext::sh -c id@{COMMIT}", "over https only"),
        (f"git+https://me:secret@example.com/policies@{COMMIT}", "credentials would end up in reports"),
        (f"git+https://example.com/policies@{COMMIT}#../other", "inside the repository"),
        (f"git+https://example.com/policies@{COMMIT}#/etc", "inside the repository"),
    ],
)
def test_addresses_that_are_refused(text: str, said: str) -> None:
    with pytest.raises(ContentError, match=said) as refused:
        parse_git(text)
    assert "secret" not in str(refused.value)


def test_a_pinned_address_is_taken_apart() -> None:
    source = parse_git(f"git+https://example.com/a/b.git@{COMMIT}#x/y/")
    assert (source.url, source.commit, source.folder) == ("https://example.com/a/b.git", COMMIT, "x/y")


def test_what_cannot_be_had_is_the_sources_absence(repository: Path, tmp_path: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    with pytest.raises(CollectionError, match="no policies in nowhere"):
        fetch(parse_git(address(repository, head, "nowhere")), tmp_path / "cache")
    for text in (address(repository, COMMIT), address(tmp_path / "nothing", head)):
        opened = open_source(text, tmp_path / "cache")
        assert opened.absent
        assert opened.label == text
    tree = git(repository, "rev-parse", "HEAD^{tree}")
    assert "is no commit" in open_source(address(repository, tree), tmp_path / "cache").absent
    assert not list((tmp_path / "cache").glob("*/.fetch-*"))


def test_paths_stay_paths(tmp_path: Path) -> None:
    opened = open_source(str(tmp_path), tmp_path / "cache")
    assert (opened.path, opened.label, opened.origin) == (tmp_path, str(tmp_path), "")
