"""Waivers, statements, checks and rules as registers."""

from __future__ import annotations

from collections import Counter, defaultdict

import msgspec

from audit.model.assessment import Reason
from audit.model.control import CheckState, Strength
from audit.model.quality import RuleUse
from audit.model.result import AssessmentResult, RuleState, StatementState, WaiverState
from audit.model.rule import MutationScore
from audit.model.tally import RuleCounts
from audit.report.text import https_only, visible, visible_block
from audit.report.texts import Texts
from audit.report.view_parts import Anchors, Piece, control_pieces, day, moment, slug
from audit.report.view_words import Label, check_word, claim_word, severity_word, signature_word

SOON_DAYS = 30
_BAR_DAYS = 180


class WaiverView(msgspec.Struct, frozen=True):
    """One waiver and what it did."""

    anchor: str
    id: str
    rule: str
    rule_href: str
    scope: str
    pairs: int
    controls: tuple[Piece, ...]
    reason: str
    owner: str
    until: str
    live: bool
    days: int | None
    soon: bool
    bar: int
    """Days left as a bar, 0 to 90 wide."""
    warning: str
    place: str


class StatementView(msgspec.Struct, frozen=True):
    """One statement and whether it counted."""

    id: str
    state: Label
    controls: tuple[Piece, ...]
    claim: str
    text: str
    author: str
    date: str
    until: str
    clusters: str
    counted: bool


class OpenStatement(msgspec.Struct, frozen=True):
    """A control that waits for a statement nobody made."""

    controls: tuple[Piece, ...]
    title: str
    alone: bool
    """Nothing else holds the control back."""


class CheckView(msgspec.Struct, frozen=True):
    """Checks in one state."""

    word: str
    number: int
    reasons: tuple[tuple[str, int, str], ...]
    """Reason, how many, and their ids."""


class RuleView(msgspec.Struct, frozen=True):
    """One rule and what came of asking it."""

    anchor: str
    id: str
    title: str
    severity: str
    severity_word: str
    engine: str
    selected: bool
    twin_of: str
    warn_only: bool
    counts: RuleCounts
    applied: int
    """Pairs it gave a verdict on."""
    vacuous: bool
    """Asked, and nothing was there that it applies to."""
    unused: bool
    """No control uses it."""
    mutation: MutationScore | None
    decides: tuple[Piece, ...]
    description: str
    remediation: str
    signature: str
    """Why nobody vouches for its source; empty when somebody does, and when nobody asked."""
    caveats: tuple[str, ...]
    references: tuple[str, ...]
    place: str
    digest: str
    builtin: bool


