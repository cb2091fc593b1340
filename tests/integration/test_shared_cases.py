"""Inputs that other tools stumbled over, through the whole command: what is right is told, and nothing wrong is green."""

from __future__ import annotations

import csv
import gzip
import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.command import Run, run
from tests.meta.documents import CHECKOUT
from tests.opa_server.programs import opa_binary
from tests.shared_data import shared_dir

pytestmark = pytest.mark.corpora


def expected(case: str) -> Any:
    return json.loads(shared_dir("cases", case, "expect.json").read_text(encoding="utf-8"))


def answers(done: Run) -> dict[str, dict[str, str]]:
    """Outcomes by file and rule; whether a key stands twice is asked of every document, and says nothing about evidence."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    with gzip.open(done.folder / "population.csv.gz", "rt", encoding="utf-8", newline="") as file:
        for pair in csv.DictReader(file):
            if pair["rule"] != "manifest/duplicate-key":
                found[Path(pair["name"]).name][pair["rule"]] = pair["outcome"]
    return dict(found)


def missed(done: Run) -> dict[str, str]:
    return {Path(gap["source"]).name: gap["reason"] for gap in done.gaps}


def notices(done: Run) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for notice in done.report["notices"]:
        found[Path(notice["source"]).name].append(notice["code"])
    return found


def audited(case: str, folder: Path, *options: str) -> Run:
    return run(folder / "out", shared_dir("cases", case), "--no-cache", *options)


def test_licences_that_are_none(tmp_path: Path) -> None:
    done = audited("19-sbom-noassertion", tmp_path, "--rule", "sbom/*")
    want = expected("19-sbom-noassertion")
    told = json.dumps(done.findings("sbom/licences-known"))
    for name in (*want["unknown"], *want["unparsable"], *want["undeclared_ref"]):
        assert name in told
    for name in (*want["known"], *want["none"]):
        assert not re.search(rf"\b{name}\b", told)
    config = tmp_path / "fleetaudit.yaml"
    config.write_text('parameters: {sbom/licence-allowed: {allow: ["*"]}}')
    allowed = audited("19-sbom-noassertion", tmp_path, "--config", str(config))
    assert answers(allowed)["sbom.spdx.json"]["sbom/licence-allowed"] == "error", "NOASSERTION is on no list"


def test_encodings(tmp_path: Path) -> None:
    case = "21-sbom-encodings"
    done, want = audited(case, tmp_path), expected(case)
    found = answers(done)
    for name in want["two_components"]:
        assert found[name]["sbom/format-valid"] == "pass", name
    for name, word in (("latin1.cdx.json", "not UTF-8"), ("two-documents.cdx.json", "data after the end")):
        assert name in want["error"]
        assert found[name]["sbom/format-valid"] == "fail"
        assert "pass" not in found[name].values()
        assert word in json.dumps([f for f in done.findings("sbom/format-valid") if name in json.dumps(f)])


def test_cycles_nesting_and_brackets(tmp_path: Path) -> None:
    found = answers(audited("22-sbom-cycles-and-nesting", tmp_path))
    for name in ("cycle.cdx.json", "nested.cdx.json", "brackets.cdx.json"):
        assert found[name]["sbom/format-valid"] == "pass", name
    assert found["brackets.cdx.json"]["sbom/licences-known"] == "fail"


def test_shapes_of_bundles(tmp_path: Path) -> None:
    case = "24-sigstore-bundle-shapes"
    done, want = audited(case, tmp_path), expected(case)
    assert want.pop("any_pass") is False
    found, gaps = answers(done), missed(done)
    for name, shape in want.items():
        said = {rule: outcome for rule, outcome in found.get(name, {}).items() if outcome != "skip"}
        if name in gaps:
            assert not said
            assert str(shape).split(":")[0] in gaps[name]
        else:
            assert said["signature/bundle-valid"] in {"fail", "error"}, name
        assert "pass" not in said.values(), name
    assert set(gaps) == {"empty.json"}
    [gap] = done.gaps
    assert "artifacts.fleetaudit.dev/SignatureBundle" in gap["kinds"]
    assert done.code == 3


def test_shapes_of_kube_bench(tmp_path: Path) -> None:
    case = "25-kube-bench-json-shapes"
    done, want = audited(case, tmp_path), expected(case)
    found = answers(done)
    for name in want["same"]:
        assert found[name]["evidence/benchmark-passed"] == "fail", name
        assert bool(notices(done)[name]) is (name in want["notice"]), name
    assert set(missed(done)) == set(want["error"])
    assert "(byte " in missed(done)["broken.json"]
    failed = [f for f in done.findings("evidence/benchmark-passed") if "lying-totals" in json.dumps(f)]
    assert json.dumps(failed).count(" failed") >= want["fail"], "the rows count, not the totals"


def test_states_of_xccdf(tmp_path: Path) -> None:
    case = "26-arf-result-states"
    done, want = audited(case, tmp_path), expected(case)
    found = answers(done)
    for name in want["same_for"]:
        assert found[name]["evidence/benchmark-passed"] == "fail"
        told = json.dumps([f for f in done.findings("evidence/benchmark-passed") if name in json.dumps(f)])
        for row in (*want["failed"], *want["not_sure"]):
            assert f"xccdf_example_rule_{row}" in told, (name, row)
        for row in (*want["passed"], *want["excluded"]):
            assert f"xccdf_example_rule_{row} " not in told, (name, row)


def test_shapes_of_trivy(tmp_path: Path) -> None:
    case = "28-trivy-json-shapes"
    done, want = audited(case, tmp_path), expected(case)
    found = {name: said.get("evidence/vulnerabilities-fixed") for name, said in answers(done).items()}
    assert found["clean.json"] == "pass"
    assert found["no-results.json"] == "error", want["no-results.json"]["status"]
    assert found["image.json"] == "error", "its one vulnerability is of unknown severity"
    assert found["cluster.json"] == "fail"
    assert want["cluster.json"]["resource"] in json.dumps(done.findings("evidence/vulnerabilities-fixed"))
    assert found["old-list.json"] == "pass", "low"
    for file in done.folder.rglob("*"):
        if file.is_file():
            assert want["image.json"]["never_printed"].encode() not in file.read_bytes(), file


def test_image_references(tmp_path: Path) -> None:
    """The table of the case, by the code that the rules share; then the rules themselves on pods."""
    case = "10-image-references"
    want = expected(case)
    images = json.loads(shared_dir("cases", case, "images.json").read_text(encoding="utf-8"))
    done = subprocess.run(
        [
            *(opa_binary(), "eval", "--format=json", "--stdin-input", "--data", "rego/lib"),
            *("--data", "rego/parameters.yaml", "[data.lib.image.parse(one) | some one in input]"),
        ],
        input=json.dumps(images),
        capture_output=True,
        text=True,
        cwd=CHECKOUT,
        timeout=120,
        check=True,
    )
    parsed = dict(zip(images, json.loads(done.stdout)["result"][0]["expressions"][0]["value"], strict=True))
    table = {
        image: [one["registry"], one["repository"], one["tag"], one["digest"], one["digest"] is None]
        for image, one in parsed.items()
        if one["valid"]
    }
    assert table == want["table"]
    assert {image for image, one in parsed.items() if not one["valid"]} == set(want["invalid"])

    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"p{number}", "namespace": "demo"},
            "spec": {"containers": [{"name": "a", "image": image}]},
        }
        for number, image in enumerate(images)
    ]
    (tmp_path / "pods.yaml").write_text(yaml.safe_dump_all(pods), encoding="utf-8")
    found = answers(run(tmp_path / "out", tmp_path / "pods.yaml", "--no-cache", "--rule", "image/*"))

    def failing(rule: str) -> set[str]:
        return {image for number, image in enumerate(images) if found[f"p{number}"][rule] == "fail"}

    assert failing("image/valid-reference") == set(want["invalid"])
    # What can't be read passes no rule about images.
    assert failing("image/mutable-tag") == {*want["latest_tag_check_fails"], *want["invalid"]}
    pinned = {image for image, row in want["table"].items() if not row[4]}
    assert failing("image/digest-pinned") == set(images) - pinned


POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: demo}\nspec: {hostNetwork: true, containers: [{name: c, image: 'i:1'}]}\n"


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles", "UTC"])
def test_ends_of_waivers(tmp_path: Path, zone: str) -> None:
    case = "41-waiver-expiry-and-time-zones"
    want = expected(case)
    entries = yaml.safe_load(shared_dir("cases", case, "waivers.yaml").read_text(encoding="utf-8"))
    (tmp_path / "pod.yaml").write_text(POD)

    def with_waivers(*ids: str) -> Run:
        listed = [
            {
                "id": entry["id"],
                "rule": "pod/host-namespaces",
                "subject": {"kind": "Pod", "name": "a", "namespace": "demo"},
                "owner": "o",
                "reason": "r",
                **({"expires": entry["expires"]} if "expires" in entry else {}),
            }
            for entry in entries
            if entry["id"] in ids
        ]
        (tmp_path / "waivers.yaml").write_text(yaml.safe_dump({"waivers": listed}))
        (tmp_path / "fleetaudit.yaml").write_text("waivers: [waivers.yaml]\n")
        config = tmp_path / "fleetaudit.yaml"
        return run(
            tmp_path / "out", tmp_path / "pod.yaml", "--config", config, "--no-cache", env={"TZ": zone}
        )

    for name in want["refused_at_load"]:
        done = with_waivers(name)
        assert done.code == 2, name
        assert "waivers.yaml:" in done.err
    # By now all of them are over, but for the one without an end.
    ended = [entry["id"] for entry in entries if entry["id"] not in (*want["refused_at_load"], "w-none")]
    done = with_waivers(*ended)
    assert {waiver["waiver"]["id"]: waiver["live"] for waiver in done.report["waivers"]} == dict.fromkeys(
        ended, False
    )
    [finding] = done.findings("pod/host-namespaces")
    assert not finding["waiver"]
    open_ended = with_waivers("w-none")
    [waiver] = open_ended.report["waivers"]
    assert "no end" in waiver["warning"]
    assert open_ended.findings("pod/host-namespaces")[0]["waiver"] == "w-none"
