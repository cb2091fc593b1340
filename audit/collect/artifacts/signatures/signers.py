"""Who may sign: the policies of the configuration, compiled, and asked about a signature."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from audit.collect.artifacts.signatures import matching
from audit.collect.artifacts.signatures.matching import Pattern
from audit.collect.artifacts.signatures.settings import Signer, SignerPolicy, compiled

_SHOWN = 500


class Who(msgspec.Struct, frozen=True, kw_only=True):
    """Who has made a good signature: an identity, or the holder of a key."""

    subject: str | None = None
    issuer: str | None = None
    claims: Mapping[str, str] = {}
    key_names: tuple[str, ...] = ()
    """Configured names of the key; several where one key has several names."""
    key: Mapping[str, Any]
    logged: bool

    @property
    def one(self) -> tuple[str, ...]:
        """The same for two signatures of one signer, so that nobody counts twice."""
        if self.subject is not None:
            return ("identity", self.issuer or "", self.subject)
        return ("key", str(self.key["sha256"]))

    def facts(self) -> dict[str, Any]:
        """As rules see it."""
        return {
            "subject": _shown(self.subject),
            "issuer": _shown(self.issuer),
            "claims": {name: _shown(text) for name, text in self.claims.items()},
            "key_name": self.key_names[0] if self.key_names else None,
            "key": dict(self.key),
        }


class CompiledSigner:
    """One signer of a policy."""

    def __init__(self, signer: Signer) -> None:
        self.name = signer.name
        self._key = signer.key
        self._issuer = compiled(signer.issuer) if signer.issuer is not None else None
        self._subject = compiled(signer.subject) if signer.subject is not None else None
        self._claims: dict[str, Pattern] = {name: compiled(text) for name, text in signer.claims.items()}

    def is_meant(self, who: Who) -> bool:
        """Whether this is the one."""
        if self._key is not None:
            return self._key in who.key_names
        if who.subject is None or who.issuer is None or self._issuer is None:
            return False
        if not self._issuer.matches(who.issuer):
            return False
        if self._subject is not None and not self._subject.matches(who.subject):
            return False
        return all(
            name in who.claims and pattern.matches(who.claims[name]) for name, pattern in self._claims.items()
        )


class CompiledPolicy:
    """A policy that can be asked."""

    def __init__(self, settings: SignerPolicy) -> None:
        self.settings = settings
        self._artifacts = [(matching.glob(text), "/" in text) for text in settings.artifacts]
        self._any_of = [CompiledSigner(signer) for signer in settings.any_of or ()]
        self._all_of = [CompiledSigner(signer) for signer in settings.all_of or ()]

    def names(self, names: Iterable[str]) -> bool:
        """Whether it is about an artifact of one of these names."""
        return any(
            pattern.matches(name if whole else name.rpartition("/")[2])
            for name in names
            for pattern, whole in self._artifacts
        )

    def code_of(self, who: Who) -> str:
        """Whether one good signature is by an allowed signer."""
        if not self.signers_of(who):
            return "identity_not_allowed" if who.subject is not None else "key_not_allowed"
        if self.settings.require_log and not who.logged:
            return "not_in_log"
        return "verified"

    def signers_of(self, who: Who) -> tuple[str, ...]:
        """Names of the signers that it may be."""
        return tuple(signer.name for signer in (*self._any_of, *self._all_of) if signer.is_meant(who))

    def are_enough(self, signers: Sequence[Who]) -> bool:
        """Whether the allowed signers of one artifact are all that the policy asks for."""
        distinct = {who.one for who in signers if any(one.is_meant(who) for one in self._any_of)}
        if self._any_of and len(distinct) < self.settings.threshold:
            return False
        return self._are_all_there(signers)

    def _are_all_there(self, signers: Sequence[Who]) -> bool:
        """Whether each of all_of is somebody else: one person must not stand for two (a bipartite matching)."""
        people = list({who.one: who for who in signers}.values())
        taken: dict[int, int] = {}

        def place(wanted: int, tried: set[int]) -> bool:
            for index, who in enumerate(people):
                if index in tried or not self._all_of[wanted].is_meant(who):
                    continue
                tried.add(index)
                if index not in taken or place(taken[index], tried):
                    taken[index] = wanted
                    return True
            return False

        return all(place(wanted, set()) for wanted in range(len(self._all_of)))


class Policies:
    """All policies; the first that names an artifact decides."""

    def __init__(self, policies: Sequence[SignerPolicy]) -> None:
        self._policies = [CompiledPolicy(policy) for policy in policies]

    def of(self, names: Iterable[str]) -> CompiledPolicy | None:
        """The policy of an artifact with these names; None when nobody has said anything about it."""
        known = tuple(names)
        return next((policy for policy in self._policies if policy.names(known)), None)

    @property
    def required(self) -> list[CompiledPolicy]:
        """Those that say that something must be signed."""
        return [policy for policy in self._policies if policy.settings.required]


def _shown(text: str | None) -> str | None:
    return None if text is None else text[:_SHOWN]
