"""Compares two results, pair by pair where a group came or went."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from audit.compare.denominators import Basis
from audit.compare.model import Change, Comparison, GroupChange, RatioChange
from audit.model.finding import Finding, FindingGroup, Outcome
from audit.model.result import AssessmentResult
from audit.model.rule import Severity

ORDER = tuple(Change)


class PairKey(NamedTuple):
    """A pair across runs: files, lines and versions may change."""

    rule: str
    cluster: str
    kind: str
    """``group/Kind``."""
    namespace: str
    name: str


class Side(NamedTuple):
    """One of the two results.

    Args:
        result: whose groups can be read.
        outcomes: worst outcome of each pair that was asked for, from the population; None when there is none.
    """

    result: AssessmentResult
    outcomes: Mapping[PairKey, Outcome] | None


_CHOSEN = frozenset({"excluded", "not_included", "gitignored"})
"""Codes of notices about what somebody chose not to have read."""
_WORST = (Outcome.ERROR, Outcome.FAIL, Outcome.WARN, Outcome.PASS, Outcome.SKIP)


def interesting_pairs(before: AssessmentResult, after: AssessmentResult) -> frozenset[PairKey]:
    """Pairs of groups that are open in one result only: all that populations need to be read for."""
    old, new = _open(before), _open(after)
    return frozenset(
        _key(member) for id_ in old.keys() ^ new.keys() for member in _failing(old.get(id_) or new[id_])
    )


def worst_outcomes(
    rows: Iterable[tuple[PairKey, Outcome]], wanted: frozenset[PairKey]
) -> dict[PairKey, Outcome]:
    """The worst outcome of each wanted pair; one object may stand in several files."""
    found: dict[PairKey, Outcome] = {}
    for key, outcome in rows:
        if key in wanted and (key not in found or _WORST.index(outcome) < _WORST.index(found[key])):
            found[key] = outcome
    return found


def compare(before: Side, after: Side) -> Comparison:
    """What happened between two results.

    Args:
        before: the older one.
        after: the newer one.
    """
    changes = sorted(
        _changes(before, after), key=lambda c: (ORDER.index(c.change), c.group.severity.rank, c.group.id)
    )
    differs = Basis.of(before.result).differs_from(Basis.of(after.result))
    return Comparison(
        before=before.result.record.result_sha256,
        after=after.result.record.result_sha256,
        differs=differs,
        groups=tuple(changes),
        ratios=tuple(_ratios(before.result, after.result, comparable=not differs)),
    )


def worse_than(comparison: Comparison, floor: Severity) -> tuple[GroupChange, ...]:
    """Groups that opened and are of this severity or worse."""
    opened = comparison.of(Change.REGRESSED, Change.NEW, Change.NEWLY_SEEN)
    return tuple(change for change in opened if change.group.severity.rank <= floor.rank)


def _changes(before: Side, after: Side) -> Iterator[GroupChange]:
    old, new = _open(before.result), _open(after.result)
    accepted_before = {
        group.id for group in before.result.group_source.groups() if group.waived == group.total
    }
    waived = {group.id for group in after.result.group_source.groups() if group.waived == group.total}
    for id_, group in new.items():
        if id_ in old:
            yield _change(Change.UNCHANGED, "", group, old[id_], group)
        elif id_ in accepted_before:
            yield _change(Change.REGRESSED, "waiver_ended", group, None, group)
        else:
            yield _change(*_opened(group, before), group, None, group)
    for id_, group in old.items():
        if id_ in new:
            continue
        if id_ in waived:
            yield _change(Change.WAIVED, "", group, group, None)
        else:
            yield _change(*_closed(group, before.result, after), group, group, None)


def _opened(group: FindingGroup, before: Side) -> tuple[Change, str]:
    if not _asked(before.result, group.rule):
        return Change.NEW, "rule_not_asked"
    if before.outcomes is None:
        return Change.NEW, "no_population"
    known = [before.outcomes.get(_key(member)) for member in _failing(group)]
    if any(outcome in {Outcome.PASS, Outcome.SKIP, Outcome.WARN} for outcome in known):
        return Change.REGRESSED, ""
    if Outcome.ERROR in known:
        return Change.NEWLY_SEEN, "error"
    hidden = [_hidden(member, before.result) for member in _failing(group)]
    return (Change.NEWLY_SEEN, next(filter(None, hidden))) if any(hidden) else (Change.NEW, "")


def _closed(group: FindingGroup, before: AssessmentResult, after: Side) -> tuple[Change, str]:
    """Fixed takes proof: the rule was asked of each pair and no longer finds it, or its object is gone and nothing could hide it."""
    if not _asked(after.result, group.rule):
        return Change.LOST, "rule_not_asked"
    if after.outcomes is None:
        return Change.LOST, "no_population"
    removed = True
    for member in _failing(group):
        outcome = after.outcomes.get(_key(member))
        if outcome is None:
            if reason := _hidden(member, after.result) or _left_out(before, after.result):
                return Change.LOST, reason
            continue
        if outcome is Outcome.ERROR:
            return Change.LOST, "error"
        removed = False
    return (Change.REMOVED if removed else Change.FIXED), ""


def _hidden(member: Finding, result: AssessmentResult) -> str:
    """What may hide a subject that a result doesn't have; empty when nothing does."""
    subject = member.subject
    reached = {cluster.name for cluster in result.record.clusters if cluster.reached}
    if subject.cluster not in reached:
        return "cluster_not_reached"
    gaps = (gap for gap in result.gaps if gap.cluster == subject.cluster)
    return "gap" if any(gap.may_hide((subject.kind_key,)) for gap in gaps) else ""


def _left_out(before: AssessmentResult, after: AssessmentResult) -> str:
    """Whether the newer run chose to leave out something that the older one did not."""
    chosen = [
        {(n.source, n.code, n.message) for n in result.notices if n.code in _CHOSEN}
        for result in (before, after)
    ]
    scopes = [result.record.configuration.get("scope") for result in (before, after)]
    return "left_out" if chosen[1] - chosen[0] or scopes[0] != scopes[1] else ""


def _change(
    change: Change, reason: str, group: FindingGroup, before: FindingGroup | None, after: FindingGroup | None
) -> GroupChange:
    return GroupChange(
        change=change,
        reason=reason,
        group=group,
        before=before.total - before.waived if before else 0,
        after=after.total - after.waived if after else 0,
    )


def _open(result: AssessmentResult) -> dict[str, FindingGroup]:
    return {
        group.id: group
        for group in result.group_source.groups()
        if group.outcome is Outcome.FAIL and group.waived < group.total
    }


def _failing(group: FindingGroup) -> Iterator[Finding]:
    return (member for member in group.members if member.outcome is Outcome.FAIL and not member.waiver)


def _key(member: Finding) -> PairKey:
    subject = member.subject
    return PairKey(member.rule, subject.cluster, subject.kind_key, subject.namespace, subject.name)


def _asked(result: AssessmentResult, rule: str) -> bool:
    return any(state.selected and state.rule.id == rule for state in result.rules)


def _ratios(before: AssessmentResult, after: AssessmentResult, *, comparable: bool) -> Iterator[RatioChange]:
    old = {(score.framework, score.profile): score for score in before.scores}
    new = {(score.framework, score.profile): score for score in after.scores}
    for key in dict.fromkeys((*new, *old)):
        told = new.get(key) or old[key]
        yield RatioChange(
            framework=told.framework,
            title=told.title,
            profile=told.profile.value,
            before=old[key].strict if key in old else None,
            after=new[key].strict if key in new else None,
            comparable=comparable and key in old and key in new,
        )
