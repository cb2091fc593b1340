"""Exit codes: what each means, and which one wins."""

from __future__ import annotations

import enum

from audit.errors import AuditError, CollectionError, EngineError


class ExitCode(enum.IntEnum):
    """Everything that the command may return."""

    MET = 0
    GATE_FAILED = 1
    USAGE = 2
    INCOMPLETE = 3
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


MEANINGS: dict[ExitCode, str] = {
    ExitCode.MET: "the audit is complete and every gate asked for is met (without a gate: complete)",
    ExitCode.GATE_FAILED: "a gate asked for is not met",
    ExitCode.USAGE: "usage, configuration or content is wrong, or the report cannot be written",
    ExitCode.INCOMPLETE: "the audit is incomplete: gaps, engine errors, nothing evaluated, or an internal error",
    ExitCode.HUNG_UP: "the terminal went away (SIGHUP); the partial report was written",
    ExitCode.INTERRUPTED: "interrupted (SIGINT); the partial report was written",
    ExitCode.TERMINATED: "terminated (SIGTERM); the partial report was written",
}

# A stop by signal is what the caller asked for, so it is what the caller is told.
_PRECEDENCE = (
    ExitCode.TERMINATED,
    ExitCode.INTERRUPTED,
    ExitCode.HUNG_UP,
    ExitCode.USAGE,
    ExitCode.INCOMPLETE,
    ExitCode.GATE_FAILED,
    ExitCode.MET,
)


def winner(*codes: ExitCode) -> ExitCode:
    """The code that is returned when several apply; MET when none does."""
    return min((*codes, ExitCode.MET), key=_PRECEDENCE.index)


def code_for_error(error: AuditError) -> ExitCode:
    """Errors whose author is the user are usage; a world that cannot be read leaves the audit incomplete."""
    if isinstance(error, CollectionError | EngineError):
        return ExitCode.INCOMPLETE
    return ExitCode.USAGE


def code_for_outcome(*, complete: bool, gates_met: bool) -> ExitCode:
    """Completeness is looked at before gates: a gate over half the evidence says nothing."""
    codes = []
    if not complete:
        codes.append(ExitCode.INCOMPLETE)
    if not gates_met:
        codes.append(ExitCode.GATE_FAILED)
    return winner(*codes)
