"""Kyverno's public policy library: our verdicts beside those of the CLI's own test command.

By default a sample of over a hundred suites runs, all in one process of the CLI. ``FLEETAUDIT_KYVERNO_CORPUS=full`` runs
every suite, each in a process of its own.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from audit.evaluate.kyverno.binary import KyvernoCli
from audit.testing.cases import Case, CaseOutcome
from tests.kyverno.corpus_cases import absent_files, case_files
from tests.shared_data import shared_dir
from tests.testing.conftest import Suites

FULL = os.environ.get("FLEETAUDIT_KYVERNO_CORPUS") == "full"
EVERY = 1 if FULL else 2
"""One suite in so many is part of the sample."""

_OLD_CRONJOB = (
    "the CronJob is batch/v1beta1, which Kyverno's generated rule does not match: the CLI calls the row Excluded and "
    "counts it as passed"
)
EXPLAINED = {
    f"{group}/memory-requests-equal-limits: "
    "memory-requests-equal-limits/autogen-cronjob-memory-requests-equal-limits hello": _OLD_CRONJOB
    for group in ("other", "other-cel")
}
"""Where our verdict is another one than the CLI's, by name."""


def own_rows(cli: KyvernoCli, folders: Sequence[Path]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """What the CLI's own test command says: suite and rows. Read without any code of ours."""
    for batch in [[folder] for folder in folders] if FULL else [list(folders)]:
        done = subprocess.run(
            [cli.path, "test", *map(str, batch), "-o", "json"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"},
        )
        assert "Test Summary:" in done.stdout, done.stderr[-2000:]
        for part in done.stdout.split("Loading test ")[1:]:
            path = re.search(r"\( (.*) \) \.\.\.", part)
            assert path is not None
            yield path[1], json.JSONDecoder().raw_decode(part[part.index("\n[") + 1 :])[0]


def expects_something(file: Path) -> bool:
    return not absent_files(file) and "results:" in file.read_text(encoding="utf-8")


@pytest.mark.corpora
@pytest.mark.tools
def test_the_policy_library_beside_the_clis_own_verdicts(
    suites: Suites, cli: KyvernoCli, capsys: pytest.CaptureFixture[str]
) -> None:
    root = shared_dir("corpora", "kyverno-policies")
    files = [file for file in case_files(root) if expects_something(file)][::EVERY]
    ours: dict[str, list[Case]] = {}
    for case in suites.report(*map(str, files)).cases:
        ours.setdefault(case.suite, []).append(case)
    theirs: dict[str, Counter[str]] = {str(file): Counter() for file in files}
    for path, rows in own_rows(cli, [file.parent for file in files]):
        theirs[path].update(row["REASON"] if row["RESULT"] == "Pass" else row["RESULT"] for row in rows)

    differences: dict[str, str] = {}
    total: Counter[str] = Counter()
    for file in files:
        said, own = theirs[str(file)], ours[str(file)]
        passed = sum(case.outcome is CaseOutcome.PASS for case in own)
        total["theirs"] += said["Ok"] + said["Excluded"]
        total["ours"] += passed
        # A pass of ours is an answer of the CLI's, or an exclusion that was expected.
        assert said["Ok"] <= passed <= said["Ok"] + said["Excluded"], (file, said)
        assert said["Fail"] == sum(case.outcome is CaseOutcome.FAIL for case in own), (file, said)
        name = file.parent.parent.relative_to(root).as_posix()
        differences |= {
            f"{name}: {case.name}": f"{case.outcome.value} {case.reason}: {case.message}"
            for case in own
            if case.outcome is not CaseOutcome.PASS
        }
    with capsys.disabled():
        print(
            f"\nKyverno {cli.version}, policy library: {len(files)} suites; {total['ours']} cases passed here, "
            f"{total['theirs']} rows with the CLI's own test command, exclusions of resources that another row answers "
            f"included; {len(differences)} cases differ"
        )
        for name, said_here in sorted(differences.items()):
            print(f"  {name}: {said_here}. {EXPLAINED.get(name, '')}")
    assert differences.keys() <= EXPLAINED.keys()
    assert len(files) >= (280 if FULL else 100)


@pytest.mark.corpora
@pytest.mark.tools
def test_the_whole_policy_library_is_told(suites: Suites, cli: KyvernoCli) -> None:
    """Suites that name files which the corpus does not hold are errors, one each, with their line."""
    root = shared_dir("corpora", "kyverno-policies")
    report = suites.report(str(root))
    incomplete = {str(file) for file in case_files(root) if absent_files(file)}
    errors = [case for case in report.cases if case.outcome is CaseOutcome.ERROR]
    assert {case.suite for case in errors} == incomplete
    assert len(errors) == len(incomplete)
    assert all(case.line for case in errors)
    assert {case.reason for case in report.cases if case.outcome is CaseOutcome.NOT_EVALUATED} <= {
        "bad_suite",
        "no_results",
        "not_matched",
    }
    counts = report.counts()
    assert counts[CaseOutcome.FAIL] == 0
    assert counts[CaseOutcome.PASS] > 2500
