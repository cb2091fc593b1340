"""Policy paths as the user wrote them to sources: folders stay, pinned addresses are fetched."""

from __future__ import annotations

from pathlib import Path

import msgspec

from audit.errors import CollectionError
from audit.library.foreign.git import fetch, is_git, parse_git
from audit.library.policy_source import PolicySource


def open_source(written: str, cache: Path, known: PolicySource | None = None) -> PolicySource:
    """The source a path or an address stands for.

    Args:
        written: path, or ``git+https://...``.
        cache: folder for what is fetched.
        known: what the configuration says of it; its path and label are replaced.

    Raises:
        ContentError: an address is not pinned, or is none. That a repository cannot be reached becomes the source's
            `absent` instead: the rest of the audit goes on.
    """
    base = known or PolicySource(path=Path(), label="", builtin=False)
    if not is_git(written):
        return msgspec.structs.replace(base, path=Path(written), label=written)
    source = parse_git(written)
    try:
        path = fetch(source, cache)
    except CollectionError as error:
        return msgspec.structs.replace(
            base,
            path=cache / "absent" / source.commit,
            label=source.origin,
            origin=source.origin,
            absent=error.message,
        )
    return msgspec.structs.replace(base, path=path, label=source.origin, origin=source.origin)
