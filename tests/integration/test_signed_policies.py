"""Policies and mappings that must be signed, through the real command, with the offline chain of the tests."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit.config.effective import effective_config
from audit.config.environment import Environment
from audit.config.overrides import Overrides
from audit.config.schema import Config
from audit.errors import CollectionError, ConfigError, ContentError
from audit.library.foreign.opening import open_source
from audit.wiring.signed_content import SignedContent
from tests.integration.command import run
from tests.signatures.sigstore_chain import ISSUER, SUBJECT, Chain

NOW = dt.datetime(2026, 6, 1, 12, tzinfo=dt.UTC)
AS_OF = "2026-06-03T12:00:00Z"
CONFTEST = """package main

import rego.v1

deny contains msg if {
	input.kind == "Pod"
	msg := "no pods here"
}
"""
KYVERNO = """apiVersion: kyverno.io/v1
kind: ClusterPolicy
metadata:
  name: named
spec:
  rules:
    - name: digest
      match: {any: [{resources: {kinds: [Pod]}}]}
      validate:
        message: by digest
        pattern: {spec: {containers: [{image: "*@sha256:*"}]}}
"""
MAPPING = """framework: lfai
edition: "2026.11"
author: us
date: 2026-05-30
mappings:
  - control: LFAI-TAI-06
    rules: [namespace/owner-label]
    strength: supports
    rationale: It names who answers.
    limits: The label alone.
