"""Bundles of a chain of our own: good ones are verified, and each bad one is refused for its own reason."""

from __future__ import annotations

import base64
import copy
import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID

from audit.collect.artifacts.signatures.verdicts import CODES
from tests.signatures.sigstore_chain import (
    ISSUER,
    NOW,
    SUBJECT,
    V01,
    V02,
    V03,
    V03_OLD,
    Chain,
    b64,
    canonical,
    iso,
    new_key,
    sha256,
    sign,
)
from tests.signatures.workbench import Workbench

DATA = b"weights of a model"


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    bench = Workbench(tmp_path)
    bench.put("model.bin", DATA)
    return bench


def verdict(bench: Workbench, bundle: Any, name: str = "model.bin.sigstore.json") -> dict[str, Any]:
    bench.put(name, bundle)
    return bench.spec(name)


@pytest.mark.parametrize("media_type", [V01, V02, V03, V03_OLD])
def test_a_good_bundle_is_verified_in_every_version(bench: Workbench, media_type: str) -> None:
    spec = verdict(bench, bench.chain.bundle(DATA, media_type=media_type))
    assert (spec["status"], spec["code"], spec["signature_valid"]) == ("verified", "verified", True)
    assert (spec["identity"]["subject"], spec["identity"]["issuer"]) == (SUBJECT, ISSUER)
    assert spec["identity"]["key"]["algorithm"] == "ecdsa-secp256r1"
    assert spec["signers"] == ["release"]
    assert spec["policy"] == "ours"
    assert spec["signed"] == [f"sha256:{sha256(DATA).hex()}"]
    assert spec["log"]["index"] == 3
    assert spec["log"]["integrated_time"] == "2026-06-01T12:00:05+00:00"
    assert spec["time"] == {"source": "log", "at": "2026-06-01T12:00:05+00:00"}
    assert spec["artifact"] == {"status": "matched", "name": "model.bin"}
    assert spec["root"]["source"] == "file"
    assert spec["form"]["content"] == "message"


@pytest.mark.parametrize("suffix", [".sigstore.json", ".sigstore", ".bundle"])
def test_every_usual_name_is_read(bench: Workbench, suffix: str) -> None:
    spec = verdict(bench, bench.chain.bundle(DATA), f"model.bin{suffix}")
    assert (spec["status"], spec["artifact"]["name"]) == ("verified", "model.bin")


def test_a_bundle_of_any_name_is_known_by_its_content(bench: Workbench) -> None:
    spec = verdict(bench, bench.chain.bundle(DATA), "something.json")
    assert (spec["status"], spec["artifact"]["status"]) == ("verified", "absent")


def test_bundles_in_lines_are_judged_one_by_one(bench: Workbench) -> None:
    good, bad = bench.chain.bundle(DATA), bench.chain.bundle(b"other")
    bench.put("model.bin.jsonl", b"\n".join(json.dumps(one).encode() for one in (good, bad)) + b"\n")
    facts = bench.facts("model.bin.jsonl")
    assert [(one.name, one.spec["code"]) for one in facts] == [
        ("model.bin.jsonl#1", "verified"),
        ("model.bin.jsonl#2", "digest_mismatch"),
    ]


# ---- one thing wrong at a time


def entry_of(bundle: dict[str, Any]) -> dict[str, Any]:
    return bundle["verificationMaterial"]["tlogEntries"][0]  # type: ignore[no-any-return]


def flipped(text: str, at: int = 8) -> str:
    raw = bytearray(base64.b64decode(text))
    raw[at] ^= 1
    return b64(bytes(raw))


Change = Callable[[Chain, dict[str, Any]], Any]


def change(function: Callable[[dict[str, Any]], Any]) -> Change:
    return lambda chain, bundle: [bundle, function(bundle)][0]


def _resigned_checkpoint(
    chain: Chain, bundle: dict[str, Any], *, size: int | None, root: bytes | None
) -> Any:
    proof = entry_of(bundle)["inclusionProof"]
    proof["checkpoint"]["envelope"] = chain.checkpoint(
        size or int(proof["treeSize"]), root or base64.b64decode(proof["rootHash"])
    )
    return bundle


