"""Two runs compared through the real command: fixed takes proof, and what is no longer seen is never fixed."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import Run, fleetaudit, run

POD = """apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: ml}}
spec: {{hostNetwork: {host}, containers: [{{name: main, image: "registry.example.com/app:1"}}]}}
"""
RULES = ("--rule", "pod/host-namespaces", "--rule", "pod/privileged")
WAIVER = """waivers:
  - id: W-1
    rule: pod/host-namespaces
    subject: {cluster: manifests, kind: Pod, namespace: ml, name: web}
    owner: platform
    reason: the node agent needs it for now
    expires: 2099-01-01
"""


def write(folder: Path, **hosts: bool) -> Path:
    folder.mkdir(parents=True)
    for name, host in hosts.items():
        (folder / f"{name}.yaml").write_text(POD.format(name=name, host=str(host).lower()))
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run over two pods: one on the host's network, one not."""
    folder = tmp_path_factory.mktemp("base")
    source = write(folder / "in", web=True, api=False)
    done = run(folder / "out", source, *RULES)
    assert len(done.findings("pod/host-namespaces")) == 1
    return folder / "out"


@pytest.fixture
def newer(tmp_path: Path) -> Callable[..., Path]:
    def make(source: Path, *options: str) -> Path:
        run(tmp_path / "out", source, *(options or RULES))
        return tmp_path / "out"

    return make


def difference(before: Path, after: Path, *options: str) -> tuple[Run, dict[str, Any], list[tuple[str, str]]]:
    done = fleetaudit("diff", before, after, "--format", "json", *options)
    data = json.loads(done.out)
    told = [
        (group["change"], group["reason"])
        for group in data["groups"]
        if group["rule"] == "pod/host-namespaces"
    ]
    return done, data, told


def test_the_same_run_twice_changed_nothing(base: Path) -> None:
    done, data, told = difference(base, base, "--fail-on-new", "info")
    assert (done.code, told, data["differs"]) == (0, [("unchanged", "")], [])
    assert all(ratio["comparable"] for ratio in data["ratios"])


def test_what_passes_now_is_fixed_and_what_passed_is_a_regression(
    base: Path, tmp_path: Path, newer: Callable[..., Path]
) -> None:
    after = newer(write(tmp_path / "in", web=False, api=True))
    done, data, told = difference(base, after, "--fail-on-new", "high")
    assert (done.code, told) == (1, [("regressed", ""), ("fixed", "")])
    assert data["differs"] == []


def test_what_is_gone_is_removed_and_the_scope_is_another(
    base: Path, tmp_path: Path, newer: Callable[..., Path]
) -> None:
    done, data, told = difference(base, newer(write(tmp_path / "in", api=False, other=True)))
    assert (done.code, told) == (0, [("new", ""), ("removed", "")])
    assert data["differs"] == ["scope"]
    assert not any(ratio["comparable"] for ratio in data["ratios"])


def test_what_a_broken_file_may_hide_is_lost_evidence(
    base: Path, tmp_path: Path, newer: Callable[..., Path]
) -> None:
    source = write(tmp_path / "in", api=False)
    (source / "web.yaml").write_text("kind: [unclosed")
    done, _, told = difference(base, newer(source))
    assert (done.code, told) == (3, [("lost", "gap")])
    assert "1 lost evidence" in fleetaudit("diff", base, tmp_path / "out").out


def test_what_is_left_out_by_choice_is_lost_evidence(
    base: Path, tmp_path: Path, newer: Callable[..., Path]
) -> None:
    after = newer(write(tmp_path / "in", web=True, api=False), "--exclude", "web.yaml", *RULES)
    done, _, told = difference(base, after)
    assert (done.code, told) == (3, [("lost", "left_out")])


def test_a_rule_that_is_no_longer_asked_fixes_nothing(
    base: Path, tmp_path: Path, newer: Callable[..., Path]
) -> None:
    after = newer(write(tmp_path / "in", web=True, api=False), "--rule", "pod/privileged")
    done, data, told = difference(base, after)
    assert (done.code, told) == (3, [("lost", "rule_not_asked")])
    assert "rules" in data["differs"]
    _, _, told = difference(after, base)
    assert told == [("new", "rule_not_asked")]


def test_a_waiver_closes_a_group_and_its_end_opens_it(
    base: Path, tmp_path: Path, newer: Callable[..., Path]
) -> None:
    source = write(tmp_path / "in", web=True, api=False)
    (tmp_path / "waivers.yaml").write_text(WAIVER)
    (tmp_path / "fleetaudit.yaml").write_text("waivers: [waivers.yaml]\n")
    after = newer(source, "--config", str(tmp_path / "fleetaudit.yaml"), *RULES)
    assert difference(base, after)[2] == [("waived", "")]
    done, _, told = difference(after, base, "--fail-on-new", "info")
    assert (done.code, told) == (1, [("regressed", "waiver_ended")])


def test_without_a_population_nothing_is_called_fixed(
    base: Path, tmp_path: Path, newer: Callable[..., Path]
) -> None:
    after = newer(write(tmp_path / "in", web=False, api=False))
    (after / "population.csv.gz").unlink()
    done, _, told = difference(base, after)
    assert (done.code, told) == (3, [("lost", "no_population")])


def test_a_population_of_another_run_is_refused(base: Path, tmp_path: Path) -> None:
    shutil.copytree(base, tmp_path / "forged")
    population = tmp_path / "forged" / "population.csv.gz"
    text = gzip.decompress(population.read_bytes()).replace(b",fail,", b",pass,")
    population.write_bytes(gzip.compress(text))
    done = fleetaudit("diff", base, tmp_path / "forged")
    assert done.code == 2
    assert "not the one of this result" in done.err


def test_a_comment_for_a_pull_request(base: Path, tmp_path: Path, newer: Callable[..., Path]) -> None:
    after = newer(write(tmp_path / "in", web=True, api=False, new=True))
    done = fleetaudit("diff", base, after, "--format", "markdown")
    assert done.out.startswith("**1 new, 1 unchanged**\n")
    assert "| new | high | G-" in done.out or "| new | critical | G-" in done.out
