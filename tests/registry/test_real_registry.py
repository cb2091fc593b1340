"""Images pushed to a real registry, fetched as an audit does, and judged as the same images on disk are."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from audit.collect.artifacts.registry.fetching import MAX_SIDE
from tests.registry.bench import facts_of, fetched, verdict
from tests.registry.serving import Registry, registry
from tests.signatures.image_builder import (
    COSIGN_SIGN,
    DSSE,
    OCI_INDEX,
    LayoutBuilder,
    keyed_bundle,
    keyed_envelope,
    statement,
)
from tests.signatures.signing import Signing, ecdsa
from tests.signatures.workbench import OURS, Workbench

POLICY: dict[str, Any] = {
    "name": "images",
    "artifacts": ["**"],
    "any_of": [{"name": "team", "key": "team"}],
    "required": True,
}
SPDX = {
    "spdxVersion": "SPDX-2.3",
    "dataLicense": "CC0-1.0",
    "SPDXID": "SPDXRef-DOCUMENT",
    "name": "app",
    "documentNamespace": "https://example.com/app",
    "creationInfo": {"created": "2026-11-01T00:00:00Z", "creators": ["Tool: test"]},
    "packages": [],
}


@pytest.fixture(scope="module")
def modern() -> Iterator[Registry]:
    """With the referrers API."""
    with registry() as running:
        yield running


@pytest.fixture(scope="module")
def older() -> Iterator[Registry]:
    """Without it."""
    with registry(referrers=False) as running:
        yield running


@pytest.fixture
def team() -> Signing:
    return ecdsa()


@pytest.fixture
def bench(tmp_path: Path, team: Signing) -> Workbench:
    bench = Workbench(tmp_path)
    bench.put("team.pub", team.pem)
    bench.config |= {"keys": [{"name": "team", "path": "team.pub"}], "policies": [POLICY]}
    return bench


Attach = Callable[[LayoutBuilder, str, Signing, Workbench], None]


def nothing(layout: LayoutBuilder, image: str, team: Signing, bench: Workbench) -> None:
    pass


def tag(layout: LayoutBuilder, image: str, team: Signing, bench: Workbench) -> None:
    layout.simple_signature(image, team, attached_to=image)


def tag_by_a_stranger(layout: LayoutBuilder, image: str, team: Signing, bench: Workbench) -> None:
    layout.simple_signature(image, ecdsa(), attached_to=image)


def tag_of_another_image(layout: LayoutBuilder, image: str, team: Signing, bench: Workbench) -> None:
    layout.simple_signature("sha256:" + "0" * 64, team, attached_to=image)


def referrer(layout: LayoutBuilder, image: str, team: Signing, bench: Workbench) -> None:
    layout.referrer(image, keyed_bundle(envelope=keyed_envelope(statement(image), team)))


def keyless_referrer(layout: LayoutBuilder, image: str, team: Signing, bench: Workbench) -> None:
    bench.config["policies"] = [{**OURS, "required": True}]
    layout.referrer(image, bench.chain.bundle(statement(image), statement=True))


def provenance_as_a_tag(layout: LayoutBuilder, image: str, team: Signing, bench: Workbench) -> None:
    predicate = {
        "buildDefinition": {"buildType": "https://example.com/build", "externalParameters": {}},
        "runDetails": {"builder": {"id": "https://ci.example.com/builder"}},
    }
    payload = statement(image, "https://slsa.dev/provenance/v1", predicate)
    layer = layout.json(keyed_envelope(payload, team), DSSE)
    descriptor = layout.side([layer])
    name = image.replace(":", "-") + ".att"
    layout.index.append({**descriptor, "annotations": {"org.opencontainers.image.ref.name": name}})
    tag(layout, image, team, bench)


CASES: dict[str, tuple[Attach, str]] = {
    "nothing": (nothing, "unsigned"),
    "tag": (tag, "verified"),
    "tag by a stranger": (tag_by_a_stranger, "no_configured_key_verifies"),
    "tag of another image": (tag_of_another_image, "image_mismatch"),
    "referrer": (referrer, "verified"),
    "keyless referrer": (keyless_referrer, "verified"),
    "provenance as a tag": (provenance_as_a_tag, "verified"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_registry_and_a_folder_give_the_same_facts(
    modern: Registry, bench: Workbench, team: Signing, case: str
) -> None:
    attach, code = CASES[case]
    layout = LayoutBuilder()
    image = layout.image(case)
    attach(layout, image, team, bench)
    repository = case.replace(" ", "-")
    modern.push(repository, layout)
    documents, troubles = facts_of(bench, fetched(modern.host, f"{repository}@{image}"))
    assert not troubles

    layout.write(bench.folder / "saved")
    on_disk: dict[str, list[dict[str, Any]]] = {}
    for facts in bench.facts("saved"):
        on_disk.setdefault(facts.kind, []).append(json.loads(json.dumps(facts.spec)))
    assert documents.keys() == on_disk.keys()
    assert ("Provenance" in documents) is (case == "provenance as a tag")
    for kind, specs in on_disk.items():
        for here, there in zip(specs, documents[kind], strict=True):
            differ = {key for key in here.keys() | there.keys() if here.get(key) != there.get(key)}
            assert differ <= {"facts", "names", "registry", "notices"}
    [spec] = documents["ImageSignatures"]
    assert spec["code"] == code
    assert spec["registry"] == {
        "host": modern.host,
        "repository": repository,
        "tag": None,
        "resolved": "pinned",
    }


def test_a_tag_is_resolved_and_said_to_be(modern: Registry, bench: Workbench, team: Signing) -> None:
    layout = LayoutBuilder()
    image = layout.image("by tag")
    tag(layout, image, team, bench)
    modern.push("acme/app", layout, tags={"1.2": image})
    [spec] = facts_of(bench, fetched(modern.host, "acme/app:1.2"))[0]["ImageSignatures"]
    assert (spec["status"], spec["digest"]) == ("verified", image)
    assert spec["facts"] == f"{modern.host}/acme/app:1.2@{image}"
    assert spec["registry"]["resolved"] == "tag"
    assert [notice["code"] for notice in spec["notices"]] == ["tag_resolved"]
    pinned = facts_of(bench, fetched(modern.host, f"acme/app:0@{image}"))[0]["ImageSignatures"][0]
    assert (pinned["status"], pinned["notices"]) == ("verified", []), "a tag beside a digest decides nothing"


def test_an_older_registry_has_a_tag_instead_of_the_referrers(
    older: Registry, bench: Workbench, team: Signing
) -> None:
    layout = LayoutBuilder()
    image = layout.image("older")
    referrer(layout, image, team, bench)
    older.push("app", layout)
    assert verdict(bench, fetched(older.host, f"app@{image}")) == ("unsigned", "unsigned")

    [side] = [
        (digest, data)
        for digest, data in layout.blobs.items()
        if b'"subject"' in data and b'"layers"' in data
    ]
    listed = {
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "artifactType": "application/vnd.dev.sigstore.bundle.v0.3+json",
        "digest": side[0],
        "size": len(side[1]),
    }
    index = {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": [listed]}
    older.put_manifest("app", image.replace(":", "-"), json.dumps(index).encode())
    assert verdict(bench, fetched(older.host, f"app@{image}")) == ("verified", "verified")


def test_a_bill_of_materials_beside_an_image_is_read(modern: Registry, bench: Workbench) -> None:
    layout = LayoutBuilder()
    image = layout.image("with sbom")
    descriptor = layout.side([layout.json(SPDX, "text/spdx+json")])
    name = image.replace(":", "-") + ".sbom"
    layout.index.append({**descriptor, "annotations": {"org.opencontainers.image.ref.name": name}})
    modern.push("with-sbom", layout)
    documents, troubles = facts_of(bench, fetched(modern.host, f"with-sbom@{image}"))
    assert not troubles
    [sbom] = documents["Sbom"]
    assert (sbom["standard"], sbom["version"]) == ("SPDX", "2.3")
    assert sbom["file"]["sha256"] in sbom["facts"]
    assert documents["ImageSignatures"][0]["code"] == "unsigned"


def test_what_is_no_bill_of_materials_is_a_gap_and_no_verdict(modern: Registry, bench: Workbench) -> None:
    layout = LayoutBuilder()
    image = layout.image("with no sbom")
    descriptor = layout.side([layout.json({"hello": 1}, "application/vnd.cyclonedx+json")])
    name = image.replace(":", "-") + ".sbom"
    layout.index.append({**descriptor, "annotations": {"org.opencontainers.image.ref.name": name}})
    modern.push("no-sbom", layout)
    documents, troubles = facts_of(bench, fetched(modern.host, f"no-sbom@{image}"))
    assert "Sbom" not in documents
    assert [trouble.about_sbom for trouble in troubles] == [True]
    assert documents["ImageSignatures"][0]["code"] == "unsigned"


def test_layers_are_never_asked_for(modern: Registry, bench: Workbench, team: Signing) -> None:
    """A registry whose layers are gone answers all that is asked."""
    layout = LayoutBuilder()
    image = layout.image("without layers")
    tag(layout, image, team, bench)
    layers = [digest for digest, data in layout.blobs.items() if data[:2] == b"\x1f\x8b"]
    assert layers
    modern.push("no-layers", layout)
    for digest in layers:
        connection = http.client.HTTPConnection(modern.host)
        connection.request("DELETE", f"/v2/no-layers/blobs/{digest}")
        assert connection.getresponse().status == 202
        connection.close()
    found = fetched(modern.host, f"no-layers@{image}")
    assert not found.troubles
    assert not {*layers} & found.files.blobs.keys()
    assert verdict(bench, found) == ("verified", "verified")


def test_more_than_anybody_attaches_is_not_read_and_not_unsigned(
    modern: Registry, bench: Workbench, team: Signing
) -> None:
    layout = LayoutBuilder()
    image = layout.image("crowded")
    for number in range(MAX_SIDE // 2 + 2):
        about = statement(image, f"https://example.com/{number}")
        layout.referrer(image, keyed_bundle(envelope=keyed_envelope(about, team)))
    modern.push("crowded", layout)
    assert verdict(bench, fetched(modern.host, f"crowded@{image}")) == (
        "could_not_check",
        "too_many_signatures",
    )


def test_what_is_attached_and_not_understood_is_named(modern: Registry, bench: Workbench) -> None:
    layout = LayoutBuilder()
    image = layout.image("notation")
    foreign = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "artifactType": "application/vnd.cncf.notary.signature",
        "config": layout.json({}, "application/vnd.oci.empty.v1+json"),
        "layers": [layout.blob(b"jws", "application/jose+json")],
        "subject": {"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": image, "size": 1},
    }
    layout.json(foreign, "application/vnd.oci.image.manifest.v1+json")
    modern.push("notation", layout)
    [spec] = facts_of(bench, fetched(modern.host, f"notation@{image}"))[0]["ImageSignatures"]
    assert spec["notices"][0]["code"] == "attachment_not_read"
    assert "application/vnd.cncf.notary.signature" in spec["notices"][0]["message"]


def test_an_image_that_is_not_there(modern: Registry, bench: Workbench) -> None:
    for name in ("nobody/nothing:1", f"nobody/nothing@sha256:{'0' * 64}"):
        found = fetched(modern.host, name)
        assert verdict(bench, found) == ("could_not_check", "registry_has_not")


def test_an_index_of_platforms_is_judged_as_a_whole(
    modern: Registry, bench: Workbench, team: Signing
) -> None:
    layout = LayoutBuilder()
    parts = [layout.image(name, listed=False) for name in ("amd64", "arm64")]
    manifests = [
        {
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "digest": digest,
            "size": len(layout.blobs[digest]),
            "platform": {"os": "linux", "architecture": name},
        }
        for name, digest in zip(("amd64", "arm64"), parts, strict=True)
    ]
    index = layout.json({"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": manifests}, OCI_INDEX)
    layout.simple_signature(index["digest"], team, attached_to=index["digest"])
    modern.push("platforms", layout, tags={"1": index["digest"]})
    [spec] = facts_of(bench, fetched(modern.host, "platforms:1"))[0]["ImageSignatures"]
    assert spec["code"] == "verified"
    assert [one["platform"] for one in spec["platforms"]] == ["linux/amd64", "linux/arm64"]
    assert verdict(bench, fetched(modern.host, f"platforms@{parts[0]}")) == ("unsigned", "unsigned")


def test_a_statement_of_another_type_signs_nothing(modern: Registry, bench: Workbench, team: Signing) -> None:
    layout = LayoutBuilder()
    image = layout.image("scanned")
    about = statement(image, "https://example.com/scan")
    layout.referrer(image, keyed_bundle(envelope=keyed_envelope(about, team)))
    modern.push("scanned", layout)
    [spec] = facts_of(bench, fetched(modern.host, f"scanned@{image}"))[0]["ImageSignatures"]
    assert (spec["code"], len(spec["attestations"])) == ("unsigned", 1)
    assert spec["attestations"][0]["statement"]["predicate_type"] != COSIGN_SIGN
