"""The extra's wheel: the program inside, and found when it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from audit.errors import EngineError
from audit.evaluate.kyverno.batch.program import OVERRIDE, PACKAGE, find_batch
from audit.native.binary import said_by
from tests.shared_data import CHECKOUT

PROGRAM = """#!/bin/sh
echo '{"protocol":2,"mode":"version","kyverno":"1.2.3","go":"go1","platform":"p"}'
"""


def test_the_wheel_holds_the_program_and_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = tmp_path / "checkout"
    ignored = shutil.ignore_patterns("bin")
    shutil.copytree(CHECKOUT / "kyverno-batch", checkout / "kyverno-batch", ignore=ignored)
    shutil.copy(CHECKOUT / "hatch_build.py", checkout)
    given = tmp_path / "given"
    given.write_text(PROGRAM)
    monkeypatch.setenv(OVERRIDE, str(given))
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(tmp_path), str(checkout / "kyverno-batch")], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert "-py3-none-" in wheel.name
    assert "-any" not in wheel.name
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    monkeypatch.delenv(OVERRIDE)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, PACKAGE, raising=False)
    program = find_batch()
    assert program.path == site / PACKAGE / "bin" / "fleetaudit-kyverno-batch"
    program.path.chmod(0o755)  # an installer keeps the mode that extractall drops
    assert said_by(program).kyverno == "1.2.3"
    sys.modules.pop(PACKAGE, None)


def test_a_program_of_something_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    other.write_text(PROGRAM.replace('"kyverno":"1.2.3"', '"opa":"1.22.3"'))
    other.chmod(0o755)
    monkeypatch.setenv(OVERRIDE, str(other))
    with pytest.raises(EngineError, match="with Kyverno of no version"):
        said_by(find_batch())


def test_one_kyverno_for_the_cli_of_the_tests_and_the_child() -> None:
    """Verdicts in CEL depend on exact versions: all that both modules name are the same."""

    def versions(path: str) -> dict[str, str]:
        text = (CHECKOUT / path).read_text(encoding="utf-8")
        return dict(re.findall(r"^\s*(?:require )?([a-z0-9.-]+\.[a-z]+/\S+) (v\S+)", text, re.MULTILINE))

    ours, theirs = versions("kyverno-batch/go.mod"), versions("tools/kyverno/go.mod")
    ours.pop("fleetaudit.dev/child")
    assert ours == theirs
    assert ours["github.com/kyverno/kyverno"] == "v1.19.1"


def test_one_version_of_both_wheels() -> None:
    pattern = re.compile(r'^version = "([^"]+)"', re.MULTILINE)
    main, extra = (
        (CHECKOUT / name).read_text(encoding="utf-8")
        for name in ("pyproject.toml", "kyverno-batch/pyproject.toml")
    )
    (version,) = pattern.findall(main)
    assert pattern.findall(extra) == [version]
    assert f'"fleetaudit-kyverno-batch=={version}"' in main
