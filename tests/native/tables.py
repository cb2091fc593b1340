"""The pod template table that ships, as the reader is given it."""

from __future__ import annotations

import functools
from typing import Any

import yaml

from audit.resources import content_dir


@functools.cache
def shipped_table() -> dict[str, list[dict[str, Any]]]:
    """Entries of ``rego/pod_templates.yaml`` by kind."""
    loaded = yaml.safe_load((content_dir("rego") / "pod_templates.yaml").read_text(encoding="utf-8"))
    table: dict[str, list[dict[str, Any]]] = loaded["pod_templates"]
    return table
