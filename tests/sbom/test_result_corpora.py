"""Public results and results that other tools stumbled over: every file is read, or named."""

from __future__ import annotations

import collections
import json
from typing import Any

import pytest

from audit.collect.artifacts.reading import UnreadError
from tests.shared_data import shared_dir
from tests.unit.sbom.reading import read_file
from tests.unit.sbom.results import facts_of, reader_of

pytestmark = pytest.mark.corpora

# What lies in the corpora and is no result.
NO_RESULT = {
    "summary-ids.json.golden": "a list of ids alone",
    "empty.xml": "an empty element",
    "plant_catalog.xml": "a catalogue of plants",
}


def expected(case: str) -> Any:
    return json.loads(shared_dir("cases", case, "expect.json").read_text(encoding="utf-8"))


def spec(case: str, name: str) -> dict[str, Any]:
    [facts] = facts_of(shared_dir("cases", case, name))
    return dict(facts.spec)


def test_every_file_is_read_or_named() -> None:
    totals: collections.Counter[str] = collections.Counter()
    named: list[str] = []
    for path in sorted(shared_dir("corpora", "evidence").rglob("*")):
        if not path.is_file() or path.name == "LICENSE":
            continue
        reader = reader_of(path)
        if reader is not None:
            assert facts_of(path), path
            totals[reader.name] += 1
        elif read_file(path) is not None:
            totals["bills of materials"] += 1
        else:
            named.append(path.name)
            assert path.name in NO_RESULT or "goldens/packages" in str(path), path
    print(dict(totals), "not results:", named)
    assert totals == {"Scorecard": 12, "kube-bench": 2, "XCCDF": 12, "Trivy": 52, "bills of materials": 5}
    assert len(named) == 11


def test_kube_bench_in_every_shape() -> None:
    case = "25-kube-bench-json-shapes"
    want = expected(case)
    for name in want["same"]:
        found = spec(case, name)
        counts = found["counts"]
        assert (counts["passed"], counts["failed"], counts["manual"]) == (
            want["pass"],
            want["fail"],
            want["warn"],
        )
        assert bool(found["notices"]) is (name in want["notice"]), name


def test_broken_kube_bench_names_the_byte() -> None:
    [name] = expected("25-kube-bench-json-shapes")["error"]
    with pytest.raises(UnreadError, match=r"byte \d+"):
        spec("25-kube-bench-json-shapes", name)


def test_xccdf_result_states() -> None:
    case = "26-arf-result-states"
    want = expected(case)
    for name in want["same_for"]:
        found = spec(case, name)
        by_status: dict[str, list[str]] = {}
        for row in found["rows"]:
            by_status.setdefault(row["status"], []).append(row["id"].removeprefix("xccdf_example_rule_"))
        assert by_status == {
            "passed": want["passed"],
            "failed": want["failed"],
            "unsure": want["not_sure"],
            "excluded": want["excluded"],
        }, name
        assert (len(found["rows"]), found["instances"], found["ratio"]) == (
            want["rules"],
            want["instances"],
            want["ratio"],
        )
        assert float(found["scores"][0]["value"]) == want["score_in_file"]
        assert found["started"]["value"] == want["start_utc"]
        [multi] = [row for row in found["rows"] if row["id"].endswith("_multi")]
        assert multi["stated"] == ["pass", "fail", "pass", "notapplicable"]


def test_trivy_shapes() -> None:
    case = "28-trivy-json-shapes"
    want = expected(case)
    image = spec(case, "image.json")
    counts = {kind: sum(found.values()) for kind, found in image["counts"].items()}
    assert len(image["targets"]) == want["image.json"]["targets"]
    assert (counts["vulnerability"], counts["misconfiguration"], counts["secret"]) == (1, 1, 1)
    assert want["image.json"]["never_printed"] not in json.dumps(image)
    assert image["counts"]["vulnerability"]["UNKNOWN"] == 1
    clean = spec(case, "clean.json")
    assert (len(clean["targets"]), clean["findings"], clean["status"]) == (
        1,
        [],
        want["clean.json"]["status"],
    )
    assert spec(case, "no-results.json")["status"] == want["no-results.json"]["status"]
    [finding] = spec(case, "cluster.json")["findings"]
    assert finding["resource"] == want["cluster.json"]["resource"]
    assert len(spec(case, "old-list.json")["findings"]) == want["old-list.json"]["vulnerabilities"]
