"""Provenance: believed only when signed, and only at the level that somebody has assessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.signatures.sigstore_chain import ISSUER, SUBJECT, sha256
from tests.signatures.workbench import Workbench

DATA = b"a wheel"
BUILDER = "https://ci.test/hosted"
SOURCE = "https://github.com/acme/app"
V1 = "https://slsa.dev/provenance/v1"
V02 = "https://slsa.dev/provenance/v0.2"
EXPECTED: dict[str, Any] = {
    "builders": [
        {"id": BUILDER, "signers": ["release"], "level": 2},
        {"id": SUBJECT, "signers": ["release"], "level": 3},
    ],
    "sources": [SOURCE],
    "refs": [{"glob": "refs/tags/*"}],
    "workflows": [".github/workflows/release.yml"],
}


def v1(**parameters: Any) -> dict[str, Any]:
    external = {
        "workflow": {"repository": SOURCE, "ref": "refs/tags/v1", "path": ".github/workflows/release.yml"},
        **parameters,
    }
    return {
        "buildDefinition": {
            "buildType": "https://actions.github.io/buildtypes/workflow/v1",
            "externalParameters": external,
            "resolvedDependencies": [
                {"uri": f"git+{SOURCE}@refs/tags/v1", "digest": {"gitCommit": "c0ffee"}}
            ],
        },
        "runDetails": {"builder": {"id": BUILDER}},
    }


def v02(**fields: Any) -> dict[str, Any]:
    source = {
        "uri": f"git+{SOURCE}@refs/tags/v1",
        "digest": {"sha1": "c0ffee"},
        "entryPoint": ".github/workflows/release.yml",
    }
    return {
        "builder": {"id": BUILDER},
        "buildType": "https://ci.test/type",
        "invocation": {"configSource": source, "parameters": {}},
        **fields,
    }


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    bench = Workbench(tmp_path)
    bench.put("app.whl", DATA)
    signer = {"name": "release", "issuer": ISSUER, "subject": SUBJECT}
    bench.config["policies"] = [
        {"name": "p", "artifacts": ["**"], "any_of": [signer], "provenance": EXPECTED}
    ]
    return bench


def provenance(bench: Workbench, predicate: Any, kind: str = V1, **how: Any) -> dict[str, Any]:
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "app.whl", "digest": {"sha256": sha256(DATA).hex()}}],
        "predicateType": kind,
        "predicate": predicate,
    }
    bundle = bench.chain.bundle(json.dumps(statement).encode(), statement=True, **how)
    bench.put("app.whl.intoto.jsonl", bundle)
    return bench.spec("app.whl.intoto.jsonl", kind="Provenance")


@pytest.mark.parametrize(("predicate", "kind"), [(v1(), V1), (v02(), V02)])
def test_both_versions_say_the_same(bench: Workbench, predicate: Any, kind: str) -> None:
    spec = provenance(bench, predicate, kind)
    assert (spec["status"], spec["supported"], spec["complete"]) == ("verified", True, True)
    assert (spec["builder_id"], spec["level"], spec["level_reason"]) == (BUILDER, 2, "assessed_builder")
    assert spec["source"] == {"uri": SOURCE, "ref": "refs/tags/v1", "commit": "c0ffee"}
    assert spec["workflow"] == ".github/workflows/release.yml"
    assert spec["subjects"] == [f"sha256:{sha256(DATA).hex()}"]
    assert spec["checks"] == {
        "source": "expected",
        "ref": "expected",
        "workflow": "expected",
        "build_type": "not_configured",
        "parameters": "expected",
    }


def with_builder(builder: str) -> dict[str, Any]:
    predicate = v1()
    predicate["runDetails"]["builder"]["id"] = builder
    return predicate


@pytest.mark.parametrize(
    ("builder", "level", "reason"),
    [
        (BUILDER, 2, "assessed_builder"),
        (SUBJECT, 3, "assessed_builder"),
        ("https://evil.test/builder", 0, "builder_not_trusted"),
        (SUBJECT.replace("acme", "other"), 0, "builder_is_not_the_signer"),
        ("", 0, "incomplete"),
    ],
)
def test_the_level_is_that_of_signer_and_builder_together(
    bench: Workbench, builder: str, level: int, reason: str
) -> None:
    spec = provenance(bench, with_builder(builder))
    assert (spec["level"], spec["level_reason"]) == (level, reason)


def test_a_trusted_builder_named_by_another_signer_has_no_level(bench: Workbench) -> None:
    other = {"name": "other", "issuer": ISSUER, "subject": "ann@corp.test"}
    bench.config["policies"][0]["any_of"].append(other)
    spec = provenance(bench, v1(), subject="ann@corp.test")
    assert (spec["status"], spec["level"], spec["level_reason"]) == ("verified", 0, "builder_not_trusted")


def test_a_stranger_proves_nothing(bench: Workbench) -> None:
    spec = provenance(bench, v1(), subject="eve@evil.test")
    assert (spec["status"], spec["level"]) == ("wrong_identity", None)
    assert set(spec["checks"].values()) == {"unknown"}


def test_a_tampered_statement_states_nothing(bench: Workbench) -> None:
    provenance(bench, v1())
    bundle = json.loads((bench.folder / "app.whl.intoto.jsonl").read_text())
    signature = bundle["dsseEnvelope"]["signatures"][0]["sig"]
    bundle["dsseEnvelope"]["signatures"][0]["sig"] = signature[:20] + "AAAA" + signature[24:]
    bench.put("app.whl.intoto.jsonl", bundle)
    assert bench.facts("app.whl.intoto.jsonl", kind="Provenance") == []


def test_without_expectations_nothing_is_judged(bench: Workbench) -> None:
    del bench.config["policies"][0]["provenance"]
    spec = provenance(bench, v1())
    assert (spec["level"], spec["level_reason"]) == (None, "no_builders_configured")
    assert set(spec["checks"].values()) == {"not_configured"}


WRONG: dict[str, tuple[Any, str, str, str]] = {
    "another repository": (
        v1(
            workflow={
                "repository": SOURCE + "-evil",
                "ref": "refs/tags/v1",
                "path": ".github/workflows/release.yml",
            }
        ),
        V1,
        "source",
        "wrong",
    ),
    "a branch": (
        v1(
            workflow={"repository": SOURCE, "ref": "refs/heads/main", "path": ".github/workflows/release.yml"}
        ),
        V1,
        "ref",
        "wrong",
    ),
    "another workflow": (
        v1(workflow={"repository": SOURCE, "ref": "refs/tags/v1", "path": ".github/workflows/test.yml"}),
        V1,
        "workflow",
        "wrong",
    ),
    "no repository": (v1(workflow={}), V1, "source", "unknown"),
    "two repositories": (v1(source="git+https://github.com/evil/app"), V1, "source", "unknown"),
    "a parameter that nobody expects": (v1(inputs={"debug": "true"}), V1, "parameters", "wrong"),
    "a parameter of the older form": (
        v02(invocation={"parameters": {"debug": True}}),
        V02,
        "parameters",
        "wrong",
    ),
    "no source in the older form": (v02(invocation={}), V02, "source", "unknown"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_not_expected_is_seen(bench: Workbench, case: str) -> None:
    predicate, kind, check, answer = WRONG[case]
    assert provenance(bench, predicate, kind)["checks"][check] == answer


def test_expected_parameters_are_let_be(bench: Workbench) -> None:
    bench.config["policies"][0]["provenance"] = {**EXPECTED, "parameters": ["inputs"]}
    assert provenance(bench, v1(inputs={}))["checks"]["parameters"] == "expected"


@pytest.mark.parametrize(
    ("external", "source", "ref"),
    [
        ({"source": f"git+{SOURCE}@refs/heads/main"}, SOURCE, "refs/heads/main"),
        (
            {"source": {"uri": f"git+{SOURCE}.git", "digest": {}}, "ref": "refs/tags/v2"},
            SOURCE,
            "refs/tags/v2",
        ),
        (
            {"source": "https://gitlab.test/acme/app", "entryPoint": "job"},
            "https://gitlab.test/acme/app",
            None,
        ),
        ({"repository": SOURCE, "ref": "v3"}, SOURCE, "v3"),
        ({"source": 5}, None, None),
        ({"source": "git+ssh://git@code.test/app@refs/tags/v1"}, "ssh://git@code.test/app", "refs/tags/v1"),
    ],
)
def test_sources_are_found_where_build_types_put_them(
    bench: Workbench, external: Any, source: str | None, ref: str | None
) -> None:
    predicate = v1()
    predicate["buildDefinition"]["externalParameters"] = external
    spec = provenance(bench, predicate)
    assert (spec["source"]["uri"], spec["source"]["ref"]) == (source, ref)


@pytest.mark.parametrize("predicate", [{}, [], None, {"buildDefinition": 5, "runDetails": []}])
@pytest.mark.parametrize("kind", [V1, V02])
def test_provenance_that_says_nothing_is_incomplete(bench: Workbench, predicate: Any, kind: str) -> None:
    spec = provenance(bench, predicate, kind)
    assert (spec["complete"], spec["level"], spec["checks"]["source"]) == (False, 0, "unknown")


def test_an_unknown_version_is_said_to_be_one(bench: Workbench) -> None:
    spec = provenance(bench, {}, "https://slsa.dev/provenance/v0.1")
    assert (spec["status"], spec["supported"]) == ("verified", False)
