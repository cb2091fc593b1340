"""What another set of policies would change, through the real command."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit.native.reader import Reader
from tests.integration.command import Run, fleetaudit
from tests.unit.snapshot.making import DEPLOYMENT, POD, thing, told, written

OWNER = """package main

deny contains "nobody owns it" if {
	input.kind == "Deployment"
	not input.metadata.labels.owner
}
"""
REPLICAS = """package main

deny contains "too few replicas" if {
	input.kind == "Deployment"
	input.spec.replicas < 2
}
"""


def deployment(name: str, replicas: int) -> dict[str, Any]:
    template = {
        "metadata": {},
        "spec": {"containers": [{"name": "c", "image": "registry.example.com/app:1"}]},
    }
    return thing(DEPLOYMENT, name, spec={"replicas": replicas, "selector": {}, "template": template})


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with Reader(jobs=1) as found:
        yield found


@pytest.fixture
def place(reader: Reader, tmp_path: Path) -> Path:
    owned = deployment("owned", 1)
    owned["metadata"]["labels"] = {"owner": "a"}
    world = [owned, deployment("large", 3), deployment("both", 1)]
    events = told(reader, [(DEPLOYMENT, 1, world)])
    written(tmp_path, events, [DEPLOYMENT], cluster="eu", not_asked=[POD])
    for name, text in (("today", OWNER), ("tomorrow", REPLICAS)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "policy.rego").write_text(text)
    return tmp_path


def what_if(place: Path, *options: str | Path) -> Run:
    return fleetaudit("what-if", place / "eu", "--no-config", *options)


def test_decisions_that_flip(place: Path) -> None:
    sides = ("--policy", place / "today", "--against", place / "tomorrow")
    done = what_if(place, *sides, "--rule", "policy:*", "--json")
    told_ = json.loads(done.out)
    assert {(flip["name"], flip["flip"], flip["before"], flip["after"]) for flip in told_["flips"]} == {
        ("owned", "new_failure", "pass", "fail"),
        ("large", "gone_failure", "fail", "pass"),
    }
    assert told_["totals"] == {"new_failure": 1, "gone_failure": 1, "undecided": 0, "decided": 0, "other": 0}
    assert told_["same"] == 1
    assert {flip["cluster"] for flip in told_["flips"]} == {"eu"}
    page = what_if(place, *sides, "--rule", "policy:*").out
    assert "Newly failing: 1 decision" in page
    assert "Deployment ml/owned" in page
    assert "2 decisions flip, 1 are equal" in page


def test_the_same_policies_flip_nothing_and_gaps_are_told(place: Path) -> None:
    done = what_if(place, "--policy", place / "today", "--against", place / "today", "--json")
    told_ = json.loads(done.out)
    assert told_["flips"] == []
    assert told_["same"] > 20
    assert done.code == 3, "pods were served and not collected, and rules need them"
    assert any("pods were not asked for" in text for text in told_["incomplete"])
    alone = what_if(place, "--policy", place / "today", "--against", place / "today", "--rule", "policy:*")
    assert alone.code in {0, 3}


def test_two_configurations(place: Path) -> None:
    for name, rules in (("a", ["resources/*"]), ("b", ["pod/*"])):
        (place / f"{name}.yaml").write_text(yaml.safe_dump({"rules": {"select": rules}}))
    done = fleetaudit(
        "what-if", place / "eu", "--config", place / "a.yaml", "--against-config", place / "b.yaml", "--json"
    )
    told_ = json.loads(done.out)
    assert {flip["flip"] for flip in told_["flips"]} <= {"new_failure", "gone_failure", "undecided"}
    assert {flip["after"] for flip in told_["flips"] if flip["rule"].startswith("resources/")} == {None}
    assert {flip["before"] for flip in told_["flips"] if flip["rule"].startswith("pod/")} == {None}
    assert told_["same"] == 0


def test_one_side_alone_is_no_question(place: Path) -> None:
    done = what_if(place)
    assert done.code == 2
    assert "--against" in done.err
