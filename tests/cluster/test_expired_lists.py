"""A list whose continuation expires, told page by page as in the shared case, between the real command and a real server."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.cluster.server import ADMIN, ApiServer
from tests.integration.command import Run, run
from tests.proxy import Fault, Reply, Request, proxy_before
from tests.shared_data import shared_dir

pytestmark = [pytest.mark.tools, pytest.mark.corpora]
CASE = "33-list-pagination-410"
PODS = "/api/v1/pods"


def expected() -> Any:
    return json.loads(shared_dir("cases", CASE, "expect.json").read_text(encoding="utf-8"))


def replayed(name: str, asked: list[str]) -> Callable[[Request], Fault | None]:
    """The answers of the case in their order; the last one again and again. Everything else is the server's own."""
    steps = json.loads(shared_dir("cases", CASE, name).read_text(encoding="utf-8"))

    def plan(request: Request) -> Fault | None:
        parts = urlsplit(request.path)
        if parts.path != PODS:
            return None
        position = parse_qs(parts.query).get("continue", [""])[0]
        asked.append(position)
        fitting = [step for step in steps if _fits(step["request"], position)]
        # Where one request is answered twice in the case, the first answer is for the first time it is asked.
        step = fitting[min(asked.count(position), len(fitting)) - 1]
        return Reply(step["status"], json.dumps(step["body"]).encode())

    return plan


def _fits(wanted: str, position: str) -> bool:
    if wanted.startswith("*"):
        return bool(position)
    return parse_qs(wanted.lstrip("?")).get("continue", [""])[0] == position


def audited(server: ApiServer, folder: Path, name: str) -> tuple[Run, list[str], list[str]]:
    """The run, the positions it asked for, and the pods that were judged."""
    asked: list[str] = []
    with proxy_before(server.url) as proxy:
        proxy.plan = replayed(name, asked)
        kubeconfig = server.kubeconfig(ADMIN, url=proxy.url, name="proxied")
        done = run(folder / "out", "--context", "test", "--kubeconfig", kubeconfig, "--no-cache")
    with gzip.open(done.folder / "population.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["rule"] == "pod/host-namespaces"]
    return done, asked, [row["name"] for row in rows if row["kind"] == "Pod"]


def test_every_object_once_after_a_restart(server: ApiServer, tmp_path: Path) -> None:
    want = expected()["restart.json"]
    done, asked, judged = audited(server, tmp_path, "restart.json")
    assert sorted(judged) == ["p1", "p2", "p3", "p4", "p5"]
    assert len(judged) == want["objects"]
    assert len(judged) - len(set(judged)) == want["duplicates"]
    assert asked == ["", "t1", "", "t2", "t3"], "begun again without the token"
    [notice] = [n for n in done.report["notices"] if n["code"] == "list_restarted"]
    assert "not of one moment" in notice["message"]


def test_a_list_that_always_expires_is_given_up_and_not_clean(server: ApiServer, tmp_path: Path) -> None:
    want = expected()["always-410.json"]
    done, asked, _ = audited(server, tmp_path, "always-410.json")
    assert len(asked) <= want["requests_at_most"]
    assert (done.code != 0) is want["exit_code_nonzero"]
    [gap] = [gap for gap in done.gaps if gap["kinds"] == ["Pod"]]
    assert gap["source"] == PODS
    held = [row for row in done.report["controls"] if row["fleet"]["gaps"]]
    assert held
    assert not [row for row in held if row["fleet"]["status"] in {"satisfied", "not_applicable"}]
