"""Every shipped policy passes its own ``kyverno test``, read without the CLI's leniency."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from tests.policies.pack import FOLDER, Policy, Row, policies, problems, rows_of

pytestmark = pytest.mark.tools


@pytest.mark.parametrize("policy", policies(), ids=lambda policy: policy.title)
def test_the_policy_does_what_its_test_says(policy: Policy, rows: list[Row]) -> None:
    assert problems(policy, rows) == []


BROKEN = {
    "a rule of another name": lambda policy: policy["spec"]["rules"][0].update(name="other"),
    "a policy that the CLI refuses": lambda policy: policy["spec"]["rules"][0]["validate"].update(
        message="{{ [nothing][].name }}"
    ),
    "a policy that matches nothing": lambda policy: policy["spec"]["rules"][0]["match"]["any"][0][
        "resources"
    ].update(kinds=["ConfigMap"]),
    "a policy that always passes": lambda policy: policy["spec"]["rules"][0]["context"][0]["variable"].update(
        jmesPath="`[]`"
    ),
    "a policy that is not there": lambda policy: policy["metadata"].update(name="other"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_policy_is_noticed(how: str, kyverno: str, tmp_path: Path) -> None:
    folder = tmp_path / "privileged"
    shutil.copytree(FOLDER / "pod" / "privileged", folder)
    policy = Policy(folder)
    broken = policy.document
    BROKEN[how](broken)
    (folder / "privileged.yaml").write_text(yaml.safe_dump(broken), encoding="utf-8")
    asked = Policy(FOLDER / "pod" / "privileged")
    assert problems(asked, rows_of(kyverno, [folder])) != []


def test_an_object_that_is_missing_is_noticed(kyverno: str, tmp_path: Path) -> None:
    folder = tmp_path / "privileged"
    shutil.copytree(FOLDER / "pod" / "privileged", folder)
    policy = Policy(folder)
    assert problems(policy, rows_of(kyverno, [folder])) == []
    (folder / "bad.yaml").write_text("", encoding="utf-8")
    assert problems(policy, rows_of(kyverno, [folder])) != []
