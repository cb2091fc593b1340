"""The meaning check: refuses mappings that repeat the known mistakes of published ones.

``controls/meanings.yaml`` says what each rule or rule family is about and which topics a control is often, and wrongly,
given. It is data, so that a new mistake seen in the wild costs one entry.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec

from audit.errors import ContentError
from audit.library.authored import Document, Path_, read_document
from audit.library.entries import Problems, convert, list_at, mapping_at, suggest
from audit.model.control import Catalog

CVE_TOPICS = "CVE"
"""Key of the topics that every vulnerability id has."""


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Topics that some controls do not speak about."""

    framework: str
    controls: tuple[str, ...]
    topics: tuple[str, ...]
    because: str
    instead: str


class Meanings:
    """Topics of rules, and what is refused where.

    Args:
        topics: rule id or family to its topics; a rule's own entry stands in for its family's.
        refusals: what is refused.
    """

    def __init__(self, topics: Mapping[str, Collection[str]], refusals: Sequence[Refusal]) -> None:
        self.refusals = tuple(refusals)
        self.known_topics = frozenset(t for r in refusals for t in r.topics) | {
            topic for named in topics.values() for topic in named
        }
        self._topics = {name: frozenset(named) for name, named in topics.items()}
        self._refused: dict[tuple[str, str], list[Refusal]] = {}
        for refusal in refusals:
            for control in refusal.controls:
                self._refused.setdefault((refusal.framework, control), []).append(refusal)

    def with_topics(self, topics: Mapping[str, Collection[str]]) -> Meanings:
        """The same check, knowing more rules."""
        return Meanings({**self._topics, **topics}, self.refusals)

    def topics_of(self, rule: str) -> frozenset[str]:
        """Topics of a rule, of its family, or none when nobody stated any."""
        family = rule.partition("/")[0]
        return self._topics.get(rule, self._topics.get(family, frozenset()))

    def refusal(self, framework: str, control: str, rule: str) -> str | None:
        """Why a rule may not be mapped to a control, one sentence; None when nothing speaks against it."""
        topics = self.topics_of(rule)
        for refusal in self._refused.get((framework, control), ()):
            wrong = sorted(topics.intersection(refusal.topics))
            if wrong:
                named = " and ".join(topic.replace("_", " ") for topic in wrong)
                return f"{rule} speaks of {named}, and {control} does not: {refusal.because}"
        return None

    def instead(self, framework: str, control: str) -> str | None:
        """Where topics refused by a control belong."""
        refusals = self._refused.get((framework, control), ())
        return f"did you mean {refusals[0].instead}?" if refusals else None


def load_meanings(path: Path, catalogs: Sequence[Catalog]) -> Meanings:
    """Load the meaning check.

    Args:
        path: ``controls/meanings.yaml``.
        catalogs: the loaded catalogs.

    Raises:
        ContentError: an ill-formed entry, or an unknown framework or control. All errors are attached.
    """
    document = read_document(path)
    problems = Problems()
    top = mapping_at(document, (), document.value, ("topics", "refused"))
    topics = read_topics(document, top.get("topics"))
    known = {catalog.id: [control.id for control in catalog.controls] for catalog in catalogs}
    refusals: list[Refusal] = []
    for index, raw in enumerate(list_at(document, ("refused",), top.get("refused"))):
        place: Path_ = ("refused", index)
        try:
            refusal = convert(document, place, raw, Refusal)
        except ContentError as error:
            problems.add(error)
            continue
        refusals.append(refusal)
        if refusal.framework not in known:
            problems.add(document.error(f"unknown framework {refusal.framework}", (*place, "framework")))
            continue
        for control in (*refusal.controls, refusal.instead):
            if control not in known[refusal.framework]:
                problems.add(
                    document.error(
                        f"{refusal.framework} has no control {control}",
                        place,
                        suggestion=suggest(control, known[refusal.framework]),
                    )
                )
    problems.raise_any()
    return Meanings(topics, refusals)


def read_topics(document: Document, value: object) -> dict[str, tuple[str, ...]]:
    """The ``topics`` part of a file: rule id or family to a list of words.

    Raises:
        ContentError: it has another shape.
    """
    if value is None:
        return {}
    try:
        return msgspec.convert(value, dict[str, tuple[str, ...]])
    except msgspec.ValidationError as error:
        raise document.error(
            "expected rule ids or families, each with a list of words", ("topics",)
        ) from error
