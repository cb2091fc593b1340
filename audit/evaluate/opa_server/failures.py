"""Why a request brought no answer, and whether asking about less could help."""

from __future__ import annotations

import enum

MAX_MESSAGE = 4096


class Cause(enum.Enum):
    """What kind of failure it is; decides how a batch is divided."""

    EVALUATION = "evaluation"
    """The server reports a run-time error of a rule: it is alive, one object and one rule are to be found."""
    SLOW = "slow"
    """No answer in time."""
    LOST = "lost"
    """The connection could not be made or broke, after every retry."""
    REFUSED = "refused"
    """An answer that the request is wrong or too large: smaller ones may pass."""
    DENIED = "denied"
    """An answer that nothing of ours is welcome: token, path, redirect."""
    UNFIT = "unfit"
    """An answer that is none: no JSON, half of it, or about something else."""


class AskError(Exception):
    """A request that brought no answer.

    Args:
        cause: what kind of failure.
        reason: machine-readable code of the error answers: ``timeout``, ``engine_failed``, ``http_413``, or OPA's code.
        message: one line for people.
        file: for evaluation errors, the module that raised, as the server calls it.
        row: line in `file`; 0 when not known.
    """

    def __init__(self, cause: Cause, reason: str, message: str, *, file: str = "", row: int = 0) -> None:
        super().__init__(message)
        self.cause = cause
        self.reason = reason
        self.message = message
        self.file = file
        self.row = row


def one_line(text: str) -> str:
    """Text of others on one line, without control characters, not endless."""
    folded = " ".join(text.split())
    clean = "".join(c if c.isprintable() else "\ufffd" for c in folded)
    return clean.encode("utf-8", "replace")[:MAX_MESSAGE].decode("utf-8", "replace")
