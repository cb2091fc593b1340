"""Every text of the command line that the configuration could not hold is a usage error that names its option."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audit.config.effective import effective_config
from audit.config.environment import Environment
from audit.config.load import load_file
from audit.config.overrides import Overrides
from audit.errors import ConfigError, UsageError

FIELDS = {
    "paths": "PATH",
    "clusters": "--cluster",
    "policy": "--policy",
    "include": "--include",
    "exclude": "--exclude",
    "rules": "--rule",
    "skip_rules": "--skip-rule",
}


def effective(place: Path, **given: Any) -> None:
    effective_config(Overrides(**{"paths": ("k8s",), **given}), Environment(), place)


@pytest.mark.parametrize("field", FIELDS)
def test_nothing_is_no_value(tmp_path: Path, field: str) -> None:
    with pytest.raises(UsageError, match=f"^{FIELDS[field]}: '' cannot be used") as caught:
        effective(tmp_path, **{field: ("",)})
    assert caught.value.suggestion is not None
    assert caught.value.suggestion.startswith("allowed: ")


@pytest.mark.parametrize("name", ["a<b>", "-x", "a\n", "x" * 129, "ü", "a\x00b", " a"])
def test_names_of_clusters(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="--cluster") as caught:
        effective(tmp_path, clusters=(name,))
    assert "letters, digits" in str(caught.value.suggestion)
    (tmp_path / "f.yaml").write_text(
        f"clusters: [{{name: {ascii_yaml(name)}, paths: [a]}}]", encoding="utf-8"
    )
    with pytest.raises(ConfigError):
        load_file(tmp_path / "f.yaml")


def ascii_yaml(text: str) -> str:
    return '"' + "".join(f"\\U{ord(c):08x}" for c in text) + '"'


@pytest.mark.parametrize("field", ["paths", "policy", "exclude"])
@pytest.mark.parametrize("text", ["a\nb", "a\n", "a\x00", "x" * 5000])
def test_paths(tmp_path: Path, field: str, text: str) -> None:
    with pytest.raises(UsageError, match=FIELDS[field]):
        effective(tmp_path, **{field: (text,)})


def test_all_of_them_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        effective(tmp_path, clusters=("<",), policy=("",), folder="")
    told = [caught.value, *caught.value.others]
    assert [error.message.partition(":")[0] for error in told] == ["--cluster", "--policy", "--output"]


def test_what_can_be_used_is_used(tmp_path: Path) -> None:
    effective(tmp_path, clusters=("prod/eu:1 @x.y_z",), include=("*.yaml", "é"), exclude=("a b/",))
