"""Everything under ``controls/`` in one call: catalogs, checks, meanings and mappings, held against each other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import msgspec

from audit.library.catalogs import load_catalogs
from audit.library.checks import load_checks
from audit.library.mappings import MappingContext, Mappings, load_mappings
from audit.library.meanings import load_meanings
from audit.library.shipped import ShippedControls, shipped_controls
from audit.model.control import Catalog, Check


class ControlLibrary(msgspec.Struct, frozen=True, kw_only=True):
    """Validated authored content about controls."""

    catalogs: tuple[Catalog, ...]
    checks: tuple[Check, ...]
    mappings: Mappings


def load_controls(
    rule_ids: Collection[str],
    *,
    warn_only: Collection[str] = (),
    user_mappings: Sequence[Path] = (),
    files: ShippedControls | None = None,
) -> ControlLibrary:
    """Load the shipped controls, and the user's mapping files on top.

    Args:
        rule_ids: every rule that exists, selected or not, built in or the user's.
        warn_only: rules that only warn, and so may not decide.
        user_mappings: the user's mapping files, later ones winning.
        files: other files than the shipped ones.

    Raises:
        ContentError: anything in these files is wrong; see the single loaders.
    """
    files = files or shipped_controls()
    catalogs = load_catalogs(files.catalogs)
    checks = load_checks(files.checks, catalogs, rule_ids)
    context = MappingContext(
        catalogs=catalogs,
        checks=checks,
        meanings=load_meanings(files.meanings, catalogs),
        rule_ids=rule_ids,
        warn_only=warn_only,
    )
    mappings = load_mappings(files.mappings, context, user_paths=user_mappings)
    return ControlLibrary(catalogs=catalogs, checks=checks, mappings=mappings)
