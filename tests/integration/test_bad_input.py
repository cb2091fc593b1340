"""Bad input through the real command: a clear message, the right exit code, the rest still judged, never a green."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.integration.command import Run, run

GOOD = """apiVersion: v1
kind: Pod
metadata: {name: good, namespace: ml}
spec: {hostNetwork: true, containers: [{name: main, image: "registry.example.com/app:1"}]}
"""


def assert_incomplete(done: Run, *, objects: int = 1) -> None:
    """Exit 3, and the good object beside the bad one is judged."""
    assert done.code == 3, done.err + done.out
    assert "INCOMPLETE" in done.out.upper()
    assert done.report["record"]["denominator"]["objects"] == objects
    if objects:
        assert done.findings("pod/host-namespaces")
    for score in done.report["scores"]:
        assert score["strict"]["numerator"] < max(1, score["strict"]["denominator"])


def gap(done: Run, kind: str) -> dict[str, object]:
    found = [g for g in done.gaps if g["kind"] == kind]
    assert found, done.gaps
    return found[0]


def bomb() -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\n" + "\n".join(lines) + "\n"


BROKEN = {
    "not_yaml": ("kind: [unclosed", "invalid_yaml"),
    "bad_utf8": (b"kind: Pod\nname: \xff\xfe\xfa\n", "invalid_utf8"),
    "alias_bomb": (bomb(), "alias_bomb"),
    "self_alias": ("apiVersion: v1\nkind: ConfigMap\nmetadata: &m {name: x, again: *m}\n", "recursive_alias"),
    "deep": ("a: " + "[" * 2000 + "]" * 2000 + "\n", "too_deep"),
    "infinity": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {x: .inf}\n",
        "not_json_representable",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_file_costs_one_gap_with_its_place(tmp_path: Path, name: str) -> None:
    content, code = BROKEN[name]
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "good.yaml").write_text(GOOD)
    bad = tmp_path / "in" / "bad.yaml"
    bad.write_bytes(content if isinstance(content, bytes) else content.encode())
    done = run(tmp_path / "out", tmp_path / "in")
    assert_incomplete(done)
    found = gap(done, "unreadable")
    assert str(found["source"]).endswith("bad.yaml")
    assert code in str(found["reason"])


def test_file_over_the_limit_is_a_gap(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "good.yaml").write_text(GOOD)
    with (tmp_path / "in" / "big.yaml").open("wb") as big:
        big.truncate(200 << 20)
    assert_incomplete(done := run(tmp_path / "out", tmp_path / "in"))
    assert "209715200 bytes" in str(gap(done, "too_large")["reason"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file_is_forbidden_not_absent(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(GOOD)
    (tmp_path / "secret.yaml").write_text(GOOD)
    (tmp_path / "secret.yaml").chmod(0)
    assert_incomplete(done := run(tmp_path / "out", tmp_path))
    assert gap(done, "forbidden")


def test_empty_folder_states_nothing(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    done = run(tmp_path / "out", tmp_path / "in", "--min-ratio", "nist-ai-rmf=0")
    assert done.code == 3
    assert all(score["strict"]["denominator"] == 0 for score in done.report["scores"])
    assert "not stated" in done.out
    assert not done.report["gates"][0]["met"]


def test_missing_path_is_said(tmp_path: Path) -> None:
    done = run(tmp_path / "out", tmp_path / "nowhere")
    assert done.code == 3
    assert "no such file or folder" in str(gap(done, "absent")["reason"])


def test_no_rule_for_what_is_there_states_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")
    done = run(tmp_path / "out", tmp_path / "x.yaml", "--rule", "pod/privileged")
    assert done.code == 3
    assert "no_match" in {reason["code"] for reason in done.report["incomplete_reasons"]}
    assert all(score["strict"]["denominator"] == 0 for score in done.report["scores"])


BAD_POLICIES = {
    "does_not_parse": ("package x.y\n\nviolations contains v if {", "rego_parse_error|unexpected|parse"),
    "does_not_compile": ("violations contains v if { v := unknown_function(input) }", "undefined function"),
    "recurses": ("violations contains v if { v := loop(1) }\n\nloop(x) := loop(x + 1)", "recursive"),
    "calls_out": (
        'violations contains v if { v := http.send({"method": "get", "url": "http://127.0.0.1:1/"}) }',
        "http.send",
    ),
    "reads_environment": ("violations contains v if { v := opa.runtime().env }", "opa.runtime"),
    "no_metadata": ("", "METADATA"),
}

HEAD = """# METADATA
# scope: package
# title: t
# description: d
# custom:
#   severity: low
#   match: {kinds: [{kinds: [Pod]}]}
#   remediation: r
package own.rule

default applies := true

