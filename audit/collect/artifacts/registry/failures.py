"""Why a registry gave no answer to use. Each is a code of `verdicts`, and none of them says that an image is unsigned."""

from __future__ import annotations

from audit.model.gap import GapKind

GAPS = {
    "registry_unreachable": GapKind.UNREACHABLE,
    "registry_untrusted": GapKind.UNREACHABLE,
    "registry_slow": GapKind.UNREACHABLE,
    "registry_throttled": GapKind.UNREACHABLE,
    "registry_failed": GapKind.UNREACHABLE,
    "registry_not_asked": GapKind.INTERRUPTED,
    "registry_denied": GapKind.FORBIDDEN,
    "registry_has_not": GapKind.ABSENT,
    "registry_too_large": GapKind.TOO_LARGE,
    "registry_leads_away": GapKind.UNREADABLE,
    "not_a_registry": GapKind.UNREADABLE,
    "unsupported_manifest": GapKind.UNREADABLE,
    "unsupported_hash": GapKind.UNREADABLE,
    "blob_differs": GapKind.UNREADABLE,
    "too_many_signatures": GapKind.TOO_LARGE,
}
"""The gap that each makes."""


class RegistryError(Exception):
    """An answer that can't be used, or none.

    Args:
        code: one of `GAPS`.
        reason: one line for people. It never holds words of the registry, which could be an attacker's, nor an address with its query,
            which could hold a token.
        hint: what helps.
    """

    def __init__(self, code: str, reason: str, *, hint: str = "") -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.hint = hint
