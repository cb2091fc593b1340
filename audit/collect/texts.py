"""The text of a source, read again when places of findings are asked for, if it is still the text that was judged."""

from __future__ import annotations

import hashlib
from pathlib import Path


class SourceTexts:
    """Remembers where each source's text is. Rendered sources have none: their lines mean nothing to people.

    Args:
        base: folder that relative source labels count from.
    """

    def __init__(self, base: Path) -> None:
        self._base = base
        self._kept: dict[str, bytes] = {}
        self._digests: dict[str, str] = {}

    def keep(self, label: str, data: bytes) -> None:
        """Keep a text that can't be read twice (standard input)."""
        self._kept[label] = data

    def seen(self, label: str, sha256: str) -> None:
        """Note the digest of what was judged."""
        self._digests[label] = sha256

    def read(self, label: str) -> bytes | None:
        """The text judged under this label, or None when it is gone, changed or was rendered."""
        if label in self._kept:
            return self._kept[label]
        expected = self._digests.get(label)
        if not expected:
            return None
        try:
            data = (self._base / label).read_bytes()
        except OSError:
            return None
        return data if hashlib.sha256(data).hexdigest() == expected else None
