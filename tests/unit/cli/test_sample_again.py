"""A test that `sample` says how to repeat is repeated, and gives the same answer about the same pair."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from audit.cli.population import read_pairs
from audit.record.population import COLUMNS, PairRow
from tests.unit.cli.terminal import CHECKOUT, run

RULE = """\
# METADATA
# scope: package
# title: Workloads name their owner
# description: Somebody has to be asked.
# custom:
#   severity: medium
#   match:
#     pod_templates: true
#   not_applicable: no_containers
#   remediation: Set the label.
package own.owner_label

import data.lib.object as fields

default applies := true

violations contains v if {
	fields.get(input, ["metadata", "labels", "owner"], "") == ""
	v := {
		"path": ["metadata", "labels", "owner"],
		"message": "No owner is named.",
		"seen": null,
		"expected": data.parameters["own/owner-label"].example,
		"container": "",
	}
}
"""
MAPPING = """\
framework: nist-ai-rmf
edition: "1.0"
author: the test
date: 2026-11-30
mappings:
  - control: MEASURE 2.7
    rules: [own/owner-label]
    strength: decides
    rationale: A thing without an owner is not looked after.
    limits: Says nothing about the owner.
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example fleet, audited from above its folder with a rule, a mapping and exclusions of the caller's own."""
    folder = tmp_path_factory.mktemp("again")
    shutil.copytree(CHECKOUT / "examples" / "fleet", folder / "the fleet")
    (folder / "our rules" / "own" / "owner_label").mkdir(parents=True)
    (folder / "our rules" / "own" / "owner_label" / "owner_label.rego").write_text(RULE, encoding="utf-8")
    (folder / "our rules" / "parameters.yaml").write_text(
        "parameters:\n  own/owner-label:\n    example: team-a\n", encoding="utf-8"
    )
    (folder / "the fleet" / "mapping.yaml").write_text(MAPPING, encoding="utf-8")
    with (folder / "the fleet" / "fleetaudit.yaml").open("a", encoding="utf-8") as stream:
        stream.write("mappings:\n  - mapping.yaml\nrules:\n  skip: [pod/selinux]\n")
    arguments = (
        "--config",
        "the fleet/fleetaudit.yaml",
        "--policy",
        "our rules",
        "--exclude",
        "reranker.yaml",
    )
    done = run("run", *arguments, "-o", "out", "--format", "json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def drawn(place: Path, *arguments: str) -> list[dict[str, Any]]:
    done = run("sample", "--result", "out", *arguments, "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    pairs: list[dict[str, Any]] = json.loads(done.stdout)["pairs"]
    assert pairs
    return pairs


def repeated(place: Path, again: str, output: Path) -> list[PairRow]:
    """Pairs of the command, which is run as printed but for where its result goes."""
    words = shlex.split(again)
    assert (words[0], words[-4:]) == ("fleetaudit", ["-o", "-", "--format", "json"])
    done = run(*words[1:-4], "-o", str(output), "--format", "json", cwd=place)
    assert done.returncode in {0, 3}, f"{again}\n{done.stderr}"
    return list(read_pairs(output / "population.csv.gz"))


# (control, seed): deciding rules about single objects, about several together, and the caller's own.
@pytest.mark.parametrize(("control", "seed"), [("MEASURE 2.7", 3), ("MEASURE 2.7", 4), ("GOVERN 1.4", 5)])
@pytest.mark.parametrize("outcome", ["pass", "fail"])
def test_the_printed_command_repeats_the_test(
    place: Path, tmp_path: Path, control: str, seed: int, outcome: str
) -> None:
    arguments = ("--control", control, "--seed", str(seed), "--size", "1", "--outcome", outcome)
    (pair,) = drawn(place, *arguments)
    found = repeated(place, pair["again"], tmp_path)
    wanted = PairRow(*(pair[column] for column in COLUMNS))
    assert wanted in found


def test_rules_and_clusters_of_the_caller_are_repeated_too(place: Path, tmp_path: Path) -> None:
    """A rule outside the package, with a parameter beside it; waivers name a cluster that is not repeated."""
    pairs = drawn(place, "--control", "MEASURE 2.7", "--seed", "1", "--size", "100000")
    own = next(pair for pair in pairs if pair["rule"] == "own/owner-label" and pair["outcome"] == "fail")
    found = repeated(place, own["again"], tmp_path)
    assert PairRow(*(own[column] for column in COLUMNS)) in found
    assert not any("reranker" in row.source for row in found)


def test_without_a_configuration_none_is_picked_up_later(tmp_path: Path) -> None:
    shutil.copytree(CHECKOUT / "examples" / "fleet" / "us-east-02", tmp_path / "k8s")
    done = run("run", "k8s", "-o", "out", "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "fleetaudit.yaml").write_text(
        "parameters: {image/registry-allowed: {registries: [x.example]}}", encoding="utf-8"
    )
    (pair,) = drawn(tmp_path, "--control", "MEASURE 2.7", "--seed", "1", "--size", "1")
    assert "--no-config" in shlex.split(pair["again"])
    assert PairRow(*(pair[column] for column in COLUMNS)) in repeated(
        tmp_path, pair["again"], tmp_path / "again"
    )
