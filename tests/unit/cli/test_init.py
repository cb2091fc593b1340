"""What init writes is loaded by the real loaders, and nothing of the user's is lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from audit.cli.starter import SCHEMA_NAME, starter_files
from audit.config.load import load_file, parse_config
from tests.unit.cli.terminal import run


def test_init_writes_four_files_that_load(tmp_path: Path) -> None:
    done = run("init", "--folder", "conf", "--paths", "../k8s", "--paths", "a: b # c", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "conf").iterdir()) == [
        "fleetaudit.schema.json",
        "fleetaudit.yaml",
        "statements.yaml",
        "waivers.yaml",
    ]
    config = load_file(tmp_path / "conf" / "fleetaudit.yaml")
    assert config.paths == ("../k8s", "a: b # c")
    assert config.waivers == ("waivers.yaml",)
    text = (tmp_path / "conf" / "fleetaudit.yaml").read_text(encoding="utf-8")
    assert text.startswith(f"# yaml-language-server: $schema={SCHEMA_NAME}\n")
    assert "fleetaudit run --config conf/fleetaudit.yaml" in done.stdout


@pytest.mark.parametrize("name", list(starter_files(("x",))))
def test_init_refuses_to_overwrite(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine", encoding="utf-8")
    done = run("init", cwd=tmp_path)
    assert done.returncode == 2
    assert name in done.stderr
    assert "nothing is overwritten" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text(encoding="utf-8") == "mine"


def test_init_does_not_follow_a_dangling_link(tmp_path: Path) -> None:
    (tmp_path / "waivers.yaml").symlink_to(tmp_path / "elsewhere")
    assert run("init", cwd=tmp_path).returncode == 2
    assert not (tmp_path / "elsewhere").exists()


def test_init_says_when_it_cannot_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = run("init", "--folder", "file/sub", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


def commented(text: str) -> str:
    """The file with its commented-out YAML in force; sentences stay comments."""
    lines = []
    for line in text.splitlines():
        bare = re.sub(r"^# ", "", line)
        is_yaml = re.match(r"^( *- |[ a-z_]+:( |$)|  )", bare) and not line.startswith("# claim:")
        lines.append(bare if line.startswith("# ") and is_yaml else line)
    return "\n".join(lines)


def test_every_commented_key_is_accepted() -> None:
    text = starter_files((".",))["fleetaudit.yaml"]
    active = commented(text)
    # The two ways to say what is audited, and the two profiles, exclude each other.
    active = active.replace('paths:\n  - "."\n', "").replace("profile: technical\n", "")
    assert active != text
    config = parse_config(active.encode(), "starter")
    assert config.clusters
    assert config.allow_gaps
    assert config.scope.exclude[1].selector is not None
    assert config.gates.min_objects == 20
    assert isinstance(config.profile, dict)


@pytest.mark.parametrize(("name", "key"), [("waivers.yaml", "waivers"), ("statements.yaml", "statements")])
def test_waiver_and_statement_examples_are_yaml(name: str, key: str) -> None:
    text = starter_files((".",))[name]
    assert yaml.safe_load(text) == {key: []}
    active = commented(text).replace(f"{key}: []\n", "")
    assert len(yaml.safe_load(active)[key]) == 1
