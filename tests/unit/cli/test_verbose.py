"""``--verbose`` prints every gap, notice, open group and pair that could not be judged, however many there are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.terminal import run

WORKLOAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: w{number}, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: w}}}}
  template:
    metadata: {{labels: {{app: w}}}}
    spec:
      hostPID: true
      containers: [{{name: app, image: "registry.example/app:latest"}}]
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More groups, gaps and notices than a screen takes, and an object that reads in two ways."""
    folder = tmp_path_factory.mktemp("verbose")
    (folder / "k8s").mkdir()
    for number in range(12):
        (folder / "k8s" / f"w{number}.yaml").write_text(WORKLOAD.format(number=number), encoding="utf-8")
        (folder / "k8s" / f"broken{number}.yaml").write_text("a: [\n", encoding="utf-8")
        (folder / "k8s" / f"values{number}.yaml").write_text("replicas: 1\n", encoding="utf-8")
    twice = WORKLOAD.format(number=99) + "      hostPID: false\n"
    (folder / "k8s" / "twice.yaml").write_text(twice, encoding="utf-8")
    return folder


@pytest.mark.parametrize("command", ["run", "check"])
def test_everything_is_printed(place: Path, tmp_path: Path, command: str) -> None:
    done = run(command, "k8s", "-v", "-o", str(tmp_path), "-f", "json", cwd=place)
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    groups = [group for group in report["groups"] if group["outcome"] in {"fail", "error"}]
    assert len(groups) > 50
    assert len(report["gaps"]) == 12
    assert {group["outcome"] for group in groups} == {"fail", "error"}
    assert [group["id"] for group in groups if group["id"] not in done.stdout] == []
    assert [gap["source"] for gap in report["gaps"] if gap["source"] not in done.stdout] == []
    told = {(notice["source"], notice["message"]) for notice in report["notices"]}
    assert len(told) >= 12
    assert [pair for pair in told if pair[0] not in done.stderr or pair[1] not in done.stderr] == []
    assert " more open groups" not in done.stdout


def test_without_it_the_first_stand_for_the_rest(place: Path, tmp_path: Path) -> None:
    done = run("run", "k8s", "-o", str(tmp_path), "-f", "json", cwd=place)
    shown = [line for line in done.stdout.splitlines() if "  G-" in line]
    assert len(shown) == 8
    assert "more open groups, shown with --verbose and in the reports" in done.stdout