def _resigned_promise(chain: Chain, bundle: dict[str, Any], at: dt.datetime) -> Any:
    entry = entry_of(bundle)
    entry["integratedTime"] = str(int(at.timestamp()))
    promise = {
        "body": entry["canonicalizedBody"],
        "integratedTime": int(at.timestamp()),
        "logID": base64.b64decode(entry["logId"]["keyId"]).hex(),
        "logIndex": int(entry["logIndex"]),
    }
    signature = sign(chain.log_key, canonical(promise))
    entry["inclusionPromise"]["signedEntryTimestamp"] = b64(signature)
    return bundle


def _swapped_certificate(chain: Chain, bundle: dict[str, Any]) -> Any:
    other = chain.bundle(b"something else")
    bundle["verificationMaterial"]["certificate"] = other["verificationMaterial"]["certificate"]
    return bundle


def _swapped_entry(chain: Chain, bundle: dict[str, Any]) -> Any:
    other = chain.bundle(b"something else")
    bundle["verificationMaterial"]["tlogEntries"] = other["verificationMaterial"]["tlogEntries"]
    return bundle


def _set(path: str, value: Any) -> Change:
    def apply(bundle: dict[str, Any]) -> None:
        place: Any = bundle
        *way, last = path.split("/")
        for key in way:
            place = place[int(key) if key.isdigit() else key]
        place[last] = value

    return change(apply)


def _drop(path: str) -> Change:
    def apply(bundle: dict[str, Any]) -> None:
        place: Any = bundle
        *way, last = path.split("/")
        for key in way:
            place = place[int(key) if key.isdigit() else key]
        del place[last]

    return change(apply)


