"""Whole audits through the real command: nothing is asked by default, and what is asked decides by the same rules as files do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.command import Run, fleetaudit, run
from tests.registry.hostile import Hostile, Reply, hostile
from tests.registry.serving import Registry, registry
from tests.signatures.image_builder import LayoutBuilder
from tests.signatures.signing import Signing, ecdsa

RULE = "signature/image-signed"


@pytest.fixture(scope="module")
def running() -> Iterator[Registry]:
    with registry() as found:
        yield found


@pytest.fixture
def team() -> Signing:
    return ecdsa()


@pytest.fixture
def nosy() -> Iterator[Hostile]:
    """A server that should not be asked, and answers that it is broken."""
    with hostile(lambda request: Reply(503)) as found:
        yield found


def pod(name: str, image: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"containers": [{"name": "main", "image": image}]},
    }


def audited(folder: Path, team: Signing, pods: list[dict[str, Any]], *options: str, **config: Any) -> Run:
    source = folder / "k8s"
    source.mkdir(exist_ok=True)
    (source / "pods.yaml").write_text(yaml.safe_dump_all(pods))
    (folder / "team.pub").write_bytes(team.pem)
    trust = {
        "keys": [{"name": "team", "path": "team.pub"}],
        "policies": [
            {
                "name": "images",
                "artifacts": ["127.0.0.1*/**"],
                "any_of": [{"name": "team", "key": "team"}],
                "required": True,
            }
        ],
    }
    (folder / "trust.yaml").write_text(yaml.safe_dump(trust))
    written = {"paths": ["k8s"], "signatures": "trust.yaml", **config}
    (folder / "fleetaudit.yaml").write_text(yaml.safe_dump(written))
    rules = ("--rule", RULE, "--rule", "image/mutable-tag")
    return run(folder / "out", "--config", folder / "fleetaudit.yaml", *rules, *options)


def pushed(running: Registry, team: Signing, repository: str, *, signed: bool) -> str:
    """The image as a workload names it."""
    layout = LayoutBuilder()
    image = layout.image(repository)
    if signed:
        layout.simple_signature(image, team, attached_to=image)
    running.push(repository, layout, tags={"1": image})
    return f"{running.host}/{repository}@{image}"


def test_no_registry_is_asked_by_default(nosy: Hostile, tmp_path: Path, team: Signing) -> None:
    done = audited(tmp_path, team, [pod("p", f"{nosy.host}/app:1")])
    assert done.code == 0, done.err
    assert not nosy.seen
    assert not done.gaps
    assert done.report["record"]["configuration"]["registries"] == []


def test_images_that_run_are_judged_where_they_are(running: Registry, tmp_path: Path, team: Signing) -> None:
    good, bad = (pushed(running, team, name, signed=name == "good") for name in ("good", "bad"))
    pods = [
        pod("one", good),
        pod("two", bad),
        pod("again", bad),
        pod("hub", "nginx:1"),
        pod("odd", "${IMAGE}"),
    ]
    registries = [{"host": running.host, "insecure": True}]
    done = audited(tmp_path, team, pods, registries=registries)
    assert done.code == 0, done.err
    assert not done.gaps
    assert [one["subject"]["name"] for one in done.findings(RULE)] == [bad]
    counts = {row["outcome"]: row["pairs"] for row in done.report["tally"] if row["rule"] == RULE}
    assert counts == {"pass": 1, "fail": 1}, "each image once, however many pods run it"
    notices = {notice["code"]: notice for notice in done.report["notices"]}
    assert "docker.io (1)" in notices["registry_not_listed"]["message"]
    assert notices["image_unnamed"]["count"] == 1


def test_a_registry_can_be_named_on_the_command_line(
    running: Registry, tmp_path: Path, team: Signing
) -> None:
    bad = pushed(running, team, "named", signed=False)
    done = audited(tmp_path, team, [pod("p", bad)], "--registry", f"http://{running.host}")
    assert [one["subject"]["name"] for one in done.findings(RULE)] == [bad]
    recorded = done.report["record"]
    assert [one["host"] for one in recorded["configuration"]["registries"]] == [running.host]
    assert f"http://{running.host}" in recorded["arguments"]


def test_a_registry_that_does_not_answer_leaves_it_undecided(
    nosy: Hostile, tmp_path: Path, team: Signing
) -> None:
    pods = [pod(f"p{number}", f"{nosy.host}/app:{number}") for number in range(4)]
    registries = [{"host": nosy.host, "insecure": True}]
    done = audited(tmp_path, team, pods, registries=registries)
    assert done.code == 3, "what was not looked at makes the audit incomplete"
    [gap] = done.gaps
    assert (gap["kind"], gap["source"]) == ("unreachable", nosy.host)
    assert "4 images" in gap["reason"]
    assert "registry_failed" in gap["reason"]
    assert not done.findings(RULE)
    assert len(done.findings(RULE, "error")) == 4


def test_images_out_of_scope_are_not_asked_for(nosy: Hostile, tmp_path: Path, team: Signing) -> None:
    scope = {"exclude": [{"reason": "a playground", "selector": {"namespace": "ml"}}]}
    registries = [{"host": nosy.host, "insecure": True}]
    audited(tmp_path, team, [pod("p", f"{nosy.host}/app:1")], registries=registries, scope=scope)
    assert not nosy.seen


def test_credentials_reach_no_file(tmp_path: Path, team: Signing) -> None:
    secret = "c2VjcmV0LXBhc3N3b3Jk"
    with hostile(lambda request: Reply(401, b"{}", (("WWW-Authenticate", "Basic"),))) as server:
        (tmp_path / "k8s").mkdir()
        config = tmp_path / "k8s" / "config.json"
        config.write_text(json.dumps({"auths": {server.host: {"username": "robot", "password": secret}}}))
        registries = [{"host": server.host, "insecure": True, "docker_config": "k8s/config.json"}]
        done = audited(
            tmp_path,
            team,
            [pod("p", f"{server.host}/app:1")],
            "-v",
            "--log-file",
            str(tmp_path / "log"),
            registries=registries,
        )
        assert any("Authorization" in request.headers for request in server.seen)
    assert [gap["kind"] for gap in done.gaps] == ["forbidden"]
    assert secret not in done.out + done.err
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path != config]
    assert len(written) > 4
    assert not [path for path in written if secret.encode() in path.read_bytes()]


def test_the_past_can_not_be_asked(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(yaml.safe_dump(pod("p", "a.example/b:1")))
    done = fleetaudit(
        "run",
        tmp_path / "p.yaml",
        "--no-config",
        "--registry",
        "a.example",
        "--as-of",
        "2026-01-01T00:00:00Z",
    )
    assert done.code == 2
    assert "a registry has what it has now" in done.err
