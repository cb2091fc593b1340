"""SLSA provenance: who built it, from what, and at which level, judged against what the policy expects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from audit.collect.artifacts.signatures.settings import Expectations, Match, compiled
from audit.collect.artifacts.signatures.statements import Statement

V1 = "https://slsa.dev/provenance/v1"
V02 = "https://slsa.dev/provenance/v0.2"
FAMILY = "https://slsa.dev/provenance/"
_SHOWN = 500
_LISTED = 50
_WORKFLOW = "/.github/workflows/"


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """What provenance says, before anybody believes it."""

    version: str
    builder: str | None = None
    build_type: str | None = None
    source: str | None = None
    ref: str | None = None
    commit: str | None = None
    workflow: str | None = None
    parameters: tuple[str, ...] = ()
    """Names of external parameters other than source, ref and workflow."""

    @property
    def complete(self) -> bool:
        """Whether all is there that the specification asks for."""
        return bool(self.builder and self.build_type)


def is_provenance(statement: Statement) -> bool:
    """Whether a statement is SLSA provenance of any version."""
    return statement.predicate_type.startswith(FAMILY)


def provenance_of(statement: Statement) -> Provenance | None:
    """What it says; None for a version that is not supported."""
    if statement.predicate_type == V1:
        return _v1(statement.predicate)
    if statement.predicate_type == V02:
        return _v02(statement.predicate)
    return None


def provenance_facts(
    found: Provenance,
    *,
    signers: Sequence[str],
    verified: bool,
    subject: str | None,
    expected: Expectations | None,
) -> dict[str, Any]:
    """As rules see it; a level and an answer only where the signature is verified."""
    level, reason = _level(found, signers=signers, subject=subject, expected=expected)
    checks = _checks(found, expected)
    if not verified:
        level, reason = None, "signature_not_verified"
        checks = dict.fromkeys(checks, "unknown")
    return {
        "version": found.version,
        "builder_id": _shown(found.builder),
        "build_type": _shown(found.build_type),
        "source": {
            "uri": _shown(found.source),
            "ref": _shown(found.ref),
            "commit": _shown(found.commit),
        },
        "workflow": _shown(found.workflow),
        "external_parameters": [name[:_SHOWN] for name in found.parameters[:_LISTED]],
        "complete": found.complete,
        "level": level,
        "level_reason": reason,
        "checks": checks,
    }


def _level(
    found: Provenance, *, signers: Sequence[str], subject: str | None, expected: Expectations | None
) -> tuple[int | None, str]:
    """The level that somebody has assessed the builder at, for this signer and this builder together."""
    if expected is None:
        return None, "no_builders_configured"
    if not found.complete:
        return 0, "incomplete"
    builder = found.builder or ""
    if _WORKFLOW in builder and subject is not None and builder != subject:
        return 0, "builder_is_not_the_signer"
    levels = [
        trusted.level
        for trusted in expected.builders
        if compiled(trusted.id).matches(builder) and set(trusted.signers) & set(signers)
    ]
    return (max(levels), "assessed_builder") if levels else (0, "builder_not_trusted")


def _checks(found: Provenance, expected: Expectations | None) -> dict[str, str]:
    if expected is None:
        return dict.fromkeys(("source", "ref", "workflow", "build_type", "parameters"), "not_configured")
    surplus = set(found.parameters) - set(expected.parameters)
    return {
        "source": _check(found.source, expected.sources),
        "ref": _check(found.ref, expected.refs),
        "workflow": _check(found.workflow, expected.workflows),
        "build_type": _check(found.build_type, expected.build_types),
        "parameters": "wrong" if surplus else "expected",
    }


def _check(value: str | None, allowed: Iterable[str | Match]) -> str:
    wanted = [compiled(one) for one in allowed]
    if not wanted:
        return "not_configured"
    if value is None:
        return "unknown"
    return "expected" if any(one.matches(value) for one in wanted) else "wrong"


def _v1(predicate: Mapping[str, Any]) -> Provenance:
    definition = _mapping(predicate, "buildDefinition")
    external = _mapping(definition, "externalParameters")
    used: set[str] = set()
    source = ref = workflow = None
    described = external.get("workflow")
    if isinstance(described, Mapping):  # the workflow build type of GitHub
        used.add("workflow")
        source, ref, workflow = (_text(described, key) for key in ("repository", "ref", "path"))
    elif isinstance(described, str):
        used.add("workflow")
        workflow = described
    stated = external.get("source")
    if stated is not None:
        used.add("source")
        uri = _text(stated, "uri") if isinstance(stated, Mapping) else stated
        here, there = _split(uri if isinstance(uri, str) else None)
        if source is not None and here is not None and _split(source)[0] != here:
            here = None  # two sources that differ: neither is believed
            source = None
        source, ref = here or source, ref or there
    for key in ("repository", "ref", "entryPoint"):
        if isinstance(external.get(key), str):
            used.add(key)
    source = source or _text(external, "repository")
    ref = ref or _text(external, "ref")
    workflow = workflow or _text(external, "entryPoint")
    uri, inside = _split(source)
    return Provenance(
        version="v1",
        builder=_text(_mapping(_mapping(predicate, "runDetails"), "builder"), "id"),
        build_type=_text(definition, "buildType"),
        source=uri,
        ref=ref or inside,
        commit=_commit(_list(definition, "resolvedDependencies"), uri),
        workflow=workflow,
        parameters=tuple(sorted(set(map(str, external)) - used)),
    )


def _v02(predicate: Mapping[str, Any]) -> Provenance:
    invocation = _mapping(predicate, "invocation")
    config = _mapping(invocation, "configSource")
    uri, ref = _split(_text(config, "uri"))
    digests = _mapping(config, "digest")
    return Provenance(
        version="v0.2",
        builder=_text(_mapping(predicate, "builder"), "id"),
        build_type=_text(predicate, "buildType"),
        source=uri,
        ref=ref,
        commit=_text(digests, "gitCommit") or _text(digests, "sha1"),
        workflow=_text(config, "entryPoint"),
        parameters=tuple(sorted(map(str, _mapping(invocation, "parameters")))),
    )


def _split(uri: str | None) -> tuple[str | None, str | None]:
    """``git+https://host/repo@refs/tags/v1`` as address and ref."""
    if uri is None:
        return None, None
    address, mark, ref = uri.removeprefix("git+").rpartition("@refs/")
    if not mark:
        address, ref = ref, ""
    return address.removesuffix(".git"), f"refs/{ref}" if ref else None


def _commit(dependencies: Sequence[Any], source: str | None) -> str | None:
    for one in dependencies[:1000]:
        if not isinstance(one, Mapping) or source is None or _split(_text(one, "uri"))[0] != source:
            continue
        digests = _mapping(one, "digest")
        return _text(digests, "gitCommit") or _text(digests, "sha1")
    return None


def _mapping(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}


def _list(value: Mapping[str, Any], key: str) -> Sequence[Any]:
    found = value.get(key)
    return found if isinstance(found, list) else ()


def _text(value: Mapping[str, Any], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) and found else None


def _shown(text: str | None) -> str | None:
    return None if text is None else text[:_SHOWN]
