"""How suites are run."""

from __future__ import annotations

import os
import re

import msgspec


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What all kinds of suites are told."""

    jobs: int = 1
    """Cores to use."""
    seconds: float = 10.0
    """Time limit of one case; a suite of Kyverno's has it for each of its rows."""
    pattern: re.Pattern[str] | None = None
    """Only cases whose id it is found in."""
    coverage: bool = False
    strict_builtins: bool = False
    """A builtin that fails on the way is an error, even where the test holds."""

    def wants(self, id_: str) -> bool:
        """Whether a case is asked for."""
        return self.pattern is None or self.pattern.search(id_) is not None


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
