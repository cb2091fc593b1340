"""What reading an SBOM may cost, and the moment that ages are counted from."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

import msgspec

Positive = Annotated[int, msgspec.Meta(ge=1)]


class SbomSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the SBOM readers."""

    deep: bool = True
    """Let spdx-tools validate small SPDX 2 documents once more, in a process of its own."""
    deep_max_elements: Positive = 400
    """Packages, files, snippets and relationships together; its cost grows with their square."""
    deep_seconds: Annotated[float, msgspec.Meta(gt=0)] = 20.0
    deep_memory_bytes: Positive = 1 << 30
    tree_max_bytes: Positive = 32 << 20
    """XML and RDF: ten times as much memory is needed."""
    yaml_max_bytes: Positive = 12 << 20
    """YAML: forty times as much memory, and a second for each megabyte."""
    now: dt.datetime | None = None
    """Ages are counted up to this moment; the moment of reading by default."""

    def moment(self) -> dt.datetime:
        """Now, aware."""
        now = self.now or dt.datetime.now(dt.UTC)
        return now if now.tzinfo else now.replace(tzinfo=dt.UTC)
