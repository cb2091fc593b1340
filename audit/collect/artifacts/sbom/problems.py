"""Problems by code, counted, with a few examples of each: a document with a million faults makes a short list."""

from __future__ import annotations

from typing import Any

EXAMPLES = 5
TEXT = 200
"""Longest text that is taken from a document into a fact."""


MAX_ELEMENTS = 400_000
"""Packages and files of one document. Half a kilobyte of memory is needed for each, and no real document has a tenth of them."""


class FormatError(Exception):
    """The document can't be read as what it says it is.

    Args:
        code: stable and machine-readable, for example ``not_utf8``.
        message: one line for people.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def short(text: object) -> str:
    """A value of the document, short enough for a report."""
    value = text if isinstance(text, str) else repr(text)
    return value if len(value) <= TEXT else f"{value[: TEXT - 1]}…"


def refuse_crowd(number: int) -> None:
    """Before anything is made of that many elements.

    Raises:
        FormatError: ``too_large``.
    """
    if number > MAX_ELEMENTS:
        raise FormatError("too_large", f"more than {MAX_ELEMENTS} packages and files")


class Problems:
    """A counted collection; the order is that of the first appearance."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[list[int], list[str], str]] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def __contains__(self, code: str) -> bool:
        return code in self._found

    def add(self, code: str, message: str, example: object = "", *, times: int = 1) -> None:
        """Count a problem.

        Args:
            code: what kind.
            message: what it means, the same for every one of the kind.
            example: where it was seen.
            times: how often.
        """
        found = self._found.get(code)
        if found is None:
            found = self._found[code] = ([0], [], message)
        found[0][0] += times
        if example != "" and len(found[1]) < EXAMPLES:
            found[1].append(short(example))

    def rows(self) -> list[dict[str, Any]]:
        """For the facts."""
        return [
            {"code": code, "message": message, "count": count[0], "examples": examples}
            for code, (count, examples, message) in self._found.items()
        ]
