"""Artifacts that must be signed: unsigned is said, and several signers are counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.signatures.image_builder import keyed_envelope
from tests.signatures.signing import ecdsa
from tests.signatures.sigstore_chain import ISSUER, SUBJECT, sha256
from tests.signatures.workbench import Workbench

DATA = b"a wheel"
DIGEST = f"sha256:{sha256(DATA).hex()}"


def policy(**fields: Any) -> dict[str, Any]:
    signer = {"name": "release", "issuer": ISSUER, "subject": SUBJECT}
    return {"name": "wheels", "artifacts": ["*.whl"], "any_of": [signer], "required": True, **fields}


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    bench = Workbench(tmp_path)
    bench.config["policies"] = [policy()]
    bench.put("dist/app.whl", DATA)
    return bench


def spec(bench: Workbench) -> dict[str, Any]:
    return bench.spec("dist/app.whl", kind="SignedArtifact")


def statement(*subjects: tuple[str, bytes]) -> bytes:
    listed = [{"name": name, "digest": {"sha256": sha256(data).hex()}} for name, data in subjects]
    return json.dumps(
        {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": listed,
            "predicateType": "https://example.test/v1",
            "predicate": {},
        }
    ).encode()


def test_without_a_signature_it_is_unsigned(bench: Workbench) -> None:
    found = spec(bench)
    assert (found["status"], found["code"]) == ("unsigned", "unsigned")
    assert (found["digest"], found["policy"], found["signatures"]) == (DIGEST, "wheels", [])


def test_a_bundle_beside_it_is_found(bench: Workbench) -> None:
    bench.put("dist/app.whl.sigstore.json", bench.chain.bundle(DATA))
    found = spec(bench)
    assert found["status"] == "verified"
    assert [one["file"] for one in found["signatures"]] == ["app.whl.sigstore.json"]


def test_a_bundle_of_another_name_is_found_by_the_digest(bench: Workbench) -> None:
    bench.put(
        "dist/all.intoto.jsonl", bench.chain.bundle(statement(("x", b"x"), ("app.whl", DATA)), statement=True)
    )
    bench.put("dist/other.sigstore.json", bench.chain.bundle(b"something else"))
    found = spec(bench)
    assert (found["status"], [one["file"] for one in found["signatures"]]) == (
        "verified",
        ["all.intoto.jsonl"],
    )


def test_a_bundle_beside_it_about_another_file_is_invalid(bench: Workbench) -> None:
    bench.put("dist/app.whl.sigstore.json", bench.chain.bundle(b"something else"))
    assert (spec(bench)["status"], spec(bench)["code"]) == ("invalid", "digest_mismatch")


def test_a_stranger_is_a_wrong_identity(bench: Workbench) -> None:
    bench.put("dist/app.whl.sigstore.json", bench.chain.bundle(DATA, subject="eve@evil.test"))
    assert spec(bench)["code"] == "identity_not_allowed"


def test_what_could_not_be_checked_leaves_the_question_open(bench: Workbench) -> None:
    bench.put("dist/app.whl.sig", ecdsa().sign(DATA))
    assert (spec(bench)["status"], spec(bench)["code"]) == ("could_not_check", "no_key_configured")
    bench.put("dist/app.whl.sigstore.json", bench.chain.bundle(DATA))
    assert spec(bench)["status"] == "verified"


def test_a_wrong_signature_beside_a_right_one_takes_nothing_away(bench: Workbench) -> None:
    bench.put("dist/app.whl.sigstore.json", bench.chain.bundle(DATA))
    bench.put("dist/app.whl.sigstore", bench.chain.bundle(b"other"))
    found = spec(bench)
    assert found["status"] == "verified"
    assert {one["code"] for one in found["signatures"]} == {"verified", "digest_mismatch"}


def test_a_threshold_needs_different_signers(bench: Workbench) -> None:
    people = {"name": "people", "issuer": ISSUER, "subject": {"glob": "*@corp.test"}}
    bench.config["policies"] = [policy(any_of=[people], threshold=2)]
    ann = [json.dumps(bench.chain.bundle(DATA, subject="ann@corp.test")).encode() for _ in range(2)]
    bench.put("dist/app.whl.jsonl", b"\n".join(ann))
    assert (spec(bench)["status"], spec(bench)["code"]) == ("wrong_identity", "signers_missing")
    bob = json.dumps(bench.chain.bundle(DATA, subject="bob@corp.test")).encode()
    bench.put("dist/app.whl.jsonl", b"\n".join([*ann, bob]))
    assert spec(bench)["status"] == "verified"


def test_all_of_needs_a_key_and_an_identity(bench: Workbench) -> None:
    team = ecdsa()
    bench.put("team.pub", team.pem)
    bench.config["keys"] = [{"name": "team", "path": "team.pub"}]
    both = [{"name": "team", "key": "team"}, {"name": "release", "issuer": ISSUER, "subject": SUBJECT}]
    bench.config["policies"] = [{**policy(all_of=both), "any_of": None}]
    bench.put("dist/app.whl.sig", team.sign(DATA))
    assert spec(bench)["code"] == "signers_missing"
    bench.put("dist/app.whl.sigstore.json", bench.chain.bundle(DATA))
    assert spec(bench)["status"] == "verified"


def test_only_what_a_policy_names_is_asked(bench: Workbench) -> None:
    (reader,) = [one for one in bench.readers() if "SignedArtifact" in one.kinds]
    bench.put("dist/notes.txt", DATA)
    bench.put("dist/app.whl.sigstore.json", bench.chain.bundle(DATA))
    assert reader.suffixes == {".whl"}
    assert reader.shares
    assert reader.recognises(bench.artifact("dist/app.whl"))
    assert not reader.recognises(bench.artifact("dist/notes.txt"))
    assert not reader.recognises(bench.artifact("dist/app.whl.sigstore.json"))
    bench.config["policies"] = [policy(required=False)]
    assert not any(one.recognises(bench.artifact("dist/app.whl")) for one in bench.readers())


def test_a_file_over_the_limit_is_not_looked_at(bench: Workbench) -> None:
    from audit.collect.artifacts.reading import UnreadError

    bench.config["max_artifact_bytes"] = 3
    with pytest.raises(UnreadError):
        spec(bench)


def test_too_many_signatures_are_not_all_verified(bench: Workbench) -> None:
    line = json.dumps(keyed_envelope(statement(("app.whl", DATA)), ecdsa())).encode()
    bench.put("dist/app.whl.jsonl", (line + b"\n") * 500)
    found = spec(bench)
    assert (found["status"], found["code"]) == ("could_not_check", "too_many_signatures")
    assert len(found["signatures"]) == 100


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/passwd", "a/b", "..", "", "x\0y", "x" * 5000, "..\\secret"]
)
def test_names_in_a_statement_do_not_lead_out_of_the_folder(bench: Workbench, name: str) -> None:
    bench.put("secret", DATA)
    bench.put("dist/app.sigstore.json", bench.chain.bundle(statement((name, b"other")), statement=True))
    assert bench.spec("dist/app.sigstore.json")["artifact"] == {"status": "absent", "name": None}


def test_a_link_out_of_the_folder_is_no_file_of_it(bench: Workbench) -> None:
    bench.put("secret", DATA)
    (bench.folder / "dist" / "linked").symlink_to(bench.folder / "secret")
    bench.put("dist/app.sigstore.json", bench.chain.bundle(statement(("linked", DATA)), statement=True))
    assert bench.spec("dist/app.sigstore.json")["artifact"]["status"] == "absent"


def test_the_subjects_of_a_statement_are_compared_with_the_files_beside_it(bench: Workbench) -> None:
    bench.config["policies"] = [policy(artifacts=["**"], required=False)]
    bench.put("dist/all.intoto.jsonl", bench.chain.bundle(statement(("app.whl", DATA)), statement=True))
    assert bench.spec("dist/all.intoto.jsonl")["artifact"]["status"] == "matched"
    bench.put("dist/app.whl", b"changed")
    found = bench.spec("dist/all.intoto.jsonl")
    assert (found["code"], found["artifact"]) == (
        "subject_mismatch",
        {"status": "differs", "name": "app.whl"},
    )
    assert found["signature_valid"] is False


@pytest.mark.parametrize(
    ("payload", "kind", "code"),
    [
        (b"{}", None, "bad_statement"),
        (b"no json", None, "bad_statement"),
        (b'{"_type": "https://in-toto.io/Statement/v9"}', None, "bad_statement"),
        (statement(), None, "bad_statement"),
        (statement(("app.whl", DATA)).replace(b'"sha256"', b'"sha1"'), None, "no_subject_digest"),
        (statement(("app.whl", DATA)).replace(b'"digest"', b'"digests"'), None, "bad_statement"),
        (statement(("app.whl", DATA)).replace(sha256(DATA).hex().encode(), b"ABC"), None, "bad_statement"),
        (statement(("app.whl", DATA)), "text/plain", "unsupported_form"),
        (statement(("app.whl", b"other")), None, "subject_mismatch"),
    ],
)
def test_a_statement_must_be_one_and_about_the_file(
    bench: Workbench, payload: bytes, kind: str | None, code: str
) -> None:
    bundle = bench.chain.bundle(payload, statement=True, **({"payload_type": kind} if kind else {}))
    bench.put("dist/app.whl.sigstore.json", bundle)
    assert bench.spec("dist/app.whl.sigstore.json")["code"] == code


def test_a_statement_of_another_type_does_not_count(bench: Workbench) -> None:
    bench.config["policies"] = [policy(predicate_types=["https://slsa.dev/provenance/v1"])]
    bench.put("dist/app.whl.sigstore.json", bench.chain.bundle(statement(("app.whl", DATA)), statement=True))
    assert (spec(bench)["status"], spec(bench)["code"]) == ("wrong_identity", "wrong_predicate_type")


def test_an_envelope_with_two_signatures_is_refused(bench: Workbench) -> None:
    envelope = keyed_envelope(statement(("app.whl", DATA)), ecdsa())
    envelope["signatures"] *= 2
    bench.put("dist/app.whl.intoto.jsonl", json.dumps(envelope).encode())
    assert bench.spec("dist/app.whl.intoto.jsonl")["code"] == "signature_count"
