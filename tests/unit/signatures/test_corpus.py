"""Bundles of the sigstore project's own tests, and the shapes of the shared cases: every file has its verdict."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from audit.collect.artifacts.reading import Artifact, ArtifactReader, Registry, look_at
from audit.collect.artifacts.signatures.factory import readers
from audit.collect.artifacts.signatures.settings import SignatureSettings
from audit.collect.artifacts.signatures.verdicts import CODES
from tests.shared_data import shared_dir

pytestmark = pytest.mark.corpora
NOW = dt.datetime(2026, 11, 30, tzinfo=dt.UTC)
GITHUB, LOGIN = "https://token.actions.githubusercontent.com", "https://github.com/login/oauth"
SIGNERS = [
    {
        "name": "alexis",
        "issuer": "https://accounts.google.com",
        "subject": "alexis.challande@trailofbits.com",
    },
    {"name": "python", "issuer": "https://accounts.google.com", "subject": "thomas@python.org"},
    {"name": "a", "issuer": LOGIN, "subject": "a@tny.town"},
    {"name": "william", "issuer": LOGIN, "subject": "william@yossarian.net"},
    {"name": "jku", "issuer": LOGIN, "subject": "jku@goto.fi"},
    {
        "name": "trailofbits",
        "issuer": GITHUB,
        "subject": {"glob": "https://github.com/trailofbits/**@refs/tags/*"},
    },
    {
        "name": "conformance",
        "issuer": GITHUB,
        "subject": {"glob": "https://github.com/sigstore-conformance/**"},
    },
]
# File: what upstream expects of it, the root that it belongs to, and our verdict.
EXPECTED: dict[str, tuple[bool, str, str]] = {
    "a.dsse.staging-rekor-v2.txt.sigstore.json": (True, "sigstage", "subject_mismatch"),
    "bundle.txt.sigstore": (True, "sigstage", "verified"),
    "bundle_cve_2022_36056.txt.sigstore": (False, "sigstage", "log_entry_differs"),
    "bundle_invalid_version.txt.sigstore": (False, "sigstage", "malformed"),
    "bundle_no_cert_v1.txt.sigstore": (False, "sigstage", "no_material"),
    "bundle_no_checkpoint.txt.sigstore": (False, "sigstage", "missing_checkpoint"),
    "bundle_no_log_entry.txt.sigstore": (False, "sigstage", "no_log_entry"),
    "bundle_v3.txt.sigstore": (True, "sigstage", "verified"),
    "bundle_v3_alt.txt.sigstore": (True, "sigstage", "verified"),
    "bundle_v3_github.whl.sigstore": (True, "sigstore", "verified"),
    "bundle_v3_no_signed_time.txt.sigstore.json": (False, "sigstore", "missing_promise"),
    "integration/Python-3.12.5.tgz.sigstore": (True, "sigstore", "verified"),
    "integration/bundle_v3.txt.sigstore": (True, "sigstage", "verified"),
    "staging-rekor-v2.txt.sigstore.json": (True, "sigstage", "verified"),
    "tsa/bundle.duplicate.sigstore": (False, "tsa", "duplicate_timestamp"),
    "tsa/bundle.many_timestamp.sigstore": (False, "tsa", "too_many_timestamps"),
    "tsa/bundle.txt.late_timestamp.sigstore": (False, "sigstage", "signed_after_expiry"),
    "tsa/bundle.txt.sigstore": (True, "tsa", "verified"),
    # Bare signatures with a certificate beside them: only the log's server could say when they were made.
    **{
        f"{name}.txt.sig": (False, "sigstore", "certificate_without_log")
        for name in ("a", "b", "bad", "bundle", "c", "offline-rekor")
    },
}
# Where we say less than upstream expects, each with its reason.
DIFFERENCES = {
    "a.dsse.staging-rekor-v2.txt.sigstore.json": "its statement is about a.txt and not about the file it is named after",
}


def instances(folder: Path, assets: Path) -> dict[str, Path]:
    spec = find_spec("sigstore")
    assert spec is not None
    assert spec.origin is not None
    store = Path(spec.origin).parent / "_store"
    roots = {
        name: store / quote(f"https://tuf-repo-cdn.{name}.dev", safe="") / "trusted_root.json"
        for name in ("sigstore", "sigstage")
    }
    config = json.loads((assets / "tsa" / "trust_config.json").read_text(encoding="utf-8"))
    roots["tsa"] = folder / "tsa.json"
    roots["tsa"].write_text(json.dumps(config["trustedRoot"]), encoding="utf-8")
    return roots


def made(root: Path) -> Registry:
    policy = {"name": "p", "artifacts": ["**"], "any_of": SIGNERS}
    settings = msgspec.convert({"policies": [policy], "trusted_root": {"path": str(root)}}, SignatureSettings)
    return Registry(readers(settings, base=Path("/"), now=NOW))


def artifacts(assets: Path) -> list[Artifact]:
    return [
        look_at(file, file.relative_to(assets).as_posix(), max_bytes=64 << 20)
        for file in sorted(assets.rglob("*"))
        if file.is_file()
    ]


def code_of(found: tuple[ArtifactReader, ...], artifact: Artifact) -> str:
    (reader,) = found
    return next(str(one.spec["code"]) for one in reader.read(artifact) if one.kind == "SignatureBundle")


def test_every_bundle_of_the_corpus_has_its_verdict(tmp_path: Path) -> None:
    assets = shared_dir("corpora", "sigstore-bundles", "test", "assets")
    registries = {name: made(root) for name, root in instances(tmp_path, assets).items()}
    verdicts: dict[str, dict[str, str]] = {}
    for artifact in artifacts(assets):
        for name, registry in registries.items():
            if found := registry.readers_of(artifact):
                verdicts.setdefault(artifact.label, {})[name] = code_of(found, artifact)
    assert set(verdicts) == set(EXPECTED)
    assert {file: verdicts[file][root] for file, (_, root, _) in EXPECTED.items()} == {
        file: code for file, (_, _, code) in EXPECTED.items()
    }
    good = {file for file, codes in verdicts.items() if "verified" in codes.values()}
    wanted = {file for file, (valid, _, _) in EXPECTED.items() if valid}
    print(f"\n{len(verdicts)} files, {len(good)} verified", dict(Counter(c for _, _, c in EXPECTED.values())))
    for file in sorted(wanted - good):
        print(f"upstream accepts, we do not: {file}: {DIFFERENCES[file]}")
    assert wanted - good == set(DIFFERENCES)
    assert not good - wanted, "accepted though it is bad"


# A digest of three bytes is none, so most of the dummies are malformed.
SHAPES = {
    "v01-chain-message.json": "malformed",
    "v03-cert-dsse.json": "bad_certificate",
    "v03-key-message.json": "malformed",
    "v03-old-media-type.json": "malformed",
    "v03-both-contents.json": "two_contents",
    "v99.json": "unsupported_version",
    "legacy-cosign.json": "no_artifact",
    "bare-dsse.json": "no_key_configured",
    "empty.json": "malformed",
}


def test_every_shape_is_named_and_none_passes(tmp_path: Path) -> None:
    case = shared_dir("cases", "24-sigstore-bundle-shapes")
    expected: dict[str, Any] = json.loads((case / "expect.json").read_text(encoding="utf-8"))
    assert expected.pop("any_pass") is False
    (bundles, *_) = readers(None, base=tmp_path, now=NOW)
    found: dict[str, str] = {}
    for name, shape in expected.items():
        (facts,) = bundles.read(look_at(case / name, name, max_bytes=64 << 20))
        spec = facts.spec
        found[name] = spec["code"]
        assert spec["status"] in ("invalid", "could_not_check")
        assert CODES[spec["code"]][0].value == spec["status"]
        assert spec["identity"] is None
        if isinstance(shape, list):
            form = spec["form"]
            assert [form["version"], form["material"], form["content"], form["time"]] == shape, name
    assert found == SHAPES
