"""Kyverno's public policy library: every expected row of its tests, judged through the engine in apply mode.

By default a sample runs. ``FLEETAUDIT_KYVERNO_CORPUS=full`` runs everything, ``FLEETAUDIT_KYVERNO_CORPUS=2/4`` the second
of four parts.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from audit.evaluate.kyverno.binary import KyvernoCli
from tests.kyverno.conftest import cli  # noqa: F401  # a fixture
from tests.kyverno.corpus_cases import Row, absent_files, case_files, run_case
from tests.shared_data import shared_dir

SAMPLE = 16
"""One case in so many, by default."""

_OLD_CRONJOB = (
    "the CronJob is batch/v1beta1, which Kyverno's generated rule does not match: its own test command calls the row "
    "Excluded and counts it as passed"
)
EXPLAINED = {
    "other/memory-requests-equal-limits CronJob hello": _OLD_CRONJOB,
    "other-cel/memory-requests-equal-limits CronJob hello": _OLD_CRONJOB,
}


def chosen(files: list[Path]) -> tuple[list[Path], bool]:
    """The part to run, and whether it is everything."""
    wanted = os.environ.get("FLEETAUDIT_KYVERNO_CORPUS", "")
    if wanted == "full":
        return files, True
    if "/" in wanted:
        part, parts = (int(number) for number in wanted.split("/"))
        return files[part - 1 :: parts], False
    return files[::SAMPLE], False


@pytest.mark.corpora
@pytest.mark.tools
def test_rows_of_the_policy_library(cli: KyvernoCli, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: F811
    root = shared_dir("corpora", "kyverno-policies")
    files, everything = chosen(case_files(root))
    whole = [file for file in files if not absent_files(file)]
    rows = [row for file in whole for row in run_case(file, root)]
    differences = [row for row in rows if not row.agrees]
    with capsys.disabled():
        print(
            f"\nKyverno {cli.version}, policy library: {len(rows) - len(differences)}/{len(rows)} rows agree in "
            f"{len(whole)} cases; {len(files) - len(whole)} cases name files that the corpus does not hold"
        )
        for row in differences:
            print(
                f"  {_name(row)}: expected {row.expected}, got {row.got}. {EXPLAINED.get(_name(row), row.detail)}"
            )
    assert {_name(row) for row in differences} <= EXPLAINED.keys()
    assert len(differences) <= len(rows) // 100 + 1
    assert len(rows) > (700 if everything else 20)


def _name(row: Row) -> str:
    return f"{row.case} {row.resource}"
