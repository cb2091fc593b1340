"""Registries are asked only when they are named, and only this machine without TLS."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.config.effective import effective_config
from audit.config.environment import Environment
from audit.config.overrides import Overrides
from audit.config.schema import Config
from audit.errors import ConfigError, UsageError


def effective(folder: Path, text: str = "", *hosts: str) -> Config:
    (folder / "fleetaudit.yaml").write_text("paths: [k8s]\n" + text)
    return effective_config(Overrides(registries=hosts), Environment(), folder)


def test_none_by_default(tmp_path: Path) -> None:
    assert effective(tmp_path).registries == ()


def test_files_are_relative_to_the_configuration(tmp_path: Path) -> None:
    text = "registries: [{host: a.example, ca: ca.pem, docker_config: /d/config.json}]\n"
    [one] = effective(tmp_path, text).registries
    assert (one.ca, one.docker_config) == (str(tmp_path / "ca.pem"), "/d/config.json")


def test_the_command_line_adds_what_the_file_does_not_describe(tmp_path: Path) -> None:
    text = "registries: [{host: a.example, seconds: 7}]\n"
    config = effective(tmp_path, text, "A.example", "b.example:5000", "http://[::1]:5000", "b.example:5000")
    assert [(one.host, one.insecure, one.seconds) for one in config.registries] == [
        ("a.example", False, 7),
        ("b.example:5000", False, 300),
        ("[::1]:5000", True, 300),
    ]
    assert [one["host"] for one in config.record["registries"]] == [
        "a.example",
        "b.example:5000",
        "[::1]:5000",
    ]
    assert config.arguments[-8:] == (
        *("--registry", "A.example", "--registry", "b.example:5000"),
        *("--registry", "http://[::1]:5000", "--registry", "b.example:5000"),
    )


@pytest.mark.parametrize(
    "host",
    ["", "a.example/b", "https://a.example", "user@a.example", "a b", "a.example:x", "-a", "*.example"],
)
def test_what_is_no_host(tmp_path: Path, host: str) -> None:
    with pytest.raises(UsageError, match="^--registry: "):
        effective(tmp_path, "", host)
    with pytest.raises(ConfigError):
        effective(tmp_path, f"registries: [{{host: {host!r}}}]\n")


def test_only_this_machine_without_tls(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="only that may be asked without TLS"):
        effective(tmp_path, "", "http://a.example")
    with pytest.raises(ConfigError, match="only this machine"):
        effective(tmp_path, "registries: [{host: a.example, insecure: true}]\n")
    assert (
        effective(tmp_path, "registries: [{host: 'localhost:5000', insecure: true}]\n").registries[0].insecure
    )


def test_a_host_is_listed_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="listed already"):
        effective(tmp_path, "registries: [{host: a.example}, {host: A.example}]\n")
