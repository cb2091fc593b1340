#!/usr/bin/env python3
"""Writes the JSON Schemas of statements, waivers, twins and mappings to docs/schema/ from the structs that read these files.

With ``--check`` nothing is written and the exit code is 1 when a copy is not current.
"""

from __future__ import annotations

import sys
from pathlib import Path

from audit.library.json_schema import content_schemas

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "schema"


def main() -> int:
    """Write or check the copies; returns the exit code."""
    stale = [
        (FOLDER / name, text)
        for name, text in content_schemas().items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text(encoding="utf-8") != text
    ]
    if "--check" in sys.argv[1:]:
        return int(bool(stale))
    for path, text in stale:
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
