"""The audit on one page: collect, normalise, evaluate, assess, score, record. Read this file first.

The pipeline is handed its adapters (`wiring` builds them) and owns none. Reports are written afterwards, from the
`AssessmentResult` alone.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence

import msgspec

from audit.assess.allow import mark_allowed
from audit.assess.controls import Assessor
from audit.assess.inputs import AssessInputs
from audit.assess.statements import statement_states
from audit.collect.members import Collected, Member, collect_member
from audit.evaluate.runner import doubts_about, judge
from audit.model.acceptance import AllowedGap, Statement
from audit.model.control import Catalog, Check, MappingEntry, Profile
from audit.model.gap import Gap, GapKind, Notice
from audit.model.result import AssessmentResult, RuleState, WaiverState
from audit.model.run import RunRecord
from audit.ports import Clock, Engine, ProgressSink, StopSignal
from audit.record.findings import FindingStore
from audit.record.ledger import Ledger
from audit.record.proof import Proof
from audit.score.frameworks import score
from audit.score.inputs import ScoreInputs
from audit.score.verdict import GateConditions, incomplete_reasons, judge_gates


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one run needs, put together by `wiring`."""

    title: str
    members: Sequence[Member]
    engines: Sequence[Engine]
    rules: tuple[RuleState, ...]
    catalogs: tuple[Catalog, ...]
    mappings: tuple[MappingEntry, ...]
    checks: tuple[Check, ...]
    profile: Profile
    statements: tuple[Statement, ...]
    waivers: Callable[[], tuple[WaiverState, ...]]
    """Asked at the end, when it is known what each waiver accepted."""
    allowed_gaps: tuple[AllowedGap, ...]
    load_gaps: tuple[Gap, ...]
    """What the library could not load: a broken policy of the user's is a gap like any other."""
    load_notices: tuple[Notice, ...]
    """What the library has to say without stopping, for example a mapping that leads nowhere."""
    workload_kinds: frozenset[str]
    gates: GateConditions
    ledger: Ledger
    findings: FindingStore
    proof: Proof
    finish_record: Callable[[Proof, Sequence[Collected], Ledger, dt.datetime], RunRecord]


def run_audit(parts: Parts, *, clock: Clock, progress: ProgressSink, stop: StopSignal) -> AssessmentResult:
    """One whole run. Whatever goes wrong outside costs a gap or an error answer, not the run."""
    now = clock.now()
    gaps: list[Gap] = list(parts.load_gaps)
    notices: list[Notice] = list(parts.load_notices)
    reached: list[Collected] = []
    for member in parts.members:
        with collect_member(member, parts.proof, progress=progress, stop=stop) as collected:
            evaluate_member(parts, collected, progress=progress, stop=stop)
            gaps += collected.gaps
            notices += collected.notices
            reached.append(collected)
    parts.ledger.flush()

    all_gaps = mark_allowed(gaps, parts.allowed_gaps, now)
    assessor = Assessor(
        AssessInputs(
            catalogs=parts.catalogs,
            mappings=parts.mappings,
            checks=parts.checks,
            rules=parts.rules,
            tally=parts.ledger.tally,
            gaps=all_gaps,
            statements=parts.statements,
            clusters={collected.name: collected.reached for collected in reached},
            profile=parts.profile,
            now=now,
        )
    )
    controls = assessor.assess()
    scores = score(
        ScoreInputs(
            catalogs=parts.catalogs,
            controls=controls,
            profile=parts.profile,
            pairs_due=parts.ledger.pairs_due,
            what_if=assessor.status_after,
        )
    )
    record = parts.finish_record(parts.proof, reached, parts.ledger, now)
    reasons = incomplete_reasons(record.denominator, parts.ledger.errors_of_their_own, all_gaps)
    return AssessmentResult(
        title=parts.title,
        record=record,
        tally=parts.ledger.tally,
        scores=scores,
        controls=controls,
        rules=parts.rules,
        mappings=parts.mappings,
        checks=parts.checks,
        gaps=all_gaps,
        notices=tuple(notices),
        waivers=parts.waivers(),
        statements=statement_states(parts.statements, controls, now),
        gates=judge_gates(parts.gates, scores, parts.findings.counts(), record.denominator.objects),
        complete=not reasons,
        incomplete_reasons=reasons,
        group_source=parts.findings,
    )


def evaluate_member(parts: Parts, collected: Collected, *, progress: ProgressSink, stop: StopSignal) -> None:
    """Judge all objects of one cluster and book every pair; stopped half-way, the rest is a gap."""
    progress.stage(f"Judge {collected.name}", len(collected))
    rules = [rule for engine in parts.engines for rule in engine.rules()]
    doubts = doubts_about(rules, collected.gaps, collected.member.context, parts.workload_kinds)
    for judged in judge(
        collected.name, collected.objects(), parts.engines, inventory=collected.inventory(), doubts=doubts
    ):
        parts.ledger.book(judged.object, judged.answers, judged.due)
        progress.advance()
        if stop.is_set():
            collected.gaps.append(
                Gap(
                    kind=GapKind.INTERRUPTED,
                    cluster=collected.name,
                    source=collected.name,
                    reason="stopped before every object was judged",
                )
            )
            return
