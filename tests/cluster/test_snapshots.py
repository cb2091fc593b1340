"""Snapshots of a real API server: judged later, the result is that of the server itself."""

from __future__ import annotations

import base64
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.server import ADMIN, NOBODY, READER, ApiServer
from tests.cluster.test_live import SERVICE_LIST, STATUS, _population, expired, first, gaps
from tests.cluster.world import CANARY
from tests.integration.command import Run, fleetaudit, run
from tests.proxy import Reply, Request, Wait, proxy_before
from tests.shared_data import shared_dir

pytestmark = pytest.mark.tools

# All in which a result from a snapshot differs: what was named, what was digested (the server's text there, the redacted
# one here), and that somebody else may have made it.
MUST_DIFFER = ("configuration", "arguments", "state_time", "started", "finished", "result_sha256")


def collected(folder: Path, kubeconfig: Path, *options: str | Path) -> Run:
    return fleetaudit("collect", "--context", "test", "--kubeconfig", kubeconfig, "--to", folder, *options)


def comparable(done: Run) -> dict[str, Any]:
    report = done.report
    record = report["record"]
    for key in MUST_DIFFER:
        del record[key]
    for cluster in record["clusters"]:
        for key in ("kind", "paths", "snapshot"):
            del cluster[key]
    for file in record["inputs"]:
        del file["sha256"], file["bytes"]
    report["notices"] = [one for one in report["notices"] if one["code"] != "snapshot_unchecked"]
    return report


def both(folder: Path, kubeconfig: Path, *options: str) -> tuple[Run, Run]:
    """An audit of the server, and of a snapshot of it."""
    live = run(folder / "live", "--context", "test", "--kubeconfig", kubeconfig, "--no-cache", *options)
    collected(folder / "snapshots", kubeconfig)
    later = run(folder / "later", folder / "snapshots" / "test", "--no-cache", *options)
    return live, later


@pytest.mark.parametrize("token", [ADMIN, READER, NOBODY])
def test_the_result_is_that_of_the_server(server: ApiServer, tmp_path: Path, token: str) -> None:
    live, later = both(tmp_path, server.kubeconfig(token, name="snap"))
    assert comparable(live) == comparable(later)
    assert live.report["record"]["population_sha256"] == later.report["record"]["population_sha256"]
    assert (live.code, later.code) == ((0, 0) if token == ADMIN else (3, 3))
    [cluster] = later.report["record"]["clusters"]
    assert (cluster["kind"], cluster["reached"]) == ("snapshot", token != NOBODY)
    assert cluster["server"]["version"] == "v1.37.2"


def test_other_policies_see_what_the_first_ones_did_not_need(server: ApiServer, tmp_path: Path) -> None:
    kubeconfig = server.kubeconfig(ADMIN, name="snap")
    policy = tmp_path / "policy"
    policy.mkdir()
    (policy / "class.yaml").write_text(
        yaml.safe_dump(
            {
                "apiVersion": "kyverno.io/v1",
                "kind": "ClusterPolicy",
                "metadata": {"name": "no-classes"},
                "spec": {
                    "validationFailureAction": "Enforce",
                    "rules": [
                        {
                            "name": "none",
                            "match": {"any": [{"resources": {"kinds": ["PriorityClass"]}}]},
                            "validate": {"message": "no classes", "deny": {}},
                        }
                    ],
                },
            }
        )
    )
    live, later = both(tmp_path, kubeconfig, "--policy", str(policy))
    assert comparable(live) == comparable(later)
    asked = {(row[0], row[2]) for row in _population(later)[1:] if row[2].endswith("/PriorityClass")}
    assert ("kyverno:no-classes/none", "scheduling.k8s.io/PriorityClass") in asked
    without = run(tmp_path / "without", tmp_path / "snapshots" / "test", "--no-cache")
    assert not [row for row in _population(without)[1:] if row[2].endswith("/PriorityClass")]


