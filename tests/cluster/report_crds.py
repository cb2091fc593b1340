"""Definitions of the two report APIs, from the Go modules of their authors."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
import urllib.error
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.server import ApiServer
from tests.shared_data import CHECKOUT

_MODULES = {
    "github.com/kyverno/kyverno@v1.19.1": "config/crds/policyreport/*.yaml",
    "github.com/openreports/reports-api@v0.2.1": "config/crd/*.yaml",
}
_READY_SECONDS = 30


def report_crds() -> list[dict[str, Any]]:
    """All definitions; skips the test where the modules can't be had."""
    found: list[dict[str, Any]] = []
    for module, pattern in _MODULES.items():
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [str(CHECKOUT / "scripts" / "with-go"), "go", "mod", "download", "-json", module],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode:
            pytest.skip(f"{module} can't be had: {done.stdout[-300:]}{done.stderr[-300:]}")
        files = sorted(Path(json.loads(done.stdout)["Dir"]).glob(pattern))
        assert files
        found += [yaml.safe_load(file.read_text(encoding="utf-8")) for file in files]
    return found


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
