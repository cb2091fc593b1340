#!/usr/bin/env python3
"""Writes rego/mutation_scores.json: how many planted faults the tests of each shipped rule notice.

Only rules whose source or tests changed since they were measured are measured again; with ``--all`` every rule is.
"""

from __future__ import annotations

import sys

from audit.config.schema import Config
from audit.library.scores import scores_file, written
from audit.wiring import load_library
from audit.wiring.mutation import shipped_scores


def main() -> None:
    """Measure and write."""
    config, path = Config(), scores_file()
    if "--all" in sys.argv[1:]:
        path.write_bytes(written({}))
    library = load_library(config)
    found = {}
    for rule, measured in shipped_scores(config, library):
        found[rule] = measured
        path.write_bytes(written(found))  # after each, so that minutes of work survive an interruption
        score = measured.score
        print(f"{rule}: {score.noticed}/{score.planted} by {score.tests} tests", flush=True)


if __name__ == "__main__":
    main()
