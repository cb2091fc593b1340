"""What an answer depends on besides the object: digests that any change of engine, rules or surroundings changes."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

import audit
from audit.model.rule import Rule
from audit.model.run import EngineVersion

_ADAPTERS = ("evaluate", "native", "model")
"""Folders whose code turns what an engine says into answers."""
_CHANGING = re.compile(
    rb"now_ns|rand\.intn|uuid\.rfc4122|verify_certificates|decode_verify"  # Rego
    rb"|time_now|time_since|\brandom\s*\(|time\.now\s*\("  # Kyverno's JMESPath and CEL
)
"""Functions whose answer changes by itself. Where a source has such a word, nothing is remembered."""


class EngineIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """One engine with all it was given."""

    digest: bytes
    always_seen: frozenset[str] | None = frozenset()
    """Kinds that every answer may depend on, beside the context kinds of the rules; None for the whole inventory."""


def identity_of(
    version: EngineVersion,
    rules: Iterable[Rule],
    sources: Mapping[str, bytes],
    *,
    always_seen: frozenset[str] | None = frozenset(),
) -> EngineIdentity | None:
    """The identity of an engine; None when its answers may change by themselves.

    Args:
        version: what decides; its details are part of the identity.
        rules: what is asked, parameters and texts included.
        sources: label to everything else that was handed over: modules, data, policies, exceptions, options.
        always_seen: kinds that every answer may depend on; None for the whole inventory.
    """
    if any(changes_by_itself(text) for text in sources.values()):
        return None
    digest = hashlib.sha256(f"fleetaudit answers 1 {audit.__version__} {_adapters()}".encode())
    digest.update(msgspec.json.encode(version, order="sorted"))
    digest.update(msgspec.json.encode(list(rules), order="sorted"))
    for label, text in sorted(sources.items()):
        digest.update(f"\0{label}\0{len(text)}\0".encode() + text)
    return EngineIdentity(digest=digest.digest(), always_seen=always_seen)


def changes_by_itself(text: bytes) -> bool:
    """Whether a policy uses a function that answers differently at another time."""
    return _CHANGING.search(text) is not None


@functools.cache
def _adapters() -> str:
    """Digest of the code between engine and answer: a development version changes without its number."""
    root = Path(audit.__file__).parent
    digest = hashlib.sha256()
    for folder in _ADAPTERS:
        for file in sorted((root / folder).rglob("*.py")):
            digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


class Surroundings:
    """Digests of one cluster's inventory, kind by kind.

    Args:
        inventory: JSON object, kind key to objects.
    """

    def __init__(self, inventory: bytes) -> None:
        kinds: dict[str, msgspec.Raw] = (
            msgspec.json.decode(inventory, type=dict[str, msgspec.Raw]) if inventory else {}
        )
        self._digests = {kind: hashlib.sha256(bytes(raw)).digest() for kind, raw in kinds.items()}

    def digest(self, kinds: Iterable[str] | None) -> bytes:
        """What rules that look at these kinds (None: at all of them) may see."""
        digest = hashlib.sha256()
        for kind in sorted(self._digests if kinds is None else kinds):
            digest.update(kind.encode() + b"\0" + self._digests.get(kind, b""))
        return digest.digest()
