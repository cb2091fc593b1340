"""Control statuses to ratios. Pure: no files, processes, clock or randomness."""

from audit.score.frameworks import score
from audit.score.inputs import ScoreInputs, WhatIf

__all__ = ["ScoreInputs", "WhatIf", "score"]
