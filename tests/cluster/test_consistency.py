"""Policies on a real API server, which fills in what nobody wrote, beside the files that they were applied from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit.consistency.defaults import defaults_of
from audit.consistency.kinds import family_of
from tests.cluster.definitions import definitions
from tests.cluster.server import ADMIN, READER, ApiServer
from tests.cluster.world import namespace
from tests.integration.command import Run, fleetaudit
from tests.unit.consistency import world as w
from tests.unit.consistency.test_form import edited

pytestmark = pytest.mark.tools

KYVERNO = "github.com/kyverno/kyverno@v1.19.1"
IMAGES = """
apiVersion: policies.kyverno.io/v1beta1
kind: ImageValidatingPolicy
metadata: {name: images}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [UPDATE, CREATE], resources: [pods]}]
  matchImageReferences: [{glob: "registry.example.com/*"}]
  attestors: [{name: ours, cosign: {key: {data: "-----BEGIN PUBLIC KEY-----"}}}]
  validations: [{expression: "images.containers.size() > 0", message: sign it}]
"""
MUTATING = """
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: label}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'a': 'b'}}}"}
"""
SELECTED = edited(
    w.BINDING,
    ("metadata.name", "selected"),
    (
        "spec.matchResources",
        {
            "resourceRules": [
                {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["*"]}
            ]
        },
    ),
)
ALLOW = edited(w.NETWORK, ("metadata.name", "allow"))
NATIVE = [
    *(w.read(text) for text in (w.ADMISSION, w.BINDING, w.ROLE, w.ROLE_BINDING, MUTATING)),
    SELECTED,
    ALLOW,
]
CUSTOM = [w.read(text) for text in (w.KYVERNO, w.EXCEPTION, IMAGES)]
PLURALS = {
    "ClusterPolicy": "clusterpolicies",
    "ImageValidatingPolicy": "imagevalidatingpolicies",
    "MutatingAdmissionPolicy": "mutatingadmissionpolicies",
    "NetworkPolicy": "networkpolicies",
    "PolicyException": "policyexceptions",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
}


def place(document: dict[str, Any]) -> str:
    """Path of the list of an object's kind."""
    kind = document["kind"]
    root = f"/apis/{document['apiVersion']}"
    if (inside := document["metadata"].get("namespace")) is not None:
        root += f"/namespaces/{inside}"
    return f"{root}/{PLURALS.get(kind, kind.lower() + 's')}"


