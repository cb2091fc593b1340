"""The bundle cases of sigstore/sigstore-conformance, each with its expected result in its name, offline."""

from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from audit.collect.artifacts.reading import Registry, look_at
from audit.collect.artifacts.signatures.factory import readers
from audit.collect.artifacts.signatures.settings import SignatureSettings
from tests.shared_data import shared_dir

pytestmark = pytest.mark.corpora
SIGNER: dict[str, Any] = {
    "name": "beacon",
    "issuer": "https://token.actions.githubusercontent.com",
    "subject": {"glob": "https://github.com/sigstore-conformance/**"},
}


def verdict(case: Path, shared: Path, folder: Path) -> tuple[str, str]:
    artifact = case / "artifact"
    shutil.copy(artifact if artifact.exists() else shared / "a.txt", folder / "a.txt")
    shutil.copy(case / "bundle.sigstore.json", folder / "a.txt.sigstore.json")
    keyed = (case / "key.pub").exists()
    policy: dict[str, Any] = {"name": "p", "artifacts": ["**"], "any_of": [SIGNER]}
    config: dict[str, Any] = {"policies": [policy]}
    if (case / "trusted_root.json").exists():
        config["trusted_root"] = {"path": str(case / "trusted_root.json")}
    if keyed:
        config["keys"] = [{"name": "key", "path": str(case / "key.pub")}]
        policy["any_of"] = [{"name": "key", "key": "key"}]
    made = readers(msgspec.convert(config, SignatureSettings), base=folder, now=dt.datetime.now(dt.UTC))
    found = look_at(folder / "a.txt.sigstore.json", "a.txt.sigstore.json", max_bytes=64 << 20)
    (reader,) = Registry(made).readers_of(found)
    spec = next(one.spec for one in reader.read(found) if one.kind == "SignatureBundle")
    return spec["status"], spec["code"]


def test_every_case_ends_as_its_name_says(tmp_path: Path) -> None:
    shared = shared_dir("corpora", "sigstore-conformance", "test", "assets", "bundle-verify")
    wrong: dict[str, tuple[str, str]] = {}
    count = 0
    for case in sorted(path for path in shared.iterdir() if path.is_dir()):
        folder = tmp_path / case.name
        folder.mkdir()
        found = verdict(case, shared, folder)
        count += 1
        if (found[0] == "verified") is case.name.endswith("_fail"):
            wrong[case.name] = found
    print(f"\n{count} cases, {count - len(wrong)} as expected")
    assert not wrong
    assert count >= 70
