"""Finding groups ready to print, streamed: parts by outcome and severity, at most 200 members each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice

import msgspec

from audit.model.control import Strength
from audit.model.finding import Finding, FindingGroup, Outcome
from audit.model.result import AssessmentResult
from audit.model.rule import Rule, Severity
from audit.report.text import value, visible, visible_block
from audit.report.texts import Texts
from audit.report.view_parts import Anchors, Piece, slug
from audit.report.view_words import severity_word

MEMBER_CAP = 200
"""Members shown under one group; report.json has them all, and the group says so."""
_LINKS_PER_RULE = 5
_SHOWN_CLUSTERS = 12
_SHOWN_CONTROLS = 8


class FixLine(msgspec.Struct, frozen=True):
    """One line of the smallest fix."""

    sign: str
    """``-``, ``+`` or empty."""
    text: str


class MemberView(msgspec.Struct, frozen=True):
    """One finding under its group."""

    place: str
    rest: str
    """Cluster, subject, path or value: what tells it from the first."""


class GroupView(msgspec.Struct, frozen=True):
    """One group as printed."""

    anchor: str
    id: str
    severity: str
    severity_word: str
    rule: str
    rule_href: str
    owner: str
    container: str
    clusters: int
    cluster_names: str
    total: int
    waived: int
    place: str
    path: str
    seen: str
    expected: str
    message: str
    controls: tuple[Piece, ...]
    remediation: str
    fix: tuple[FixLine, ...]
    members: tuple[MemberView, ...]
    """All but the first, capped."""
    hidden: int


class Part(msgspec.Struct, frozen=True):
    """Groups under one heading; `groups` can be read once."""

    kind: str
    """``blocks`` for critical and high, ``lines``, ``errors`` or ``warns``."""
    continued: bool
    groups: Iterator[GroupView]


class GroupFeed:
    """Reads the groups once, hands them out in parts, and remembers where each rule's first groups went.

    Args:
        result: whose groups.
        anchors: targets of links.
        texts: language.
    """

    def __init__(self, result: AssessmentResult, anchors: Anchors, texts: Texts) -> None:
        self._groups = result.group_source.groups()
        self._next: FindingGroup | None = next(self._groups, None)
        self._build = _Builder(result, anchors, texts)
        self._last_kind = ""
        self.page = ""
        """Prefix of links to controls and rules: empty on the main page, ``report.html`` on side pages."""
        self.file = ""
        """Name of the side page being written; empty on the main page."""
        self.links: dict[str, list[Piece]] = defaultdict(list)
        """Rule id to its first failing groups, as links that work on the main page."""
        self.overflow: dict[str, int] = defaultdict(int)
        """Rule id to how many more groups failed."""
        self.critical: list[Piece] = []
        """The first open critical groups."""
        self.begin()

    def begin(self) -> None:
        """A new page: what is counted of its groups starts over."""
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
            kind = part_kind(self._next)
            yield Part(kind, kind == self._last_kind, self._of(kind, room))
            self._last_kind = kind

    def _of(self, kind: str, room: Callable[[], bool]) -> Iterator[GroupView]:
        while self._next is not None and part_kind(self._next) == kind and room():
            group = self._next
            self._next = next(self._groups, None)
            view = self._build.view(group, self.page)
            self._remember(group, view)
            self.number += 1
            self.first = self.first or view.id
            self.last = view.id
            yield view

    def _remember(self, group: FindingGroup, view: GroupView) -> None:
        if group.outcome is not Outcome.FAIL or group.waived == group.total:
            return
        link = Piece(view.id, f"{self.file}#{view.anchor}")
        if group.severity is Severity.CRITICAL and len(self.critical) < 3:
            self.critical.append(link)
        if len(self.links[group.rule]) < _LINKS_PER_RULE:
            self.links[group.rule].append(link)
        else:
            self.overflow[group.rule] += 1


def part_kind(group: FindingGroup) -> str:
    """Where a group stands."""
    if group.outcome is Outcome.ERROR:
        return "errors"
    if group.outcome is Outcome.WARN:
        return "warns"
    return "blocks" if group.severity in {Severity.CRITICAL, Severity.HIGH} else "lines"


class _Builder:
    """Turns groups into views; what depends on the rule alone is made once."""

    def __init__(self, result: AssessmentResult, anchors: Anchors, texts: Texts) -> None:
        self._rules = {state.rule.id: state.rule for state in result.rules}
        self._anchors = anchors
        self._texts = texts
        self._words = {severity: severity_word(severity, texts) for severity in Severity}
        self._controls: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for entry in result.mappings:
            if entry.strength is Strength.DECIDES:
                name = (visible(entry.control), anchors.control(entry.framework, entry.control))
                self._controls[entry.rule].append(name)
        self._by_rule: dict[tuple[str, str], tuple[str, tuple[Piece, ...], str, tuple[str, ...]]] = {}

    def view(self, group: FindingGroup, page: str) -> GroupView:
        """The printed form of a group."""
        rule_href, controls, remediation, fix = self._of_rule(group.rule, page)
        first = group.members[0] if group.members else None
        seen = value(first.violation.seen) if first and first.violation.seen is not None else ""
        return GroupView(
            anchor=slug(group.id),
            id=visible(group.id, 40),
            severity=group.severity.value,
            severity_word=self._words[group.severity],
            rule=visible(group.rule),
            rule_href=rule_href,
            owner=visible(group.owner),
            container=visible(group.container),
            clusters=len(group.clusters),
            cluster_names=self._clusters(group.clusters),
            total=group.total,
            waived=group.waived,
            place=place_text(first, self._texts) if first else "",
            path=visible(first.violation.path_text) if first else visible(group.path),
            seen=seen,
            expected=_expected(first),
            message=self._message(first),
            controls=controls,
            remediation=remediation,
            fix=_fix(fix, first) if fix and part_kind(group) == "blocks" else (),
            members=self._members(group, first),
            hidden=max(0, group.total - MEMBER_CAP),
        )

    def _of_rule(self, rule_id: str, page: str) -> tuple[str, tuple[Piece, ...], str, tuple[str, ...]]:
        known = self._by_rule.get((rule_id, page))
        if known is None:
            rule: Rule | None = self._rules.get(rule_id)
            anchor = self._anchors.rule(rule_id)
            listed = self._controls[rule_id]
            pieces = [Piece(name, f"{page}#{to}" if to else "") for name, to in listed[:_SHOWN_CONTROLS]]
            if len(listed) > _SHOWN_CONTROLS:
                pieces.append(Piece(f"+{len(listed) - _SHOWN_CONTROLS}"))
            known = (
                f"{page}#{anchor}" if anchor else "",
                tuple(pieces),
                visible_block(rule.remediation, 400) if rule else "",
                tuple(visible_block(rule.fix.rstrip()).split("\n")) if rule and rule.fix else (),
            )
            self._by_rule[rule_id, page] = known
        return known

    def _clusters(self, names: tuple[str, ...]) -> str:
        text = ", ".join(visible(name, 80) for name in names[:_SHOWN_CLUSTERS])
        if len(names) > _SHOWN_CLUSTERS:
            text += " " + self._texts.gettext("and {n} more").format(n=len(names) - _SHOWN_CLUSTERS)
        return text

    def _message(self, first: Finding | None) -> str:
        if first is None:
            return ""
        code = f"{visible(first.error, 60)}: " if first.error else ""
        return code + visible(first.violation.message)

    def _members(self, group: FindingGroup, first: Finding | None) -> tuple[MemberView, ...]:
        if first is None or group.total < 2:
            return ()
        several = len(group.clusters) > 1
        own, shown = first.subject.name, first.violation
        views = []
        for member in islice(group.members, 1, MEMBER_CAP):
            subject, violation = member.subject, member.violation
            rest = [subject.cluster] if several else []
            if subject.name != own:
                rest.append(subject.name)
            if violation.path != shown.path:
                rest.append(violation.path_text)
            if violation.seen != shown.seen:
                rest.append(value(violation.seen, 80))
            if member.waiver:
                rest.append(self._texts.gettext("waived by {id}").format(id=member.waiver))
            views.append(MemberView(place_text(member, self._texts), visible(" · ".join(rest))))
        return tuple(views)


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


def _expected(first: Finding | None) -> str:
    if first is None:
        return ""
    if first.violation.expected is not None:
        return value(first.violation.expected)
    return ""


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
