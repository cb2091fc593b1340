"""The same policies everywhere, through the real command: folders, snapshots, a baseline in git, and the report."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit.collect.cluster.kinds import ServedKind
from audit.native.reader import Reader
from tests.integration.command import Run, fleetaudit, run
from tests.unit.consistency import world as w
from tests.unit.consistency.test_form import edited
from tests.unit.snapshot.making import DEPLOYMENT, told, written

CLUSTER_POLICY = ServedKind(
    group="kyverno.io", version="v1", kind="ClusterPolicy", plural="clusterpolicies", namespaced=False
)
GOOD = (w.KYVERNO, w.BINDING, w.ROLE_BINDING)


def folder(place: Path, *documents: dict[str, Any]) -> Path:
    place.mkdir(parents=True)
    (place / "policies.yaml").write_text(yaml.safe_dump_all(documents))
    return place


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    good = [w.read(text) for text in GOOD]
    folder(tmp_path / "eu", *good)
    folder(tmp_path / "us", edited(w.KYVERNO, ("spec.validationFailureAction", "Audit")), *good[1:])
    folder(tmp_path / "git", *good)
    return tmp_path


def compared(*arguments: str | Path) -> tuple[Run, dict[str, Any]]:
    done = fleetaudit("consistency", *arguments, "--no-config", "--json")
    return done, json.loads(done.out) if done.out else {}


def cells(found: dict[str, Any], name: str = "") -> dict[tuple[str, str], str]:
    rows = [row for row in found["rows"] if row["name"] == name or not name]
    return {(row["kind"], cell["cluster"]): cell["state"] for row in rows for cell in row["cells"]}


def test_folders_are_clusters_and_the_gate_is_asked_for(fleet: Path) -> None:
    done, found = compared(fleet / "eu", fleet / "us")
    assert done.code == 0, "no gate"
    assert cells(found) == {("ClusterPolicy", "us"): "weakened"}
    assert [
        (one["cluster"], one["same"], one["differing"], one["role_bindings"]) for one in found["clusters"]
    ] == [
        ("eu", 3, 0, 1),
        ("us", 2, 1, 1),
    ]
    for state, code in (("weakened", 1), ("missing", 0)):
        assert compared(fleet / "eu", fleet / "us", "--fail-on", state)[0].code == code


def test_a_baseline_is_held_against_one_cluster_too(fleet: Path) -> None:
    done, found = compared(fleet / "us", "--baseline", fleet / "git", "--fail-on", "any")
    assert done.code == 1
    assert cells(found) == {("ClusterPolicy", "us"): "weakened"}
    (row,) = (row for row in found["rows"] if row["cells"])
    assert row["cells"][0]["changes"][0]["reference"] == "Enforce"
    assert compared(fleet / "eu", "--baseline", fleet / "git", "--fail-on", "any")[0].code == 0


def test_a_baseline_in_git_is_pinned(fleet: Path) -> None:
    git = ("git", "-C", str(fleet / "git"), "-c", "user.name=t", "-c", "user.email=t@example.com")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "x")):
        subprocess.run([*git, *words], check=True)
    commit = subprocess.run(
        [*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    done, found = compared(fleet / "us", "--baseline", f"git+file://{fleet / 'git'}@{commit}")
    assert (done.code, cells(found)) == (0, {("ClusterPolicy", "us"): "weakened"})
    done, _ = compared(fleet / "us", "--baseline", f"git+file://{fleet / 'git'}@main")
    assert done.code == 2
    done, found = compared(fleet / "us", "--baseline", f"git+file://{fleet / 'nothing'}@{commit}")
    assert done.code == 3
    assert found["not_looked_at"][0]["kind"] == "unreachable"


def test_a_broken_file_hides_what_is_not_seen_and_costs_nothing_else(fleet: Path) -> None:
    folder(fleet / "ap", w.read(w.BINDING))
    (fleet / "ap" / "broken.yaml").write_text("a: [\n")
    done, found = compared(fleet / "eu", fleet / "ap", "--fail-on", "any")
    assert done.code == 3, "incomplete wins over a gate"
    assert cells(found) == {
        ("ClusterPolicy", "ap"): "not_comparable",
        ("RoleBinding", "ap"): "not_comparable",
    }
    page = fleetaudit("consistency", fleet / "eu", fleet / "ap", "--no-config").out
    assert "not comparable" in page
    assert "ap       ?" in page, "how many role bindings there are is not known"


def test_one_cluster_alone_is_no_comparison(fleet: Path) -> None:
    done, _ = compared(fleet / "eu")
    assert done.code == 2
    assert "--baseline" in done.err


def test_hostile_names_stay_text(fleet: Path) -> None:
    name = "<img src=x onerror=alert(1)>|`@team`\x1b[31m"
    folder(fleet / "ap", edited(w.KYVERNO, ("metadata.name", name)))
    for option in ("--markdown", "--json"):
        out = fleetaudit("consistency", fleet / "eu", fleet / "ap", "--no-config", option).out
        assert "\x1b" not in out
        assert option == "--json" or "<img" not in out.replace("\\<img", "")


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    with Reader(jobs=1) as found:
        yield found


def snapshot(
    reader: Reader,
    place: Path,
    cluster: str,
    *policies: dict[str, Any],
    uid: str,
    asked: bool = True,
) -> None:
    pages = [(CLUSTER_POLICY, 1, policies)] if policies else []
    kinds = [DEPLOYMENT, *([CLUSTER_POLICY] if asked else [])]
    written(
        place,
        told(reader, pages),
        kinds,
        cluster=cluster,
        uid=uid,
        not_asked=[] if asked else [CLUSTER_POLICY],
    )


def test_snapshots_and_folders_in_one_comparison(fleet: Path, reader: Reader) -> None:
    day = fleet / "day"
    policy = w.read(w.KYVERNO)
    snapshot(reader, day, "one", policy, uid="1")
    snapshot(reader, day, "two", edited(w.KYVERNO, ("metadata.name", "own")), uid="2")
    snapshot(reader, day, "three", uid="3", asked=False)
    git = folder(fleet / "only", policy)
    done, found = compared(day / "one", day / "two", day / "three", "--baseline", git)
    assert done.code == 3
    assert cells(found, "signed") == {
        ("ClusterPolicy", "two"): "missing",
        ("ClusterPolicy", "three"): "not_comparable",
    }
    assert {row["name"] for row in found["rows"]} == {"signed", "own"}
    one, _, three = found["clusters"]
    assert one["collected_at"] == "2026-11-30T12:00:00Z"
    assert three["not_comparable"] == 2
    # A folder of snapshots is all of them, and a folder of manifests one more.
    _, mixed = compared(day, fleet / "only", "--baseline", git)
    assert {one["cluster"] for one in mixed["clusters"]} == {"one", "two", "three", "only"}
    # A snapshot is a baseline as well as a folder.
    _, other = compared(day / "two", "--baseline", day / "one")
    assert cells(other, "signed") == {("ClusterPolicy", "two"): "missing"}


def test_the_report_of_a_run_has_the_section(fleet: Path) -> None:
    config = fleet / "fleetaudit.yaml"
    config.write_text(
        yaml.safe_dump(
            {
                "clusters": [{"name": name, "paths": [name], "tier": "production"} for name in ("eu", "us")],
                "consistency": {
                    "baseline": "git",
                    "expected": [
                        {
                            "policies": [{"kind": "kyverno.io/ClusterPolicy", "name": "only-in-words"}],
                            "tier": "production",
                        }
                    ],
                    "ignore": [{"kind": "RoleBinding", "reason": "made by another team"}],
                },
            }
        )
    )
    done = run(fleet / "out", "--config", config, "--format", "json,html", "--no-cache")
    found = done.report["consistency"]
    assert cells(found)[("ClusterPolicy", "us")] in {"weakened", "missing"}
    by_name = {row["name"]: row for row in found["rows"]}
    assert {cell["state"] for cell in by_name["only-in-words"]["cells"]} == {"missing"}
    assert found["ignored"] == [{"what": "RoleBinding", "reason": "made by another team", "count": 1}]
    page = (done.folder / "report.html").read_text()
    assert 'id="consistency"' in page
    assert "made by another team" in page
    alone = run(fleet / "alone", fleet / "eu", "--no-config", "--format", "json,html", "--no-cache")
    assert alone.report["consistency"] is None
    assert 'id="consistency"' not in (alone.folder / "report.html").read_text()
