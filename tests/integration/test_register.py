"""A fleet judged from snapshots and a register, through the real command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit.native.reader import Reader
from tests.integration.command import run
from tests.unit.snapshot.making import DEPLOYMENT, thing, told, written

EU, US, AP = (f"0000000{n}-0000-4000-8000-000000000000" for n in (1, 2, 3))
POD = {"hostNetwork": True, "containers": [{"name": "c", "image": "registry.example.com/app:1"}]}
WORKLOAD = {"spec": {"selector": {}, "template": {"metadata": {}, "spec": POD}}}
KINDS = ["apps/Deployment"]


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with Reader(jobs=1) as found:
        yield found


@pytest.fixture
def fleet(reader: Reader, tmp_path: Path) -> Path:
    events = told(reader, [(DEPLOYMENT, 1, [thing(DEPLOYMENT, "api", **WORKLOAD)])])
    for name, uid in (("eu", EU), ("stranger", AP)):
        written(tmp_path / "day", events, [DEPLOYMENT], cluster=name, uid=uid)
    register = [
        {"name": "prod-eu", "uid": EU, "region": "eu-central-1", "tier": "production", "owner": "team-a"},
        {"name": "prod-us", "uid": US, "owner": "team-b"},
    ]
    (tmp_path / "register.yaml").write_text(yaml.safe_dump({"clusters": register}))
    return tmp_path


def test_the_report_names_who_is_missing_and_who_is_foreign(fleet: Path) -> None:
    formats = ("--format", "json,html,markdown", "--no-config", "--no-cache")
    done = run(fleet / "out", fleet / "day" / "*", "--register", fleet / "register.yaml", *formats)
    assert done.code == 3
    eu, us = done.report["record"]["clusters"]
    assert (eu["name"], eu["kind"], eu["reached"], eu["region"], eu["owner"]) == (
        *("prod-eu", "snapshot", True, "eu-central-1", "team-a"),
    )
    assert eu["snapshot"]["collected_as"] == "eu"
    assert (us["name"], us["kind"], us["reached"], us["subjects"]) == ("prod-us", "missing", False, 0)
    found = {(gap["kind"], gap["cluster"]) for gap in done.gaps}
    assert {("absent", "prod-us"), ("foreign", "")} <= found
    assert "2 registered: 1 reached, 1 missing (prod-us)" in done.out
    for name in ("report.html", "report.md"):
        text = (done.folder / name).read_text()
        assert "prod-us" in text
        assert "stranger" in text
    [finding] = done.findings("pod/host-namespaces")
    assert finding["subject"]["cluster"] == "prod-eu"


def statuses(report: dict[str, Any]) -> dict[str, dict[str, str]]:
    return {
        f"{row['framework']}:{row['id']}": {member["cluster"]: member["status"] for member in row["members"]}
        for row in report["controls"]
    }


def test_a_missing_cluster_is_in_every_denominator_and_a_foreign_one_in_none(fleet: Path) -> None:
    done = run(
        fleet / "out", fleet / "day" / "*", "--register", fleet / "register.yaml", "--no-config", "--no-cache"
    )
    for members in statuses(done.report).values():
        assert set(members) == {"prod-eu", "prod-us"}
        assert members["prod-us"] not in {"satisfied", "not_applicable", "waived", "not_satisfied"}
    alone = run(fleet / "alone", fleet / "day" / "eu", "--no-config", "--no-cache")
    mine, its = statuses(done.report), statuses(alone.report)
    # The foreign one takes nothing from the registered, and the missing one gives nothing to the fleet.
    assert {key: row["prod-eu"] for key, row in mine.items()} == {key: row["eu"] for key, row in its.items()}
    for together, single in zip(done.report["scores"], alone.report["scores"], strict=True):
        assert together["strict"]["denominator"] == single["strict"]["denominator"]
        assert together["strict"]["numerator"] == 0


def test_waivers_may_name_a_cluster_that_only_the_register_names(fleet: Path) -> None:
    (fleet / "waivers.yaml").write_text(
        yaml.safe_dump(
            {
                "waivers": [
                    {
                        "id": "W-1",
                        "rule": "pod/host-namespaces",
                        "subject": {
                            "cluster": "prod-eu",
                            "kind": "Deployment",
                            "namespace": "ml",
                            "name": "api",
                        },
                        "owner": "team-a",
                        "reason": "The probe needs it.",
                        "expires": "2999-12-31",
                    }
                ]
            }
        )
    )
    config = fleet / "fleetaudit.yaml"
    config.write_text("waivers: [waivers.yaml]\nregister: register.yaml\n")
    done = run(fleet / "out", fleet / "day" / "eu", "--config", config, "--no-cache")
    assert done.code == 3, done.err
    assert [waiver["matched"] for waiver in done.report["waivers"]] == [1]


def test_a_register_alone_is_a_fleet_that_nobody_reached(fleet: Path) -> None:
    done = run(fleet / "out", "--register", fleet / "register.yaml", "--no-config")
    assert done.code == 3
    assert [cluster["reached"] for cluster in done.report["record"]["clusters"]] == [False, False]
    assert all(score["strict"]["numerator"] == 0 for score in done.report["scores"])
