"""The proof of the denominator: what came in, and what became of each part of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from audit.model.gap import Gap, GapKind, Notice
from audit.model.run import Denominator, InputFile
from audit.model.subject import SubjectRef
from audit.ports import ScopeChoice

# Notices of the reader about documents that are no Kubernetes object; each is one document of its file.
NOT_OBJECT_CODES = frozenset({"not_a_mapping", "not_an_object", "list_item_not_object"})
LEFT_OUT_CODES = frozenset(
    {"excluded", "not_included", "gitignored", "version_control", "own_output", "configuration"}
)


class Proof:
    """Counts while a run goes on. Scope digest: order of arrival does not matter, every subject does."""

    def __init__(self) -> None:
        self.inputs: list[InputFile] = []
        self.objects = 0
        self.derived = 0
        self.out_of_scope = 0
        self._not_objects = 0
        self._left_out = 0
        self._documents_in_gaps = 0
        self._scope = 0

    def see_input(self, file: InputFile) -> None:
        """A file was read to its end."""
        self.inputs.append(file)

    def see_gap(self, gap: Gap) -> None:
        """Something was not read."""
        if gap.kind is not GapKind.UNKNOWN_TEMPLATE:
            self._documents_in_gaps += 1

    def see_notice(self, notice: Notice) -> None:
        """Something was read that is no object, or left out on purpose."""
        if notice.code in NOT_OBJECT_CODES:
            self._not_objects += 1
        elif notice.code in LEFT_OUT_CODES:
            self._left_out += notice.count

    def see_subject(self, ref: SubjectRef) -> None:
        """A subject is handed to the rules."""
        if ref.derived:
            self.derived += 1
        else:
            self.objects += 1
        self._add_to_scope(ref.key)

    def see_out_of_scope(self, ref: SubjectRef, reason: str) -> None:
        """A subject is left out by the owner; that too is part of the scope."""
        self.out_of_scope += 1
        self._add_to_scope(f"excluded|{ref.key}|{reason}")

    def see_choice(self, cluster: str, choice: ScopeChoice) -> None:
        """A glob, an ignore file or a file left out: with another one, another scope."""
        self._add_to_scope(f"choice|{cluster}|{choice.text}")

    def denominator(self, *, judged: int, rules: int, pairs_due: int, pairs_answered: int) -> Denominator:
        """The finished counts."""
        return Denominator(
            files=len(self.inputs),
            documents=sum(file.documents for file in self.inputs),
            objects=self.objects,
            objects_judged=judged,
            derived=self.derived,
            not_objects=self._not_objects,
            in_gaps=self._documents_in_gaps,
            excluded=self._left_out + self.out_of_scope,
            rules=rules,
            pairs_due=pairs_due,
            pairs_answered=pairs_answered,
        )

    def scope_sha256(self, clusters: Iterable[str]) -> str:
        """Digest of what was in scope: registered clusters, subjects, what was left out, and by which choice.

        Results with different digests speak of different things and can't be compared.
        """
        text = "\n".join(sorted(clusters)) + f"\n{self._scope:064x}"
        return hashlib.sha256(text.encode()).hexdigest()

    def _add_to_scope(self, text: str) -> None:
        # A sum of digests is the same in any order, and a repeated subject changes it.
        number = int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")
        self._scope = (self._scope + number) % (1 << 256)


def unaccounted(inputs: Iterable[InputFile], seen: dict[str, int]) -> list[InputFile]:
    """Files whose documents are not all accounted for; `seen` counts by path what became of them."""
    return [file for file in inputs if file.documents != seen.get(file.path, 0)]
