"""The chart: values are checked, the role is current, and what Helm makes of it passes our own audit on a real API server."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from audit.cli.choices import FORMATS
from tests.cluster.server import ApiServer, api_server
from tests.integration.command import fleetaudit, run

CHART = Path(__file__).resolve().parents[2] / "deploy" / "helm" / "fleetaudit"
IMAGE = "image.repository=registry.example.com/fleetaudit"
DIGEST = "image.digest=sha256:" + "a" * 64

helm = pytest.mark.skipif(shutil.which("helm") is None, reason="helm is not installed")


def schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    return found


def values(**changes: Any) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    found["image"]["repository"] = "registry.example.com/fleetaudit"
    return found | changes


def rendered(*settings: str) -> list[dict[str, Any]]:
    command = ["helm", "template", "nightly", str(CHART), "--namespace", "audits"]
    command += ["--kube-version", "1.37.0"]  # what helm assumes depends on how it was built
    for setting in (IMAGE, DIGEST, *settings):
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def test_shipped_values_fit_their_schema() -> None:
    jsonschema_rs.validator_for(schema()).validate(values())


def test_every_value_is_in_the_schema_and_in_the_file() -> None:
    assert set(schema()["properties"]) - {"global"} == set(values())


@pytest.mark.parametrize(
    "changes",
    [
        {"image": {"repository": ""}},
        {"image": {"repository": "Registry/Upper"}},
        {"formats": ["pdf"]},
        {"formats": []},
        {"deadlineSeconds": "an hour"},
        {"shedule": "17 3 * * *"},
        {"rbac": {"extraRules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["delete"]}]}},
        {"reports": {"size": "2 GB"}},
    ],
)
def test_wrong_values_are_refused(changes: dict[str, Any]) -> None:
    assert not jsonschema_rs.validator_for(schema()).is_valid(values(**changes))


def test_formats_are_those_of_the_command() -> None:
    assert set(schema()["properties"]["formats"]["items"]["enum"]) == set(FORMATS)


def test_the_role_reads_and_nothing_else() -> None:
    rules = yaml.safe_load((CHART / "files" / "rules.yaml").read_text(encoding="utf-8"))
    assert {verb for rule in rules for verb in rule["verbs"]} == {"get", "list"}
    assert "secrets" not in {resource for rule in rules for resource in rule.get("resources", ())}


@helm
def test_helm_takes_the_chart() -> None:
    done = subprocess.run(
        ["helm", "lint", "--strict", str(CHART), "--set", IMAGE], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@helm
def test_helm_refuses_a_chart_without_an_image() -> None:
    done = subprocess.run(
        ["helm", "template", "nightly", str(CHART)], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "repository" in done.stderr


@helm
@pytest.mark.parametrize(
    ("setting", "kind"),
    [
        ("reports.existingClaim=there", "PersistentVolumeClaim"),
        ("rbac.create=false", "ClusterRole"),
        ("networkPolicy.create=false", "NetworkPolicy"),
    ],
)
def test_what_is_not_wanted_is_not_made(setting: str, kind: str) -> None:
    assert kind in {document["kind"] for document in rendered()}
    assert kind not in {document["kind"] for document in rendered(setting)}


@helm
def test_our_own_audit_finds_nothing_bad(tmp_path: Path) -> None:
    """But what can't be helped: every Gatekeeper constraint is a kind of its own, so the role names their group."""
    (tmp_path / "chart.yaml").write_text(yaml.safe_dump_all(rendered()), encoding="utf-8")
    done = run(tmp_path / "out", tmp_path / "chart.yaml")
    made = {"CronJob", "ClusterRole", "ClusterRoleBinding", "ServiceAccount", "NetworkPolicy", "ConfigMap"}
    worst = {
        (group["rule"], member["subject"]["kind"])
        for group in done.report["groups"]
        if group["outcome"] == "fail" and group["severity"] in {"critical", "high"}
        for member in group["members"]
        if member["subject"]["kind"] in made
    }
    assert worst == {("rbac/wildcard-resources", "ClusterRole")}
    (role,) = [document for document in rendered() if document["kind"] == "ClusterRole"]
    everything = [rule["apiGroups"] for rule in role["rules"] if "*" in rule.get("resources", ())]
    assert everything == [["constraints.gatekeeper.sh"]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    with api_server(tmp_path_factory.mktemp("server")) as found:
        yield found


@helm
def test_a_real_api_server_takes_every_object(server: ApiServer) -> None:
    server.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "audits"}})
    made = rendered(
        "rbac.extraRules[0].apiGroups[0]=example.com",
        "rbac.extraRules[0].resources[0]=things",
        "rbac.extraRules[0].verbs[0]=get",
    )
    server.create(*made)
    assert {"CronJob", "ClusterRole", "ClusterRoleBinding", "NetworkPolicy"} <= {d["kind"] for d in made}
    (configuration,) = [d["data"]["fleetaudit.yaml"] for d in made if d["kind"] == "ConfigMap"]
    folder = server.folder / "configuration"
    folder.mkdir()
    (folder / "fleetaudit.yaml").write_text(configuration, encoding="utf-8")
    done = fleetaudit("validate", "--config", folder / "fleetaudit.yaml")
    assert done.code == 0, done.out + done.err
