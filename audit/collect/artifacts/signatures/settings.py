"""What the configuration may say about signatures: whom to trust, with which keys, for which artifacts."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from audit.collect.artifacts.signatures import matching

Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._:@/-]{0,127}$")]
Glob = Annotated[str, Meta(min_length=1, max_length=matching.MAX_PATTERN)]
PathText = Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"^[^\x00-\x1f]+$")]
ClaimName = Literal[
    "workflow_trigger",
    "workflow_sha",
    "workflow_name",
    "workflow_repository",
    "workflow_ref",
    "build_signer_uri",
    "build_signer_digest",
    "runner_environment",
    "source_repository_uri",
    "source_repository_digest",
    "source_repository_ref",
    "source_repository_identifier",
    "source_repository_owner_uri",
    "source_repository_owner_identifier",
    "build_config_uri",
    "build_config_digest",
    "build_trigger",
    "run_invocation_uri",
    "source_repository_visibility",
]


class _Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Unknown keys are refused: a typing error must not silently trust somebody."""


class Match(_Section, frozen=True, kw_only=True):
    """How a text must look: exactly one of the three."""

    exact: Annotated[str, Meta(min_length=1, max_length=matching.MAX_TEXT)] | None = None
    glob: Glob | None = None
    regex: Glob | None = None

    def __post_init__(self) -> None:
        if sum(value is not None for value in (self.exact, self.glob, self.regex)) != 1:
            raise ValueError("say exactly one of exact, glob and regex")
        if matching.says_nothing(self.compiled()):
            raise ValueError("the pattern matches everything, so it would allow everybody")

    def compiled(self) -> matching.Pattern:
        """The pattern."""
        if self.exact is not None:
            return matching.exact(self.exact)
        if self.glob is not None:
            return matching.glob(self.glob)
        return matching.regex(self.regex or "")


Text = Annotated[str, Meta(min_length=1, max_length=matching.MAX_TEXT)] | Match
"""A text alone is meant exactly."""


def compiled(text: str | Match) -> matching.Pattern:
    """The pattern of a text or `Match`."""
    return text.compiled() if isinstance(text, Match) else matching.exact(text)


class Signer(_Section, frozen=True, kw_only=True):
    """Somebody who may sign: a key of ours, or an identity that an issuer vouches for."""

    name: Name
    key: Annotated[Name | None, Meta(description="Name of one of the keys.")] = None
    issuer: Annotated[
        Text | None, Meta(description="Who vouches, such as https://token.actions.githubusercontent.com.")
    ] = None
    subject: Annotated[
        Text | None, Meta(description="E-mail address or workflow address in the certificate.")
    ] = None
    claims: Annotated[
        dict[ClaimName, Text], Meta(description="What else the certificate must say, all of it.")
    ] = {}

    def __post_init__(self) -> None:
        keyless = self.issuer is not None or self.subject is not None or bool(self.claims)
        if (self.key is not None) == keyless:
            raise ValueError("a signer has a key, or an issuer with a subject or claims")
        if keyless and (self.issuer is None or (self.subject is None and not self.claims)):
            raise ValueError("an identity needs its issuer, and a subject or claims")


class Builder(_Section, frozen=True, kw_only=True):
    """A build service, with the level that somebody has assessed it at."""

    id: Text
    signers: Annotated[
        tuple[Name, ...], Meta(min_length=1, description="Signers that may speak for the builder.")
    ]
    level: Annotated[int, Meta(ge=1, le=3)]
    assessed: Annotated[dt.date | None, Meta(description="When that was assessed.")] = None


class Expectations(_Section, frozen=True, kw_only=True):
    """What provenance must say of how something was built. What is not stated here is not judged."""

    builders: Annotated[tuple[Builder, ...], Meta(min_length=1)]
    sources: Annotated[tuple[Text, ...], Meta(min_length=1, description="Repositories it may be built from.")]
    refs: tuple[Text, ...] = ()
    workflows: tuple[Text, ...] = ()
    build_types: tuple[Text, ...] = ()
    parameters: Annotated[
        tuple[Annotated[str, Meta(max_length=200)], ...],
        Meta(description="External parameters that may be there besides source and workflow."),
    ] = ()


