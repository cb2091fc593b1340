"""Findings to control statuses. Pure: no files, processes, clock or randomness."""

from audit.assess.controls import Assessor, assess
from audit.assess.inputs import AssessInputs

__all__ = ["AssessInputs", "Assessor", "assess"]
