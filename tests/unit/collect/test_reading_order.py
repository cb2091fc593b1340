"""What was read first decides no number: a failure of an owned object is told of its controller wherever that stands."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit import audit_fleet
from audit.collect.spool import Spool
from audit.model.subject import SubjectRef
from audit.ports import CollectedObject

CHAIN = (
    ("Operator", None),
    ("Deployment", ("Operator", "top")),
    ("ReplicaSet", ("Deployment", "top")),
    ("Pod", ("ReplicaSet", "top")),
)
ALONE = (("CronJob", None), ("Pod", None), ("Job", ("CronJob", "nightly")), ("Pod", ("Job", "nightly-1")))


def collected(kind: str, controller: tuple[str, str] | None) -> CollectedObject:
    ref = SubjectRef(cluster="a", group="", version="v1", kind=kind)
    return CollectedObject(ref=ref, raw=b"{}", controller=controller)


@given(st.permutations([*CHAIN, *ALONE]))
def test_whatever_is_owned_comes_behind_its_owner(read: list[tuple[str, tuple[str, str] | None]]) -> None:
    with Spool() as spool:
        for kind, controller in read:
            spool.append(collected(kind, controller))
        assert len(spool) == len(read)
        order = [(item.ref.kind, item.controller) for item in spool]
    assert sorted(map(str, order)) == sorted(map(str, read))
    for place, (_, controller) in enumerate(order):
        if controller is not None:
            owners = [kind for kind, _ in order[:place]]
            assert controller[0] in owners


def workload(kind: str, name: str, owner: tuple[str, str] | None) -> dict[str, Any]:
    pod = {"spec": {"hostPID": True, "containers": [{"name": "c", "image": "registry.example/app:latest"}]}}
    owners = [{"kind": owner[0], "name": owner[1], "controller": True}] if owner else []
    return {
        "apiVersion": "v1" if kind == "Pod" else "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "shop", "ownerReferences": owners},
        "spec": pod["spec"] if kind == "Pod" else {"selector": {}, "template": pod},
    }


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_names_of_files_decide_no_number(tmp_path: Path, order: tuple[int, ...]) -> None:
    made = [
        workload("Deployment", "web", None),
        workload("ReplicaSet", "web-1", ("Deployment", "web")),
        workload("Pod", "web-1-x", ("ReplicaSet", "web-1")),
    ]
    for place, number in enumerate(order):
        (tmp_path / f"{place}.json").write_text(json.dumps(made[number]), encoding="utf-8")
    with audit_fleet(tmp_path) as result:
        rows = result.tally.to_rows()
    counted = {outcome: number for rule, _, outcome, _, number in rows if rule == "pod/host-namespaces"}
    assert counted == {"fail": 1, "skip": 2}
