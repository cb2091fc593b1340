"""The memo of the machine that reads pickles. Standard library only."""

from __future__ import annotations

from audit.collect.artifacts.model.pickle_source import MalformedError, OverLimitError

MAX_KEPT = 1_000_000
"""Texts kept, and places that were written out of order."""

Value = str | tuple[str, str] | int | None
"""A text, an import, the sign of a torch file, or None for anything else."""


class Memo:
    """The machine's memo. Only what can name an import is kept; of all else only that it is there."""

    def __init__(self) -> None:
        self._kept: dict[int, Value] = {}
        self._dense = 0
        self._sparse: set[int] = set()

    def put(self, index: int, value: Value) -> None:
        """Keep a value at a place.

        Raises:
            OverLimitError: there are more than any model has.
        """
        if value is not None:
            self._kept[index] = value
            if len(self._kept) > MAX_KEPT:
                raise OverLimitError("more texts in its memo than any model has")
        elif self._kept:
            self._kept.pop(index, None)
        if index == self._dense:
            self._dense += 1
            while self._sparse and self._dense in self._sparse:
                self._sparse.remove(self._dense)
                self._dense += 1
        elif index > self._dense:
            self._sparse.add(index)
            if len(self._sparse) > MAX_KEPT:
                raise OverLimitError("a memo written out of order")

    def append(self, value: Value) -> None:
        """Keep a value at the next place: the number of places that are taken."""
        self.put(self._dense + len(self._sparse), value)

    def get(self, index: int) -> Value:
        """The value at a place.

        Raises:
            MalformedError: nothing was kept there.
        """
        if not 0 <= index < self._dense and index not in self._sparse:
            raise MalformedError("it asks for what it never kept")
        return self._kept.get(index)
