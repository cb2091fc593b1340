"""The printed role is enough, and is no more than reading; what a role forbids is told before the audit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from audit.collect.cluster.rights import least_role
from tests.cluster.server import ADMIN, NOBODY, READER, ApiServer
from tests.integration.command import fleetaudit, run

pytestmark = pytest.mark.tools


def test_the_printed_role_is_enough(server: ApiServer, tmp_path: Path) -> None:
    role = yaml.safe_load(fleetaudit("rbac").out)
    server.create(
        role,
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "least"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": role["metadata"]["name"],
            },
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "least"}],
        },
    )
    kubeconfig = server.kubeconfig(server.token("least"), name="least")
    done = run(tmp_path, "--context", "test", "--kubeconfig", kubeconfig, "--no-cache")
    assert [gap["source"] for gap in done.gaps if gap["kind"] == "forbidden"] == []
    assert done.report["record"]["clusters"][0]["server"]["uid"]


def test_the_role_reads_and_no_more() -> None:
    role = yaml.safe_load(fleetaudit("rbac").out)
    verbs = {verb for rule in role["rules"] for verb in rule["verbs"]}
    assert verbs == {"get", "list"}
    resources = {resource for rule in role["rules"] for resource in rule.get("resources", [])}
    assert "secrets" not in resources
    whole = {rule["apiGroups"][0] for rule in role["rules"] if "*" in rule.get("resources", [])}
    assert whole == {
        "constraints.gatekeeper.sh"
    }  # each constraint is a kind of its own, named by its template
    with_secrets = yaml.safe_load(fleetaudit("rbac", "--secret-metadata").out)
    assert {"deployments", "pods", "networkpolicies", "namespaces"} <= resources
    assert with_secrets["kind"] == "ClusterRole"


@pytest.mark.parametrize(
    ("kinds", "wanted"),
    [
        (["Secret", "Pod"], {"": ["namespaces", "pods"]}),
        (["*/*"], {"*": ["*"]}),
        (["constraints.gatekeeper.sh/*"], {"": ["namespaces"], "constraints.gatekeeper.sh": ["*"]}),
        (["*/Ingress"], {"": ["namespaces"], "networking.k8s.io": ["ingresses"]}),
        (["ray.io/RayCluster"], {"": ["namespaces"], "ray.io": ["rayclusters"]}),
    ],
)
def test_kinds_become_resources(kinds: list[str], wanted: dict[str, list[str]]) -> None:
    rules = [rule for rule in least_role(kinds)["rules"] if "resources" in rule]
    assert {rule["apiGroups"][0]: rule["resources"] for rule in rules} == wanted


@pytest.mark.parametrize(("token", "code"), [(ADMIN, 0), (READER, 3), (NOBODY, 3)])
def test_preflight(server: ApiServer, token: str, code: int) -> None:
    done = fleetaudit("preflight", "--kubeconfig", server.kubeconfig(token, name="pre"), "--json")
    told = json.loads(done.out)
    assert done.code == code
    if token == READER:
        assert "apps/Deployment" in told["allowed"]
        assert told["refused"]["networking.k8s.io/NetworkPolicy"] == "forbidden"
        assert told["undecided_controls"]
    if token == ADMIN:
        assert not told["refused"]
        assert not told["undecided_controls"]
    assert "ray.io/RayCluster" in told["not_served"]


def test_preflight_of_a_dead_server(server: ApiServer) -> None:
    kubeconfig = server.kubeconfig(ADMIN, url="https://127.0.0.1:1", name="dead")
    done = fleetaudit("preflight", "--kubeconfig", kubeconfig)
    assert done.code == 3
    assert "no answer" in done.err
