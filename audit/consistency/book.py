"""Takes note of the policies of every cluster as its objects go by. One form is kept for all that mean the same."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import msgspec

from audit.consistency.claims import Stated, claims_in
from audit.consistency.engines import Running, engines_in, may_be_engine
from audit.consistency.form import Form, digest_of, form_of, mapping_in
from audit.consistency.kinds import (
    BINDINGS,
    CONSTRAINTS,
    DEPLOYMENT,
    DISTRIBUTION,
    TEMPLATE,
    family_of,
    namespace_of,
)
from audit.consistency.strength import Strength, strength_of
from audit.model.gap import Gap, GapKind
from audit.model.subject import EVERY_KIND, SubjectRef, kind_listed
from audit.ports import CollectedObject

_BUILT_IN = "kubernetes.io/bootstrapping"
_SILENT = ("metadata", "status")
"""Parts of an object in which a redacted value hides nothing that decides."""


class PolicyKey(NamedTuple):
    """Identity of a policy over all clusters."""

    key: str
    """Kind key."""
    namespace: str
    name: str


class Sighting(msgspec.Struct, frozen=True):
    """One policy as one cluster has it."""

    digest: str
    doubt: str = ""
    """Why the digest doesn't say it all: ``ambiguous``, ``redacted``; empty when it does."""
    built_in: bool = False
    """The API server makes it, and mends it."""


class Variant(msgspec.Struct, frozen=True):
    """One meaning of a policy."""

    form: Form
    strength: Strength


class ClusterNotes:
    """What was seen of one cluster, or of the baseline.

    Args:
        name: of the cluster.
        variants: every meaning that was met, by digest; shared by all clusters.
    """

    def __init__(self, name: str, variants: dict[str, Variant]) -> None:
        self.name = name
        self.policies: dict[PolicyKey, Sighting] = {}
        self.left_out: set[PolicyKey] = set()
        self.engines: list[Running] = []
        self.claims: list[Stated] = []
        self.gaps: tuple[Gap, ...] = ()
        self.reached = False
        self.collected_at = ""
        self._asked: Collection[str] | None = None
        self._not_served: Collection[str] = ()
        self._variants = variants

    def see(self, item: CollectedObject) -> None:
        """Take note of one object."""
        key = item.ref.kind_key
        if key == DEPLOYMENT:
            if may_be_engine(item.raw):
                self.engines += engines_in(msgspec.json.decode(item.raw))
        elif key in DISTRIBUTION:
            self.claims += claims_in(msgspec.json.decode(item.raw), key)
        elif family_of(key):
            self._see_policy(item, key)

    def leave_out(self, ref: SubjectRef) -> None:
        """An object is out of scope by its owner's choice."""
        if family_of(ref.kind_key):
            self.left_out.add(_identity(ref))

    def finish(
        self,
        gaps: Iterable[Gap],
        *,
        reached: bool,
        asked: Collection[str] | None = None,
        not_served: Collection[str] = (),
        collected_at: str = "",
    ) -> None:
        """Everything of the cluster has gone by.

        Args:
            gaps: what was not seen.
            reached: whether anything was.
            asked: kind keys that the server was asked for; None where all that is there is read.
            not_served: kinds that the server doesn't know.
            collected_at: when a snapshot was made.
        """
        self.gaps = tuple(gap for gap in gaps if gap.kind is not GapKind.UNKNOWN_TEMPLATE)
        self.reached = reached
        self.collected_at = collected_at
        self._asked = asked
        self._not_served = frozenset(not_served)

    @property
    def is_server(self) -> bool:
        """Whether a server was asked, now or when it was collected: then what was not seen is not there."""
        return self._asked is not None

    def served(self, key: str) -> bool:
        """Whether the server knows the kind, as far as it was asked. Constraints come with the kind of their templates."""
        known = TEMPLATE if key.startswith(f"{CONSTRAINTS}/") else key
        return known not in self._not_served

    def hidden(self, key: str) -> Gap | str:
        """Why an object of this kind may be there unseen: a gap, or a code; empty when it would have been seen."""
        found = next((gap for gap in self.gaps if gap.may_hide((key,)) and not gap.allowed), None)
        found = found or next((gap for gap in self.gaps if gap.may_hide((key,))), None)
        if found is not None:
            return found
        if not self.reached:
            return "not_reached"
        if self._asked is not None and EVERY_KIND not in self._asked and not kind_listed(key, self._asked):
            return "not_asked"
        return ""

    def role_bindings(self) -> int | None:
        """How many there are; None when some may be hidden."""
        if any(self.hidden(key) for key in BINDINGS):
            return None
        return sum(1 for key in self.policies if key.key in BINDINGS)

    def _see_policy(self, item: CollectedObject, key: str) -> None:
        document: dict[str, Any] = msgspec.json.decode(item.raw)
        form = form_of(document, key)
        digest = digest_of(form, key)
        if digest not in self._variants:
            self._variants[digest] = Variant(form, strength_of(form, key))
        identity = _identity(item.ref)
        before = self.policies.get(identity)
        doubt = "ambiguous" if item.duplicates else ""
        if any(not one.path or one.path[0] not in _SILENT for one in item.redactions):
            doubt = doubt or "redacted"
        if before is not None and before.digest != digest:
            doubt = "ambiguous"  # two documents, and nobody knows which one is applied last
        built_in = _BUILT_IN in mapping_in(document, "metadata", "labels")
        self.policies[identity] = Sighting(digest, doubt, built_in)


def _identity(ref: SubjectRef) -> PolicyKey:
    key = ref.kind_key
    return PolicyKey(key, namespace_of(key, ref.namespace), ref.name)


class PolicyBook:
    """Notes of all clusters."""

    def __init__(self) -> None:
        self.variants: dict[str, Variant] = {}
        self.clusters: dict[str, ClusterNotes] = {}
        self.baseline: ClusterNotes | None = None

    def cluster(self, name: str) -> ClusterNotes:
        """The notes of one cluster; new ones for a name that isn't known yet."""
        notes = self.clusters.get(name)
        if notes is None:
            notes = self.clusters[name] = ClusterNotes(name, self.variants)
        return notes

    def expect(self) -> ClusterNotes:
        """The notes of the baseline."""
        self.baseline = ClusterNotes("", self.variants)
        return self.baseline
