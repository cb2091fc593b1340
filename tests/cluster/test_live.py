"""Audits of a running cluster, through the real command and a real API server."""

from __future__ import annotations

import contextlib
import itertools
import json
import time
import urllib.error
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.report_crds import install, report_crds
from tests.cluster.server import ADMIN, NOBODY, READER, ApiServer
from tests.cluster.world import CANARY, SERVICES, WORLD
from tests.integration.command import Run, run
from tests.proxy import Drop, Fault, Half, Reply, Request, Wait, proxy_before

pytestmark = pytest.mark.tools
SERVICE_LIST = "/api/v1/services"


def audited(folder: Path, kubeconfig: Path, *options: str) -> Run:
    return run(folder / "out", "--context", "test", "--kubeconfig", kubeconfig, "--no-cache", *options)


def kinds_of(done: Run) -> dict[str, int]:
    counts: dict[str, int] = {}
    for line in _population(done)[1:]:
        counts.setdefault(line[2] + "/" + line[4], 1)
    found: dict[str, int] = {}
    for name in counts:
        kind = name.rpartition("/")[0]
        found[kind] = found.get(kind, 0) + 1
    return found


def _population(done: Run) -> list[list[str]]:
    import csv
    import gzip

    with gzip.open(done.folder / "population.csv.gz", "rt", encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def gaps(done: Run, kind: str) -> list[dict[str, Any]]:
    return [gap for gap in done.gaps if gap["kind"] == kind]


def test_the_same_objects_get_the_same_answers_live_and_as_manifests(
    server: ApiServer, tmp_path: Path
) -> None:
    live = audited(tmp_path / "live", server.kubeconfig(ADMIN))
    manifests = tmp_path / "world.yaml"
    manifests.write_text(yaml.safe_dump_all([o for o in WORLD if o["kind"] != "Secret"]))
    files = run(tmp_path / "files", manifests, "--no-cache")
    wanted = {
        (row[0], row[2], row[4]): (row[9], row[10])
        for row in _population(files)[1:]
        if row[2] == "apps/Deployment"
    }
    got = {
        (row[0], row[2], row[4]): (row[9], row[10])
        for row in _population(live)[1:]
        if row[2] == "apps/Deployment"
    }
    # Defaults that a server writes into an object may only mend what was left unsaid.
    assert got.keys() == wanted.keys()
    different = {key for key in got if got[key] != wanted[key]}
    assert {key[0] for key in different} <= {"availability/liveness-probe", "image/pull-policy"}, different
    assert live.findings("pod/host-namespaces")
    [cluster] = live.report["record"]["clusters"]
    assert (cluster["kind"], cluster["reached"]) == ("live", True)
    assert cluster["server"]["version"] == "v1.37.2"
    uid = server.ask("GET", "/api/v1/namespaces/kube-system")["metadata"]["uid"]
    assert cluster["server"]["uid"] == uid


def test_every_object_is_told_once_over_many_pages(server: ApiServer, tmp_path: Path) -> None:
    done = audited(tmp_path, server.kubeconfig(ADMIN))
    services = server.ask("GET", SERVICE_LIST)["items"]
    assert len(services) >= SERVICES
    assert kinds_of(done)["Service"] == len(services)
    assert len([i for i in done.report["record"]["inputs"] if i["path"].startswith(SERVICE_LIST)]) == 3


def test_secrets_are_not_read_and_the_rules_that_want_them_are_undecided(
    server: ApiServer, tmp_path: Path
) -> None:
    with proxy_before(server.url) as proxy:
        done = audited(
            tmp_path,
            server.kubeconfig(ADMIN, url=proxy.url, name="proxied"),
            "--format",
            "json",
            "--format",
            "html",
        )
        assert {request.method for request in proxy.seen} == {"GET"}
        assert not [request for request in proxy.seen if "/secrets" in request.path]
    for file in done.folder.iterdir():
        assert CANARY.encode() not in file.read_bytes()


def test_what_the_role_forbids_is_a_gap_of_those_kinds(server: ApiServer, tmp_path: Path) -> None:
    done = audited(tmp_path, server.kubeconfig(READER, name="reader"))
    assert done.code == 3
    forbidden = {kind for gap in gaps(done, "forbidden") for kind in gap["kinds"]}
    assert "networking.k8s.io/NetworkPolicy" in forbidden
    assert "apps/Deployment" not in forbidden
    assert done.findings("pod/host-namespaces")
    context = done.findings("network/pod-selected", "error")
    assert context
    assert all(finding["error"] == "context_incomplete" for finding in context)


def test_without_any_right_nothing_is_green(server: ApiServer, tmp_path: Path) -> None:
    done = audited(tmp_path, server.kubeconfig(NOBODY, name="nobody"))
    assert done.code == 3
    assert gaps(done, "forbidden")
    assert all(score["strict"]["numerator"] == 0 for score in done.report["scores"])


def test_a_dead_server_stays_in_the_denominator(server: ApiServer, tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: a}\nspec: {hostNetwork: true, containers: [{name: c, image: x}]}\n"
    )
    config = tmp_path / "fleetaudit.yaml"
    dead = server.kubeconfig(ADMIN, url="https://127.0.0.1:1", name="dead")
    config.write_text(
        f"clusters:\n- {{name: here, paths: [pod.yaml]}}\n- {{name: dead, server: {{context: test, kubeconfig: {dead}}}}}\n"
    )
    done = run(tmp_path / "out", "--config", config, "--no-cache")
    assert done.code == 3
    [gap] = gaps(done, "unreachable")
    assert (gap["cluster"], gap["kinds"]) == ("dead", None)
    assert [c["reached"] for c in done.report["record"]["clusters"]] == [True, False]
    assert done.findings("pod/host-namespaces")
    assert all(score["strict"]["numerator"] == 0 for score in done.report["scores"])