"""
POD = """apiVersion: v1
kind: Pod
metadata: {name: a, namespace: b}
spec: {containers: [{name: c, image: "registry.example.com/x@sha256:%s"}]}
""" % ("a" * 64)


class Place:
    """A folder with policies, a mapping, and a configuration that wants them signed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.chain = Chain(NOW)
        self.config: dict[str, Any] = {
            "as_of": AS_OF,
            "paths": ["k8s"],
            "mappings": ["mapping.yaml"],
            "policy": {"paths": ["policies"], "require_signed": "refuse", "signers": "signers.yaml"},
        }
        self.signers: dict[str, Any] = {
            "trusted_root": {"path": "root.json", "fetched": "2026-05-30"},
            "policies": [
                {
                    "name": "policies",
                    "artifacts": ["**"],
                    "any_of": [{"name": "release", "issuer": ISSUER, "subject": SUBJECT}],
                }
            ],
        }
        self.put("k8s/pod.yaml", POD)
        self.put("policies/deny.rego", CONFTEST)
        self.put("policies/sub/named.yaml", KYVERNO)
        self.put("policies/deny_test.rego", "package main_test\n")
        self.put("mapping.yaml", MAPPING)
        self.put("root.json", json.dumps(self.chain.trusted_root()))

    def put(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def data(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def sign(self, *names: str, **how: Any) -> None:
        """A bundle beside each file."""
        for name in names or ("policies/deny.rego", "policies/sub/named.yaml", "mapping.yaml"):
            self.put(f"{name}.sigstore.json", json.dumps(self.chain.bundle(self.data(name), **how)))

    def sign_list(self, *names: str, folder: str = "policies", **how: Any) -> None:
        """One statement for a whole folder."""
        subjects = [
            {"name": name, "digest": {"sha256": hashlib.sha256(self.data(f"{folder}/{name}")).hexdigest()}}
            for name in names or ("deny.rego", "sub/named.yaml")
        ]
        statement = {
            "_type": "https://in-toto.io/Statement/v1",
            "subject": subjects,
            "predicateType": "https://example.com/policies/v1",
            "predicate": {},
        }
        bundle = self.chain.bundle(json.dumps(statement).encode(), statement=True, **how)
        self.put(f"{folder}/policies.sigstore.json", json.dumps(bundle))

    def configured(self) -> Config:
        self.put("fleetaudit.yaml", json.dumps(self.config))
        self.put("signers.yaml", json.dumps(self.signers))
        overrides = Overrides(config=str(self.folder / "fleetaudit.yaml"))
        return effective_config(overrides, Environment(), self.folder)

    def check(self) -> SignedContent:
        """The check alone."""
        config = self.configured()
        sources = [open_source(path, self.folder) for path in config.policy.paths]
        return SignedContent(config, sources, NOW + dt.timedelta(days=2))

    def run(self, *options: str) -> Any:
        self.configured()
        return run(self.folder / "out", "--config", self.folder / "fleetaudit.yaml", "--no-cache", *options)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_signed_file_by_file(place: Place) -> None:
    place.sign()
    done = place.run()
    assert done.code in (0, 3), done.err
    signed = {rule["rule"]["id"]: rule["signature"] for rule in done.report["rules"] if rule["signature"]}
    assert len(signed) == 2
    assert set(signed.values()) == {"verified"}
    codes = [notice["code"] for notice in done.report["notices"]]
    assert codes.count("content_signed") == 2
    assert codes.count("content_shipped") == 1
    assert "content_not_signed" not in codes


def test_signed_by_one_list_for_the_folder(place: Place) -> None:
    place.sign("mapping.yaml")
    place.sign_list()
    done = place.run()
    assert done.code in (0, 3), done.err
    assert {rule["signature"] for rule in done.report["rules"]} == {"", "verified"}


def unsigned(place: Place) -> None:
    place.sign()
    (place.folder / "policies/deny.rego.sigstore.json").unlink()


def wrong_identity(place: Place) -> None:
    place.sign()
    place.sign(
        "policies/deny.rego", subject="https://github.com/eve/app/.github/workflows/r.yml@refs/heads/x"
    )


def changed(place: Place) -> None:
    place.sign()
    place.put("policies/deny.rego", CONFTEST.replace("Pod", "Job"))


def changed_in_a_list(place: Place) -> None:
    place.sign("mapping.yaml")
    place.sign_list()
    place.put("policies/deny.rego", CONFTEST.replace("Pod", "Job"))


def added_to_a_list(place: Place) -> None:
    place.sign("mapping.yaml")
    place.sign_list()
    place.put("policies/more.rego", CONFTEST.replace("main", "more"))


def taken_from_a_list(place: Place) -> None:
    place.sign("mapping.yaml")
    place.sign_list()
    (place.folder / "policies/deny.rego").unlink()


def signed_too_late(place: Place) -> None:
    place.sign()
    place.sign("policies/deny.rego", log_delay=86400)


def foreign_authority(place: Place) -> None:
    place.sign()
    stranger = Chain(NOW)
    place.put(
        "policies/deny.rego.sigstore.json", json.dumps(stranger.bundle(place.data("policies/deny.rego")))
    )


def a_mapping(place: Place) -> None:
    place.sign()
    place.put("mapping.yaml", MAPPING.replace("supports", "decides"))


def called_a_signature(place: Place) -> None:
    place.sign()
    policy = {"apiVersion": "kyverno.io/v1", "kind": "ClusterPolicy", "metadata": {"name": "x"}, "spec": {}}
    bundle = json.loads(place.data("policies/deny.rego.sigstore.json"))
    place.put("policies/more.sigstore.json", json.dumps({**bundle, **policy}))


def called_an_envelope(place: Place) -> None:
    place.sign()
    envelope = {
        "payload": "e30=",
        "payloadType": "application/vnd.in-toto+json",
        "signatures": [{"sig": "eA=="}],
    }
    policy = {"apiVersion": "kyverno.io/v1", "kind": "ClusterPolicy", "metadata": {"name": "x"}, "spec": {}}
    place.put("policies/more.intoto.json", json.dumps({**envelope, **policy}))


CASES: dict[str, tuple[Callable[[Place], None], str, str]] = {
    "unsigned": (unsigned, "policies/deny.rego", "unsigned: it must be signed, and there is no signature"),
    "wrong identity": (
        wrong_identity,
        "policies/deny.rego",
        "wrong identity: the signature is right, and its",
    ),
    "a changed byte": (changed, "policies/deny.rego", "invalid: it was made for another file"),
    "a changed byte, in a list": (
        changed_in_a_list,
        "policies/deny.rego",
        "invalid: it was made for another file",
    ),
    "a file more than the list has": (added_to_a_list, "policies/more.rego", "unsigned: "),
    "a file less than the list has": (
        taken_from_a_list,
        "policies",
        "invalid: the signed list policies.sigstore.json names files that are not there: deny.rego",
    ),
    "signed too late": (
        signed_too_late,
        "policies/deny.rego",
        "invalid: it was made after its certificate had expired",
    ),
    "another authority": (foreign_authority, "policies/deny.rego", "invalid: "),
    "a policy that is called a signature": (called_a_signature, "policies/more.sigstore.json", "unsigned: "),
    "a policy inside of an envelope": (called_an_envelope, "policies/more.intoto.json", "unsigned: "),
    "a changed mapping": (a_mapping, "mapping.yaml", "invalid: it was made for another file"),
}


@pytest.mark.parametrize("case", CASES)
def test_each_refusal_has_its_file_and_its_cause(place: Place, case: str) -> None:
    spoil, file, cause = CASES[case]
    spoil(place)
    with pytest.raises(ContentError) as caught:
        place.check()
    assert (caught.value.file, caught.value.others) == (str(place.folder / file), ())
    assert caught.value.message.startswith(cause)


def test_a_refusal_ends_the_run_before_anything_is_judged(place: Place) -> None:
    unsigned(place)
    done = place.run()
    assert done.code == 2
    cause = "unsigned: it must be signed, and there is no signature"
    assert f"{place.folder}/policies/deny.rego: {cause}" in done.err
    assert done.err.count("error: ") == 1
    assert not (place.folder / "out" / "report.json").exists()


def test_what_can_not_be_checked_is_another_code(place: Place) -> None:
    place.sign()
    place.signers["trusted_root"]["fetched"] = "2025-01-01"
    done = place.run()
    assert done.code == 3
    assert "could not be checked: the trusted root is older than the configuration allows" in done.err


def test_nobody_named_for_a_file_is_not_checked(place: Place) -> None:
    place.sign()
    place.signers["policies"][0]["artifacts"] = ["*.rego", "named.yaml"]
    with pytest.raises(
        CollectionError, match="could not be checked: nobody has said who may sign it"
    ) as caught:
        place.check()
    assert caught.value.file == str(place.folder / "mapping.yaml")


def test_one_wrong_file_beside_one_that_could_not_be_checked_is_wrong_content(place: Place) -> None:
    unsigned(place)
    place.signers["policies"][0]["artifacts"] = ["*.rego", "named.yaml"]
    with pytest.raises(ContentError) as caught:
        place.check()
    assert [error.message.partition(":")[0] for error in (caught.value, *caught.value.others)] == [
        "unsigned",
        "could not be checked",
    ]


def test_a_file_that_changes_while_it_is_read_is_noticed(place: Place) -> None:
    place.sign()
    checked = place.check()
    checked.still_the_same()
    place.put("policies/deny.rego", CONFTEST.replace("Pod", "Job"))
    with pytest.raises(ContentError, match="changed while it was read"):
        checked.still_the_same()


def test_nobody_named_at_all_is_a_wrong_configuration(place: Place) -> None:
    del place.config["policy"]["signers"]
    with pytest.raises(ConfigError, match="nobody is named who may sign them"):
        place.check()


@pytest.mark.parametrize("case", ["unsigned", "wrong identity", "a changed byte", "a changed mapping"])
def test_marked_the_run_goes_on_and_every_rule_of_the_source_is_told(place: Place, case: str) -> None:
    spoil, file, cause = CASES[case]
    spoil(place)
    done = place.run("--require-signed", "mark", "--format", "json,html,markdown,sarif")
    assert done.code in (0, 3), done.err
    [notice] = [one for one in done.report["notices"] if one["code"] == "content_not_signed"]
    assert file in notice["message"]
    assert cause.partition(":")[0] in notice["message"]
    states = [rule["signature"] for rule in done.report["rules"] if not rule["rule"]["builtin"]]
    wrong = cause.partition(":")[0].replace(" ", "_")
    if file == "mapping.yaml":
        assert set(states) == {"verified"}
        return
    assert set(states) == {wrong}
    assert notice["count"] == len(states)
    said = f"{len(states)} rule{'s' if len(states) > 1 else ''} of 1 source without an allowed signature"
    assert said in done.out
    assert said in (place.folder / "out/report.md").read_text()
    assert said in (place.folder / "out/report.html").read_text()
    sarif = json.loads((place.folder / "out/report.sarif").read_text())
    told = [one["properties"].get("signature") for one in sarif["runs"][0]["tool"]["driver"]["rules"]]
    assert told.count(wrong) == len(states)


def test_signatures_in_annotations_are_named_and_count_for_nothing(place: Place) -> None:
    signed = (
        "  annotations:\n    cosign.sigstore.dev/message: H4sI\n    cosign.sigstore.dev/signature: MEUC\n"
    )
    place.put("policies/sub/named.yaml", KYVERNO.replace("  name: named\n", f"  name: named\n{signed}"))
    place.sign("policies/deny.rego", "mapping.yaml")
    done = place.run("--require-signed", "mark")
    [notice] = [one for one in done.report["notices"] if one["code"] == "signature_in_annotations"]
    assert notice["source"].endswith("policies/sub/named.yaml")
    assert "cosign.sigstore.dev/message, cosign.sigstore.dev/signature" in notice["message"]
    assert any(one["code"] == "content_not_signed" for one in done.report["notices"])


def test_data_and_libraries_of_a_source_belong_to_it(place: Place) -> None:
    place.sign()
    place.put("lib/words.rego", "package lib.words\n\nanswer := 42\n")
    place.put("data.yaml", "allowed: [a]\n")
    place.config["policy"] = {
        "sources": [{"path": "policies", "libraries": ["lib"], "data": ["data.yaml"]}],
        "require_signed": "refuse",
        "signers": "signers.yaml",
    }
    done = place.run()
    assert done.code == 2
    assert "lib/words.rego: unsigned" in done.err
    assert "data.yaml: unsigned" in done.err
    place.sign("lib/words.rego", "data.yaml")
    assert place.run().code in (0, 3)


def test_without_the_word_nothing_is_asked(place: Place) -> None:
    place.config["policy"] = {"paths": ["policies"]}
    done = place.run()
    assert {rule["signature"] for rule in done.report["rules"]} == {""}
    assert not [one for one in done.report["notices"] if one["code"].startswith("content_")]


def test_commands_that_only_look_at_rules_refuse_too(place: Place, tmp_path: Path) -> None:
    from audit.cli.main import main

    place.run()
    assert main(["rules", "list", "--config", str(place.folder / "fleetaudit.yaml")]) == 2