"""


@pytest.mark.parametrize("name", BAD_POLICIES)
def test_broken_policy_costs_one_gap_with_its_place(tmp_path: Path, name: str) -> None:
    body, said = BAD_POLICIES[name]
    policy = tmp_path / "policy"
    policy.mkdir()
    text = (
        body
        if body.startswith("package")
        else ("package own.rule\n" if name == "no_metadata" else HEAD + body)
    )
    (policy / "rule.rego").write_text(text + "\n")
    (tmp_path / "good.yaml").write_text(GOOD)
    done = run(tmp_path / "out", tmp_path / "good.yaml", "--policy", policy)
    assert_incomplete(done)
    found = gap(done, "policy")
    assert any(part in str(found["reason"]) for part in said.split("|")), found
    assert "rule.rego" in str(found["reason"])
    assert found["line"]


def test_policy_that_loops_costs_its_own_pairs_only(tmp_path: Path) -> None:
    policy = tmp_path / "policy"
    policy.mkdir()
    body = "violations contains v if { some x in numbers.range(1, 90000000); x < 0; v := {} }\n"
    (policy / "rule.rego").write_text(HEAD + body)
    (tmp_path / "good.yaml").write_text(GOOD)
    (tmp_path / "fleetaudit.yaml").write_text(
        f"paths: [{tmp_path}/good.yaml]\npolicy: {{paths: [{policy}]}}\nlimits: {{object_seconds: 0.5}}\n"
    )
    done = run(tmp_path / "out", "--config", tmp_path / "fleetaudit.yaml")
    assert_incomplete(done)
    errors = done.findings("own/rule", "error")
    assert [error["error"] for error in errors] == ["timeout"]
    others = [g for g in done.report["groups"] if g["outcome"] == "error" and g["rule"] != "own/rule"]
    assert {member["error"] for group in others for member in group["members"]} == {"manifest_not_collected"}


def test_mapping_with_a_typing_error_stops_the_run(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(GOOD)
    (tmp_path / "map.yaml").write_text(
        "framework: nist-ai-rmf\nedition: '1.0'\nauthor: me\ndate: 2026-01-01\n"
        "mappings:\n- {control: MEASURE 2.77, rule: pod/privileged, strength: decides, rationale: r, limits: l}\n"
    )
    (tmp_path / "fleetaudit.yaml").write_text(
        f"paths: [{tmp_path}/good.yaml]\nmappings: [{tmp_path}/map.yaml]\n"
    )
    done = run(tmp_path / "out", "--config", tmp_path / "fleetaudit.yaml")
    assert done.code == 2
    assert "map.yaml:6" in done.err
    assert "MEASURE 2.7" in done.err
    assert not (tmp_path / "out" / "report.html").exists()


@pytest.mark.parametrize("value", ["docker.io", "[5]", "true", "{a: b}"])
def test_parameter_of_another_type_stops_the_run(tmp_path: Path, value: str) -> None:
    (tmp_path / "good.yaml").write_text(GOOD)
    config = (
        f"paths: [{tmp_path}/good.yaml]\nparameters: {{image/registry-allowed: {{registries: {value}}}}}\n"
    )
    (tmp_path / "fleetaudit.yaml").write_text(config)
    done = run(tmp_path / "out", "--config", tmp_path / "fleetaudit.yaml")
    assert done.code == 2
    assert "parameters.image/registry-allowed.registries" in done.err


def test_hidden_pod_template_holds_back_what_rests_on_pod_rules(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(
        GOOD + "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n"
        "spec: {template: {spec: {hostPID: true, containers: [{name: c, image: x, "
        "securityContext: {privileged: true}}]}}}\n"
    )
    done = run(tmp_path / "out", tmp_path / "good.yaml", "--profile", "full")
    assert_incomplete(done, objects=2)
    assert gap(done, "unknown_pod_template")
    for row in done.report["controls"]:
        if any(evidence["decides"] for evidence in row["fleet"]["evidence"]):
            assert row["fleet"]["status"] in ("indeterminate", "not_satisfied"), row["id"]


def test_owner_reference_hides_nothing_its_controller_passes(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: ml}\n"
        "spec: {selector: {}, template: {spec: {containers: [{name: c, image: x}]}}}\n"
        "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: evil\n  namespace: ml\n"
        "  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: x, controller: true}]\n"
        "spec: {hostPID: true, containers: [{name: c, image: x, securityContext: {privileged: true}}]}\n"
    )
    done = run(tmp_path / "out", tmp_path / "own.yaml")
    assert done.findings("pod/privileged")
    assert done.findings("pod/host-namespaces")


def test_quoted_values_of_a_broken_document_are_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: !!float CANARY14}\n"
    )
    done = run(tmp_path / "out", tmp_path / "s.yaml", "--format", "json,html,sarif,markdown")
    assert done.code == 3
    texts = [
        done.out,
        done.err,
        *(p.read_bytes().decode(errors="replace") for p in (tmp_path / "out").iterdir()),
    ]
    assert not any("CANARY14" in text for text in texts)


def test_no_room_for_what_is_set_aside_is_exit_2_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(GOOD)
    out = tmp_path / "out"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        done = run(out, tmp_path / "good.yaml")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert done.code == 2
    assert "File too large for temporary files; TMPDIR" in done.err
    assert list(out.iterdir()) == []


@pytest.mark.parametrize(
    ("sign", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_signal_leaves_a_partial_report_that_says_so(tmp_path: Path, sign: signal.Signals, code: int) -> None:
    source = tmp_path / "in"
    source.mkdir()
    for number in range(400):
        text = "---\n".join(GOOD.replace("good", f"p-{number}-{n}") for n in range(40))
        (source / f"{number:03}.yaml").write_text(text)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "audit", "run", str(source), "--output", str(out), "--format", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not list(out.glob(".fleetaudit-*/.population.csv.gz.*")):
            time.sleep(0.02)
        time.sleep(0.5)
        process.send_signal(sign)
        process.communicate(timeout=120)
    assert process.returncode == code
    done = Run(code, "", "", out)
    assert gap(done, "interrupted")
    assert not done.report["complete"]
    assert all(score["strict"]["numerator"] == 0 for score in done.report["scores"])