@pytest.mark.parametrize(
    ("plan", "kind"),
    [
        (lambda: first(99, Reply(410, STATUS), expired), "unreachable"),
        (lambda: first(99, Reply(403, STATUS), expired), "forbidden"),
        (lambda: first(99, Reply(200, b'{"items": [{'), expired), "unreadable"),
        (lambda: first(1, Reply(410, STATUS), expired), ""),
        (lambda: first(9, Reply(403, STATUS), lambda r: r.path.startswith("/version")), ""),
        (lambda: first(9, Reply(403, STATUS), lambda r: "kube-system" in r.path), ""),
    ],
    ids=["expired", "forbidden", "cut", "restarted", "version", "identity"],
)
def test_what_was_not_told_is_not_told_later(
    server: ApiServer, tmp_path: Path, plan: Callable[[], Any], kind: str
) -> None:
    with proxy_before(server.url) as proxy:
        kubeconfig = server.kubeconfig(ADMIN, url=proxy.url, name="proxied")
        proxy.plan = plan()
        live = run(tmp_path / "live", "--context", "test", "--kubeconfig", kubeconfig, "--no-cache")
        proxy.plan = plan()
        done = collected(tmp_path / "s", kubeconfig)
    later = run(tmp_path / "later", tmp_path / "s" / "test", "--no-cache")
    assert comparable(live) == comparable(later)
    assert live.code == later.code == (3 if kind else 0)
    assert done.code == (3 if kind in {"unreachable", "unreadable"} else 0)
    if kind:
        [gap] = [gap for gap in gaps(later, kind) if gap["kinds"] == ["Service"]]
        assert gap["source"] == SERVICE_LIST


def test_a_dead_server_is_a_snapshot_of_its_own(server: ApiServer, tmp_path: Path) -> None:
    live, later = both(tmp_path, server.kubeconfig(ADMIN, url="https://127.0.0.1:1", name="dead"))
    assert comparable(live) == comparable(later)
    assert later.code == 3
    [gap] = gaps(later, "unreachable")
    assert (gap["cluster"], gap["kinds"]) == ("test", None)
    assert all(score["strict"]["numerator"] == 0 for score in later.report["scores"])


