"""How much of the machine a run takes."""

from __future__ import annotations

import os

from audit.config.schema import Config


def jobs(config: Config) -> int:
    """Cores asked for, else those this process may use."""
    if config.jobs:
        return config.jobs
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
