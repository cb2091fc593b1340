"""Names of images, as workloads and registries write them."""

from __future__ import annotations

import re

import msgspec

HUB = "docker.io"
_HUB_NAMES = frozenset({HUB, "index.docker.io"})
_HUB_SERVER = "registry-1.docker.io"
_HUB_TOKENS = "auth.docker.io"
_MAX_REPOSITORY = 255

# The grammar of distribution/reference, as lib.image has it for rules.
_LABEL = r"(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_HOST = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]{{1,5}})?"
_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_REFERENCE = re.compile(
    rf"(?:({_HOST}|{_PART})/)?({_PART}(?:/{_PART})*)(?::(\w[\w.-]{{0,127}}))?"
    r"(?:@(sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128}))?",
    re.ASCII,
)
_IS_HOST = re.compile(r"[.:A-Z]|^localhost$")
_IMAGE_ID = re.compile(r"[a-f0-9]{64}")


class Reference(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """One image in one registry."""

    host: str
    """Of the registry, in lower case, with its port where it has one; ``docker.io`` where the name has none."""
    repository: str
    tag: str | None
    """None where a digest alone is named."""
    digest: str | None

    def __str__(self) -> str:
        """The whole name; two names of the same image are written alike."""
        tag = f":{self.tag}" if self.tag is not None else ""
        return f"{self.host}/{self.repository}{tag}{f'@{self.digest}' if self.digest is not None else ''}"

    @property
    def asked(self) -> str:
        """What the registry is asked for: the digest where there is one, since the tag beside it decides nothing."""
        return self.digest or self.tag or "latest"


def reference_of(text: object) -> Reference | None:
    """What a workload names; None when that is no name of an image."""
    if not isinstance(text, str) or len(text) > 4096 or _IMAGE_ID.fullmatch(text):
        return None
    found = _REFERENCE.fullmatch(text)
    if found is None:
        return None
    first, path = found[1] or "", str(found[2])
    tag, digest = found[3], found[4]
    if first in _HUB_NAMES or not _IS_HOST.search(first):
        path = path if not first or first in _HUB_NAMES else f"{first}/{path}"
        first = HUB
    host = first.lower()
    if host == HUB and "/" not in path:
        path = f"library/{path}"
    if len(path) > _MAX_REPOSITORY:
        return None
    return Reference(host=host, repository=path, tag=tag if tag or digest else "latest", digest=digest)


def server_of(host: str) -> str:
    """Where a registry answers: Docker Hub has a name of its own for that."""
    return _HUB_SERVER if host == HUB else host


def token_service_of(host: str) -> str:
    """Who is known to issue the tokens of a registry: itself, as far as anybody knows."""
    return _HUB_TOKENS if host == HUB else host
