"""Kyverno policy files: recognised, read and turned into audit rules. Nothing here runs Kyverno."""

from __future__ import annotations

from audit.library.kyverno.load import load_kyverno

__all__ = ["load_kyverno"]
