"""Objects made ready for the CLI, and the shards they travel in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from audit.evaluate.kyverno.facts import CustomKind, ObjectFacts, facts_of
from audit.evaluate.kyverno.handover import subject_document
from audit.model.kyverno import KyvernoPolicy, KyvernoRule
from audit.ports import CollectedObject

UNREADABLE = "unreadable_object"
IS_LIST = "list_not_unrolled"


class Subject(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One object to be judged."""

    item: CollectedObject
    value: dict[str, Any]
    facts: ObjectFacts | None
    """None when it can't be handed over; `problem` says why."""
    problem: str = ""
    due: tuple[tuple[KyvernoPolicy, KyvernoRule], ...] = ()
    """The rules it must be answered for, in rule order."""

    def document(self, uid: str) -> bytes:
        """For the CLI."""
        assert self.facts is not None  # noqa: S101  # only objects without a problem are handed over
        return subject_document(self.value, namespace=self.facts.namespace, uid=uid)


def subject_of(
    item: CollectedObject,
    due: tuple[tuple[KyvernoPolicy, KyvernoRule], ...],
    custom: dict[str, CustomKind],
) -> Subject:
    """Decode one object and find out what matching looks at."""
    try:
        value = msgspec.json.decode(item.raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        value = None
    if not isinstance(value, dict) or not isinstance(value.get("kind"), str) or not value.get("apiVersion"):
        return Subject(item=item, value={}, facts=None, problem=UNREADABLE, due=due)
    if item.ref.kind.endswith("List") and isinstance(value.get("items"), list):
        # The CLI panics on a list; the reader unrolls them, so one that is left was made by hand.
        return Subject(item=item, value={}, facts=None, problem=IS_LIST, due=due)
    return Subject(item=item, value=value, facts=facts_of(item, value, custom), due=due)


class ShardSizes(msgspec.Struct, frozen=True, kw_only=True):
    """How much is held in memory and handed to one process."""

    objects: int = 2_000
    pairs: int = 60_000
    bytes: int = 32 << 20
    smallest: int = 40
    """Objects below which a second process does not pay."""


def windows(subjects: Iterable[Subject], sizes: ShardSizes, number: int) -> Iterator[list[Subject]]:
    """Bounded groups of a stream, in order, each enough for `number` shards."""
    window: list[Subject] = []
    size = pairs = 0
    for subject in subjects:
        window.append(subject)
        size += len(subject.item.raw)
        pairs += len(subject.due)
        if (
            len(window) >= sizes.objects * number
            or size >= sizes.bytes * number
            or pairs >= sizes.pairs * number
        ):
            yield window
            window, size, pairs = [], 0, 0
    if window:
        yield window


def parts(subjects: Sequence[Subject], number: int, *, smallest: int) -> list[Sequence[Subject]]:
    """A window cut into at most `number` runs of about equal work, each of at least `smallest` objects."""
    number = max(1, min(number, len(subjects) // max(1, smallest)))
    work = [1 + len(subject.due) for subject in subjects]
    total = sum(work)
    cuts: list[Sequence[Subject]] = []
    begin, done = 0, 0
    for index, amount in enumerate(work):
        done += amount
        if done * number >= total * (len(cuts) + 1):
            cuts.append(subjects[begin : index + 1])
            begin = index + 1
    if begin < len(subjects):
        cuts.append(subjects[begin:])
    return cuts


def layers(subjects: Sequence[Subject]) -> list[list[Subject]]:
    """Runs in which no identity stands twice: the CLI panics when one does."""
    seen: Counter[tuple[str, str, str, str]] = Counter()
    found: list[list[Subject]] = []
    for subject in subjects:
        assert subject.facts is not None  # noqa: S101  # only objects without a problem are handed over
        layer = seen[subject.facts.identity]
        seen[subject.facts.identity] += 1
        if layer == len(found):
            found.append([])
        found[layer].append(subject)
    return found
