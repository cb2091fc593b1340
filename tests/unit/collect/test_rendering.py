"""Kustomizations and charts: rendered by their own tool, or a gap that names it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from audit.collect.kustomization import read_kustomization
from audit.collect.rendering import NotRendered, Rendered, plan_kustomize, render_chart, render_kustomization

DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web:1}]}}
"""

needs_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")


@pytest.fixture
def overlay(tmp_path: Path) -> Path:
    base, over = tmp_path / "base", tmp_path / "overlay"
    base.mkdir()
    over.mkdir()
    (base / "kustomization.yaml").write_text("resources: [deploy.yaml]\n")
    (base / "deploy.yaml").write_text(DEPLOYMENT)
    (over / "kustomization.yaml").write_text(
        "namePrefix: prod-\nresources: [../base]\npatches: [{path: p.yaml}]\n"
    )
    (over / "p.yaml").write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3}\n"
    )
    return tmp_path


def test_only_the_overlay_is_a_root_and_the_patch_is_covered(overlay: Path) -> None:
    plan = plan_kustomize([overlay / "base", overlay / "overlay"])
    assert [root.folder.name for root in plan.roots] == ["overlay"]
    assert {path.name for path in plan.covered} == {"deploy.yaml", "p.yaml"}


@needs_kubectl
def test_overlay_is_built_with_its_patch(overlay: Path) -> None:
    rendered = render_kustomization(read_kustomization(overlay / "overlay"), max_bytes=1 << 20)
    assert isinstance(rendered, Rendered)
    assert b"name: prod-web" in rendered.data
    assert b"replicas: 3" in rendered.data


@needs_kubectl
def test_output_over_the_limit_is_a_failure_not_a_part(overlay: Path) -> None:
    rendered = render_kustomization(read_kustomization(overlay / "overlay"), max_bytes=10)
    assert isinstance(rendered, NotRendered)
    assert "limit 10" in rendered.reason


@pytest.mark.parametrize(
    "remote",
    [
        "https://example.com/x.yaml",
        "github.com/example/repo",
        "git@example.com:a/b.git",
        "example.com/a?ref=v1",
    ],
)
def test_remote_reference_below_an_overlay_is_never_fetched(overlay: Path, remote: str) -> None:
    (overlay / "base" / "kustomization.yaml").write_text(f"resources: ['{remote}']\n")
    refused = render_kustomization(read_kustomization(overlay / "overlay"), max_bytes=1 << 20)
    assert isinstance(refused, NotRendered)
    assert "would download" in refused.reason


@needs_kubectl
def test_failing_build_names_the_cause(overlay: Path) -> None:
    (overlay / "overlay" / "p.yaml").write_text("kind: [")
    refused = render_kustomization(read_kustomization(overlay / "overlay"), max_bytes=1 << 20)
    assert isinstance(refused, NotRendered)
    assert "exit code 1" in refused.reason


@pytest.mark.parametrize("text", ["a: [", "- a", "x: 2026-02-30", "!!python/object:os.system {}"])
def test_broken_kustomization_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "kustomization.yaml").write_text(text)
    assert read_kustomization(tmp_path).problem


def test_without_tools_both_are_gaps_that_name_them(overlay: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(overlay))
    for outcome, tool in (
        (render_kustomization(read_kustomization(overlay / "overlay"), max_bytes=1), "kubectl"),
        (render_chart(overlay, max_bytes=1), "helm"),
    ):
        assert isinstance(outcome, NotRendered)
        assert tool in outcome.reason
        assert tool in outcome.hint
