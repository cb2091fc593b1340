"""Definitions of the two report APIs, installed in the API server of the tests."""

from __future__ import annotations

import time
import urllib.error
from typing import Any

from tests.cluster.definitions import definitions
from tests.cluster.server import ApiServer

_READY_SECONDS = 30


def report_crds() -> list[dict[str, Any]]:
    """All definitions; skips the test where the modules can't be had."""
    return [
        *definitions("github.com/kyverno/kyverno@v1.19.1", "config/crds/policyreport/*.yaml"),
        *definitions("github.com/openreports/reports-api@v0.2.1", "config/crd/*.yaml"),
    ]


def install(server: ApiServer, crds: list[dict[str, Any]]) -> None:
    """Create the definitions and wait until each is served."""
    server.create(*crds)
    for crd in crds:
        spec = crd["spec"]
        version = next(one["name"] for one in spec["versions"] if one["served"])
        path = f"/apis/{spec['group']}/{version}/{spec['names']['plural']}"
        end = time.monotonic() + _READY_SECONDS
        while True:
            try:
                server.ask("GET", path)
                break
            except urllib.error.HTTPError:
                assert time.monotonic() < end, path
                time.sleep(0.2)
