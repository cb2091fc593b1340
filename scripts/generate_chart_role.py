#!/usr/bin/env python3
"""Writes the rules of the chart's ClusterRole: what `fleetaudit rbac` prints for the shipped rules.

With ``--check`` nothing is written and the exit code is 1 when the file is not current.
"""

from __future__ import annotations

import sys
from pathlib import Path

import yaml

from audit.config.schema import Config
from audit.wiring import load_library
from audit.wiring.rights import role_for

FILE = Path(__file__).resolve().parent.parent / "deploy" / "helm" / "fleetaudit" / "files" / "rules.yaml"
HEAD = "# Written by scripts/generate_chart_role.py from the shipped rules; run `make docs`.\n"


def main() -> int:
    """Write or check the file; returns the exit code."""
    config = Config()
    role = role_for(config, load_library(config), secret_metadata=False)
    text = HEAD + yaml.safe_dump(role["rules"], sort_keys=False)
    if "--check" in sys.argv[1:]:
        return int(not FILE.is_file() or FILE.read_text(encoding="utf-8") != text)
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
