"""Results that carry no time, dated by the configuration."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from audit.collect.artifacts.evidence.kube_bench import KubeBenchReader
from audit.collect.artifacts.evidence.scorecard import ScorecardReader
from audit.collect.artifacts.evidence.settings import EvidenceSettings
from audit.collect.artifacts.reading import look_at

NOW = dt.datetime(2026, 6, 1, tzinfo=dt.UTC)
TOLD = {"*/kube-bench.json": "2026-05-20T06:00:00Z", "*.json": "2026-05-01T00:00:00Z"}
KUBE_BENCH = {
    "Controls": [
        {
            "node_type": "master",
            "tests": [{"section": "1", "results": [{"test_number": "1.1", "status": "PASS"}]}],
        }
    ]
}
SCORECARD = {
    "date": "2026-05-30",
    "repo": {"name": "r"},
    "scorecard": {"version": "v5"},
    "score": 7,
    "checks": [],
}


def spec(folder: Path, name: str, content: Any, times: dict[str, str]) -> dict[str, Any]:
    path = folder / "out" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content))
    settings = EvidenceSettings(now=NOW, stated_times=times)
    reader = KubeBenchReader(settings) if content is KUBE_BENCH else ScorecardReader(settings)
    [facts] = reader.read(look_at(path, f"out/{name}", max_bytes=1 << 20))
    return dict(facts.spec)


@pytest.mark.parametrize(
    ("name", "age"), [("kube-bench.json", 11), ("other.json", 31), ("Kube-Bench.JSON", 11)]
)
def test_the_first_pattern_that_fits_dates_it(tmp_path: Path, name: str, age: int) -> None:
    found = spec(tmp_path, name, KUBE_BENCH, TOLD)
    assert (found["created"]["status"], found["created"]["age_days"]) == ("known", age)
    [notice] = found["notices"]
    assert notice["code"] == "time_stated"


def test_without_one_its_time_stays_unknown(tmp_path: Path) -> None:
    found = spec(tmp_path, "kube-bench.json", KUBE_BENCH, {"*.xml": "2026-05-01T00:00:00Z"})
    assert (found["created"]["status"], found["notices"]) == ("absent", [])


def test_what_says_its_time_itself_is_believed(tmp_path: Path) -> None:
    found = spec(tmp_path, "scorecard.json", SCORECARD, TOLD)
    assert (found["created"]["age_days"], found["notices"]) == (2, [])


def test_a_time_that_is_none_or_not_past_is_no_date(tmp_path: Path) -> None:
    for said, status in (("yesterday", "unreadable"), ("2027-01-01T00:00:00Z", "future")):
        found = spec(tmp_path, "kube-bench.json", KUBE_BENCH, {"*": said})
        assert found["created"]["status"] == status
