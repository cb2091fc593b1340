#!/usr/bin/env python3
"""Writes native/default.pgo: what the child spends its time on, for Go's profile-guided optimisation.

An audit of generated objects runs with a child that is built to profile itself; the profiles of reading and asking become
one. Run it when the rules or the OPA version changed much: an old profile costs speed, never correctness.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

import generate  # noqa: E402  # a folder of scripts, not a package

GO = [str(ROOT / "scripts" / "with-go"), "go"]
OBJECTS = 4_000


def main() -> None:
    """Profile one audit."""
    with tempfile.TemporaryDirectory(prefix="fleetaudit-profile-") as folder:
        place = Path(folder)
        program, profiles = place / "fleetaudit-native", place / "profiles"
        profiles.mkdir()
        build = [*GO, "build", "-pgo=off", "-tags", "profile", "-o", str(program)]
        flags = ["-ldflags", f"-X main.profileFolder={profiles}"]
        subprocess.run([*build, *flags, "."], cwd=ROOT / "native", check=True)
        generate.write_yaml(generate.objects(OBJECTS), place / "objects", 500)
        command = [sys.executable, "-m", "audit", "run", str(place / "objects"), "--no-config", "--no-cache"]
        subprocess.run(
            [*command, "--output", str(place / "out"), "--quiet", "--no-progress"],
            check=True,
            cwd=ROOT,
            env={**os.environ, "FLEETAUDIT_NATIVE": str(program)},
        )
        merged = subprocess.run(
            [*GO, "tool", "pprof", "-proto", *map(str, profiles.glob("*.pprof"))],
            cwd=ROOT / "native",
            check=True,
            stdout=subprocess.PIPE,
        )
    (ROOT / "native" / "default.pgo").write_bytes(merged.stdout)
    print(f"native/default.pgo: {len(merged.stdout):,} bytes")


if __name__ == "__main__":
    main()
