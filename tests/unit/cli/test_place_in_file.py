"""A file with several documents, and Lists in Lists: every format says which of them a finding is in, and all the same."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.shared_data import shared_dir
from tests.unit.cli.terminal import run
from tests.unit.report.pages import by_id, text, tree

BUNDLE = """\
---
# only a comment
---
apiVersion: v1
kind: Pod
metadata: {name: front, namespace: demo}
spec: {hostNetwork: true, containers: [{name: c, image: "registry.example/front:1"}]}
---
just a sentence
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: p1, namespace: demo}
  spec: {hostPID: true, containers: [{name: c, image: "registry.example/p:1"}]}
- apiVersion: v1
  kind: PodList
  items:
  - apiVersion: v1
    kind: Pod
    metadata: {name: p2, namespace: demo}
    spec: {hostIPC: true, containers: [{name: c, image: "registry.example/p:2"}]}
"""
PLACES = {"front": (2, ""), "p1": (4, "items[0]"), "p2": (4, "items[1].items[0]")}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "bundle.yaml").write_text(BUNDLE, encoding="utf-8")
    done = run("run", "bundle.yaml", "-o", "out", "-f", "html,json,sarif,junit,markdown,csv", cwd=folder)
    assert done.returncode in {0, 3}, done.stderr
    return folder


def groups(place: Path) -> list[dict[str, Any]]:
    report = json.loads((place / "out" / "report.json").read_text(encoding="utf-8"))
    found = [group for group in report["groups"] if group["members"][0]["subject"]["kind"] == "Pod"]
    assert {member["subject"]["name"] for group in found for member in group["members"]} == set(PLACES)
    return found


def said(name: str) -> str:
    document, item = PLACES[name]
    return f"document {document}, {item}" if item else f"document {document}"


def test_json(place: Path) -> None:
    for group in groups(place):
        for member in group["members"]:
            subject = member["subject"]
            assert (subject["document"], subject["item"]) == PLACES[subject["name"]]


def test_sarif(place: Path) -> None:
    (sarif,) = json.loads((place / "out" / "report.sarif").read_text(encoding="utf-8"))["runs"]
    seen = set()
    for found in sarif["results"]:
        name = found["locations"][0]["logicalLocations"][0]["name"]
        if name in PLACES:
            told = found["properties"]
            assert (told["document"], told.get("item", "")) == PLACES[name]
            seen.add(name)
    assert seen == set(PLACES)


def test_csv(place: Path) -> None:
    with (place / "out" / "findings.csv").open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["name"] in PLACES]
    assert {row["name"] for row in rows} == set(PLACES)
    assert all((int(row["document"]), row["item"]) == PLACES[row["name"]] for row in rows)


def test_html_and_markdown_and_junit(place: Path) -> None:
    root = tree((place / "out" / "report.html").read_text(encoding="utf-8"))
    markdown = (place / "out" / "report.md").read_text(encoding="utf-8").replace("\\", "")
    suites = {
        str(suite.get("name")).split()[0]: suite
        for suite in ET.parse(place / "out" / "report.junit.xml").getroot()
    }
    blocks = {"critical", "high"}
    parents = {child: parent for parent in root.iter() for child in parent}
    for group in groups(place):
        wanted = said(group["members"][0]["subject"]["name"])
        row = by_id(root, group["id"].lower())
        # A block is a body of rows; a line is a row.
        if group["severity"] in blocks and group["outcome"] == "fail":
            row = parents[row]
        assert wanted in text(row), group["id"]
        assert wanted in "".join(suites[group["id"]].itertext())
        for line in markdown.splitlines():
            assert f"| {group['id']} |" not in line or wanted in line


def test_explain(place: Path) -> None:
    rules = {"pod/host-namespaces"}
    for group in groups(place):
        if group["rule"] in rules:
            page = run("explain", group["id"], "--result", "out", cwd=place).stdout
            assert said(group["members"][0]["subject"]["name"]) in page


def test_the_shared_case(tmp_path: Path) -> None:
    folder = shared_dir("cases", "03-empty-docs-and-lists")
    done = run("run", str(folder / "bundle.yaml"), "-o", "out", "-f", "csv", cwd=tmp_path)
    assert done.returncode in {0, 3}, done.stderr
    with (tmp_path / "out" / "findings.csv").open(encoding="utf-8", newline="") as stream:
        places = {
            (row["name"], row["document"], row["item"])
            for row in csv.DictReader(stream)
            if row["rule"] == "pod/host-namespaces"
        }
    assert places == {("front", "2", ""), ("p1", "5", "items[0]"), ("p2", "5", "items[1].items[0]")}
