"""The rules judge what the readers really give: a fact that is named differently on the two sides would be found here."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.meta.documents import CHECKOUT
from tests.opa_server.programs import opa_binary
from tests.signatures.image_builder import LayoutBuilder, keyed_bundle, keyed_envelope, statement
from tests.signatures.signing import ecdsa
from tests.signatures.sigstore_chain import ISSUER, SUBJECT, sha256
from tests.signatures.workbench import Workbench

pytestmark = pytest.mark.tools
DATA = b"weights"
BUILDER = "https://ci.test/builder"
SOURCE = "https://code.test/app"
POLICY: dict[str, Any] = {
    "name": "ours",
    "artifacts": ["**"],
    "required": True,
    "any_of": [{"name": "release", "issuer": ISSUER, "subject": SUBJECT}, {"name": "team", "key": "team"}],
    "provenance": {
        "builders": [{"id": BUILDER, "signers": ["release", "team"], "level": 2}],
        "sources": [SOURCE],
    },
}
RULES = {
    "SignatureBundle": ["bundle_valid", "identity_allowed", "root_fresh"],
    "SignedArtifact": ["artifact_signed"],
    "ImageSignatures": ["image_signed"],
    "Provenance": ["provenance_level", "provenance_source"],
    "SignedModel": ["model_signed"],
}


class Case(Workbench):
    """A bench with a key, a policy and a root whose age is known."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.team = ecdsa()
        self.put("team.pub", self.team.pem)
        self.put("model.bin", DATA)
        self.config = {
            "policies": [POLICY],
            "keys": [{"name": "team", "path": "team.pub"}],
            "trusted_root": {"path": "root.json", "fetched": "2026-05-20"},
        }

    def sign(self, data: bytes = DATA, name: str = "model.bin.sigstore.json", **how: Any) -> str:
        self.put(name, self.chain.bundle(data, **how))
        return name

    def provenance(self, *, builder: str = BUILDER, source: str = SOURCE, **how: Any) -> str:
        predicate = {
            "builder": {"id": builder},
            "buildType": "https://ci.test/type",
            "invocation": {"configSource": {"uri": f"git+{source}@refs/tags/v1"}},
        }
        payload = statement(f"sha256:{sha256(DATA).hex()}", "https://slsa.dev/provenance/v0.2", predicate)
        return self.sign(payload, "model.bin.intoto.jsonl", statement=True, **how)

    def image(self, *, signed: bool) -> str:
        layout = LayoutBuilder()
        image = layout.image()
        if signed:
            layout.referrer(image, keyed_bundle(envelope=keyed_envelope(statement(image), self.team)))
        layout.write(self.folder / "saved")
        return "saved/index.json"

    def changed(self, **config: Any) -> None:
        self.config |= config


def stale(case: Case) -> str:
    case.changed(trusted_root={"path": "root.json", "fetched": "2020-01-01"})
    return case.sign()


def unpolicied(case: Case) -> str:
    case.changed(policies=[{**POLICY, "artifacts": ["*.whl"]}])
    return case.sign()


def keyed(case: Case) -> str:
    case.put("model.bin.sig", case.team.sign(DATA))
    return "model.bin.sig"


def unsigned(case: Case) -> str:
    return "model.bin"


def signed_artifact(case: Case) -> str:
    case.sign()
    return "model.bin"


CASES: dict[str, tuple[Callable[[Case], str], dict[str, str]]] = {
    "good bundle": (
        lambda case: case.sign(),
        {"bundle_valid": "pass", "identity_allowed": "pass", "root_fresh": "pass"},
    ),
    "stranger": (
        lambda case: case.sign(subject="eve@evil.test"),
        {"bundle_valid": "pass", "identity_allowed": "fail", "root_fresh": "pass"},
    ),
    "wrong file": (
        lambda case: case.sign(b"other"),
        {"bundle_valid": "fail", "identity_allowed": "skip", "root_fresh": "pass"},
    ),
    "stale root": (
        stale,
        {"bundle_valid": "undecided", "identity_allowed": "undecided", "root_fresh": "fail"},
    ),
    "no policy": (unpolicied, {"bundle_valid": "pass", "identity_allowed": "skip", "root_fresh": "pass"}),
    "key": (keyed, {"bundle_valid": "pass", "identity_allowed": "pass", "root_fresh": "skip"}),
    "unsigned artifact": (unsigned, {"artifact_signed": "fail"}),
    "signed artifact": (signed_artifact, {"artifact_signed": "pass"}),
    "signed image": (lambda case: case.image(signed=True), {"image_signed": "pass"}),
    "unsigned image": (lambda case: case.image(signed=False), {"image_signed": "fail"}),
    "good provenance": (
        lambda case: case.provenance(),
        {"provenance_level": "pass", "provenance_source": "pass"},
    ),
    "unknown builder": (
        lambda case: case.provenance(builder="https://evil.test"),
        {"provenance_level": "fail", "provenance_source": "pass"},
    ),
    "other source": (
        lambda case: case.provenance(source="https://evil.test/app"),
        {"provenance_level": "pass", "provenance_source": "fail"},
    ),
    "provenance by a stranger": (
        lambda case: case.provenance(subject="eve@evil.test"),
        {"provenance_level": "fail", "provenance_source": "fail"},
    ),
}


def outcomes(documents: list[dict[str, Any]]) -> dict[str, str]:
    """What each rule says of its documents, as the engine reads `applies` and `violations`."""
    found: dict[str, str] = {}
    for document in documents:
        done = subprocess.run(
            [
                *(opa_binary(), "eval", "--format=json", "--stdin-input", "--data", "rego/lib"),
                *("--data", "rego/signature", "--data", "rego/parameters.yaml", "data.signature"),
            ],
            input=json.dumps(document),
            capture_output=True,
            text=True,
            cwd=CHECKOUT,
            timeout=60,
            check=True,
        )
        answers = json.loads(done.stdout)["result"][0]["expressions"][0]["value"]
        for rule in RULES[document["kind"]]:
            found[rule] = outcome(answers[rule])
    return found


def outcome(answer: dict[str, Any]) -> str:
    if not answer["applies"]:
        return "skip"
    violations = answer["violations"]
    if not violations:
        return "pass"
    return "undecided" if all(one.get("undecided") for one in violations) else "fail"


@pytest.mark.parametrize("name", CASES)
def test_rules_understand_the_facts(tmp_path: Path, name: str) -> None:
    make, expected = CASES[name]
    case = Case(tmp_path)
    target = make(case)
    found = outcomes([facts.document() for facts in case.facts(target)])
    assert {rule: found[rule] for rule in expected} == expected