@pytest.fixture(scope="module")
def applied(server: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files, and everything in it on the server."""
    crds = definitions(
        KYVERNO,
        "config/crds/kyverno/kyverno.io_clusterpolicies.yaml",
        "config/crds/kyverno/kyverno.io_policyexceptions.yaml",
        "config/crds/policies.kyverno.io/policies.kyverno.io_imagevalidatingpolicies.yaml",
    )
    server.create(*crds, namespace("kyverno"))
    folder = tmp_path_factory.mktemp("git")
    wait_for(server, crds)
    for document in (*NATIVE, *CUSTOM):
        server.ask("POST", place(document), document)
    (folder / "policies.yaml").write_text(yaml.safe_dump_all([*NATIVE, *CUSTOM]))
    return folder


def wait_for(server: ApiServer, crds: list[dict[str, Any]]) -> None:
    import time
    import urllib.error

    for crd in crds:
        spec = crd["spec"]
        version = next(one["name"] for one in spec["versions"] if one["served"])
        end = time.monotonic() + 30
        while True:
            try:
                server.ask("GET", f"/apis/{spec['group']}/{version}/{spec['names']['plural']}")
                break
            except urllib.error.HTTPError:
                assert time.monotonic() < end
                time.sleep(0.2)


def compared(server: ApiServer, baseline: Path, *options: str | Path, token: str = ADMIN) -> tuple[Run, Any]:
    config = server.kubeconfig(token, name="consistency")
    done = fleetaudit(
        *("consistency", "--context", "test", "--kubeconfig", config, "--baseline", baseline, "--json"),
        *options,
    )
    return done, json.loads(done.out)


def told(found: Any) -> dict[str, str]:
    """State by kind and name, for what the baseline has."""
    return {
        f"{row['kind']} {row['name']}": row["cells"][0]["state"] if row["cells"] else row["rest"]
        for row in found["rows"]
        if row["against"] == "baseline"
    }


def mine(found: Any) -> dict[str, str]:
    names = {f"{one['kind']} {one['metadata']['name']}" for one in (*NATIVE, *CUSTOM)}
    return {name: state for name, state in told(found).items() if name in names}


def test_what_was_applied_is_the_same_as_its_files(server: ApiServer, applied: Path) -> None:
    served = server.ask("GET", f"{place(w.read(w.ADMISSION))}/replicas")
    assert served["spec"]["matchConstraints"]["matchPolicy"] == "Equivalent", "the server has filled in"
    done, found = compared(server, applied)
    assert set(mine(found).values()) == {"same"}
    assert len(mine(found)) == len(NATIVE) + len(CUSTOM)
    assert done.code == 0
    assert found["built_in"] > 50
    (cluster,) = found["clusters"]
    assert cluster["kind"] == "live"
    assert cluster["collected_at"] == ""
    # Beside what the files say, there is what other tests put there. Bindings that the server makes itself are not extra.
    assert {name for name, state in told(found).items() if state == "extra"} == {
        "ClusterRole reader",
        "NetworkPolicy deny",
    }


def test_a_snapshot_of_the_server_says_the_same(server: ApiServer, applied: Path, tmp_path: Path) -> None:
    config = server.kubeconfig(ADMIN, name="consistency")
    assert fleetaudit("collect", "--context", "test", "--kubeconfig", config, "--to", tmp_path).code == 0
    done = fleetaudit("consistency", tmp_path / "test", "--baseline", applied, "--no-config", "--json")
    live, later = compared(server, applied)[1], json.loads(done.out)
    assert later["rows"] == live["rows"]
    assert later["clusters"][0]["collected_at"] > "2026"


def test_kinds_that_may_not_be_listed_are_not_comparable(server: ApiServer, applied: Path) -> None:
    done, found = compared(server, applied, "--fail-on", "any", token=READER)
    assert done.code == 3
    assert set(mine(found).values()) == {"not_comparable"}
    assert {row["cells"][0]["reason"] for row in found["rows"] if row["cells"]} == {"forbidden"}
    assert found["clusters"][0]["same"] == 0


def test_a_kind_that_is_not_served_is_said_so(server: ApiServer, tmp_path: Path) -> None:
    (tmp_path / "git").mkdir()
    (tmp_path / "git" / "p.yaml").write_text(w.PEER + "---" + w.CONSTRAINT)
    done, found = compared(server, tmp_path / "git", "--fail-on", "not_served")
    assert set(told(found).values()) == {"not_served"}
    assert done.code == 1


def test_a_change_on_the_server_is_found(server: ApiServer, applied: Path) -> None:
    path = f"{place(w.read(w.BINDING))}/replicas"
    before = server.ask("GET", path)
    changed = {**before, "spec": {**before["spec"], "validationActions": ["Audit"]}}
    server.ask("PUT", path, changed)
    done, found = compared(server, applied, "--fail-on", "weakened")
    assert mine(found)["ValidatingAdmissionPolicyBinding replicas"] == "weakened"
    assert [state for state in mine(found).values() if state != "same"] == ["weakened"]
    assert done.code == 1


def in_schema(schema: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every default of a definition, with its path as `audit.consistency.defaults` writes it."""
    if not isinstance(schema, dict):
        return
    if "default" in schema:
        yield path.lstrip("."), schema["default"]
    for name, child in (schema.get("properties") or {}).items():
        yield from in_schema(child, f"{path}.{name}")
    yield from in_schema(schema.get("items"), f"{path}[]")


def test_every_default_of_kyvernos_definitions_is_known() -> None:
    crds = definitions(KYVERNO, "config/crds/kyverno/*.yaml", "config/crds/policies.kyverno.io/*.yaml")
    special = {"spec.validationFailureAction"}  # becomes a part of each rule
    checked = 0
    for crd in crds:
        spec = crd["spec"]
        key = f"{spec['group']}/{spec['names']['kind']}"
        if not family_of(key):
            continue
        known = dict(defaults_of(key))
        for version in spec["versions"]:
            for path, value in in_schema(version["schema"]["openAPIV3Schema"]):
                if path.startswith("spec.") and path not in special:
                    assert known.get(path, "unknown") == value, (key, path)
                    checked += 1
    assert checked > 50
