"""The result cache through the real command: the same bytes, and never an old verdict."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.integration.command import Run, run

POD = """apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: ml, labels: {app: %s}}
spec: {hostNetwork: %s, containers: [{name: main, image: "registry.example.com/app:1"}]}
"""
POLICY = """apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: one, namespace: ml}
spec: {podSelector: {matchLabels: {app: a}}, policyTypes: [Ingress]}
"""


def audited(folder: Path, *options: str | Path, files: dict[str, str]) -> Run:
    source = folder / "source"
    source.mkdir(exist_ok=True)
    for name, text in files.items():
        (source / name).write_text(text)
    out = folder / f"out{len(list(folder.glob('out*')))}"
    return run(out, source, *options, "--verbose", env={"FLEETAUDIT_CACHE": str(folder / "cache")})


def known(done: Run) -> int:
    lines = [
        line for line in done.err.splitlines() + done.out.splitlines() if "known from an earlier run" in line
    ]
    return int(lines[0].split(": ")[-1].split(" of ")[0].replace(",", "")) if lines else 0


def body(done: Run) -> object:
    """The report without the moments of the run."""
    report = json.loads((done.folder / "report.json").read_bytes())
    for key in ("state_time", "started", "finished"):
        report["record"].pop(key, None)
    population = gzip.decompress((done.folder / "population.csv.gz").read_bytes())
    return report, population


FILES = {"a.yaml": POD % ("a", "a", "true"), "b.yaml": POD % ("b", "b", "false"), "np.yaml": POLICY}


def test_a_second_run_says_the_same_and_asks_nothing(tmp_path: Path) -> None:
    first = audited(tmp_path, files=FILES)
    second = audited(tmp_path, files=FILES)
    fresh = audited(tmp_path, "--no-cache", files=FILES)
    assert known(first) == 0
    assert known(second) >= 3
    assert known(fresh) == 0
    assert body(first) == body(second) == body(fresh)


@pytest.mark.parametrize("change", ["object", "context", "parameter", "policy"])
def test_a_change_is_judged_anew(tmp_path: Path, change: str) -> None:
    own = tmp_path / "own.rego"
    own.write_text(_own("before"))
    config = tmp_path / "fleetaudit.yaml"
    config.write_text("title: t\n")
    options = ("--policy", own, "--config", config)
    audited(tmp_path, *options, files=FILES)
    files = dict(FILES)
    if change == "object":
        files["b.yaml"] = POD % ("b", "b", "true")
    elif change == "context":
        files["np.yaml"] = POLICY.replace("app: a", "app: b")
    elif change == "parameter":
        config.write_text(
            "title: t\nparameters: {image/registry-allowed: {registries: [registry.example.com]}}\n"
        )
    else:
        own.write_text(_own("after"))
    again = audited(tmp_path, *options, files=files)
    fresh = audited(tmp_path, *options, "--no-cache", files=files)
    assert body(again) == body(fresh)


def _own(message: str) -> str:
    return f"""# METADATA
# scope: package
# title: Own
# description: Says something.
# custom:
#   severity: low
#   remediation: None.
#   match: {{kinds: [{{kinds: [Pod]}}]}}
package own.rule

applies := true

violations contains {{"path": [], "message": "{message}"}}
"""


def test_a_cache_that_can_t_be_is_said_and_costs_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    done = audited(tmp_path, files=FILES)
    fresh = audited(tmp_path, "--no-cache", files=FILES)
    assert "no result cache" in done.err + done.out
    assert body(done) == body(fresh)
