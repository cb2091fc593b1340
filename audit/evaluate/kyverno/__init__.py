"""The Kyverno engine: the real Kyverno CLI as a subprocess, with every way it has of saying nothing found out.

`build_kyverno` is the way in.
"""

from __future__ import annotations

from audit.evaluate.kyverno.build import KyvernoBuild, KyvernoOptions, build_kyverno
from audit.evaluate.kyverno.request import load_request

__all__ = ["KyvernoBuild", "KyvernoOptions", "build_kyverno", "load_request"]
