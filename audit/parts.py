"""What one run is made of: `audit.wiring` puts it together, `audit.pipeline` runs it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence

import msgspec

from audit.collect.members import Collected, Member
from audit.evaluate.components import ComponentProfiles
from audit.evaluate.twins import TwinPairs
from audit.model.acceptance import AllowedGap, Statement
from audit.model.consistency import PolicyConsistency
from audit.model.control import Catalog, Check, MappingEntry, Profile
from audit.model.gap import Gap, Notice
from audit.model.result import RuleState, WaiverState
from audit.model.run import RunRecord
from audit.ports import Engine
from audit.record.findings import FindingStore
from audit.record.ledger import Ledger
from audit.record.proof import Proof
from audit.score.verdict import GateConditions


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one run needs."""

    title: str
    members: Sequence[Member]
    engines: Sequence[Engine]
    twins: TwinPairs
    """Which of their answers are about the same question."""
    components: ComponentProfiles
    """What named components need, and so may do."""
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
    closing_notices: Callable[[], tuple[Notice, ...]]
    """Asked at the end: what the engines know only then, and where twins differ."""
    workload_kinds: frozenset[str]
    gates: GateConditions
    ledger: Ledger
    findings: FindingStore
    proof: Proof
    consistency: Callable[[Sequence[Collected], Sequence[Gap]], PolicyConsistency | None]
    """Asked when every cluster was read: are their policies the same?"""
    finish_record: Callable[[Sequence[Collected], dt.datetime], RunRecord]
    """Closes the books; nothing can be judged afterwards."""
