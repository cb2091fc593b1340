"""Defaults, file, environment, command line: who wins, and what the run record keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audit.config.effective import effective_config, find_file
from audit.config.environment import Environment
from audit.config.overrides import Overrides
from audit.config.schema import Config
from audit.errors import ConfigError, UsageError
from audit.model.gap import GapKind
from audit.model.rule import Severity

FILE = """
title: From file
clusters:
  - {name: east, paths: [east, -], owner: team-a}
  - {name: west, paths: [/abs/west]}
policy: {paths: [rules]}
rules: {select: ["pod/*"], skip: [pod/privileged]}
pod_templates: [templates.yaml]
mappings: [m.yaml]
waivers: [w.yaml]
statements: [s.yaml]
profile: full
files: {include: ["*.yaml"], gitignore: true}
scope: {exclude: [{path: old/, reason: gone}]}
gates: {fail_on: low, min_ratio: {lfai: 0.5}, min_coverage: {lfai: 0.4}, min_objects: 3}
output: {folder: out, formats: [sarif], lang: zh-CN}
jobs: 2
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "fleetaudit.yaml").write_text(FILE, encoding="utf-8")
    return tmp_path


def effective(place: Path, environment: Environment | None = None, /, **given: Any) -> Config:
    return effective_config(Overrides(**given), environment or Environment(), place)


def test_without_anything_the_defaults_hold(tmp_path: Path) -> None:
    config = effective(tmp_path)
    assert config.members() == ()
    assert config.profile == "technical"
    assert config.output.formats == ("html", "json")
    assert config.gates.fail_on is None
    assert config.file == ""


def test_paths_are_resolved_against_the_file_that_names_them(folder: Path) -> None:
    config = effective(folder)
    assert config.clusters[0].paths == (f"{folder}/east", "-")
    assert config.clusters[1].paths == ("/abs/west",)
    assert config.policy.paths == (f"{folder}/rules",)
    assert config.waivers == (f"{folder}/w.yaml",)
    assert config.statements == (f"{folder}/s.yaml",)
    assert config.mappings == (f"{folder}/m.yaml",)
    assert config.pod_templates == (f"{folder}/templates.yaml",)
    assert config.output.folder == f"{folder}/out"
    assert config.file == f"{folder}/fleetaudit.yaml"


