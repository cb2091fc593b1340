"""Where policies come from, and what is already known of how to read them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from audit.model.foreign import Shape
from audit.model.rule import Severity


class PolicySource(msgspec.Struct, frozen=True, kw_only=True):
    """A folder (or file) of policies."""

    path: Path
    label: str
    """How the user knows it; shown in messages and reports."""
    builtin: bool
    name: str = ""
    """Beginning of the rule ids of foreign policies; made from the path when it is empty."""
    origin: str = ""
    """Repository, commit and folder it was fetched from; empty for what lies here."""
    absent: str = ""
    """Why it could not be fetched; then `path` is not there."""
    shape: Shape | None = None
    """None: found out."""
    namespaces: tuple[str, ...] = ()
    """Rego packages to ask; empty means all with a decision."""
    rules: tuple[str, ...] = ()
    """Names of decisions to ask instead of the shape's own."""
    data: tuple[Path, ...] = ()
    """Files and folders read below ``data``."""
    libraries: tuple[Path, ...] = ()
    """Rego that the policies import, without rules of its own."""
    kinds: tuple[str, ...] = ()
    """Kind keys the policies are asked about; empty means what they say themselves, else every kind."""
    combine: bool = False
    """The policies expect all objects of a cluster at once."""
    allow: Literal["", "permits", "flags"] = ""
    """What a true ``allow`` means; empty: found out."""
    severity: Severity | None = None
    """Of rules that state none."""
