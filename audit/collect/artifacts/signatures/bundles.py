"""Reads files with Sigstore bundles or signed envelopes: one `SignatureBundle` each, and `Provenance` where it is stated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audit.collect.artifacts.reading import Artifact, Facts, UnreadError
from audit.collect.artifacts.signatures import models, provenance
from audit.collect.artifacts.signatures.beside import (
    BUNDLE_SUFFIXES,
    documents_of,
    in_folder,
    looks_like_bundle,
    without_suffix,
)
from audit.collect.artifacts.signatures.bundle_shape import MAX_BUNDLE_BYTES
from audit.collect.artifacts.signatures.contents import Content
from audit.collect.artifacts.signatures.desk import Desk
from audit.collect.artifacts.signatures.judging import Checked
from audit.collect.artifacts.signatures.signers import CompiledPolicy
from audit.collect.artifacts.signatures.statements import Statement
from audit.collect.artifacts.signatures.verdicts import RefusedError, verdict_facts
from audit.model.gap import GapKind

_MAX_NAMED = 50


class BundleReader:
    """Sigstore bundles and envelopes.

    Args:
        desk: what the readers of signatures share.
    """

    name = "Sigstore bundle"
    suffixes = frozenset(BUNDLE_SUFFIXES)
    kinds = frozenset({"SignatureBundle", "Provenance", "SignedModel"})
    shares = False

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def recognises(self, artifact: Artifact) -> bool:
        """Whether the file holds bundles or envelopes."""
        return bool(artifact.size or artifact.head) and looks_like_bundle(artifact.name, artifact.head)

    def read(self, artifact: Artifact) -> Iterator[Facts]:
        """A fact for every bundle in the file."""
        if artifact.size > MAX_BUNDLE_BYTES:
            raise UnreadError(
                f"{artifact.size} bytes, a file with signatures has {MAX_BUNDLE_BYTES} at most",
                kind=GapKind.TOO_LARGE,
            )
        documents = documents_of(artifact.name, artifact.data())
        folder, beside = artifact.path.parent, without_suffix(artifact.name)
        found = in_folder(folder, beside) if beside is not None else None
        content = self._desk.file(found, max_memory=artifact.max_bytes) if found is not None else None
        labels = [artifact.label]
        if beside is not None:
            labels.insert(0, artifact.label[: len(artifact.label) - len(artifact.name)] + beside)
        policy = self._desk.policies.of(labels)
        for index, raw in enumerate(documents):
            name = artifact.label if len(documents) == 1 else f"{artifact.label}#{index + 1}"
            checked = self._desk.checker.bundle(raw, content, policy)
            code, about = self._about(checked, content, found, folder=folder, memory=artifact.max_bytes)
            spec = bundle_spec(checked, code, self._desk, artifact=about)
            yield Facts(kind="SignatureBundle", name=name, spec=spec)
            stated = provenance_spec(checked, code, policy, subjects=spec["signed"])
            if stated is not None:
                yield Facts(kind="Provenance", name=name, spec=stated)
            if checked.statement is not None and models.is_model(checked.statement):
                spec = self._model(checked, checked.statement, artifact)
                yield Facts(kind="SignedModel", name=name, spec=spec)

    def _model(self, checked: Checked, statement: Statement, artifact: Artifact) -> dict[str, Any]:
        """The files of a signed model; a difference is worse than a stranger."""
        code, state = checked.code, None
        try:
            found, state = models.compare(self._desk, statement, artifact.path, memory=artifact.max_bytes)
            code = found if found != "verified" else code
        except RefusedError as refusal:
            code = refusal.code
        return {
            **verdict_facts(code),
            "policy": checked.policy,
            "identity": checked.who.facts() if checked.who is not None else None,
            **models.place_of(statement, artifact.path, artifact.label),
            "digest": statement.whole,
            "files": len(statement.subjects),
            "differences": state.facts() if state is not None else None,
        }

    def _about(
        self, checked: Checked, content: Content | None, found: Path | None, *, folder: Path, memory: int
    ) -> tuple[str, dict[str, Any]]:
        """What lies beside, and whether it is what was signed."""
        if content is not None and found is not None:
            differs = checked.code in ("digest_mismatch", "subject_mismatch")
            status = "differs" if differs else "matched" if checked.valid else "unknown"
            return checked.code, {"status": status, "name": found.name}
        if checked.statement is None:
            return checked.code, {"status": "absent", "name": None}
        matched = 0
        for subject in checked.statement.subjects[:_MAX_NAMED]:
            path = in_folder(folder, subject.name)
            if path is None or not subject.digests:
                continue
            file = self._desk.file(path, max_memory=memory)
            try:
                same = all(file.digest(name).hex() == value for name, value in subject.digests.items())
            except RefusedError as refusal:
                return refusal.code, {"status": "unknown", "name": path.name}
            if not same:
                return "subject_mismatch", {"status": "differs", "name": path.name}
            matched += 1
        return checked.code, {"status": "matched" if matched else "absent", "name": None}


def bundle_spec(checked: Checked, code: str, desk: Desk, *, artifact: dict[str, Any]) -> dict[str, Any]:
    """A signature as rules see it."""
    facts = checked.facts()
    if code != checked.code:
        facts |= {**verdict_facts(code), "signature_valid": False}
    facts["artifact"] = artifact
    facts["root"] = desk.root.facts() if str(checked.form["material"]).startswith("certificate") else None
    return facts


def provenance_spec(
    checked: Checked, code: str, policy: CompiledPolicy | None, *, subjects: list[str]
) -> dict[str, Any] | None:
    """Provenance that a signature vouches for; None when it states something else, or nothing that is believed."""
    statement = checked.statement
    if statement is None or not provenance.is_provenance(statement):
        return None
    facts: dict[str, Any] = {
        **verdict_facts(code),
        "predicate_type": statement.predicate_type[:500],
        "policy": checked.policy,
        "identity": checked.who.facts() if checked.who is not None else None,
        "subjects": subjects,
    }
    found = provenance.provenance_of(statement)
    if found is None:
        return {**facts, "supported": False}
    stated = provenance.provenance_facts(
        found,
        signers=checked.signers,
        verified=code == "verified",
        subject=checked.who.subject if checked.who is not None else None,
        expected=policy.settings.provenance if policy is not None else None,
    )
    return {**facts, "supported": True, **stated}