def test_no_such_context(server: ApiServer, tmp_path: Path) -> None:
    kubeconfig = server.kubeconfig(ADMIN)
    done = run(tmp_path, "--context", "nowhere", "--kubeconfig", kubeconfig)
    assert done.code == 3
    [gap] = gaps(done, "unreachable")
    assert "nowhere" in gap["reason"]


def test_all_contexts(server: ApiServer, tmp_path: Path) -> None:
    done = run(tmp_path, "--all-contexts", "--kubeconfig", server.kubeconfig(ADMIN))
    assert [c["name"] for c in done.report["record"]["clusters"]] == ["test"]
    broken = run(tmp_path / "b", "--all-contexts", "--kubeconfig", tmp_path / "none.yaml")
    assert broken.code == 2
    assert "--kubeconfig" in broken.err


def expired(request: Request) -> bool:
    return request.path.startswith(SERVICE_LIST) and "continue=" in request.path


def first(number: int, fault: Fault, when: Callable[[Request], bool]) -> Callable[[Request], Fault | None]:
    """The fault for the first requests that are meant."""
    count = itertools.count()
    return lambda request: fault if when(request) and next(count) < number else None


STATUS = json.dumps({"kind": "Status", "message": "told by the test"}).encode()


@pytest.mark.parametrize(
    "fault",
    [
        Reply(429, STATUS, (("Retry-After", "0"),)),
        Reply(503, STATUS, (("Retry-After", "0"),)),
        Drop(),
        Half(),
    ],
    ids=["overloaded", "unavailable", "dropped", "half"],
)
def test_trouble_that_passes_costs_nothing(server: ApiServer, tmp_path: Path, fault: Fault) -> None:
    with proxy_before(server.url) as proxy:
        proxy.plan = first(2, fault, lambda r: r.path.startswith(SERVICE_LIST))
        done = audited(tmp_path, server.kubeconfig(ADMIN, url=proxy.url, name="proxied"))
    assert not gaps(done, "unreachable")
    assert kinds_of(done)["Service"] >= SERVICES


def test_a_list_that_expired_is_begun_again_and_nothing_is_told_twice(
    server: ApiServer, tmp_path: Path
) -> None:
    with proxy_before(server.url) as proxy:
        proxy.plan = first(1, Reply(410, STATUS), expired)
        done = audited(tmp_path, server.kubeconfig(ADMIN, url=proxy.url, name="proxied"))
    assert kinds_of(done)["Service"] == len(server.ask("GET", SERVICE_LIST)["items"])
    assert done.report["record"]["denominator"]["objects"] == len(
        {(r[2], r[3], r[4]) for r in _population(done)[1:] if r[5]}
    )
    assert [n for n in done.report["notices"] if n["code"] == "list_restarted"]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Reply(410, STATUS), "unreachable"),
        (Reply(500, STATUS), "unreachable"),
        (Reply(401, STATUS), "forbidden"),
        (Reply(403, STATUS), "forbidden"),
        (Reply(200, b'{"items": [{'), "unreadable"),
        (Reply(200, b"<html>"), "unreadable"),
        (Reply(302, b"", (("Location", "https://elsewhere.example.com/"),)), "unreachable"),
    ],
    ids=["expired", "broken", "unauthorised", "forbidden", "cut", "html", "redirect"],
)
def test_a_list_that_ends_half_way_is_a_gap_and_what_came_is_judged(
    server: ApiServer, tmp_path: Path, fault: Fault, kind: str
) -> None:
    with proxy_before(server.url) as proxy:
        proxy.plan = first(99, fault, expired)
        done = audited(tmp_path, server.kubeconfig(ADMIN, url=proxy.url, name="proxied"))
    assert done.code == 3
    [gap] = [gap for gap in gaps(done, kind) if gap["kinds"] == ["Service"]]
    assert gap["source"] == SERVICE_LIST
    assert kinds_of(done)["Service"] == 500
    assert done.findings("pod/host-namespaces")


