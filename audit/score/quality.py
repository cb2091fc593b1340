"""How good the policies are: what each rule applied to, and which rules and controls miss each other. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from audit.model.assessment import ControlRow
from audit.model.control import MappingEntry
from audit.model.finding import Outcome
from audit.model.quality import PolicyQuality, RuleUse, UnservedControl
from audit.model.result import RuleState
from audit.model.tally import Tally

_VERDICTS = {Outcome.PASS, Outcome.FAIL, Outcome.WARN}


def policy_quality(
    rules: Sequence[RuleState],
    mappings: Sequence[MappingEntry],
    controls: Sequence[ControlRow],
    tally: Tally,
) -> PolicyQuality:
    """Look at rules and controls from both sides.

    A rule is vacuous when it was asked and every due pair, if any was due, was skipped. Pairs in error or without an answer leave that
    open, so they make no rule vacuous. A twin's pairs are its partner's, so it is never vacuous by itself.

    Args:
        rules: every loaded rule.
        mappings: of loaded rules to controls.
        controls: of every catalog.
        tally: what came of asking.
    """
    due: dict[str, int] = defaultdict(int)
    for (rule, _), number in tally.due.items():
        due[rule] += number
    applied: dict[str, int] = defaultdict(int)
    skipped: dict[str, int] = defaultdict(int)
    for key, number in tally.counts.items():
        if key.outcome in _VERDICTS:
            applied[key.rule] += number
        elif key.outcome is Outcome.SKIP:
            skipped[key.rule] += number
    served: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for entry in mappings:
        served[entry.rule].add((entry.framework, entry.control))
    loaded = {state.rule.id for state in rules}
    reached = {control for rule, found in served.items() if rule in loaded for control in found}
    return PolicyQuality(
        rules=tuple(
            RuleUse(
                rule=state.rule.id,
                due=due[state.rule.id],
                applied=applied[state.rule.id],
                vacuous=state.selected
                and not state.twin_of
                and due[state.rule.id] == skipped[state.rule.id]
                and not applied[state.rule.id],
                controls=len(served[state.rule.id] | served[state.twin_of]),
            )
            for state in rules
        ),
        unserved=tuple(
            UnservedControl(
                framework=row.framework,
                control=row.id,
                evidence_kind=row.evidence_kind,
                in_profile=row.fleet.in_profile,
            )
            for row in controls
            if (row.framework, row.id) not in reached
        ),
    )
