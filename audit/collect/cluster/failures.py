"""What an API server's refusals mean: forbidden, unreachable and not there are three different gaps."""

from __future__ import annotations

from audit.model.gap import GapKind

_MAX_TEXT = 300


class ApiError(Exception):
    """A request that brought no answer to use.

    Args:
        kind: what kind of gap it makes.
        reason: one line for people.
        status: HTTP status; 0 when there was none.
        retry_after: seconds that the server asks for; None when it asks for nothing.
        hint: what helps.
    """

    def __init__(
        self, kind: GapKind, reason: str, *, status: int = 0, retry_after: float | None = None, hint: str = ""
    ) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.status = status
        self.retry_after = retry_after
        self.hint = hint

    @property
    def worth_another_try(self) -> bool:
        """Overload and trouble on the way pass; a refusal stays one."""
        return self.status in {0, 429, 502, 503, 504}

    @property
    def is_expired(self) -> bool:
        """The position in a list is too old to go on from."""
        return self.status == 410


def refusal(status: int, message: str, retry_after: str | None) -> ApiError:
    """The error of an answer that is no 200.

    Args:
        status: HTTP status.
        message: the server's own words.
        retry_after: header of that name.
    """
    text = one_line(message)
    said = f"HTTP {status}{f': {text}' if text else ''}"
    if status == 401:
        return ApiError(
            GapKind.FORBIDDEN,
            f"the server takes the credentials for none ({said})",
            status=status,
            hint="log in again, or renew the token of the context",
        )
    if status == 403:
        return ApiError(
            GapKind.FORBIDDEN,
            f"not allowed ({said})",
            status=status,
            hint="`fleetaudit rbac` prints the least role that the loaded rules need",
        )
    if status == 404:
        return ApiError(GapKind.ABSENT, f"not served ({said})", status=status)
    return ApiError(
        GapKind.UNREACHABLE,
        said,
        status=status,
        retry_after=_seconds(retry_after),
    )


def one_line(text: str) -> str:
    """Words of others: one line, printable, not endless."""
    folded = " ".join(text.split())
    return "".join(c if c.isprintable() else "\ufffd" for c in folded)[:_MAX_TEXT]


def _seconds(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        return None
