"""What assessing needs: plain values, nothing that touches the world."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

import msgspec

from audit.model.acceptance import Statement
from audit.model.control import Catalog, Check, MappingEntry, Profile
from audit.model.gap import Gap
from audit.model.result import RuleState
from audit.model.tally import Tally


class AssessInputs(msgspec.Struct, frozen=True, kw_only=True):
    """One run's evidence and the authored content it is held against."""

    catalogs: tuple[Catalog, ...]
    mappings: tuple[MappingEntry, ...]
    checks: tuple[Check, ...]
    rules: tuple[RuleState, ...]
    """Every loaded rule, deselected ones too."""
    tally: Tally
    gaps: tuple[Gap, ...]
    statements: tuple[Statement, ...]
    clusters: Mapping[str, bool]
    """Each registered cluster, and whether anything of it was read."""
    profile: Profile
    now: dt.datetime
    """Aware, UTC: the moment at which statements are valid or not."""
    stale_clusters: frozenset[str] = frozenset()
    """Clusters judged on evidence older than its time limit."""
