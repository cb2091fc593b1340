"""Kustomizations and charts: rendered by their own tool, or a gap that names it."""

from __future__ import annotations

import json
import shutil
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit.collect.kustomization import read_kustomization
from audit.collect.rendering import NotRendered, Rendered, plan_kustomize, render_chart, render_kustomization
from audit.process import _without_network, run_tool

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


GENERATOR = """apiVersion: builtin
kind: ConfigMapGenerator
metadata: {name: g}
files: ["k=@URL@"]
"""
PATCHER = """apiVersion: builtin
kind: PatchTransformer
metadata: {name: t}
path: @URL@
"""
REPLACER = """apiVersion: builtin
kind: ReplacementTransformer
metadata: {name: t}
replacements: [{path: "@URL@"}]
"""


class Listener:
    """A real socket that counts who connects, and answers nothing."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/f"
        self.connections = 0
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            peer.close()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(5)


@pytest.fixture
def listener() -> Iterator[Listener]:
    listening = Listener()
    yield listening
    listening.close()


@pytest.fixture
def git_calls(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git first on PATH that writes down that it was started."""
    folder = tmp_path_factory.mktemp("bin")
    calls = folder / "calls"
    (folder / "git").write_text(f'#!/bin/sh\necho "$@" >> {calls}\nexit 1\n')
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return calls


LOADS: list[dict[str, Any]] = [
    *(
        {name: ["@URL@"]}
        for name in (
            "resources", "bases", "components", "crds", "configurations", "generators", "transformers", "validators",
            "patches", "patchesStrategicMerge", "Resources", "RE\u017fOURCES",
        )
    ),
    *({name: [{"path": "@URL@"}]} for name in ("patches", "patchesJson6902", "replacements", "Patches")),
    {"openapi": {"path": "@URL@"}},
    *(
        {kind: [{"name": "c", field: value}]}
        for kind in ("configMapGenerator", "secretGenerator")
        for field, value in (
            ("files", ["@URL@"]), ("files", ["k=@URL@"]), ("FILES", ["k=@URL@"]), ("envs", ["@URL@"]), ("env", "@URL@"),
        )
    ),
    *({"generators": [text]} for text in ("gen.yaml", GENERATOR)),
    *({name: [text]} for name in ("transformers", "validators") for text in ("patch.yaml", "list.yaml", PATCHER, REPLACER)),
    {"transformers": ["folder"]},
    {"helmCharts": [{"name": "x", "repo": "@URL@"}]},
    *(
        {"resources": [text]}
        for text in (
            "org-1234@github.com:foo/bar.git", "GitHub.com/foo/bar", "base@v1/x/y", "git::github.com/a/b", "absent.yaml",
            "link/../gone", "http:/here", "file:///srv/x.git",
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("fields", LOADS, ids=lambda fields: json.dumps(fields)[:80])
def test_whatever_is_not_here_is_never_loaded(
    tmp_path: Path, listener: Listener, git_calls: Path, fields: dict[str, Any]
) -> None:
    texts = {
        "base/kustomization.yaml": json.dumps(fields),
        "base/gen.yaml": GENERATOR,
        "base/patch.yaml": PATCHER,
        "base/list.yaml": json.dumps(
            {"apiVersion": "v1", "kind": "List", "items": [{"kind": "X", "path": "@URL@"}]}
        ),
        "base/folder/kustomization.yaml": "resources: [t.yaml]",
        "base/folder/t.yaml": PATCHER,
        # Folders with the names of addresses do not make them paths.
        "base/GitHub.com/foo/bar/kustomization.yaml": "namePrefix: a",
        "base/base@v1/x/y/kustomization.yaml": "namePrefix: a",
        "elsewhere/in/kustomization.yaml": "namePrefix: a",
        "elsewhere/gone/kustomization.yaml": "namePrefix: a",
        "over/kustomization.yaml": "resources: [../base]",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("@URL@", listener.url))
    (tmp_path / "base" / "link").symlink_to(tmp_path / "elsewhere" / "in")
    refused = render_kustomization(read_kustomization(tmp_path / "over"), max_bytes=1 << 20)
    assert isinstance(refused, NotRendered)
    assert "kustomize failed" not in refused.reason, "the tool was started"
    assert "installed" not in refused.reason
    assert listener.connections == 0
    assert not git_calls.exists()


@needs_kubectl
def test_texts_that_are_no_places_do_not_stop_a_build(tmp_path: Path) -> None:
    url = "http://127.0.0.1:9/x"
    (tmp_path / "deploy.yaml").write_text(DEPLOYMENT)
    (tmp_path / "f.txt").write_text(url)
    (tmp_path / "labels.yaml").write_text(
        "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: l}\nlabels: {a: b}\n"
        "fieldSpecs: [{path: metadata/labels, create: true}]\n"
    )
    patch = json.dumps([{"op": "add", "path": "/metadata/annotations", "value": {"u": url}}])
    (tmp_path / "kustomization.yaml").write_text(
        json.dumps(
            {
                "resources": ["deploy.yaml"],
                "commonAnnotations": {"docs": url},
                "configMapGenerator": [{"name": "c", "literals": [f"u={url}"], "files": ["k=f.txt"]}],
                "patches": [{"patch": patch, "target": {"kind": "Deployment"}}],
                "transformers": ["labels.yaml"],
                "images": [{"name": "web", "newName": "registry.example/web"}],
            }
        )
    )
    rendered = render_kustomization(read_kustomization(tmp_path), max_bytes=1 << 20)
    assert isinstance(rendered, Rendered), rendered
    assert rendered.data.count(url.encode()) >= 3


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed")
def test_an_offline_tool_has_no_network(tmp_path: Path, listener: Listener) -> None:
    if not _without_network():
        pytest.skip("this user may not make a network of its own")
    host, port = listener.url.removeprefix("http://").removesuffix("/f").split(":")
    program = f"import socket; socket.create_connection(({host!r}, {port}), 5)"

    def connects(*, offline: bool) -> bool:
        return run_tool(
            sys.executable,
            ["-c", program],
            folder=tmp_path,
            home=tmp_path,
            timeout_seconds=20,
            max_bytes=10,
            offline=offline,
        ).ok

    assert connects(offline=False)
    assert not connects(offline=True)
