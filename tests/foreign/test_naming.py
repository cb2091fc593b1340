"""Names of sources and ids of rules: stable, readable, and never like one of the project's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.library.foreign.naming import rule_id, slug, source_names
from audit.library.policy_source import PolicySource


def named(*labels: str, **given: str) -> list[str]:
    return source_names(
        [
            PolicySource(path=Path(label), label=label, builtin=False, name=given.get(label, ""))
            for label in labels
        ]
    )


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (("policies/conftest",), ["conftest"]),
        (("policies/conftest/", "./gatekeeper"), ["conftest", "gatekeeper"]),
        (("a/policy", "b/policy"), ["a.policy", "b.policy"]),
        (("policy", "b/policy"), ["policy", "b.policy"]),
        (("own.rego",), ["own"]),
        (("x/Our Policies!",), ["Our-Policies"]),
        (("same", "same"), ["same", "same-2"]),
        (("../..",), ["main"]),
    ],
)
def test_the_shortest_end_of_the_path_that_is_unique(
    labels: tuple[str, ...], names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "main" / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "main" / "a" / "b")
    assert named(*labels) == names


def test_a_given_name_stands() -> None:
    assert named("a/policy", "b/policy", **{"a/policy": "platform"}) == ["platform", "policy"]


def test_repositories_are_called_by_their_folder() -> None:
    origin = "git+https://example.com/team/policies.git@" + "0" * 40
    sources = [
        PolicySource(path=Path("x"), label=origin, builtin=False, origin=origin),
        PolicySource(path=Path("x"), label=origin, builtin=False, origin=origin + "#rego/main"),
    ]
    assert source_names(sources) == ["policies.git", "main"]


def test_ids_hold_nothing_that_a_table_or_a_path_would_stumble_over() -> None:
    assert rule_id("own", ("main", 'odd "name",\n'), "deny_x") == "own:main.odd-name/deny_x"
    assert slug("=cmd|' /C calc'!A0") == "cmd-C-calc-A0"