def test_no_secret_is_in_a_snapshot(server: ApiServer, tmp_path: Path) -> None:
    for value in yaml.safe_load_all(shared_dir("cases", "31-secrets-in-reports", "objects.yaml").read_text()):
        server.create(value)
    with proxy_before(server.url) as proxy:
        kubeconfig = server.kubeconfig(ADMIN, url=proxy.url, name="proxied")
        config = tmp_path / "fleetaudit.yaml"
        config.write_text(
            f"clusters: [{{name: test, server: {{context: test, kubeconfig: {kubeconfig}, secret_metadata: true}}}}]"
        )
        done = fleetaudit("collect", "--config", config, "--to", tmp_path / "s")
        assert {request.method for request in proxy.seen} == {"GET"}
    assert done.code == 0, done.err
    later = run(tmp_path / "later", tmp_path / "s" / "test", "--format", "json,html,csv,sarif,markdown")
    files = [*(tmp_path / "s" / "test").iterdir(), *later.folder.iterdir()]
    assert len(files) > 20
    for file in files:
        content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        for canary in ("CANARYSECRET", "Q0FOQVJZU0VDUkVU", CANARY):
            assert canary.encode() not in content, file
    secrets = [f for f in (tmp_path / "s" / "test").iterdir() if "_secrets-" in f.name]
    names = [
        json.loads(line)["object"]["metadata"]["name"]
        for line in gzip.decompress(secrets[0].read_bytes()).splitlines()
    ]
    assert {"token", "hub"} <= set(names)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_stopped_collection_leaves_nothing_that_reads_as_whole(
    server: ApiServer, tmp_path: Path, number: signal.Signals
) -> None:
    def slow(request: Request) -> Wait | None:
        return Wait(1.5) if expired(request) else None

    with proxy_before(server.url) as proxy:
        proxy.plan = slow
        kubeconfig = server.kubeconfig(ADMIN, url=proxy.url, name="proxied")
        command = [
            sys.executable,
            "-m",
            "audit",
            "collect",
            "--context",
            "test",
            "--kubeconfig",
            str(kubeconfig),
        ]
        process = subprocess.Popen(
            [*command, "--to", str(tmp_path / "s")], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        end = time.monotonic() + 60
        while not any(map(expired, proxy.seen)) and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(0.3)
        os.kill(process.pid, number)
        code = process.wait(60)
    assert code == (-9 if number == signal.SIGKILL else 143)
    assert list((tmp_path / "s").glob("*")) == [] or number == signal.SIGKILL
    assert not (tmp_path / "s" / "test").exists()
    done = run(tmp_path / "out", tmp_path / "s" / "*")
    assert done.code == 3
    again = collected(tmp_path / "s", server.kubeconfig(ADMIN, name="snap"))
    assert again.code == 0
    assert [path.name for path in (tmp_path / "s").iterdir()] == ["test"]


def test_every_cluster_of_a_pod_has_a_name(tmp_path: Path) -> None:
    done = fleetaudit("collect", "--in-cluster", "--to", tmp_path)
    assert done.code == 2
    assert "--cluster" in done.err
    nothing = fleetaudit("collect", "--no-config", "--to", tmp_path)
    assert nothing.code == 2
    assert "--context" in nothing.err


def test_signed_and_to_an_address(server: ApiServer, tmp_path: Path) -> None:
    key, public = tmp_path / "k.pem", tmp_path / "k.pub"
    for command in (
        ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key],
        ["ec", "-in", key, "-pubout", "-out", public],
    ):
        subprocess.run(["openssl", *map(str, command)], check=True, capture_output=True)
    kubeconfig = server.kubeconfig(ADMIN, name="snap")
    done = collected(Path("unused"), kubeconfig, "--to", f"file://{tmp_path}/s/2026-11-30", "--sign-key", key)
    assert done.code == 0, done.err
    folder = tmp_path / "s" / "2026-11-30" / "test"
    signature = tmp_path / "raw.sig"
    signature.write_bytes(base64.b64decode((folder / "manifest.json.sig").read_bytes()))
    subprocess.run(
        ["openssl", "dgst", "-sha256", "-verify", public, "-signature", signature, folder / "manifest.json"],
        check=True,
        capture_output=True,
    )
    config = tmp_path / "fleetaudit.yaml"
    config.write_text("snapshots: {keys: [{name: collector, path: k.pub}]}\n")
    address = f"file://{tmp_path}/s/*/*"
    good = run(tmp_path / "good", address, "--config", config)
    assert good.code == 0
    assert good.report["record"]["clusters"][0]["snapshot"]["signed_by"] == "collector"
    assert not [one for one in good.report["notices"] if one["code"] == "snapshot_unchecked"]
    (folder / "manifest.json.sig").unlink()
    unsigned = run(tmp_path / "unsigned", address, "--config", config)
    assert unsigned.code == 3
    [gap] = gaps(unsigned, "untrusted")
    assert (gap["cluster"], gap["kinds"]) == ("test", None)
    assert all(score["strict"]["numerator"] == 0 for score in unsigned.report["scores"])


def test_a_server_that_is_another_cluster_is_not_read_under_its_name(
    server: ApiServer, tmp_path: Path
) -> None:
    kubeconfig = server.kubeconfig(ADMIN, name="snap")
    uid = server.ask("GET", "/api/v1/namespaces/kube-system")["metadata"]["uid"]
    register = tmp_path / "register.yaml"
    options = ("--context", "test", "--kubeconfig", kubeconfig, "--register", register, "--no-cache")
    register.write_text(f"clusters: [{{name: test, uid: {uid}}}]")
    right = run(tmp_path / "right", *options)
    assert right.code == 0, right.out
    register.write_text("clusters: [{name: test, uid: 00000000-0000-4000-8000-000000000000}]")
    wrong = run(tmp_path / "wrong", *options)
    assert wrong.code == 3
    [gap] = gaps(wrong, "foreign")
    assert (gap["cluster"], gap["kinds"]) == ("test", None)
    assert uid in gap["reason"]
    [cluster] = wrong.report["record"]["clusters"]
    assert (cluster["reached"], cluster["subjects"]) == (False, 0)
    hidden = server.kubeconfig(NOBODY, name="hidden")
    unseen = run(tmp_path / "unseen", "--context", "test", "--kubeconfig", hidden, "--register", register)
    assert [gap["kinds"] for gap in gaps(unseen, "forbidden")] == [None]
