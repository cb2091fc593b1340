"""Small invented fleets, pair by pair, so that one piece of evidence can be changed and the ratios compared."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from audit.assess import AssessInputs, Assessor
from audit.assess.controls import NOT_CONFIGURED
from audit.model.acceptance import Claim, Statement
from audit.model.assessment import ControlRow, FrameworkScore
from audit.model.control import Catalog, Control, EvidenceKind, MappingEntry, Profile, ProfileName, Strength
from audit.model.finding import Outcome
from audit.model.gap import Gap
from audit.model.result import RuleState
from audit.model.subject import EVIDENCE_GROUP
from audit.model.tally import Tally
from audit.score import ScoreInputs, score
from tests import builders as b

FRAMEWORK = "invented"
KINDS = ("Pod", "Service", "Namespace")
RULES = tuple(f"family/rule-{number}" for number in range(4))
RULE_KINDS = {RULES[0]: ("Pod",), RULES[1]: ("Service",), RULES[2]: ("Pod", "Namespace")}
"""The last rule has none: it is asked of every kind."""


@dataclass(frozen=True)
class Pair:
    """One due pair; no outcome means that no answer came."""

    rule: str
    cluster: str
    kind: str
    outcome: Outcome | None
    waived: bool = False


@dataclass(frozen=True)
class World:
    """Everything an assessment reads."""

    controls: tuple[Control, ...]
    links: tuple[MappingEntry, ...]
    pairs: tuple[Pair, ...]
    clusters: dict[str, bool] = field(default_factory=lambda: {"one": True})
    gaps: tuple[Gap, ...] = ()
    statements: tuple[Statement, ...] = ()
    deselected: frozenset[str] = frozenset()
    profile: tuple[str, ...] | None = None
    unconfigured: frozenset[str] = frozenset()
    """Rules that skip for want of configuration."""
    of_evidence: frozenset[str] = frozenset()
    """Rules that judge evidence files."""

    def with_pair(self, index: int, new: Pair) -> World:
        """The same with one pair changed."""
        return replace(self, pairs=(*self.pairs[:index], new, *self.pairs[index + 1 :]))

    def without_pair(self, index: int) -> World:
        """The same with one pair gone."""
        return replace(self, pairs=self.pairs[:index] + self.pairs[index + 1 :])

    def tally(self, times: int = 1) -> Tally:
        """All pairs counted, each `times` times."""
        tally = Tally()
        for pair in self.pairs:
            tally.add_due(pair.rule, pair.cluster, times)
            if pair.outcome is not None:
                tally.add(pair.rule, pair.cluster, pair.outcome, waived=pair.waived, number=times)
        return tally

    def assessor(self, tally: Tally | None = None) -> Assessor:
        """Ready to assess, by default on its own tally."""
        chosen = tuple(control.id for control in self.controls) if self.profile is None else self.profile
        return Assessor(
            AssessInputs(
                catalogs=(self.catalog,),
                mappings=self.links,
                checks=(),
                rules=tuple(
                    RuleState(
                        rule=b.rule(
                            rule,
                            kinds=(f"{EVIDENCE_GROUP}/Sbom",)
                            if rule in self.of_evidence
                            else RULE_KINDS.get(rule, ()),
                            not_applicable=NOT_CONFIGURED if rule in self.unconfigured else "does_not_apply",
                        ),
                        selected=rule not in self.deselected,
                    )
                    for rule in RULES
                ),
                tally=tally if tally is not None else self.tally(),
                gaps=self.gaps,
                statements=self.statements,
                clusters=self.clusters,
                profile=Profile(name=ProfileName.CUSTOM, controls={FRAMEWORK: chosen}),
                now=b.NOW,
            )
        )

    @property
    def catalog(self) -> Catalog:
        """Its only framework."""
        return b.catalog(*self.controls, id=FRAMEWORK)

    def judged(self, tally: Tally | None = None) -> tuple[tuple[ControlRow, ...], FrameworkScore]:
        """Rows and score."""
        assessor = self.assessor(tally)
        rows = assessor.assess()
        profile = Profile(name=ProfileName.CUSTOM, controls={})
        inputs = ScoreInputs(
            catalogs=(self.catalog,),
            controls=rows,
            profile=profile,
            pairs_due=1,
            what_if=assessor.status_after,
        )
        return rows, score(inputs)[0]

    def score(self) -> FrameworkScore:
        """Only the score."""
        return self.judged()[1]


def control(number: int, kind: EvidenceKind = EvidenceKind.AUTO) -> Control:
    """CTL 1.1, CTL 1.2 and so on, spread over two functions."""
    function = "LEFT" if number % 2 else "RIGHT"
    return b.control(f"CTL 1.{number}", function=function, evidence_kind=kind)


def link(control_id: str, rule: str, strength: Strength = Strength.DECIDES) -> MappingEntry:
    """A mapping."""
    return b.mapping(framework=FRAMEWORK, control=control_id, rule=rule, strength=strength)


def said(control_id: str, claim: Claim, *, live: bool = True, **changes: object) -> Statement:
    """A statement, live or ended."""
    expires = b.NOW + dt.timedelta(days=10 if live else -10)
    name = f"S-{control_id}-{claim.value}-{live}"
    return b.statement(name, framework=FRAMEWORK, control=control_id, claim=claim, expires=expires, **changes)


CLEAN = [Outcome.PASS, Outcome.PASS, Outcome.PASS, Outcome.SKIP]
MIXED = [*[Outcome.PASS] * 4, *[Outcome.FAIL] * 3, *Outcome, None]
"""Passes and failures more often than the rest, or every control is undecided."""


def _pairs(
    rule: str, clusters: list[str], outcomes: list[Outcome | None] | list[Outcome]
) -> st.SearchStrategy[Pair]:
    return st.builds(
        lambda cluster, kind, outcome, waived: Pair(
            rule, cluster, kind, outcome, waived=waived and outcome is Outcome.FAIL
        ),
        st.sampled_from(clusters),
        st.sampled_from(RULE_KINDS.get(rule, KINDS)),
        st.sampled_from(outcomes),
        st.booleans(),
    )


@st.composite
def worlds(draw: st.DrawFn, *, pairs_at_least: int = 0) -> World:
    """Up to four controls, two clusters, eight pairs; of what makes a control undecided only a little."""
    clusters = ["one", "two"][: draw(st.integers(1, 2))]
    kinds = st.sampled_from([EvidenceKind.AUTO, *EvidenceKind])
    controls = tuple(control(number, draw(kinds)) for number in range(1, draw(st.integers(1, 4)) + 1))
    links = tuple(
        link(item.id, rule, Strength.SUPPORTS if draw(st.integers(0, 4)) == 0 else Strength.DECIDES)
        for item in controls
        for rule in draw(st.sets(st.sampled_from(RULES), min_size=1, max_size=2))
    )
    # In half of the worlds nothing fails by itself, so that the one change a law makes is what counts.
    outcomes = draw(st.sampled_from([CLEAN, MIXED]))
    pairs = draw(
        st.lists(
            st.sampled_from(RULES).flatmap(lambda rule: _pairs(rule, clusters, outcomes)),
            min_size=pairs_at_least,
            max_size=8,
        )
    )
    rarely = draw(st.integers(0, 7))
    return World(
        controls=controls,
        links=links,
        pairs=tuple(pairs),
        clusters={name: rarely != 1 or name != "two" for name in clusters},
        gaps=(draw(_gaps(clusters)),) if rarely == 2 else (),
        statements=tuple(draw(_statements(controls, clusters))),
        deselected=frozenset({RULES[0]}) if rarely == 3 else frozenset(),
    )


def _gaps(clusters: list[str]) -> st.SearchStrategy[Gap]:
    return st.builds(
        lambda cluster, kinds: b.gap(cluster=cluster, kinds=kinds),
        st.sampled_from([*clusters, ""]),
        st.sampled_from([None, *[(kind,) for kind in KINDS]]),
    )


@st.composite
def _statements(draw: st.DrawFn, controls: tuple[Control, ...], clusters: list[str]) -> list[Statement]:
    claims = [
        (),
        (Claim.MET,),
        (Claim.MET,),
        (Claim.NOT_APPLICABLE,),
        (Claim.NOT_MET,),
        (Claim.MET, Claim.NOT_MET),
    ]
    return [
        said(
            item.id,
            claim,
            live=draw(st.integers(0, 5)) > 0,
            clusters=draw(st.sampled_from([(), (), (clusters[0],)])),
        )
        for item in controls
        for claim in draw(st.sampled_from(claims))
    ]
