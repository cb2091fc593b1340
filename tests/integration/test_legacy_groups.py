"""Objects under groups that Kubernetes has left are asked what their successors are asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.command import run

TEMPLATE = """  template:
    spec: {containers: [{name: c, image: "registry.example.com/a:1", securityContext: {privileged: true}}]}
"""
WORKLOAD = "apiVersion: %s\nkind: %s\nmetadata: {name: a, namespace: x}\nspec:\n" + TEMPLATE
INGRESS = (
    "apiVersion: %s\nkind: %s\nmetadata: {name: a, namespace: x}\nspec: {rules: [{host: a.example.com}]}\n"
)
POLICY = (
    "apiVersion: %s\nkind: %s\nmetadata: {name: a, namespace: x}\nspec: {podSelector: {}, ingress: [{}]}\n"
)


@pytest.mark.parametrize(
    ("kind", "group", "text", "rule"),
    [
        ("Deployment", "apps/v1", WORKLOAD, "pod/privileged"),
        ("DaemonSet", "apps/v1", WORKLOAD, "pod/privileged"),
        ("ReplicaSet", "apps/v1", WORKLOAD, "pod/privileged"),
        ("Ingress", "networking.k8s.io/v1", INGRESS, "network/ingress-tls"),
        ("NetworkPolicy", "networking.k8s.io/v1", POLICY, "network/allow-all-policy"),
    ],
)
def test_the_old_group_is_asked_what_the_new_one_is(
    tmp_path: Path, kind: str, group: str, text: str, rule: str
) -> None:
    outcomes = []
    for version in (group, "extensions/v1beta1"):
        folder = tmp_path / version.replace("/", "-")
        folder.mkdir()
        (folder / "a.yaml").write_text(text % (version, kind))
        done = run(folder / "out", folder / "a.yaml")
        assert done.findings(rule), done.out
        outcomes.append((done.report["tally"], done.gaps))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("version", ["networking.k8s.io/v1", "extensions/v1beta1"])
def test_the_old_group_is_seen_beside_the_new_one(tmp_path: Path, version: str) -> None:
    """A policy that opens a namespace again undoes its default deny, whichever group it is written with."""
    deny = (
        "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: deny, namespace: x}\n"
        "spec: {podSelector: {}, policyTypes: [Ingress]}\n"
    )
    namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n"
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: x}\n"
        'spec: {containers: [{name: c, image: "registry.example.com/a:1"}]}\n'
    )
    folder = tmp_path / "m"
    folder.mkdir()
    closed = folder / "a.yaml"
    closed.write_text("---\n".join([namespace, pod, deny]))
    assert not run(tmp_path / "closed", closed).findings("network/namespace-default-deny")
    closed.write_text("---\n".join([namespace, pod, deny, POLICY % (version, "NetworkPolicy")]))
    assert run(tmp_path / "open", closed).findings("network/namespace-default-deny")
