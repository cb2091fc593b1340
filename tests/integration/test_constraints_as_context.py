"""Constraints of Gatekeeper have kinds that each cluster makes: a rule sees them all by their group."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.command import run

TEMPLATE = """apiVersion: templates.gatekeeper.sh/v1
kind: ConstraintTemplate
metadata: {name: requiredlabels}
spec:
  crd: {spec: {names: {kind: RequiredLabels}}}
  targets: [{target: admission.k8s.gatekeeper.sh, rego: "package requiredlabels"}]
"""


@pytest.mark.parametrize(
    ("kind", "action", "failing"),
    [
        ("RequiredLabels", "deny", 0),
        ("RequiredLabels", "dryrun", 1),
        ("RequiredLabels", "warn", 1),
        ("AnotherKind", "deny", 1),
        ("", "", 1),
    ],
)
def test_only_a_constraint_that_denies_is_an_admission_policy(
    kind: str, action: str, failing: int, tmp_path: Path
) -> None:
    text = TEMPLATE
    if kind:
        text += (
            f"---\napiVersion: constraints.gatekeeper.sh/v1beta1\nkind: {kind}\nmetadata: {{name: c}}\n"
            f"spec: {{enforcementAction: {action}}}\n"
        )
    (tmp_path / "gatekeeper.yaml").write_text(text, encoding="utf-8")
    done = run(tmp_path / "out", tmp_path / "gatekeeper.yaml", "--rule", "policy/admission-present")
    assert done.code == 0, done.out + done.err
    assert len(done.findings("policy/admission-present")) == failing
