"""The rule shown in docs/add-a-rule.md compiles, and does what the page says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.meta.documents import CHECKOUT, blocks

TOOLS = Path(
    os.environ.get("FLEETAUDIT_TOOLS")
    or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fleetaudit" / "tools"
)


@pytest.fixture
def opa() -> str:
    found = shutil.which("opa", path=f"{TOOLS / 'bin'}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        pytest.skip("no opa: `make tools` builds it")
    return found


@pytest.fixture
def rule(tmp_path: Path) -> Path:
    (block,) = [b for b in blocks("rego") if b.file.name == "add-a-rule.md"]
    file = tmp_path / "pod" / "debug_port" / "debug_port.rego"
    file.parent.mkdir(parents=True)
    file.write_text(block.text, encoding="utf-8")
    return file


@pytest.mark.tools
def test_it_compiles_strictly_and_is_formatted(opa: str, rule: Path) -> None:
    subprocess.run([opa, "check", "--strict", CHECKOUT / "rego" / "lib", rule], check=True, timeout=60)
    listed = subprocess.run(
        [opa, "fmt", "--list", rule], check=True, timeout=60, capture_output=True, text=True
    )
    assert listed.stdout == ""


def answer(opa: str, rule: Path, ports: Any) -> dict[str, Any]:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "web", "ports": ports}]},
    }
    done = subprocess.run(
        [
            opa,
            "eval",
            "--stdin-input",
            "--format",
            "raw",
            "-d",
            CHECKOUT / "rego" / "lib",
            "-d",
            CHECKOUT / "rego" / "pod_templates.yaml",
            "-d",
            rule,
            "data.pod.debug_port",
        ],
        input=json.dumps(pod),
        check=True,
        timeout=60,
        capture_output=True,
        text=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.tools
@pytest.mark.parametrize(
    ("ports", "applies", "paths"),
    [
        (
            [{"containerPort": 80}, {"containerPort": 5005}],
            True,
            [["spec", "containers", 0, "ports", 1, "containerPort"]],
        ),
        ([{"containerPort": 80}], True, []),
        ([{"name": "nothing"}], True, []),
        ([], False, []),
        (None, False, []),
        ("text", False, []),
    ],
)
def test_it_answers_as_the_page_says(
    opa: str, rule: Path, ports: Any, applies: bool, paths: list[Any]
) -> None:
    found = answer(opa, rule, ports)
    assert found["applies"] is applies
    assert [violation["path"] for violation in found["violations"]] == paths