def test_a_relative_configuration_keeps_paths_relative(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    config = effective_config(Overrides(), Environment(), Path())
    assert config.file == "fleetaudit.yaml"
    assert config.clusters[0].paths == ("east", "-")
    monkeypatch.chdir(folder.parent)
    named = effective_config(Overrides(config=f"{folder.name}/fleetaudit.yaml"), Environment(), Path())
    assert named.clusters[0].paths == (f"{folder.name}/east", "-")


@pytest.mark.parametrize(
    ("given", "key", "value"),
    [
        ({"title": "T"}, "title", "T"),
        ({"profile": "technical"}, "profile", "technical"),
        ({"profile": {"lfai": ("A",)}}, "profile", {"lfai": ("A",)}),
        ({"rules": ("rbac/*",)}, "rules.select", ("rbac/*",)),
        ({"skip_rules": ("x/y",)}, "rules.skip", ("pod/privileged", "x/y")),
        ({"include": ("a",)}, "files.include", ("a",)),
        ({"gitignore": False}, "files.gitignore", False),
        ({"fail_on": Severity.CRITICAL}, "gates.fail_on", Severity.CRITICAL),
        ({"min_ratio": {"lfai": 0.9}}, "gates.min_ratio", {"lfai": 0.9}),
        ({"min_ratio": {"nist-ai-rmf": 0.9}}, "gates.min_ratio", {"lfai": 0.5, "nist-ai-rmf": 0.9}),
        ({"min_coverage": {"lfai": 0.9}}, "gates.min_coverage", {"lfai": 0.9}),
        ({"min_objects": 9}, "gates.min_objects", 9),
        ({"jobs": 7}, "jobs", 7),
        ({"folder": "here"}, "output.folder", "here"),
        ({"formats": ("json",)}, "output.formats", ("json",)),
        ({"lang": "en"}, "output.lang", "en"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_the_command_line_wins(folder: Path, given: dict[str, Any], key: str, value: Any) -> None:
    seen: Any = effective(folder, **given)
    for part in key.split("."):
        seen = getattr(seen, part)
    assert seen == value


def test_command_line_policies_are_added(folder: Path) -> None:
    assert effective(folder, policy=("mine",)).policy.paths == (f"{folder}/rules", "mine")


def test_command_line_exclusions_join_the_scope_with_their_reason(folder: Path) -> None:
    excludes = effective(folder, exclude=("*.tmp.yaml",)).scope.exclude
    assert [(e.path, e.reason) for e in excludes] == [
        ("old/", "gone"),
        ("*.tmp.yaml", "--exclude on the command line"),
    ]


def test_the_environment_stands_between_file_and_command_line(folder: Path) -> None:
    surroundings = Environment(jobs=5, lang="en")
    assert effective(folder, surroundings).jobs == 5
    assert effective(folder, surroundings, jobs=6).jobs == 6
    assert effective(folder, surroundings).output.lang == "en"
    assert effective(folder, surroundings, lang="zh-CN").output.lang == "zh-CN"
    elsewhere = folder / "sub"
    elsewhere.mkdir()
    found = effective(elsewhere, Environment(config=str(folder)))
    assert found.title == "From file"


def test_paths_on_the_command_line_are_one_cluster_of_their_own(folder: Path) -> None:
    config = effective(folder, paths=("a", "-"))
    assert [(c.name, c.paths) for c in config.members()] == [("manifests", ("a", "-"))]
    named = effective(folder, paths=("a",), clusters=("blue",))
    assert [c.name for c in named.members()] == ["blue"]
    with pytest.raises(UsageError, match="one cluster"):
        effective(folder, paths=("a",), clusters=("x", "y"))


def test_a_cluster_is_chosen_by_name(folder: Path) -> None:
    assert [c.name for c in effective(folder, clusters=("west",)).members()] == ["west"]
    with pytest.raises(UsageError) as caught:
        effective(folder, clusters=("wset",))
    assert caught.value.suggestion == "did you mean west?"


def test_plain_paths_are_the_cluster_called_manifests(tmp_path: Path) -> None:
    (tmp_path / "fleetaudit.yaml").write_text("paths: [k8s]\n", encoding="utf-8")
    assert [(c.name, c.paths) for c in effective(tmp_path).members()] == [("manifests", (f"{tmp_path}/k8s",))]
    (tmp_path / "fleetaudit.yaml").write_text("title: t\npaths: [k8s]\n", encoding="utf-8")
    assert effective(tmp_path, no_config=True).members() == ()


def test_tolerated_gaps_become_the_models(tmp_path: Path) -> None:
    (tmp_path / "fleetaudit.yaml").write_text(
        "allow_gaps: [{kind: not_rendered, source: 'charts/*', reason: r, expires: 2026-12-31}]\n",
        encoding="utf-8",
    )
    gap = effective(tmp_path).allowed_gaps()[0]
    assert gap.kind == GapKind.NOT_RENDERED.value
    assert gap.expires.isoformat() == "2027-01-01T00:00:00+00:00"


def test_finding_the_file(tmp_path: Path) -> None:
    assert find_file(Overrides(), Environment(), tmp_path) is None
    with pytest.raises(ConfigError, match="no such configuration") as caught:
        find_file(Overrides(config="no.yaml"), Environment(), tmp_path)
    assert "fleetaudit init" in (caught.value.suggestion or "")
    with pytest.raises(ConfigError, match="no such configuration"):
        find_file(Overrides(), Environment(config="no.yaml"), tmp_path)
    (tmp_path / "fleetaudit.yml").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"called fleetaudit\.yaml"):
        find_file(Overrides(), Environment(), tmp_path)


def test_the_record_says_what_decided_and_nothing_else(folder: Path) -> None:
    record = effective(folder, jobs=3, folder="x", formats=("csv",)).record
    assert "output" not in record
    assert "jobs" not in record
    # As written: a result does not depend on where the checkout lies.
    assert record["clusters"][0]["paths"] == ["east", "-"]
    assert str(folder) not in str(record)
    assert record["gates"]["fail_on"] == "low"
    assert effective(folder, jobs=9, folder="y").record == record
    assert effective(folder, fail_on=Severity.HIGH).record["gates"]["fail_on"] == "high"


def test_the_record_holds_no_secret(tmp_path: Path) -> None:
    canary = "c4nary-0123456789"
    (tmp_path / "fleetaudit.yaml").write_text(
        f"title: see https://bot:{canary}@git.example/x\n"
        "parameters:\n"
        "  image/registry-allowed:\n"
        f"    registries: ['https://r.example/?token={canary}']\n"
        f"    password: {canary}\n"
        f"    nested: {{apiKey: [{canary}]}}\n"
        f"    note: ghp_{canary.replace('-', '')}aaaaaaaa\n",
        encoding="utf-8",
    )
    config = effective(tmp_path)
    assert canary not in str(config.record)
    assert canary.replace("-", "") not in str(config.record)
    assert "fleetaudit:redacted:url_credentials:9-32" in config.record["title"]
    assert "fleetaudit:redacted:token:" in str(config.record)
    # What rules get is what was written.
    assert config.parameters["image/registry-allowed"]["password"] == canary


def test_waivers_may_name_clusters_that_are_not_audited_this_time(folder: Path) -> None:
    assert effective(folder, clusters=("east",)).cluster_names() == {"east", "west"}
    named = effective(folder, paths=("k8s",), clusters=("blue",))
    assert [member.name for member in named.members()] == ["blue"]
    assert named.cluster_names() == {"east", "west", "blue"}
    assert effective(folder, no_config=True, paths=("k8s",)).cluster_names() == {"manifests"}


def test_what_decides_the_judgement_can_be_asked_again(folder: Path) -> None:
    given: dict[str, Any] = {
        "policy": ("p", "git+https://me:hunter2@host.example/r@" + "0" * 40),
        "include": ("*.yaml",),
        "exclude": ("x/", "y/"),
        "gitignore": False,
        "engine": "opa-server",
        "rules": ("pod/*",),
        "clusters": ("east",),
        "fail_on": Severity.HIGH,
        "jobs": 3,
        "folder": "elsewhere",
    }
    asked = effective(folder, **given).arguments
    assert asked[:2] == ("--config", f"{folder}/fleetaudit.yaml")
    assert asked[2:4] == ("--policy", "p")
    assert "hunter2" not in "".join(asked)
    assert asked[6:] == (
        *("--include", "*.yaml", "--exclude", "x/", "--exclude", "y/", "--no-gitignore"),
        *("--engine", "rego=opa-server"),
    )
    assert effective(folder, no_config=True).arguments == ("--no-config",)


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ("kept.db", "{folder}/kept.db"),
        ("/abs/kept.db", "/abs/kept.db"),
        ("sqlite:///kept.db?timeout=5", "sqlite:///{folder}/kept.db?timeout=5"),
        ("sqlite:////abs/kept.db", "sqlite:////abs/kept.db"),
        ("postgresql://db.example.com/audit", "postgresql://db.example.com/audit"),
    ],
)
def test_a_history_is_relative_to_the_file_that_names_it(tmp_path: Path, written: str, place: str) -> None:
    (tmp_path / "fleetaudit.yaml").write_text(f"history: {{url: '{written}', keep_runs: 3}}\n")
    config = effective(tmp_path)
    assert config.history.url == place.format(folder=tmp_path)
    assert (config.history.keep_runs, config.history.keep_days) == (3, None)
    assert "history" not in config.record
    surroundings = Environment(history="env.db")
    assert effective(tmp_path, surroundings).history.url == "env.db"
    assert effective(tmp_path, surroundings, history="typed.db").history.url == "typed.db"
    assert effective(tmp_path, surroundings, no_history=True).history.url is None
