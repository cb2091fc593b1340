"""The peers, each in its fastest form: the same rules in one package, the same parameters, machine-readable output."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

Rule = dict[str, Any]
"""An entry of ``fleetaudit rules --json``."""

ROOT = Path(__file__).resolve().parent.parent
CONFTEST = "github.com/open-policy-agent/conftest@v0.71.1"


def tools_folder() -> Path:
    """Where built tools are kept, outside the checkout."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("FLEETAUDIT_TOOLS") or Path(cache) / "fleetaudit" / "tools")


def opa() -> str:
    """The real opa, built when it is missing."""
    subprocess.run([ROOT / "scripts" / "build-tools", tools_folder()], check=True)
    return str(tools_folder() / "bin" / "opa")


def conftest() -> str:
    """The real conftest, built when it is missing."""
    target = tools_folder() / "conftest-v0.71.1" / "conftest"
    if not target.exists():
        print("Building conftest (once; about two minutes)")
        target.parent.mkdir(parents=True, exist_ok=True)
        environment = os.environ | {"GOBIN": str(target.parent)}
        subprocess.run(
            [ROOT / "scripts" / "with-go", "go", "install", "-ldflags", "-s -w", CONFTEST],
            check=True,
            env=environment,
        )
    return str(target)


def write_policies(folder: Path, rules: list[Rule]) -> None:
    """Our rules as one package `main` with `deny`, for tools that know packages and rule names only.

    Args:
        folder: where to write ``policy/`` and ``data/``.
        rules: entries of ``fleetaudit rules --json``.
    """
    policy, data = folder / "policy", folder / "data"
    shutil.rmtree(folder, ignore_errors=True)
    policy.mkdir(parents=True)
    data.mkdir()
    packages = {str(rule["package"]) for rule in rules}
    for file in sorted((ROOT / "rego").rglob("*.rego")):
        relative = file.relative_to(ROOT / "rego")
        package = ".".join(relative.parent.parts)
        if not file.name.endswith("_test.rego") and (relative.parts[0] == "lib" or package in packages):
            (policy / relative.as_posix().replace("/", "__")).write_text(file.read_text())
    (policy / "main.rego").write_text(_main(rules))
    inventory: Rule = {}
    for rule in rules:
        for need in rule.get("context") or ():
            for kind in need["kinds"]:
                inventory[f"{need['group']}/{kind}" if need.get("group") else kind] = {}
    content: Rule = {"inventory": inventory}
    for name in ("parameters.yaml", "pod_templates.yaml"):
        content |= yaml.safe_load((ROOT / "rego" / name).read_text())
    (data / "data.json").write_text(json.dumps(content))


def _main(rules: Iterable[Rule]) -> str:
    lines = ["package main", ""]
    for rule in rules:
        kinds = sorted({kind.rpartition("/")[2] for kind in _texts(rule.get("kinds"))})
        listed = ", ".join(f'"{kind}"' for kind in kinds)
        lines += [
            "deny contains msg if {",
            f"\tinput.kind in {{{listed}}}",
            f"\tdata.{rule['package']}.applies",
            f"\tsome violation in data.{rule['package']}.violations",
            f'\tmsg := {{"msg": violation.message, "rule": "{rule["id"]}", "path": violation.path}}',
            "}",
            "",
        ]
    return "\n".join(lines)


def _texts(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list | tuple) else []