class SignerPolicy(_Section, frozen=True, kw_only=True):
    """Who may sign what. The first policy that names an artifact is asked."""

    name: Name
    artifacts: Annotated[
        tuple[Glob, ...],
        Meta(
            min_length=1,
            description="Globs of paths or image names; one without a slash is matched with the file name.",
        ),
    ]
    any_of: Annotated[tuple[Signer, ...], Meta(min_length=1)] | None = None
    all_of: Annotated[tuple[Signer, ...], Meta(min_length=1)] | None = None
    threshold: Annotated[
        int, Meta(ge=1, le=20, description="How many different signers of any_of are needed.")
    ] = 1
    required: Annotated[bool, Meta(description="What the globs name must be signed.")] = False
    require_log: Annotated[
        bool, Meta(description="Signatures made with keys must stand in a transparency log, too.")
    ] = False
    predicate_types: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=500)], ...],
        Meta(description="Types of statements that count; every type when none is named."),
    ] = ()
    provenance: Expectations | None = None

    def __post_init__(self) -> None:
        if not self.any_of and not self.all_of:
            raise ValueError("a policy names its signers under any_of or all_of; an empty list allows nobody")
        if self.any_of is None and self.threshold > 1:
            raise ValueError("threshold counts signers of any_of")
        names = [signer.name for signer in self.signers]
        if len(set(names)) != len(names):
            raise ValueError("two signers of a policy have the same name")
        if self.any_of and self.threshold > len(self.any_of) and not _open_ended(self.any_of):
            raise ValueError("threshold is larger than the number of signers")
        builders = self.provenance.builders if self.provenance else ()
        if unknown := {signer for builder in builders for signer in builder.signers} - set(names):
            raise ValueError(f"a builder names signers that the policy has not: {', '.join(sorted(unknown))}")

    @property
    def signers(self) -> tuple[Signer, ...]:
        """All that are named."""
        return (*(self.any_of or ()), *(self.all_of or ()))


def _open_ended(signers: tuple[Signer, ...]) -> bool:
    """Whether one entry may stand for several people."""
    return any(isinstance(signer.subject, Match) or signer.subject is None for signer in signers)


class TrustedRoot(_Section, frozen=True, kw_only=True):
    """Authorities and logs that Sigstore signatures rest on. Never fetched: by default the one of the installed library."""

    path: Annotated[PathText | None, Meta(description="A trusted_root.json, relative to this file.")] = None
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")] | None = None
    fetched: Annotated[
        dt.date | None, Meta(description="When it was fetched from its source; its age is unknown without.")
    ] = None
    max_age_days: Annotated[int, Meta(ge=1, le=3650)] = 180


class Key(_Section, frozen=True, kw_only=True):
    """A public key of ours: a PEM file with ECDSA, RSA or Ed25519."""

    name: Name
    path: PathText


class SignatureSettings(_Section, frozen=True, kw_only=True):
    """Signatures: whom to trust, and what must be signed."""

    policies: Annotated[tuple[SignerPolicy, ...], Meta(min_length=1)]
    keys: tuple[Key, ...] = ()
    trusted_root: TrustedRoot = TrustedRoot()
    max_artifact_bytes: Annotated[
        int, Meta(ge=1, description="Larger files are not read to compare their digest.")
    ] = 64 << 30

    def __post_init__(self) -> None:
        for what, names in (
            ("keys", [key.name for key in self.keys]),
            ("policies", [policy.name for policy in self.policies]),
        ):
            if len(set(names)) != len(names):
                raise ValueError(f"two {what} have the same name")
        used = {signer.key for policy in self.policies for signer in policy.signers if signer.key is not None}
        if unknown := used - {key.name for key in self.keys}:
            raise ValueError(f"signers name keys that are not configured: {', '.join(sorted(unknown))}")
        for policy in self.policies:
            for pattern in policy.artifacts:
                matching.glob(pattern)
