"""Finding groups ready to print, streamed: parts by outcome and severity, at most 200 members each.

This runs once for each group and member of a fleet, so it looks up instead of making anew wherever it can.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice

import msgspec

from audit.model.control import Strength
from audit.model.finding import Finding, FindingGroup, Outcome, render_path
from audit.model.result import AssessmentResult
from audit.model.rule import Rule, Severity
from audit.model.subject import SubjectRef
from audit.report.text import value, visible, visible_block
from audit.report.texts import Texts
from audit.report.view_parts import Anchors, Piece, slug
from audit.report.view_said import caveats_text, said_alike, said_text

MEMBER_CAP = 200
"""Members shown under one group; report.json has them all, and the group says so."""
BLOCK_CAP = 500
"""Critical and high groups opened as blocks; those after them are a line each, like medium ones."""
_LINKS_PER_RULE = 5
_SHOWN_CLUSTERS = 12
_SHOWN_CONTROLS = 8

_path_text = functools.lru_cache(maxsize=8192)(render_path)


class FixLine(msgspec.Struct, frozen=True):
    """One line of the smallest fix."""

    sign: str
    """``-`` or ``+``."""
    text: str


class RuleFacts(msgspec.Struct, frozen=True):
    """What depends on the rule alone."""

    href: str
    controls: tuple[Piece, ...]
    remediation: str
    fix: tuple[str, ...]


class GroupView(msgspec.Struct, frozen=True):
    """One group as a block prints it."""

    cluster_names: str
    within: str
    path: str
    seen: str
    expected: str
    message: str
    said: str
    """What each engine said, where several were asked the same question."""
    caveats: str
    fix: tuple[FixLine, ...]


class Part(msgspec.Struct, frozen=True):
    """Groups under one heading; `groups` can be read once."""

    kind: str
    """``blocks`` for critical and high, ``rest`` for those beyond the cap, ``lines``, ``errors`` or ``warns``."""
    continued: bool
    groups: Iterator[FindingGroup]


class GroupFeed:
    """Reads the groups once, hands them out in parts, and remembers where each rule's first groups went."""

    def __init__(self, result: AssessmentResult) -> None:
        self._groups = result.group_source.groups()
        self._next: FindingGroup | None = next(self._groups, None)
        self._blocks = 0
        self._last_kind = ""
        self.file = ""
        """Name of the side page being written; empty on the main page."""
        self.links: dict[str, list[Piece]] = defaultdict(list)
        """Rule id to its first failing groups, as links that work on the main page."""
        self.overflow: dict[str, int] = defaultdict(int)
        """Rule id to how many more groups failed."""
        self.critical: list[Piece] = []
        """The first open critical groups."""
        self.begin("")

    def begin(self, file: str) -> None:
        """A new page: what is counted of its groups starts over."""
        self.file = file
        self.number = 0
        self.first = ""
        self.last = ""

    @property
    def done(self) -> bool:
        """Nothing left."""
        return self._next is None

    def parts(self, room: Callable[[], bool]) -> Iterator[Part]:
        """The parts of one page, until the groups or the room end."""
        while self._next is not None and room():
            kind = self._kind(self._next)
            yield Part(kind, kind == self._last_kind, self._of(kind, room))
            self._last_kind = kind

    def _of(self, kind: str, room: Callable[[], bool]) -> Iterator[FindingGroup]:
        group = self._next
        while group is not None and self._kind(group) == kind and room():
            self._remember(group)
            self._blocks += kind == "blocks"
            self._next = next(self._groups, None)
            yield group
            group = self._next

    def _kind(self, group: FindingGroup) -> str:
        kind = part_kind(group)
        return "rest" if kind == "blocks" and self._blocks >= BLOCK_CAP else kind

    def _remember(self, group: FindingGroup) -> None:
        self.number += 1
        self.first = self.first or group.id
        self.last = group.id
        if group.outcome is not Outcome.FAIL or group.waived == group.total:
            return
        full = len(self.links[group.rule]) >= _LINKS_PER_RULE
        if full:
            self.overflow[group.rule] += 1
        if full and (group.severity is not Severity.CRITICAL or len(self.critical) >= 3):
            return
        link = Piece(visible(group.id, 40), f"{self.file}#{anchor(group)}")
        if group.severity is Severity.CRITICAL and len(self.critical) < 3:
            self.critical.append(link)
        if not full:
            self.links[group.rule].append(link)


def part_kind(group: FindingGroup) -> str:
    """Where a group stands."""
    if group.outcome is Outcome.ERROR:
        return "errors"
    if group.outcome is Outcome.WARN:
        return "warns"
    severity = group.severity
    return "blocks" if severity is Severity.CRITICAL or severity is Severity.HIGH else "lines"


def anchor(group: FindingGroup) -> str:
    """Name of a group inside its page."""
    if group.id.isascii() and group.id[2:].isalnum() and group.id.startswith("G-"):
        return group.id.lower()
    return f"g-{slug(group.id)}"


