"""The running clusters that a kubeconfig knows."""

from __future__ import annotations

from audit.collect.cluster.connection import contexts
from audit.collect.cluster.failures import ApiError
from audit.errors import UsageError


def all_contexts(kubeconfig: str | None) -> tuple[str, ...]:
    """Names of its contexts, sorted.

    Raises:
        UsageError: there are none.
    """
    try:
        names, _ = contexts(kubeconfig or "")
    except ApiError as error:
        raise UsageError(
            f"--all-contexts: {error.reason}", suggestion="name one with --kubeconfig"
        ) from error
    if not names:
        raise UsageError("--all-contexts: the kubeconfig has no context")
    return tuple(sorted(names))
