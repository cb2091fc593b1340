"""Leaving out a Namespace's manifest mends nothing: what nobody has seen of a namespace in use is undecided."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from tests.integration.command import Run, run
from tests.shared_data import CHECKOUT

LABEL_RULES = {"namespace/owner-label", "namespace/ai-risk-tier-label", "namespace/pod-security-enforced"}
NAMESPACES = {
    "eu-central-01": ("inference", "training", "gpu-system"),
    "us-east-02": ("llm", "batch", "edge"),
}


def audited(folder: Path, without: tuple[str, str] | None = None) -> Run:
    """The example fleet, all of it or without one Namespace's manifest."""
    fleet = folder / "fleet"
    shutil.copytree(CHECKOUT / "examples" / "fleet", fleet)
    if without:
        cluster, name = without
        file = fleet / cluster / "namespaces.yaml"
        documents = file.read_text(encoding="utf-8").split("---\n")
        kept = [text for text in documents if f"\n  name: {name}\n" not in text]
        assert len(kept) == len(documents) - 1
        file.write_text("---\n".join(kept), encoding="utf-8")
    return run(folder / "out", "--config", fleet / "fleetaudit.yaml")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return audited(tmp_path_factory.mktemp("whole"))


def strict(done: Run) -> dict[str, Fraction]:
    """Strict ratios by framework."""
    return {
        score["framework"]: Fraction(score["strict"]["numerator"], score["strict"]["denominator"])
        for score in done.report["scores"]
    }


@pytest.mark.parametrize("left_out", [(c, name) for c, names in NAMESPACES.items() for name in names])
def test_a_manifest_left_out_never_raises_a_ratio(
    whole: Run, left_out: tuple[str, str], tmp_path: Path
) -> None:
    less = audited(tmp_path, left_out)
    assert less.code == whole.code == 0, less.out + less.err
    before, after = strict(whole), strict(less)
    assert all(after[framework] <= before[framework] for framework in before)
    title = f"Namespace {left_out[1]}"
    undecided = {
        group["rule"]
        for group in less.report["groups"]
        if group["outcome"] == "error"
        for member in group["members"]
        if member["error"] == "manifest_not_collected"
    }
    assert undecided == LABEL_RULES, title
    told = [m for rule in LABEL_RULES for m in less.findings(rule) if m["subject"]["name"] == left_out[1]]
    assert told == []


def test_a_failing_control_becomes_undecided_not_met(tmp_path: Path) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ml}\nspec: {containers: [{name: c, image: a/b:1}]}\n"
    manifest = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: ml}\n"
    statuses = []
    for number, text in enumerate((pod + manifest, pod)):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "objects.yaml").write_text(text, encoding="utf-8")
        done = run(folder / "out", folder / "objects.yaml", "--rule", "namespace/*")
        statuses.append({(c["framework"], c["id"]): c["fleet"]["status"] for c in done.report["controls"]})
    failing = {key for key, status in statuses[0].items() if status == "not_satisfied"}
    assert failing
    assert {statuses[1][key] for key in failing} == {"indeterminate"}


def test_exempt_namespaces_need_no_manifest(tmp_path: Path) -> None:
    (tmp_path / "objects.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: kube-system}\nspec: {containers: [{name: c, image: a/b:1}]}\n"
    )
    done = run(tmp_path / "out", tmp_path / "objects.yaml", "--rule", "namespace/*")
    assert [group for group in done.report["groups"] if group["outcome"] == "error"] == []