def waivers(result: AssessmentResult, anchors: Anchors, texts: Texts) -> tuple[WaiverView, ...]:
    """Soonest end first; those without an end last."""
    now = moment(result.record.state_time)
    decided: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for entry in result.mappings:
        if entry.strength is Strength.DECIDES:
            decided[entry.rule].append((entry.framework, entry.control))

    def view(state: WaiverState) -> WaiverView:
        item = state.waiver
        days = None if item.expires is None or now is None else (item.expires - now).days
        anchor = anchors.rule(item.rule)
        named = f"{item.namespace}/{item.name}" if item.namespace else item.name
        scope = [part for part in (item.cluster, f"{item.kind} {named}".strip()) if part]
        if item.container:
            scope.append(texts.gettext("container {name}").format(name=item.container))
        return WaiverView(
            anchor=f"w-{slug(item.id)}",
            id=visible(item.id),
            rule=visible(item.rule),
            rule_href=f"#{anchor}" if anchor else "",
            scope=visible(", ".join(scope)),
            pairs=state.matched,
            controls=_several(decided[item.rule], anchors),
            reason=visible_block(item.reason, 600),
            owner=visible(item.owner),
            until=day(item.expires) if item.expires else texts.gettext("no end"),
            live=state.live,
            days=days,
            soon=state.live and days is not None and days <= SOON_DAYS,
            bar=0 if days is None else max(0, min(90, days * 90 // _BAR_DAYS)),
            warning=visible(state.warning),
            place=visible(item.file) + (f":{item.line}" if item.line else ""),
        )

    def end(state: WaiverState) -> tuple[bool, str, str]:
        expires = state.waiver.expires
        return expires is None, expires.isoformat() if expires else "", state.waiver.id

    return tuple(view(state) for state in sorted(result.waivers, key=end))


def statements(result: AssessmentResult, anchors: Anchors, texts: Texts) -> tuple[StatementView, ...]:
    """Expired ones first, then those that end first."""
    return tuple(
        _statement(state, anchors, texts)
        for state in sorted(result.statements, key=lambda s: (s.live, s.statement.expires, s.statement.id))
    )


def _statement(state: StatementState, anchors: Anchors, texts: Texts) -> StatementView:
    item = state.statement
    if not state.live:
        words = {
            "not_yet": texts.gettext("not yet valid"),
            "no_reason": texts.gettext("gives no reason"),
        }
        label = Label("D", words.get(state.why_not, texts.gettext("expired")))
    elif state.counted:
        label = Label("S", texts.gettext("counted"))
    else:
        label = Label("N", texts.gettext("not used"))
    return StatementView(
        id=visible(item.id),
        state=label,
        controls=control_pieces(item.framework, [item.control], anchors),
        claim=claim_word(item.claim, texts),
        text=visible_block(item.text, 600),
        author=visible(item.author),
        date=item.date.isoformat(),
        until=day(item.expires),
        clusters=", ".join(visible(cluster) for cluster in item.clusters[:8]),
        counted=state.counted,
    )


def open_statements(result: AssessmentResult, anchors: Anchors) -> tuple[OpenStatement, ...]:
    """Controls of the profile that need a statement nobody made; first those that wait for nothing else."""
    made = {(state.statement.framework, state.statement.control) for state in result.statements}
    found = [
        OpenStatement(
            control_pieces(row.framework, [row.id], anchors),
            visible(row.title),
            row.fleet.reason is Reason.STATEMENT_OPEN,
        )
        for row in result.controls
        if row.fleet.in_profile
        and Reason.STATEMENT_OPEN in row.fleet.reasons
        and (row.framework, row.id) not in made
    ]
    return tuple(sorted(found, key=lambda item: not item.alone))


def checks(result: AssessmentResult, texts: Texts) -> tuple[CheckView, ...]:
    """Counts by state, then by reason: "no check built" has one."""
    views = []
    for state in CheckState:
        own = [item for item in result.checks if item.state is state]
        reasons: dict[str, list[str]] = defaultdict(list)
        for item in own:
            if item.reason or state is not CheckState.BUILT:
                reasons[item.reason].append(item.id)
        views.append(
            CheckView(
                word=check_word(state, texts),
                number=len(own),
                reasons=tuple(
                    (visible(reason), len(ids), ", ".join(visible(name, 80) for name in ids))
                    for reason, ids in sorted(reasons.items(), key=lambda pair: (-len(pair[1]), pair[0]))
                ),
            )
        )
    return tuple(views)


def rules(result: AssessmentResult, anchors: Anchors, texts: Texts) -> tuple[RuleView, ...]:
    """All loaded rules in the order given, with pairs summed over clusters."""
    decided: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for entry in result.mappings:
        if entry.strength is Strength.DECIDES:
            decided[entry.rule].append((entry.framework, entry.control))
    totals = rule_totals(result)
    return tuple(
        _rule(
            state,
            use=use,
            counts=totals[state.rule.id],
            decided=decided,
            anchors=anchors,
            texts=texts,
        )
        for state, use in zip(result.rules, result.quality.rules, strict=True)
    )


def rule_totals(result: AssessmentResult) -> dict[str, RuleCounts]:
    """Pairs of each loaded rule over all clusters."""
    clusters: dict[str, set[str]] = {state.rule.id: set() for state in result.rules}
    for rule, cluster in (*result.tally.due, *((key.rule, key.cluster) for key in result.tally.counts)):
        clusters.setdefault(rule, set()).add(cluster)
    totals = {}
    for rule, names in clusters.items():
        sums: Counter[str] = Counter()
        for name in names:
            sums.update(result.tally.of(rule, name)._asdict())
        totals[rule] = RuleCounts(**{field: sums[field] for field in RuleCounts._fields})
    return totals


def _rule(
    state: RuleState,
    *,
    use: RuleUse,
    counts: RuleCounts,
    decided: dict[str, list[tuple[str, str]]],
    anchors: Anchors,
    texts: Texts,
) -> RuleView:
    rule = state.rule
    return RuleView(
        anchor=anchors.rule(rule.id),
        id=visible(rule.id),
        title=visible(rule.title),
        severity=rule.severity.value,
        severity_word=severity_word(rule.severity, texts),
        engine=visible(f"{rule.engine} ({rule.shape})" if rule.shape else rule.engine),
        selected=state.selected,
        twin_of=visible(state.twin_of),
        warn_only=rule.warn_only,
        counts=counts,
        applied=use.applied,
        vacuous=use.vacuous,
        unused=not use.controls,
        mutation=rule.mutation,
        decides=_several(decided[rule.id], anchors),
        description=visible_block(rule.description, 1200),
        remediation=visible_block(rule.remediation, 1200),
        signature=signature_word(state.signature, texts),
        caveats=tuple(visible_block(text, 600) for text in rule.caveats),
        references=tuple(filter(None, (https_only(link) for link in rule.references))),
        place=visible(rule.file) + (f":{rule.line}" if rule.line else ""),
        digest=visible(rule.digest),
        builtin=rule.builtin,
    )


def _several(controls: list[tuple[str, str]], anchors: Anchors, cap: int = 4) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    for framework, control in controls[:cap]:
        pieces += [Piece(", ")] if pieces else []
        pieces += control_pieces(framework, [control], anchors)
    if len(controls) > cap:
        pieces.append(Piece(f" +{len(controls) - cap}"))
    return tuple(pieces)
