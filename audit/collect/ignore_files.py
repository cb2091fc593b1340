"""What git would leave out: the patterns of ``.gitignore`` files, decided entry by entry on the way down.

Source: gitignore(5). The last pattern that matches an entry decides; a file in a deeper folder goes before one above
it; what lies below a left-out folder is out of reach, so a walk that ends at such a folder needs no look at parents.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pathspec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

# pathspec's patterns also match all that lies below what they name, and mark the slash at which they did so.
_BELOW = "ps_d"


def is_pattern(text: str) -> bool:
    """Whether a line is a pattern in gitignore syntax, or none at all (a remark, a blank)."""
    try:
        compiled([text])
    except ValueError:
        return False
    return True


def compiled(patterns: Iterable[str]) -> pathspec.GitIgnoreSpec:
    """Patterns in gitignore syntax, ready to match.

    Raises:
        ValueError: one is none.
    """
    return pathspec.GitIgnoreSpec.from_lines(patterns)


class IgnoreRules:
    """The patterns of one ``.gitignore``, for the folder it lies in."""

    def __init__(self, folder: Path, text: str) -> None:
        self.folder = folder
        self._patterns = [
            (pattern, only_folders)
            for line in text.splitlines()
            if is_pattern(line)
            for only_folders in [line.rstrip().endswith("/")]
            # The slash at the end only says that folders are meant; without it the pattern names the folder itself.
            for pattern in compiled([line.rstrip().removesuffix("/") if only_folders else line]).patterns
            if pattern.include is not None
        ]

    def decide(self, path: Path, *, is_folder: bool) -> bool | None:
        """Whether an entry is ignored; None where no pattern speaks of it."""
        name = path.relative_to(self.folder).as_posix()
        for pattern, only_folders in reversed(self._patterns):
            if (is_folder or not only_folders) and _names(pattern, name):
                return pattern.include
        return None


def ignored(rules: list[IgnoreRules], path: Path, *, is_folder: bool) -> bool:
    """Whether an entry is left out; `rules` from the topmost folder down."""
    for one in reversed(rules):
        decision = one.decide(path, is_folder=is_folder)
        if decision is not None:
            return decision
    return False


def _names(pattern: GitIgnoreSpecPattern, name: str) -> bool:
    """Whether a pattern matches an entry itself, and not just a folder above it."""
    match = pattern.regex.search(name) if pattern.regex is not None else None
    return match is not None and match.groupdict().get(_BELOW) is None
