"""Charts and kustomizations: what their files mean is said once, and what renders to nothing is not silent."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integration.command import Run, run

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ml}\nspec: {containers: [{name: c, image: i}]}\n"

needs_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    source = tmp_path / "in"
    source.mkdir()
    (source / "plain.yaml").write_text(POD.replace("name: p,", "name: plain,"))
    return source


def kustomization(folder: Path, text: str, *, manifest: bool = True) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kustomization.yaml").write_text(text)
    if manifest:
        (folder / "pod.yaml").write_text(POD)


def audited(tree: Path, env: dict[str, str] | None = None) -> Run:
    done = run(tree.parent / "out", tree, "--no-config", "--rule", "pod/privileged", env=env)
    assert done.code in (0, 3), done.err
    return done


def codes(done: Run) -> list[str]:
    return [notice["code"] for notice in done.report["notices"] if notice["code"] != "other_type"]


def gaps(done: Run) -> list[tuple[str, str]]:
    return [(Path(gap["source"]).name, gap["reason"]) for gap in done.gaps]


def objects(done: Run) -> int:
    number: int = done.report["record"]["denominator"]["objects"]
    return number


def without_tools(tmp_path: Path) -> dict[str, str]:
    """A PATH with Python on it and nothing that renders."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "python").symlink_to(sys.executable)
    return {"PATH": str(folder)}


@needs_kubectl
def test_files_of_a_build_are_judged_through_it_and_that_is_said(tree: Path) -> None:
    kustomization(tree / "app", "namePrefix: prod-\nresources: [pod.yaml]\n")
    done = audited(tree)
    assert objects(done) == 2
    assert codes(done) == ["part_of_kustomization"]
    assert gaps(done) == []


@pytest.mark.parametrize("how", ["no tool", "fails", "remote", "broken"])
def test_a_failed_build_is_its_gap_alone(tree: Path, tmp_path: Path, how: str) -> None:
    text = {
        "no tool": "resources: [pod.yaml]\n",
        "fails": "resources: [pod.yaml, gone.yaml]\n",
        "remote": "resources: [pod.yaml, 'https://example.com/x']\n",
        "broken": "resources: [pod.yaml]\npatches: [{path: pod.yaml, target: {kind: [}}]\n",
    }[how]
    kustomization(tree / "app", text)
    env = without_tools(tmp_path) if how == "no tool" else None
    done = audited(tree, env)
    assert done.code == 3
    assert "part_of_kustomization" not in codes(done)
    assert [name for name, _ in gaps(done)] == ["app"]
    # A kustomization that can't be read covers nothing that is known, so its files are judged as they are.
    assert objects(done) == (2 if how == "broken" else 1)


@needs_kubectl
def test_a_file_of_two_builds_is_judged_through_the_one_that_works(tree: Path) -> None:
    kustomization(tree / "base", "resources: [pod.yaml]\n")
    kustomization(tree / "good", "namePrefix: a-\nresources: [../base]\n", manifest=False)
    kustomization(tree / "bad", "namePrefix: b-\nresources: [../base, gone.yaml]\n", manifest=False)
    done = audited(tree)
    assert objects(done) == 2
    assert codes(done) == ["part_of_kustomization"]
    assert [name for name, _ in gaps(done)] == ["bad"]


@pytest.mark.parametrize(
    ("folders", "reason"),
    [
        (
            {
                "part": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [pod.yaml]\n"
            },
            "no kustomization here takes this component in",
        ),
        (
            {"one": "resources: [pod.yaml, ../two]\n", "two": "resources: [pod.yaml, ../one]\n"},
            "take each other in",
        ),
        ({"own": "resources: [pod.yaml, ../own]\n"}, "take each other in"),
    ],
)
def test_what_no_build_reaches_is_a_gap(tree: Path, folders: dict[str, str], reason: str) -> None:
    for name, text in folders.items():
        kustomization(tree / name, text)
    done = audited(tree)
    assert done.code == 3
    assert [name for name, _ in gaps(done)] == sorted(folders)
    assert all(reason in said for _, said in gaps(done))
    assert codes(done) == []


@needs_kubectl
def test_a_component_that_is_taken_in_is_part_of_that_build(tree: Path) -> None:
    kustomization(
        tree / "part",
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [pod.yaml]\n",
    )
    kustomization(tree / "app", "components: [../part]\n", manifest=False)
    done = audited(tree)
    assert objects(done) == 2
    assert gaps(done) == []


@needs_kubectl
def test_a_kustomization_that_renders_to_nothing_is_said(tree: Path) -> None:
    delete = "- patch: |\n    $patch: delete\n    apiVersion: v1\n    kind: Pod\n    metadata: {name: p, namespace: ml}\n"
    kustomization(tree / "app", f"resources: [pod.yaml]\npatches:\n{delete}")
    done = audited(tree)
    assert objects(done) == 1
    assert sorted(codes(done)) == [
        "empty_document",
        "part_of_kustomization",
        "rendered_to_nothing",
    ] or sorted(codes(done)) == ["part_of_kustomization", "rendered_to_nothing"]
    assert gaps(done) == []


@pytest.mark.parametrize("output", ["", "\n---\n# nothing is enabled\n---\n", "---\nnull\n"])
def test_a_chart_that_renders_to_nothing_is_a_gap(tree: Path, tmp_path: Path, output: str) -> None:
    """The real helm prints just this for a chart whose parts are all off; here a script stands in for it."""
    chart = tree / "chart"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: c\nversion: 1.0.0\n")
    (chart / "templates" / "x.yaml").write_text("{{ if .Values.on }}\n" + POD + "{{ end }}\n")
    env = without_tools(tmp_path)
    helm = tmp_path / "bin" / "helm"
    (tmp_path / "printed").write_text(output)
    helm.write_text(
        f'#!/bin/sh\nwhile IFS= read -r l || [ -n "$l" ]; do echo "$l"; done < \'{tmp_path}/printed\'\n'
    )
    helm.chmod(0o755)
    done = audited(tree, env)
    assert done.code == 3
    assert objects(done) == 1
    assert gaps(done) == [("chart", "helm: rendered to no object with the chart's default values")]
    (tmp_path / "printed").write_text(POD)
    assert gaps(audited(tree, env)) == []


def test_what_helm_never_reads_of_a_chart_is_read(tree: Path, tmp_path: Path) -> None:
    chart = tree / "chart"
    for name in ("values-prod.yaml", "ci/test-values.yaml", "docs/pod.yaml"):
        (chart / name).parent.mkdir(parents=True, exist_ok=True)
        (chart / name).write_text(POD if "pod" in name else "replicas: 2\n")
    (chart / "values-hidden.yaml").write_text(POD.replace("name: p,", "name: hidden,"))
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: c\nversion: 1.0.0\n")
    (chart / "values.yaml").write_text("replicas: 1\n")
    done = audited(tree, without_tools(tmp_path))
    assert objects(done) == 3
    assert codes(done).count("not_an_object") == 2
    assert [name for name, _ in gaps(done)] == ["chart"]


def test_a_file_of_a_kustomization_named_by_itself_is_counted_once(tree: Path) -> None:
    kustomization(tree / "app", "resources: [pod.yaml]\n")
    done: Any = run(
        tree.parent / "out", tree, tree / "app" / "pod.yaml", "--no-config", "--rule", "pod/privileged"
    )
    assert objects(done) == (2 if shutil.which("kubectl") else 1)
