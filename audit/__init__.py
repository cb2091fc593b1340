"""fleetaudit: policy and compliance audits of large-model Kubernetes fleets, with a proven denominator.

The public names are loaded when asked for, so that `import audit` does nothing; type checkers read ``__init__.pyi``.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "AssessmentResult": "audit.model.result",
    "AuditError": "audit.errors",
    "audit_fleet": "audit.api",
    "write_reports": "audit.api",
}
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604  # the keys are text


def __getattr__(name: str) -> Any:
    """The public names, from the modules that define them."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
