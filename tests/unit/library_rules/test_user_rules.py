"""A rule about a kind that nothing can have would judge nothing, and look clean."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.library.kinds import impossible_kind
from tests.integration.command import run

RULE = """# METADATA
# scope: package
# title: No
# description: Refuses everything.
# custom:
#   severity: high
#   remediation: Do not.
#   match: {kinds: [{group: "%s", kinds: [%s]}]}
package own.rule

applies := true

violations contains {"path": [], "message": "no"}
"""

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: x}]}\n"


@pytest.mark.parametrize(
    ("group", "kind"),
    [
        ("", "Pod"),
        ("apps", "Deployment"),
        ("ray.io", "RayCluster"),
        ("extensions", "Ingress"),
        ("fleetaudit.dev", "Cluster"),
        ("networking.k8s.io", "NetworkPolicy"),
        ("gateway.networking.k8s.io", "Gateway"),
    ],
)
def test_kinds_that_can_be(group: str, kind: str) -> None:
    assert impossible_kind(group, kind) is None


@pytest.mark.parametrize(
    ("group", "kind", "meant"),
    [
        ("", "Deployment", "apps/Deployment"),
        ("apps", "Deploymnt", "apps/Deployment"),
        ("app", "Deployment", "apps/Deployment"),
        ("", "pods", "Pod"),
        ("", "pod", "Pod"),
        ("rbac", "Role", "rbac.authorization.k8s.io/Role"),
        ("*", "Pod", "list each"),
        ("apps", "*", "list each"),
        ("apps/v1", "Deployment", "apps/Deployment"),
        ("", "", "api-resources"),
        ("batch", "Workflow", "api-resources"),
    ],
)
def test_kinds_that_nothing_can_have(group: str, kind: str, meant: str) -> None:
    found = impossible_kind(group, kind)
    assert found
    assert meant in found[1]


def test_a_user_s_rule_about_nothing_is_a_gap_and_not_clean(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(POD)
    policy = tmp_path / "own.rego"
    policy.write_text(RULE % ("apps", "Deploymnt"))
    done = run(tmp_path, str(tmp_path / "pod.yaml"), "--policy", str(policy))
    assert done.code == 3
    [gap] = [g for g in done.gaps if "Deploymnt" in g["reason"]]
    assert "apps" in gap["reason"]
    policy.write_text(RULE % ("", "Pod"))
    done = run(tmp_path, str(tmp_path / "pod.yaml"), "--policy", str(policy))
    assert done.findings("own/rule")


FAILS_A_BUILTIN = RULE.replace('"message": "no"}', '"message": "no"} if to_number(input.metadata.name) > 3')
MISSPELT = RULE.replace('"message": "no"}', '"message": "no"} if data.lib.pods.privileged')


def test_a_failed_builtin_is_an_error_of_the_pair_and_not_a_pass(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(POD)
    policy = tmp_path / "own.rego"
    policy.write_text(FAILS_A_BUILTIN % ("", "Pod"))
    done = run(tmp_path, str(tmp_path / "pod.yaml"), "--policy", str(policy))
    assert done.code == 3
    [error] = done.findings("own/rule", "error")
    assert "own.rego:13: to_number" in error["violation"]["message"]


def test_a_reference_to_no_package_is_a_gap_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(POD)
    policy = tmp_path / "own.rego"
    policy.write_text(MISSPELT % ("", "Pod"))
    done = run(tmp_path, str(tmp_path / "pod.yaml"), "--policy", str(policy))
    assert done.code == 3
    [gap] = [g for g in done.gaps if "data.lib.pods is defined nowhere" in g["reason"]]
    assert gap["line"] == 13
