"""Reads artifacts that a policy wants signed: one `SignedArtifact` each, whether there is a signature or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

from audit.collect.artifacts.reading import Artifact, Facts, UnreadError
from audit.collect.artifacts.signatures.beside import is_signature
from audit.collect.artifacts.signatures.desk import Desk, combined
from audit.collect.artifacts.signatures.file_signatures import signatures_of
from audit.collect.artifacts.signatures.image_files import looks_like_image
from audit.collect.artifacts.signatures.judging import Checked
from audit.collect.artifacts.signatures.signers import CompiledPolicy
from audit.collect.artifacts.signatures.verdicts import RefusedError, verdict_facts

MAX_ABOVE = 4


class SignedArtifactReader:
    """Artifacts that must be signed.

    Args:
        desk: what the readers of signatures share.
    """

    name = "artifact that must be signed"
    kinds = frozenset({"SignedArtifact"})
    shares = True

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        globs = [glob for policy in desk.policies.required for glob in policy.settings.artifacts]
        self.suffixes = frozenset(ending for ending in map(_ending, globs) if ending)

    def recognises(self, artifact: Artifact) -> bool:
        """Whether a policy wants it signed."""
        return self._policy(artifact) is not None

    def read(self, artifact: Artifact) -> Iterator[Facts]:
        """One fact."""
        policy = self._policy(artifact)
        if policy is None:
            return
        content = self._desk.file(artifact.path, max_memory=artifact.max_bytes)
        try:
            digest = content.digest("sha256").hex()
        except RefusedError as refusal:
            raise UnreadError(refusal.message) from None
        checks, too_many = signatures_of(
            self._desk,
            artifact.path,
            content,
            policy,
            digest=digest,
            folders=_folders(artifact.path, artifact.label),
        )
        code = "too_many_signatures" if too_many else combined([check for _, check in checks], policy)
        yield Facts(
            kind="SignedArtifact",
            name=artifact.label,
            spec={
                **verdict_facts(code),
                "digest": f"sha256:{digest}",
                "policy": policy.settings.name,
                "threshold": policy.settings.threshold,
                "root": self._desk.root.facts() if _with_certificate(checks) else None,
                "signatures": [{**check.facts(), "file": side.name} for side, check in checks],
            },
        )

    def _policy(self, artifact: Artifact) -> CompiledPolicy | None:
        if artifact.path.is_dir() or is_signature(artifact.name):
            return None
        if looks_like_image(artifact.path, artifact.head):
            return None  # the images in it are what must be signed
        policy = self._desk.policies.of([artifact.label])
        return policy if policy is not None and policy.settings.required else None


def _folders(path: Path, label: str) -> list[Path]:
    """The folder of a file, and those above it that belong to what is audited: the list of a model lies at its top."""
    above = min(max(len(PurePath(label).parts) - 2, 0), MAX_ABOVE)
    return [path.parent, *list(path.parent.parents)[:above]]


def _with_certificate(checks: Sequence[tuple[Path, Checked]]) -> bool:
    return any(str(check.form["material"]).startswith("certificate") for _, check in checks)


def _ending(glob: str) -> str:
    """``.whl`` of ``dist/*.whl``; empty when the ending is not fixed."""
    name = glob.rpartition("/")[2]
    tail = name[max(name.rfind(mark) for mark in "*?") + 1 :]
    dot = tail.find(".")
    return tail[dot:].lower() if dot >= 0 else ""