class GroupWords:
    """Words groups; what depends on the rule alone is made once.

    Args:
        result: whose groups.
        anchors: targets of links.
        texts: language.
    """

    def __init__(self, result: AssessmentResult, anchors: Anchors, texts: Texts) -> None:
        self._rules = {state.rule.id: state.rule for state in result.rules}
        self._anchors = anchors
        self._texts = texts
        self._controls: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for entry in result.mappings:
            if entry.strength is Strength.DECIDES:
                name = (visible(entry.control), anchors.control(entry.framework, entry.control))
                self._controls[entry.rule].append(name)
        self._waived = texts.gettext("waived by {id}")

    def rule(self, rule_id: str, page: str) -> RuleFacts:
        """Facts of a rule; links lead to `page`, empty for the page itself."""
        rule: Rule | None = self._rules.get(rule_id)
        to_rule = self._anchors.rule(rule_id)
        listed = self._controls[rule_id]
        pieces = [Piece(name, f"{page}#{to}" if to else "") for name, to in listed[:_SHOWN_CONTROLS]]
        if len(listed) > _SHOWN_CONTROLS:
            pieces.append(Piece(f"+{len(listed) - _SHOWN_CONTROLS}"))
        return RuleFacts(
            href=f"{page}#{to_rule}" if to_rule else "",
            controls=tuple(pieces),
            remediation=visible_block(rule.remediation, 400) if rule else "",
            fix=tuple(visible_block(rule.fix.rstrip()).split("\n")) if rule and rule.fix else (),
        )

    def group(self, group: FindingGroup, facts: RuleFacts) -> GroupView:
        """The words of a block."""
        first = group.members[0] if group.members else None
        violation = first.violation if first else None
        return GroupView(
            cluster_names=self._clusters(group.clusters),
            within=within(first.subject, self._texts, first_too=True) if first else "",
            path=visible(_path_text(violation.path) if violation else group.path),
            seen=value(violation.seen) if violation and violation.seen is not None else "",
            expected=value(violation.expected) if violation and violation.expected is not None else "",
            message=self.message(group),
            said=said_text(first, self._texts) if first else "",
            caveats=caveats_text(first.caveats, self._texts) if first else "",
            fix=_fix(facts.fix, first),
        )

    def message(self, group: FindingGroup) -> str:
        """What the rule said of the first member; for an error its code first."""
        if not group.members:
            return ""
        first = group.members[0]
        code = f"{visible(first.error, 60)}: " if first.error else ""
        return code + visible(first.violation.message)

    def beside(self, group: FindingGroup) -> str:
        """What several engines said of the first member, and its caveats, on one line; mostly empty."""
        if not group.members:
            return ""
        first = group.members[0]
        parts = (said_text(first, self._texts), caveats_text(first.caveats, self._texts))
        return " · ".join(part for part in parts if part)

    def place(self, group: FindingGroup) -> str:
        """Where the first member is."""
        return place_text(group.members[0], self._texts) if group.members else ""

    def within(self, group: FindingGroup) -> str:
        """Where in its file the first member is, when that does not go without saying."""
        return within(group.members[0].subject, self._texts) if group.members else ""

    def members(self, group: FindingGroup) -> list[tuple[str, str]]:
        """Place of every member but the first, capped, and what tells it from the first."""
        if group.total < 2 or not group.members:
            return []
        several = len(group.clusters) > 1
        first = group.members[0]
        own, path, seen = first.subject.name, first.violation.path, first.violation.seen
        out = []
        for member in islice(group.members, 1, MEMBER_CAP):
            subject, violation = member.subject, member.violation
            rest = [inside] if (inside := within(subject, self._texts)) else []
            rest += [subject.cluster] if several else []
            if subject.name != own:
                rest.append(subject.name)
            if violation.path != path:
                rest.append(_path_text(violation.path))
            if violation.seen != seen:
                rest.append(value(violation.seen, 80))
            if member.said and not said_alike(member, first):
                rest.append(said_text(member, self._texts))
            if member.waiver:
                rest.append(self._waived.format(id=member.waiver))
            out.append((place_text(member, self._texts), visible(" · ".join(rest)) if rest else ""))
        return out

    def _clusters(self, names: tuple[str, ...]) -> str:
        text = ", ".join(visible(name, 80) for name in names[:_SHOWN_CLUSTERS])
        if len(names) > _SHOWN_CLUSTERS:
            text += " " + self._texts.gettext("and {n} more").format(n=len(names) - _SHOWN_CLUSTERS)
        return text


def place_text(finding: Finding, texts: Texts) -> str:
    """``file:line``; the file alone where the line is not known; a word for derived subjects."""
    place = finding.place
    if place is not None:
        where = visible(place.file)
        return f"{where}:{place.line}" if place.line is not None else where
    subject = finding.subject
    if subject.source:
        return visible(subject.source)
    return texts.gettext("{subject} (derived, no manifest)").format(subject=visible(subject.title, 120))


def within(subject: SubjectRef, texts: Texts, *, first_too: bool = False) -> str:
    """``document 2, items[0]``: where in its file an object stands; empty for derived subjects.

    Args:
        subject: the object.
        texts: language.
        first_too: say so of a first document, which otherwise goes without saying.
    """
    if not subject.document or not (subject.item or subject.document > 1 or first_too):
        return ""
    said = texts.gettext("document {n}").format(n=subject.document)
    return f"{said}, {visible(subject.item)}" if subject.item else said


def _fix(lines: tuple[str, ...], first: Finding | None) -> tuple[FixLine, ...]:
    """The rule's YAML as added lines; the value seen as a removed one where the YAML sets the same key."""
    removed = None
    if first is not None and first.violation.path and isinstance(first.violation.path[-1], str):
        seen = first.violation.seen
        if isinstance(seen, str | int | float | bool):
            removed = (f"{first.violation.path[-1]}:", value(seen, 120))
    out = []
    for line in lines:
        body = line.lstrip(" -")
        if removed and body.startswith(removed[0]):
            indent = line[: len(line) - len(body)]
            out.append(FixLine("-", visible(f"{indent}{removed[0]} {removed[1]}")))
            removed = None
        out.append(FixLine("+", line))
    return tuple(out)