ENTRY = "verificationMaterial/tlogEntries/0"
BROKEN: dict[str, tuple[str, Change]] = {
    "truncated": ("malformed", lambda _, b: json.dumps(b).encode()[:-40]),
    "no json at all": ("malformed", lambda *_: b"\x00\x01 signature"),
    "an empty object": ("malformed", lambda *_: {}),
    "a list": ("malformed", lambda _, b: [b]),
    "not UTF-8": ("malformed", lambda _, b: json.dumps(b).encode("utf-16")),
    "nested without end": ("malformed", lambda *_: b'{"a":' * 100_000),
    "two documents": ("trailing_data", lambda _, b: json.dumps(b).encode() * 2),
    "a key twice": (
        "duplicate_key",
        lambda _, b: json.dumps(b).encode().replace(b"{", b'{"mediaType": "' + V03.encode() + b'", ', 1),
    ),
    "a field of another spelling": ("malformed", _set("message_signature", None)),
    "a version of the future": (
        "unsupported_version",
        _set("mediaType", "application/vnd.dev.sigstore.bundle.v0.4+json"),
    ),
    "another media type": ("malformed", _set("mediaType", "application/json")),
    "message and envelope": (
        "two_contents",
        _set("dsseEnvelope", {"payload": "e30=", "payloadType": "x", "signatures": [{"sig": "AAAA"}]}),
    ),
    "nothing signed": ("malformed", _drop("messageSignature")),
    "certificate and key": ("two_materials", _set("verificationMaterial/publicKey", {"hint": "x"})),
    "no certificate": ("no_material", _drop("verificationMaterial/certificate")),
    "certificate of noise": (
        "bad_certificate",
        _set("verificationMaterial/certificate/rawBytes", b64(b"0" * 300)),
    ),
    "certificate of another bundle": ("bad_signature", _swapped_certificate),
    "entry of another bundle": ("log_entry_differs", _swapped_entry),
    "no entry": ("no_log_entry", _set("verificationMaterial/tlogEntries", [])),
    "two entries": (
        "entry_count",
        change(lambda b: b["verificationMaterial"]["tlogEntries"].append(copy.deepcopy(entry_of(b)))),
    ),
    "an unknown kind of entry": ("unsupported_entry", _set(f"{ENTRY}/kindVersion/kind", "rekord")),
    "no proof": ("missing_inclusion_proof", _drop(f"{ENTRY}/inclusionProof")),
    "no checkpoint": ("missing_checkpoint", _drop(f"{ENTRY}/inclusionProof/checkpoint")),
    "no promise": ("missing_promise", _drop(f"{ENTRY}/inclusionPromise")),
    "signature of noise": ("bad_signature", _set("messageSignature/signature", b64(b"0" * 70))),
    "stated digest of another file": (
        "digest_mismatch",
        _set("messageSignature/messageDigest/digest", b64(sha256(b"other"))),
    ),
    "a digest that no longer holds": (
        "unsupported_hash",
        _set("messageSignature/messageDigest/algorithm", "SHA1"),
    ),
    "short digest": ("malformed", _set("messageSignature/messageDigest/digest", b64(b"short"))),
    "proof with a hash changed": (
        "bad_inclusion_proof",
        change(lambda b: entry_of(b)["inclusionProof"]["hashes"].__setitem__(0, b64(b"0" * 32))),
    ),
    "proof with a hash missing": (
        "bad_inclusion_proof",
        change(lambda b: entry_of(b)["inclusionProof"]["hashes"].pop()),
    ),
    "proof with a hash too many": (
        "bad_inclusion_proof",
        change(lambda b: entry_of(b)["inclusionProof"]["hashes"].append(b64(b"0" * 32))),
    ),
    "proof of another index": ("bad_inclusion_proof", _set(f"{ENTRY}/inclusionProof/logIndex", "1")),
    "index outside of the tree": ("bad_inclusion_proof", _set(f"{ENTRY}/inclusionProof/logIndex", "4")),
    "negative index": ("malformed", _set(f"{ENTRY}/logIndex", "-1")),
    "checkpoint signature changed": (
        "bad_checkpoint",
        change(
            lambda b: entry_of(b)["inclusionProof"]["checkpoint"].update(
                envelope="".join(
                    (text := entry_of(b)["inclusionProof"]["checkpoint"]["envelope"])[:-20]
                    + ("A" if text[-20] != "A" else "B")
                    + text[-19:]
                )
            )
        ),
    ),
    "checkpoint of another size": (
        "checkpoint_differs",
        lambda chain, b: _resigned_checkpoint(chain, b, size=99, root=None),
    ),
    "checkpoint of another root": (
        "checkpoint_differs",
        lambda chain, b: _resigned_checkpoint(chain, b, size=None, root=b"0" * 32),
    ),
    "checkpoint without signature": (
        "bad_checkpoint",
        change(
            lambda b: entry_of(b)["inclusionProof"]["checkpoint"].update(
                envelope=entry_of(b)["inclusionProof"]["checkpoint"]["envelope"].partition("\u2014")[0]
            )
        ),
    ),
    "promise signature changed": (
        "bad_promise",
        change(
            lambda b: entry_of(b)["inclusionPromise"].update(
                signedEntryTimestamp=flipped(entry_of(b)["inclusionPromise"]["signedEntryTimestamp"], 40)
            )
        ),
    ),
    "time moved without a new promise": ("bad_promise", _set(f"{ENTRY}/integratedTime", "1780315300")),
    "logged after the certificate ended": (
        "signed_after_expiry",
        lambda chain, b: _resigned_promise(chain, b, NOW + dt.timedelta(hours=1)),
    ),
    "logged before the certificate began": (
        "signed_before_start",
        lambda chain, b: _resigned_promise(chain, b, NOW - dt.timedelta(hours=1)),
    ),
    "logged in the future": (
        "from_the_future",
        lambda chain, b: _resigned_promise(chain, b, NOW + dt.timedelta(days=9)),
    ),
    "log of somebody else": ("unknown_log", _set(f"{ENTRY}/logId/keyId", b64(b"0" * 32))),
    "a timestamp that nobody can check": (
        "unknown_timestamp_authority",
        _set(
            "verificationMaterial/timestampVerificationData",
            {"rfc3161Timestamps": [{"signedTimestamp": b64(b"0" * 10)}]},
        ),
    ),
    "the same timestamp twice": (
        "duplicate_timestamp",
        _set(
            "verificationMaterial/timestampVerificationData",
            {"rfc3161Timestamps": [{"signedTimestamp": b64(b"0" * 10)}] * 2},
        ),
    ),
    "a hundred timestamps": (
        "too_many_timestamps",
        _set(
            "verificationMaterial/timestampVerificationData",
            {"rfc3161Timestamps": [{"signedTimestamp": b64(bytes([i] * 10))} for i in range(100)]},
        ),
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_bundle_with_one_thing_wrong_says_which(bench: Workbench, case: str) -> None:
    code, breaks = BROKEN[case]
    spec = verdict(bench, breaks(bench.chain, bench.chain.bundle(DATA)))
    status = CODES[code][0].value
    assert (spec["code"], spec["status"]) == (code, status)
    assert spec["signature_valid"] is (None if status == "could_not_check" else False)
    assert spec["identity"] is None
    assert spec["message"] == CODES[code][1]


SIGNED_WRONGLY: dict[str, tuple[str, dict[str, Any]]] = {
    "by another authority": ("untrusted_certificate", {"ca_key": new_key()}),
    "for another purpose": ("wrong_key_usage", {"purpose": ExtendedKeyUsageOID.SERVER_AUTH}),
    "without the right to sign": ("wrong_key_usage", {"signing_usage": False}),
    "by an authority's certificate": ("not_a_leaf", {"may_issue": True}),
    "unpublished": ("missing_sct", {"published": False}),
    "published by another log": ("bad_sct", {"ct_key": new_key()}),
    "nobody named": ("subject_count", {"names": [x509.DNSName("build.test")]}),
    "two named": (
        "subject_count",
        {"names": [x509.RFC822Name("a@corp.test"), x509.UniformResourceIdentifier(SUBJECT)]},
    ),
    "two issuers": ("issuer_conflict", {"old_issuer": "https://evil.test"}),
    "log speaks of another file": ("log_entry_differs", {"logged": b"other"}),
    "before the authority was trusted": ("ca_window", {"at": NOW - dt.timedelta(days=310)}),
}


# The library judges bundles with a proof as well; what rests on a promise is judged by our own checks alone.
BOTH = pytest.mark.parametrize("promise_only", [False, True])


def made(chain: Chain, *, promise_only: bool, **how: Any) -> dict[str, Any]:
    bundle = chain.bundle(DATA, media_type=V01, **how)
    if promise_only:
        del entry_of(bundle)["inclusionProof"]
    return bundle


@BOTH
@pytest.mark.parametrize("case", SIGNED_WRONGLY)
def test_a_signature_made_wrongly_says_why(bench: Workbench, case: str, promise_only: bool) -> None:
    code, how = SIGNED_WRONGLY[case]
    if code == "ca_window":
        # The logs were trusted then; only the authority was not.
        root = bench.chain.trusted_root()
        for log in (*root["tlogs"], *root["ctlogs"]):
            log["publicKey"]["validFor"]["start"] = iso(NOW - dt.timedelta(days=400))
        bench.root(root)
    spec = verdict(bench, made(bench.chain, promise_only=promise_only, **how))
    assert spec["code"] == code
    assert spec["status"] == "invalid"


@pytest.mark.parametrize("curve", [ec.SECP256K1(), ec.BrainpoolP256R1()])
def test_keys_of_unusual_curves_are_not_judged(bench: Workbench, curve: ec.EllipticCurve) -> None:
    spec = verdict(bench, bench.chain.bundle(DATA, key=ec.generate_private_key(curve)))
    assert (spec["status"], spec["code"]) == ("could_not_check", "unsupported_key")


@pytest.mark.parametrize(
    ("part", "code"),
    [("certificateAuthorities", "ca_window"), ("tlogs", "log_key_window"), ("ctlogs", "ct_key_window")],
)
@pytest.mark.parametrize("end", [NOW - dt.timedelta(days=1), NOW + dt.timedelta(hours=1)])
@BOTH
def test_what_was_no_longer_trusted_counts_no_longer(
    bench: Workbench, part: str, code: str, end: dt.datetime, promise_only: bool
) -> None:
    root = bench.chain.trusted_root()
    place = root[part][0]
    (place if part == "certificateAuthorities" else place["publicKey"])["validFor"]["end"] = iso(end)
    bench.root(root)
    spec = verdict(bench, made(bench.chain, promise_only=promise_only))
    assert spec["code"] == ("verified" if end > NOW else code)


@BOTH
def test_an_authority_of_the_same_name_does_not_lend_its_time(bench: Workbench, promise_only: bool) -> None:
    """The old authority has ended; a new one of the same name and another key is trusted."""
    root, other = bench.chain.trusted_root(), Chain()
    root["certificateAuthorities"][0]["validFor"]["end"] = iso(NOW - dt.timedelta(days=1))
    root["certificateAuthorities"] += other.trusted_root()["certificateAuthorities"]
    bench.root(root)
    assert verdict(bench, made(bench.chain, promise_only=promise_only))["code"] == "ca_window"


def test_a_whole_other_instance_is_not_trusted(bench: Workbench) -> None:
    assert verdict(bench, Chain().bundle(DATA))["code"] == "unknown_log"


@BOTH
def test_a_root_in_the_bundle_is_refused(bench: Workbench, promise_only: bool) -> None:
    bundle = made(bench.chain, promise_only=promise_only)
    certificates = bundle["verificationMaterial"]["x509CertificateChain"]["certificates"]
    certificates.append({"rawBytes": b64(bench.chain.authority.public_bytes(Encoding.DER))})
    assert verdict(bench, bundle)["code"] == "root_in_bundle"


def test_the_library_has_the_last_word(bench: Workbench) -> None:
    """It takes one way to write a certificate in version 0.3; ours would take both."""
    bundle = bench.chain.bundle(DATA, media_type=V01)
    bundle["mediaType"] = V03
    assert verdict(bench, bundle)["code"] == "refused"


def test_a_log_key_put_under_a_trusted_name_signs_nothing(bench: Workbench) -> None:
    chain = bench.chain
    chain.log_key, honest = new_key(), chain.log_key
    bundle = chain.bundle(DATA)
    chain.log_key = honest
    entry_of(bundle)["logId"]["keyId"] = chain.trusted_root()["tlogs"][0]["logId"]["keyId"]
    assert verdict(bench, bundle)["code"] == "bad_promise"


@pytest.mark.parametrize("content", [b"", b"tampered", DATA + b"\n"])
def test_a_changed_file_is_not_what_was_signed(bench: Workbench, content: bytes) -> None:
    bench.put("model.bin", content)
    spec = verdict(bench, bench.chain.bundle(DATA))
    assert (spec["code"], spec["artifact"]["status"]) == ("digest_mismatch", "differs")


def test_a_bundle_without_its_file_is_about_a_digest(bench: Workbench) -> None:
    (bench.folder / "model.bin").unlink()
    spec = verdict(bench, bench.chain.bundle(DATA))
    assert (spec["code"], spec["artifact"]["status"]) == ("verified", "absent")


def test_a_bundle_without_file_and_digest_is_about_nothing(bench: Workbench) -> None:
    (bench.folder / "model.bin").unlink()
    bundle = bench.chain.bundle(DATA)
    del bundle["messageSignature"]["messageDigest"]
    spec = verdict(bench, bundle)
    assert (spec["status"], spec["code"]) == ("could_not_check", "no_artifact")


def test_only_the_oldest_version_may_rest_on_a_promise(bench: Workbench) -> None:
    for media_type, code in (
        (V01, "verified"),
        (V02, "missing_inclusion_proof"),
        (V03, "missing_inclusion_proof"),
    ):
        bundle = bench.chain.bundle(DATA, media_type=media_type)
        del entry_of(bundle)["inclusionProof"]
        assert verdict(bench, bundle)["code"] == code


# ---- the trusted root


@pytest.mark.parametrize(
    ("settings", "code", "status"),
    [
        ({"path": "gone.json"}, "root_unreadable", "unreadable"),
        ({"path": "model.bin"}, "root_unreadable", "unknown"),
        ({"path": "root.json", "sha256": "0" * 64}, "root_differs", "differs"),
        ({"path": "root.json", "fetched": "2025-06-01"}, "root_stale", "stale"),
        ({"path": "root.json", "fetched": "2026-05-30"}, "verified", "fresh"),
        ({"path": "root.json", "fetched": "2026-05-01", "max_age_days": 10}, "root_stale", "stale"),
        ({"path": "root.json"}, "verified", "unknown"),
    ],
)
def test_the_root_is_read_as_configured_or_nothing_is_verified(
    bench: Workbench, settings: dict[str, Any], code: str, status: str
) -> None:
    bench.config["trusted_root"] = settings
    spec = verdict(bench, bench.chain.bundle(DATA))
    assert (spec["code"], spec["root"]["status"]) == (code, status)
    assert spec["status"] == ("verified" if code == "verified" else "could_not_check")


def test_the_root_of_the_library_is_the_default(bench: Workbench) -> None:
    del bench.config["trusted_root"]
    spec = verdict(bench, bench.chain.bundle(DATA))
    assert spec["code"] == "unknown_log"
    assert spec["root"]["source"] == "library"
    assert spec["root"]["status"] == "unknown"
    assert len(spec["root"]["sha256"]) == 64


# ---- identities


@pytest.mark.parametrize(
    ("signer", "code"),
    [
        ({"issuer": ISSUER, "subject": SUBJECT}, "verified"),
        ({"issuer": ISSUER, "subject": SUBJECT + "x"}, "identity_not_allowed"),
        ({"issuer": "https://evil.test", "subject": SUBJECT}, "identity_not_allowed"),
        (
            {"issuer": ISSUER, "subject": {"glob": "https://github.com/acme/**@refs/tags/*"}},
            "verified",
        ),
        (
            {"issuer": ISSUER, "subject": {"glob": "https://github.com/acme/*@refs/tags/*"}},
            "identity_not_allowed",
        ),
        (
            {"issuer": ISSUER, "subject": {"regex": r"https://github\.com/acme/app/.+@refs/tags/v[\d.]+"}},
            "verified",
        ),
        ({"issuer": ISSUER, "subject": {"regex": r"acme/app"}}, "identity_not_allowed"),
        ({"issuer": ISSUER, "claims": {"source_repository_uri": "https://github.com/acme/app"}}, "verified"),
        (
            {"issuer": ISSUER, "claims": {"source_repository_uri": "https://github.com/acme/other"}},
            "identity_not_allowed",
        ),
        ({"issuer": ISSUER, "claims": {"build_trigger": "push"}}, "identity_not_allowed"),
        ({"issuer": ISSUER, "claims": {"workflow_repository": "acme/app"}}, "verified"),
    ],
)
def test_the_identity_must_be_the_one_allowed(bench: Workbench, signer: dict[str, Any], code: str) -> None:
    policy = {"name": "p", "artifacts": ["**"], "any_of": [{"name": "s", **signer}]}
    bench.config["policies"] = [policy]
    claims = {12: "https://github.com/acme/app", 5: "acme/app"}
    spec = verdict(bench, bench.chain.bundle(DATA, claims=claims))
    assert spec["code"] == code
    assert spec["signature_valid"] is True
    assert spec["identity"]["claims"] == {
        "source_repository_uri": "https://github.com/acme/app",
        "workflow_repository": "acme/app",
    }


def test_without_a_policy_nobody_is_allowed(bench: Workbench) -> None:
    bench.config["policies"] = [{**bench.config["policies"][0], "artifacts": ["*.whl"]}]
    spec = verdict(bench, bench.chain.bundle(DATA))
    assert (spec["status"], spec["code"], spec["signature_valid"]) == ("could_not_check", "no_policy", True)


def test_the_first_policy_that_names_the_file_decides(bench: Workbench) -> None:
    first = {
        "name": "first",
        "artifacts": ["model.*"],
        "any_of": [{"name": "x", "issuer": ISSUER, "subject": "x@corp.test"}],
    }
    bench.config["policies"].insert(0, first)
    spec = verdict(bench, bench.chain.bundle(DATA))
    assert (spec["policy"], spec["code"]) == ("first", "identity_not_allowed")
