"""Documents that are signed, or laid out, and say odd things: an answer or a gap, never a crash."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.collect.artifacts.reading import UnreadError
from tests.signatures.image_builder import LayoutBuilder, keyed_bundle, keyed_envelope
from tests.signatures.signing import Signing, ecdsa
from tests.signatures.sigstore_chain import NOW, b64, canonical
from tests.signatures.workbench import Workbench

DIGEST = "sha256:" + "ab" * 32
WORDS = [
    *(
        "_type",
        "subject",
        "name",
        "digest",
        "sha256",
        "predicateType",
        "predicate",
        "resources",
        "serialization",
    ),
    *(
        "algorithm",
        "method",
        "buildDefinition",
        "externalParameters",
        "workflow",
        "source",
        "runDetails",
        "builder",
    ),
    *(
        "id",
        "invocation",
        "configSource",
        "uri",
        "parameters",
        "ignore_paths",
        "buildType",
        "resolvedDependencies",
    ),
    *(
        "manifests",
        "annotations",
        "mediaType",
        "config",
        "layers",
        "subject",
        "platform",
        "os",
        "critical",
        "image",
    ),
    *(
        "kind",
        "apiVersion",
        "spec",
        "data",
        "hash",
        "value",
        "signature",
        "content",
        "publicKey",
        "signatures",
    ),
    *("payloadHash", "envelope", "verifier", "docker-manifest-digest", "type", "Payload", "body", "logID"),
]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False, width=16)
    | st.sampled_from(
        ["", ".", "..", "files", "sha256", "ab" * 32, DIGEST, "https://a.b/c@refs/x", "git+", "\0", "é"]
    )
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=25,
)


@pytest.fixture(scope="module")
def team() -> Signing:
    return ecdsa()


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, team: Signing) -> Workbench:
    bench = Workbench(tmp_path_factory.mktemp("odd"))
    bench.put("team.pub", team.pem)
    bench.config |= {
        "keys": [{"name": "team", "path": "team.pub"}],
        "policies": [{"name": "p", "artifacts": ["**"], "any_of": [{"name": "team", "key": "team"}]}],
    }
    return bench


def facts_of(bench: Workbench, name: str) -> list[Any]:
    return [json.loads(json.dumps(one.document())) for one in bench.facts(name)]


@settings(max_examples=200, deadline=None)
@given(
    predicate=VALUES,
    kind=st.sampled_from(
        [
            "https://slsa.dev/provenance/v1",
            "https://slsa.dev/provenance/v0.2",
            "https://model_signing/signature/v1.0",
            "x",
        ]
    ),
    subjects=VALUES,
    whole=st.booleans(),
)
def test_any_signed_statement(
    bench: Workbench, team: Signing, predicate: Any, kind: str, subjects: Any, whole: bool
) -> None:
    named = [{"name": "model", "digest": {"sha256": "ab" * 32}}] if whole else subjects
    document = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": named,
        "predicateType": kind,
        "predicate": predicate,
    }
    envelope = keyed_envelope(json.dumps(document).encode(), team)
    bench.put("x.intoto.jsonl", json.dumps(envelope).encode())
    found = facts_of(bench, "x.intoto.jsonl")
    assert found[0]["spec"]["code"] in {"verified", "bad_statement"}


@settings(max_examples=200, deadline=None)
@given(
    body=VALUES,
    kind=st.sampled_from([("hashedrekord", "0.0.1"), ("hashedrekord", "0.0.2"), ("dsse", "0.0.1")]),
)
def test_any_body_of_a_log_entry(bench: Workbench, team: Signing, body: Any, kind: tuple[str, str]) -> None:
    document = {"apiVersion": kind[1], "kind": kind[0], "spec": body}
    bundle = keyed_bundle(data=b"x", signing=team)
    bundle["verificationMaterial"]["tlogEntries"] = [bench.chain.entry(document, NOW)]
    bench.put("y.sigstore.json", bundle)
    assert facts_of(bench, "y.sigstore.json")[0]["spec"]["code"] == "log_entry_differs"


@settings(max_examples=200, deadline=None)
@given(index=VALUES, manifest=VALUES, docker=VALUES)
def test_any_layout(
    tmp_path_factory: pytest.TempPathFactory, bench: Workbench, index: Any, manifest: Any, docker: Any
) -> None:
    layout = LayoutBuilder()
    layout.image()
    layout.json(manifest, "x")
    descriptor = {"mediaType": "x", "digest": next(reversed(layout.blobs)), "annotations": index}
    layout.index += [descriptor, *(index if isinstance(index, list) else [index])]
    files = {**layout.files(), "manifest.json": json.dumps(docker).encode()}
    folder = tmp_path_factory.mktemp("layout")
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    here = Workbench(folder)
    here.config = {}
    with suppress(UnreadError):
        assert all(one["spec"]["status"] != "verified" for one in facts_of(here, "index.json"))
    (folder / "index.json").unlink()
    (folder / "blobs").rename(folder / "elsewhere")


@settings(max_examples=150, deadline=None)
@given(promise=VALUES, certificate=LEAVES)
def test_any_old_promise(bench: Workbench, promise: Any, certificate: Any) -> None:
    bench.put("old.bin", b"x")
    document = {"base64Signature": b64(b"x" * 70), "cert": certificate, "rekorBundle": promise}
    bench.put("old.bin.bundle", canonical(document))
    assert facts_of(bench, "old.bin.bundle")[0]["spec"]["status"] != "verified"


def test_a_root_that_says_odd_things_is_unreadable(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    good = bench.chain.trusted_root()
    bench.put("m", b"x")
    bench.put("m.sigstore.json", bench.chain.bundle(b"x"))
    noise = b64(b"noise")
    for part, value in {
        "mediaType": "x",
        "tlogs": [{}],
        "certificateAuthorities": [{"certChain": {}, "validFor": {}}],
        "ctlogs": 5,
        "timestampAuthorities": [[]],
    }.items():
        bench.root({**good, part: value})
        assert bench.spec("m.sigstore.json")["code"] == "root_unreadable", part
    for path in (("tlogs", "publicKey"), ("ctlogs", "publicKey")):
        broken = json.loads(json.dumps(good))
        broken[path[0]][0][path[1]]["rawBytes"] = noise
        bench.root(broken)
        assert bench.spec("m.sigstore.json")["code"] == "root_unreadable", path
    broken = json.loads(json.dumps(good))
    broken["certificateAuthorities"][0]["certChain"]["certificates"][0]["rawBytes"] = noise
    bench.root(broken)
    assert bench.spec("m.sigstore.json")["code"] == "root_unreadable"
