"""Each statement says whether it is live and whether anything rests on it."""

from __future__ import annotations

import datetime as dt

from audit.assess.statements import statement_states
from audit.model.acceptance import Claim
from audit.model.control import EvidenceKind
from audit.model.finding import Outcome
from tests import builders as b
from tests.unit.score.worlds import RULES, Pair, World, control, link, said


def test_live_and_counted() -> None:
    statements = (
        said("CTL 1.1", Claim.MET),
        said("CTL 1.2", Claim.MET, live=False),
        said("CTL 1.3", Claim.NOT_APPLICABLE),
        said("CTL 1.4", Claim.NOT_MET),
        said("CTL 1.5", Claim.MET),
    )
    world = World(
        controls=(
            control(1, EvidenceKind.ATTESTATION),
            control(2, EvidenceKind.ATTESTATION),
            control(3, EvidenceKind.PARTIAL),
            control(4, EvidenceKind.ATTESTATION),
            control(5),
        ),
        links=(link("CTL 1.3", RULES[0]), link("CTL 1.5", RULES[0])),
        pairs=(Pair(RULES[0], "one", "Pod", Outcome.PASS),),
        statements=statements,
    )
    states = statement_states(statements, world.judged()[0], b.NOW)
    assert [(state.live, state.counted) for state in states] == [
        (True, True),
        (False, False),
        (True, True),
        (True, True),
        (True, False),
    ], "the last control is decided by the scan alone"


def test_of_two_with_one_claim_the_newer_counts() -> None:
    older = said("CTL 1.1", Claim.MET, date=b.NOW.date().replace(year=2025))
    newer = b.statement("S-newer", framework="invented", control="CTL 1.1")
    world = World(
        controls=(control(1, EvidenceKind.ATTESTATION),), links=(), pairs=(), statements=(newer, older)
    )
    states = statement_states((older, newer), world.judged()[0], b.NOW)
    assert [state.counted for state in states] == [False, True]


def test_what_does_not_count_says_why() -> None:
    later = b.NOW.date() + dt.timedelta(days=1)
    statements = (
        said("CTL 1.1", Claim.MET, date=b.NOW.date()),
        said("CTL 1.2", Claim.MET, date=later),
        said("CTL 1.3", Claim.MET, live=False),
        said("CTL 1.4", Claim.MET, live=False, date=later),
        said("CTL 1.5", Claim.NOT_APPLICABLE, text="  "),
    )
    states = statement_states(statements, (), b.NOW)
    assert [state.why_not for state in states] == ["", "not_yet", "ended", "ended", "no_reason"]
    assert [state.live for state in states] == [True, False, False, False, False]
