"""rules, controls, validate and doctor, with the content that is shipped."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.terminal import run


def test_rules_are_listed_and_shown(tmp_path: Path) -> None:
    table = run("rules", cwd=tmp_path)
    assert table.returncode == 0, table.stderr
    lines = table.stdout.splitlines()
    assert lines[0].split() == ["RULE", "SEVERITY", "FAULTS", "TITLE"]
    assert any(line.startswith("pod/privileged ") and " critical " in line for line in lines)
    data = json.loads(run("rules", "--json", cwd=tmp_path).stdout)
    assert f"{len(data)} of {len(data)} rules" in lines[-1]
    assert len(data) == len(lines) - 2
    assert any(line.startswith("gpu/node-affinity ") and " no control " in line for line in lines)
    some = json.loads(run("rules", "list", "rbac/*", "--json", cwd=tmp_path).stdout)
    assert {rule["id"].partition("/")[0] for rule in some} == {"rbac"}
    one = run("rules", "show", "image/registry-allowed", cwd=tmp_path).stdout
    for part in ("image/registry-allowed", "registries", "Mend ", "Control ", "Tests ", "Source "):
        assert part in one
    shown = json.loads(run("rules", "show", "image/registry-allowed", "--json", cwd=tmp_path).stdout)
    assert shown["controls"]
    assert shown["parameters"]


def test_controls_are_counted_and_shown(tmp_path: Path) -> None:
    data = json.loads(run("controls", "--json", cwd=tmp_path).stdout)["frameworks"]
    by_id = {framework["id"]: framework for framework in data}
    assert {name: len(f["controls"]) for name, f in by_id.items()} == {"nist-ai-rmf": 72, "lfai": 45}
    for framework in data:
        assert sum(framework["evidence_kinds"].values()) == len(framework["controls"])
        named = {
            check["id"]: check["state"] for control in framework["controls"] for check in control["checks"]
        }
        assert "unlisted" not in named.values()
        assert sum(framework["checks"].values()) == len(named)
    text = run("controls", "list", "--framework", "lfai", cwd=tmp_path).stdout
    assert "45 controls: " in text
    assert "not planned" in text
    assert "MEASURE 2.7" not in text
    one = run("controls", "show", "measure-2.7", cwd=tmp_path).stdout
    assert one.startswith("MEASURE 2.7  nist-ai-rmf, MEASURE, ")
    assert "Decides " in one


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("rules", "show", "pod/priviledged"), "did you mean pod/privileged?"),
        (("rules", "list", "nope/*"), "no rule id matches"),
        (("controls", "show", "MEASURE 9.9"), "did you mean MEASURE"),
        (("controls", "--framework", "nist"), "no framework is called nist"),
        (("explain", "pod/priviledged"), "did you mean pod/privileged?"),
    ],
)
def test_unknown_names_end_with_2(tmp_path: Path, arguments: tuple[str, ...], part: str) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert part in done.stderr


def test_explain_without_a_result_uses_the_content(tmp_path: Path) -> None:
    rule = run("explain", "pod/privileged", cwd=tmp_path)
    assert rule.returncode == 0, rule.stderr
    assert "Mend " in rule.stdout
    control = run("explain", "MEASURE 2.7", cwd=tmp_path)
    assert "no result yet" in control.stdout
    for done in (rule, control):
        assert len(done.stdout.splitlines()) <= 25


def test_validate_accepts_what_is_shipped_and_what_init_writes(tmp_path: Path) -> None:
    assert run("init", cwd=tmp_path).returncode == 0
    done = run("validate", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "117 controls" in done.stdout
    assert "configuration fleetaudit.yaml" in done.stdout


def test_validate_lists_every_error(tmp_path: Path) -> None:
    (tmp_path / "fleetaudit.yaml").write_text("titel: x\njobs: 0\n", encoding="utf-8")
    done = run("validate", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "error: fleetaudit.yaml:1: titel: unknown key\n       did you mean title?" in done.stderr
    assert "error: fleetaudit.yaml:2: jobs: " in done.stderr
    (tmp_path / "fleetaudit.yaml").write_text(
        "rules: {skip: [pod/nope]}\ngates: {min_ratio: {nope: 1}}\n", encoding="utf-8"
    )
    done = run("validate", cwd=tmp_path)
    assert done.returncode == 2
    assert "rules.skip.0" in done.stderr
    assert "gates.min_ratio.nope" in done.stderr


def test_validate_reads_waivers_statements_and_mappings(tmp_path: Path) -> None:
    (tmp_path / "fleetaudit.yaml").write_text("waivers: [w.yaml]\n", encoding="utf-8")
    done = run("validate", cwd=tmp_path)
    assert done.returncode == 2
    assert "w.yaml" in done.stderr
    (tmp_path / "w.yaml").write_text("waivers:\n- {id: W-1, rule: pod/nope}\n", encoding="utf-8")
    done = run("validate", cwd=tmp_path)
    assert done.returncode == 2
    assert "w.yaml:2" in done.stderr


def test_doctor_tells_what_is_there_and_what_is_lost(tmp_path: Path) -> None:
    done = run("doctor", "--json", cwd=tmp_path, PATH="/nonexistent", HTTPS_PROXY="http://me:s3cret@proxy")
    assert done.returncode == 0, done.stdout + done.stderr
    found = {item["name"]: item for item in json.loads(done.stdout)}
    assert found["engine"]["present"]
    assert found["engine"]["detail"].startswith("opa ")
    for tool in ("helm", "kubectl", "opa", "kyverno"):
        assert not found[tool]["present"]
        assert found[tool]["without"]
    assert "s3cret" not in done.stdout
    assert "HTTPS_PROXY" in found["proxies"]["detail"]
    text = run("doctor", cwd=tmp_path, PATH="/nonexistent").stdout
    assert "No connection is opened" in text
    assert "without it: Helm charts are not rendered" in text


def test_doctor_asks_tools_for_their_version(tmp_path: Path) -> None:
    for name, script in {"helm": "echo v9.8.7", "opa": "exit 3"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin"
    found = {
        item["name"]: item for item in json.loads(run("doctor", "--json", cwd=tmp_path, PATH=path).stdout)
    }
    assert found["helm"]["detail"].startswith("v9.8.7 (")
    assert not found["opa"]["present"]
    assert "does not work: exit code 3" in found["opa"]["detail"]


def test_doctor_finds_the_kyverno_cli_as_a_run_does(tmp_path: Path) -> None:
    """Under both of its names, or where the environment points; and says how to get what is not there."""

    def looked_at(**variables: str) -> dict[str, Any]:
        done = run("doctor", "--json", cwd=tmp_path, **variables)
        return {item["name"]: item for item in json.loads(done.stdout)}

    path = f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin"
    absent = looked_at(PATH=path)
    assert "https://kyverno.io/docs/kyverno-cli/install/" in absent["kyverno"]["detail"]
    assert "fleetaudit[kyverno-batch]" in absent["kyverno-batch"]["detail"]
    plugin = tmp_path / "kubectl-kyverno"
    plugin.write_text("#!/bin/sh\necho 'Version: 1.18.2'\n", encoding="utf-8")
    plugin.chmod(0o755)
    assert looked_at(PATH=path)["kyverno"]["detail"] == f"1.18.2 ({plugin})"
    plugin.rename(tmp_path / "elsewhere")
    named = looked_at(PATH=path, FLEETAUDIT_KYVERNO=str(tmp_path / "elsewhere"))
    assert named["kyverno"]["detail"] == f"1.18.2 ({tmp_path / 'elsewhere'})"
    (tmp_path / "elsewhere").write_text("#!/bin/sh\necho 'Version: 1.9.0'\n", encoding="utf-8")
    old = looked_at(PATH=path, FLEETAUDIT_KYVERNO=str(tmp_path / "elsewhere"))
    assert not old["kyverno"]["present"]
    assert "at least 1.14 is needed" in old["kyverno"]["detail"]
