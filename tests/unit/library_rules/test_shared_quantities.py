"""Shared case 07 through the shipped rules and the real engine: what the server refuses or misreads is a finding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import Run, run
from tests.shared_data import shared_dir

SLIP = "resources/quantity-slip"
LIMIT = "resources/memory-limit"


def pod(name: str, memory: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "demo"},
        "spec": {"containers": [{"name": "a", "image": "i:1", "resources": {"limits": {"memory": memory}}}]},
    }


def volume(name: str, size: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "demo"},
        "spec": {"containers": [{"name": "a"}], "volumes": [{"name": "v", "emptyDir": {"sizeLimit": size}}]},
    }


@pytest.fixture(scope="module")
def case() -> dict[str, list[str]]:
    loaded: dict[str, list[str]] = json.loads(
        shared_dir("cases", "07-quantity-parsing", "quantities.json").read_text()
    )
    return loaded


def failing(folder: Path, objects: list[dict[str, Any]]) -> tuple[Run, dict[str, set[str]]]:
    """Names of the objects that each of the two rules fails."""
    (folder / "objects.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    done = run(folder / "out", folder / "objects.json", "--rule", SLIP, "--rule", LIMIT)
    assert done.code == 0, done.out + done.err
    return done, {rule: {m["subject"]["name"] for m in done.findings(rule)} for rule in (SLIP, LIMIT)}


def test_what_is_no_quantity_is_found_wherever_it_stands(case: dict[str, list[str]], tmp_path: Path) -> None:
    wrong = case["not_quantities"] + case["edge"]
    pods = [pod(f"p{n}", value) for n, value in enumerate(wrong)]
    volumes = [volume(f"v{n}", value) for n, value in enumerate(wrong)]
    _, found = failing(tmp_path, pods + volumes)
    assert found[SLIP] == {o["metadata"]["name"] for o in pods + volumes}
    assert found[LIMIT] >= {o["metadata"]["name"] for o in pods}


def test_every_spelling_of_a_quantity_is_read(case: dict[str, list[str]], tmp_path: Path) -> None:
    expected = json.loads(shared_dir("cases", "07-quantity-parsing", "expect.json").read_text())["values"]
    pods = [pod(f"p{n}", value) for n, value in enumerate(case["valid"])]
    done, found = failing(tmp_path, pods)
    zero = {f"p{n}" for n, value in enumerate(case["valid"]) if expected[value] == "0"}
    assert found[LIMIT] == zero
    small = {f"p{n}" for n, value in enumerate(case["valid"]) if 0 < fraction(expected[value]) < 2**20}
    assert found[SLIP] == small
    assert not [g for g in done.report["groups"] if g["outcome"] == "error"]


@pytest.mark.parametrize(
    ("value", "slips"), [(1073741824, False), (0.5, True), (0, False), (-1, True), (1e12, False)]
)
def test_numbers_are_quantities_too(value: float, slips: bool, tmp_path: Path) -> None:
    _, found = failing(tmp_path, [pod("p", value)])
    assert (found[SLIP] == {"p"}) is slips


def fraction(text: str) -> float:
    above, _, below = text.partition("/")
    return int(above) / int(below or 1)