def test_time_that_is_over_is_a_gap(server: ApiServer, tmp_path: Path) -> None:
    config = tmp_path / "fleetaudit.yaml"
    with proxy_before(server.url) as proxy:
        proxy.plan = lambda r: Wait(3) if r.path.startswith(SERVICE_LIST) else None
        kubeconfig = server.kubeconfig(ADMIN, url=proxy.url, name="proxied")
        config.write_text(
            f"clusters: [{{name: slow, server: {{context: test, kubeconfig: {kubeconfig}}}}}]\nlimits: {{cluster_seconds: 2}}\n"
        )
        done = run(tmp_path / "out", "--config", config, "--no-cache")
    assert done.code == 3
    assert gaps(done, "interrupted") or gaps(done, "unreachable")
    assert all(score["strict"]["numerator"] == 0 for score in done.report["scores"])


def test_a_place_that_is_no_api_server(tmp_path: Path, server: ApiServer) -> None:
    with proxy_before(server.url) as proxy:
        proxy.plan = lambda _: Reply(200, b"<html>hello")
        done = audited(tmp_path, server.kubeconfig(ADMIN, url=proxy.url, name="proxied"))
    assert done.code == 3
    [gap] = gaps(done, "unreachable")
    assert "API server" in gap["reason"]


def test_containers_at_a_place_that_no_table_names_are_a_gap(server: ApiServer, tmp_path: Path) -> None:
    crd, name = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "workflows.argoproj.io"
    server.ask("POST", crd, WORKFLOWS)
    try:
        path = "/apis/argoproj.io/v1alpha1/namespaces/ml/workflows"
        for _ in range(60):
            with contextlib.suppress(urllib.error.HTTPError):
                server.ask("POST", path, WORKFLOW)
                break
            time.sleep(0.5)
        done = audited(tmp_path, server.kubeconfig(ADMIN), "--rule", "pod/privileged")
        [gap] = gaps(done, "unknown_pod_template")
        assert "Workflow w runs containers at spec.templateDefaults.container" in gap["reason"]
    finally:
        server.ask("DELETE", f"{crd}/{name}")


WORKFLOWS: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "workflows.argoproj.io"},
    "spec": {
        "group": "argoproj.io",
        "scope": "Namespaced",
        "names": {"kind": "Workflow", "plural": "workflows", "singular": "workflow"},
        "versions": [
            {
                "name": "v1alpha1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                },
            }
        ],
    },
}
WORKFLOW: dict[str, Any] = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "Workflow",
    "metadata": {"name": "w", "namespace": "ml"},
    "spec": {"templateDefaults": {"container": {"image": "i", "args": ["x"]}}, "templates": []},
}


@pytest.mark.parametrize("form", ["policy-reports", "openreports"])
def test_the_server_takes_every_report_object(server: ApiServer, tmp_path: Path, form: str) -> None:
    """With strict validation: a field that the API does not know, or of another type, is refused."""
    install(server, report_crds())
    done = audited(tmp_path, server.kubeconfig(ADMIN), "--format", f"json,{form}")
    documents = list(yaml.safe_load_all((done.folder / f"{form}.yaml").read_text(encoding="utf-8")))
    plurals = {
        "PolicyReport": "policyreports",
        "ClusterPolicyReport": "clusterpolicyreports",
        "Report": "reports",
        "ClusterReport": "clusterreports",
    }
    names = set()
    for value in documents:
        place = f"/apis/{value['apiVersion']}"
        if namespace := value["metadata"].get("namespace"):
            place += f"/namespaces/{namespace}"
        name = value["metadata"]["name"]
        path = f"{place}/{plurals[value['kind']]}/{name}?fieldManager=test&fieldValidation=Strict"
        stored = server.apply(path, value)
        assert stored["summary"] == value["summary"]
        assert stored["results"] == value["results"]
        names.add((value["metadata"].get("namespace"), name))
    assert len(names) == len(documents)
    listed = [r for value in documents for r in value["results"] if r["policy"] != "fleetaudit/complete"]
    findings = sum(len(group["members"]) for group in done.report["groups"])
    assert len(listed) == findings > 10
