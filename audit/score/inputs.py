"""What scoring needs: assessed controls, and a way to ask what a change would make of them."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from audit.model.assessment import ControlRow, ControlStatus
from audit.model.change import Change
from audit.model.control import Catalog, Profile

WhatIf = Callable[[str, str, Change], ControlStatus]
"""(framework, control, change) to the fleet's status as if the change had been made."""


class ScoreInputs(msgspec.Struct, frozen=True, kw_only=True):
    """One run's control rows."""

    catalogs: tuple[Catalog, ...]
    controls: tuple[ControlRow, ...]
    """Every control of every catalog; `fleet.in_profile` says which of them are in the denominator."""
    profile: Profile
    pairs_due: int
    """Pairs due in the whole run. With none, nothing was evaluated and no ratio is stated."""
    what_if: WhatIf | None = None
    """Without it no next steps are given."""
