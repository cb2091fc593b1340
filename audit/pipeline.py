"""The audit on one page: collect, normalise, evaluate, assess, score, record. Read this file first.

The pipeline is handed its parts (`audit.wiring` builds them) and owns none. Reports, the sixth stage, are written
afterwards, from the `AssessmentResult` alone.
"""

from __future__ import annotations

from audit.assess.allow import mark_allowed
from audit.assess.controls import Assessor
from audit.assess.inputs import AssessInputs
from audit.assess.statements import statement_states
from audit.collect.members import Collected, Member, collect_member
from audit.evaluate.runner import doubts_about, judge
from audit.model.gap import Gap, GapKind
from audit.model.result import AssessmentResult
from audit.parts import Parts
from audit.ports import Clock, ProgressSink, StopSignal
from audit.score.frameworks import score
from audit.score.inputs import ScoreInputs
from audit.score.quality import policy_quality
from audit.score.verdict import incomplete_reasons, judge_gates


def run_audit(parts: Parts, *, clock: Clock, progress: ProgressSink, stop: StopSignal) -> AssessmentResult:
    """One whole run. Whatever goes wrong outside costs a gap or an error answer, not the run."""
    now = clock.now()
    # 1 collect, 2 normalise, 3 evaluate: one cluster after the other, so that memory never holds a fleet.
    members = [look_at(member, parts, progress=progress, stop=stop) for member in parts.members]
    found = [*parts.load_gaps, *(gap for member in members for gap in member.gaps)]
    gaps = mark_allowed(found, parts.allowed_gaps, now)
    # 4 assess: a status for each control, on each cluster and on the fleet.
    assessor = Assessor(
        AssessInputs(
            catalogs=parts.catalogs,
            mappings=parts.mappings,
            checks=parts.checks,
            rules=parts.rules,
            tally=parts.ledger.tally,
            gaps=gaps,
            statements=parts.statements,
            clusters={member.name: member.reached for member in members},
            profile=parts.profile,
            now=now,
        )
    )
    controls = assessor.assess()
    # 5 score: ratios, what holds them back, the gates.
    scores = score(
        ScoreInputs(
            catalogs=parts.catalogs,
            controls=controls,
            profile=parts.profile,
            pairs_due=parts.ledger.pairs_due,
            what_if=assessor.status_after,
        )
    )
    # 7 record: what all of it rests on.
    record = parts.finish_record(members, now)
    tally, objects = parts.ledger.tally, parts.ledger.objects
    gates = judge_gates(parts.gates, scores, parts.findings.counts(), objects, parts.rules, tally)
    reasons = incomplete_reasons(record.denominator, parts.ledger.errors_of_their_own, gaps, gates)
    return AssessmentResult(
        title=parts.title,
        record=record,
        tally=tally,
        scores=scores,
        controls=controls,
        rules=parts.rules,
        mappings=parts.mappings,
        checks=parts.checks,
        gaps=gaps,
        notices=(
            *parts.load_notices,
            *(notice for member in members for notice in member.notices),
            *parts.closing_notices(),
        ),
        waivers=parts.waivers(),
        statements=statement_states(parts.statements, controls, now),
        gates=gates,
        complete=not reasons,
        incomplete_reasons=reasons,
        quality=policy_quality(parts.rules, parts.mappings, controls, tally),
        consistency=parts.consistency(members, gaps),
        group_source=parts.findings,
    )


def look_at(member: Member, parts: Parts, *, progress: ProgressSink, stop: StopSignal) -> Collected:
    """Read one cluster, judge its objects and book every pair. Stopped half-way, the rest is a gap."""
    with collect_member(member, parts.proof, progress=progress, stop=stop) as collected:
        progress.stage(f"Judge {collected.name}", len(collected))
        rules = [rule for engine in parts.engines for rule in engine.rules()]
        owned_kinds = parts.workload_kinds if collected.has_owned else frozenset()
        doubts = doubts_about(rules, collected.gaps, member.context, owned_kinds)
        inventory = collected.inventory()
        for judged in judge(
            collected.name,
            collected.objects,
            parts.engines,
            inventory=inventory,
            doubts=doubts,
            twins=parts.twins,
            components=parts.components,
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
                break
        # The next cluster needs the reader that finds the lines of this one.
        parts.ledger.settle()
        return collected
