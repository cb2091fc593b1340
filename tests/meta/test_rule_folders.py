"""Each rule is a folder with its test, its catalogue entry, and a mapping or a stated reason for having none."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.meta.documents import CHECKOUT

REGO = CHECKOUT / "rego"


def rule_folders() -> list[Path]:
    return sorted({file.parent for file in REGO.glob("*/*/*.rego")})


def rule_id(folder: Path) -> str:
    return f"{folder.parent.name}/{folder.name}".replace("_", "-")


def mapped_rules() -> set[str]:
    found: set[str] = set()
    for file in sorted((CHECKOUT / "controls" / "mappings").glob("*.yaml")):
        for row in yaml.safe_load(file.read_text(encoding="utf-8"))["mappings"]:
            found |= set(row.get("rules") or [row["rule"]])
    return found


@pytest.mark.parametrize("folder", rule_folders(), ids=rule_id)
def test_folder_file_package_and_test_carry_one_name(folder: Path) -> None:
    rule, test = folder / f"{folder.name}.rego", folder / f"{folder.name}_test.rego"
    assert {path.name for path in folder.iterdir()} == {rule.name, test.name}
    package = f"package {folder.parent.name}.{folder.name}"
    assert package in rule.read_text(encoding="utf-8").splitlines()
    words = test.read_text(encoding="utf-8")
    assert words.count("\ntest_") >= 3, "at least a pass, a fail and one that doesn't apply"


def test_there_are_as_many_rules_as_promised() -> None:
    assert len(rule_folders()) >= 60


def test_every_rule_is_mapped_or_says_why_not() -> None:
    unmapped = yaml.safe_load((Path(__file__).with_name("unmapped_rules.yaml")).read_text(encoding="utf-8"))
    ids = {rule_id(folder) for folder in rule_folders()} | {"manifest/duplicate-key"}
    assert ids - mapped_rules() == set(unmapped), "listed and unmapped must be the same rules"
    assert all(len(str(reason).split()) >= 4 for reason in unmapped.values())
