"""The exit-code table: each meaning once, and one order of precedence."""

from __future__ import annotations

import itertools

import pytest

from audit.cli.exits import MEANINGS, ExitCode, code_for_error, code_for_outcome, winner
from audit.errors import (
    AuditError,
    CollectionError,
    ConfigError,
    ContentError,
    EngineError,
    HistoryError,
    ReportError,
    UsageError,
)


def test_every_code_has_a_meaning() -> None:
    assert list(MEANINGS) == list(ExitCode)
    assert [int(code) for code in ExitCode] == [0, 1, 2, 3, 129, 130, 143]


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ((), 0),
        ((ExitCode.GATE_FAILED, ExitCode.MET), 1),
        ((ExitCode.GATE_FAILED, ExitCode.INCOMPLETE), 3),
        ((ExitCode.INCOMPLETE, ExitCode.USAGE), 2),
        ((ExitCode.USAGE, ExitCode.INTERRUPTED), 130),
        ((ExitCode.USAGE, ExitCode.TERMINATED), 143),
    ],
)
def test_precedence(codes: tuple[ExitCode, ...], expected: int) -> None:
    for order in itertools.permutations(codes):
        assert winner(*order) == expected


@pytest.mark.parametrize(
    ("complete", "gates_met", "expected"),
    [(True, True, 0), (True, False, 1), (False, True, 3), (False, False, 3)],
)
def test_outcomes(*, complete: bool, gates_met: bool, expected: int) -> None:
    assert code_for_outcome(complete=complete, gates_met=gates_met) == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (UsageError, 2),
        (ConfigError, 2),
        (ContentError, 2),
        (ReportError, 2),
        (HistoryError, 2),
        (CollectionError, 3),
        (EngineError, 3),
    ],
)
def test_every_family_of_errors_has_a_code(kind: type[AuditError], expected: int) -> None:
    assert code_for_error(kind("x")) == expected


def test_no_family_is_forgotten() -> None:
    assert {kind.__name__ for kind in AuditError.__subclasses__()} == {
        "UsageError",
        "ConfigError",
        "ContentError",
        "ReportError",
        "CollectionError",
        "EngineError",
        "HistoryError",
    }
