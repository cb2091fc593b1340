"""Both sides of every twin say the same of the example fleet, of a corpus of manifests and of odd objects.

What is left is in `explained_differences.yaml`, beside its reason; nothing else may differ, and nothing in it may agree.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit.cli.main import main
from tests.policies.odd_objects import objects
from tests.policies.pack import CHECKOUT, policies
from tests.shared_data import shared_dir

pytestmark = pytest.mark.tools
EXPLAINED = Path(__file__).with_name("explained_differences.yaml")
FLEET = CHECKOUT / "examples" / "fleet"
# Of the document, not of a rule: both sides are undecided for the same reason.
OF_THE_DOCUMENT = ("ambiguous_document", "malformed_document", "context_incomplete", "manifest_not_collected")
CLASSIC, CEL = "builtin:kyverno", "builtin:kyverno-cel"

Compare = Any


@pytest.fixture
def compare(kyverno: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Compare:
    """``compare(path, pack)``: what ``fleetaudit twins --json`` prints, and its exit code."""
    monkeypatch.setenv("FLEETAUDIT_KYVERNO", kyverno)

    def run(path: Path, *more: str) -> tuple[int, dict[str, Any]]:
        code = main(["twins", str(path), "--no-config", "--no-progress", "--json", *more])
        return code, json.loads(capsys.readouterr().out)

    return run


def explained() -> list[dict[str, Any]]:
    return yaml.safe_load(EXPLAINED.read_text(encoding="utf-8"))["differences"]


def differing(said: dict[str, Any]) -> set[tuple[str, str, str]]:
    """(rule, kind, name) of every difference."""
    return {(one["rule"], one["kind"].rpartition("/")[2], one["name"]) for one in said["differences"]}


def of_a_served_group(pairs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All but those about objects of a removed API group, of which explained_differences.yaml says why."""
    return [one for one in pairs if not _api_version(one).startswith("extensions/")]


def _api_version(one: dict[str, Any]) -> str:
    """As written in the document that begins at the named line."""
    lines = Path(one["source"]).read_text(encoding="utf-8").splitlines()[one["line"] - 1 :]
    return next(line.split()[1] for line in lines if line.startswith("apiVersion:"))


def unexplained(said: dict[str, Any]) -> list[dict[str, Any]]:
    """Pairs that one side could not judge for a reason that lies in the rule, not in the document."""
    return [
        one
        for one in said["unjudged"]
        if not all(answer["text"].startswith(OF_THE_DOCUMENT) for answer in one["answers"])
        # Doubts about a document take passes away; a failure stands whatever the doubt.
        and not any(answer["text"].startswith("ambiguous_document") for answer in one["answers"])
    ]


def asked(said: dict[str, Any]) -> Counter[str]:
    return Counter({one["rule"]: one["compared"] for one in said["twins"]})


@pytest.mark.parametrize("pack", [CLASSIC, CEL])
def test_the_example_fleet(compare: Compare, pack: str) -> None:
    code, said = compare(FLEET, "--policy", pack)
    assert said["differences"] == []
    assert unexplained(said) == []
    assert code == (3 if said["incomplete"] else 0)
    assert len(said["twins"]) == len([p for p in policies() if p.is_cel is (pack == CEL)])
    assert asked(said).total() > 100


@pytest.mark.corpora
def test_a_corpus_of_manifests(compare: Compare) -> None:
    _, said = compare(shared_dir("corpora", "manifests"))
    assert of_a_served_group(said["differences"]) == []
    assert of_a_served_group(unexplained(said)) == []
    assert asked(said).total() > 4_000


@pytest.mark.parametrize(("pack", "seed", "number"), [(CLASSIC, 2026, 300), (CEL, 11, 60)])
def test_odd_objects(compare: Compare, tmp_path: Path, pack: str, seed: int, number: int) -> None:
    made = [*objects(seed, number), {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}]
    (tmp_path / "odd.yaml").write_text("\n---\n".join(map(json.dumps, made)), encoding="utf-8")
    _, said = compare(tmp_path, "--policy", pack)
    assert said["differences"] == []
    assert unexplained(said) == []
    # A rule that nothing was asked about agrees with everything. Ray objects are none of the odd ones.
    assert {rule for rule, number in asked(said).items() if number == 0} <= {"model/ray-head-exposed"}


def test_objects_of_the_policies_own_tests(compare: Compare, tmp_path: Path) -> None:
    """Each once: many policies are tested with objects of the same name."""
    made = [value for policy in policies() if not policy.is_cel for value in policy.objects()]
    for number, value in enumerate(made):
        if value["kind"] != "ServiceAccount":
            value["metadata"]["name"] = f"{value['metadata']['name']}-{number}"
    (tmp_path / "objects.yaml").write_text("\n---\n".join(map(json.dumps, made)), encoding="utf-8")
    _, said = compare(tmp_path)
    assert said["differences"] == []
    assert unexplained(said) == []
    assert all(asked(said).values())


def test_every_explained_difference_is_one(compare: Compare, tmp_path: Path) -> None:
    entries = explained()
    assert all(entry["reason"].strip() for entry in entries)
    (tmp_path / "explained.yaml").write_text(
        yaml.safe_dump_all(entry["object"] for entry in entries), encoding="utf-8"
    )
    code, said = compare(tmp_path)
    assert code == 1
    found = {
        (entry["rule"], entry["object"]["kind"], entry["object"]["metadata"]["name"]) for entry in entries
    }
    assert differing(said) == found
    for entry in entries:
        (one,) = [d for d in said["differences"] if d["name"] == entry["object"]["metadata"]["name"]]
        rego, kyverno = (answer["outcome"] in ("fail", "warn") for answer in one["answers"])
        assert (rego, kyverno) == (entry["fails"] == "rego", entry["fails"] == "kyverno")
