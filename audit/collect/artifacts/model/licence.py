"""Under which licence a model stands: what its card and the headers of its files say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_NOT_STATED = frozenset({"", "other", "unknown", "none", "n/a", "noassertion"})
_FILES = ("LICENSE", "LICENCE", "COPYING")


def licence_facts(
    folder: Path, card: Mapping[str, Any], headers: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """The names, each with its source. ``other`` counts as the name beside it, and without one as nothing.

    Args:
        folder: of the model.
        card: facts of its card.
        headers: metadata of its weight files.
    """
    fields = card["fields"]
    found: dict[str, str] = {}
    for name in fields["license"]:
        plain = name.strip()
        if plain.lower() not in _NOT_STATED:
            found.setdefault(plain, "card")
        elif plain.lower() == "other" and (own := fields.get("license_name", "").strip()):
            found.setdefault(own, "card")
    for header in headers:
        plain = str(header.get("general.license") or header.get("license") or "").strip()
        if plain.lower() not in _NOT_STATED:
            found.setdefault(plain, "weights")
    texts = sorted(
        path.name for path in folder.iterdir() if path.name.upper().startswith(_FILES) and path.is_file()
    )
    unread = card["status"] == "malformed"
    return {
        "status": "stated" if found else "unknown" if unread else "absent",
        "names": [{"name": name, "source": source} for name, source in sorted(found.items())[:50]],
        "texts": texts[:20],
    }
