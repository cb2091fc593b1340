"""Lines and columns of findings, asked of the native reader file by file."""

from __future__ import annotations

from collections.abc import Callable

from audit.model.subject import Place, SubjectRef
from audit.native.reader import PathsWanted, Position, PositionRequest, Reader

Path = tuple[str | int, ...]


class Places:
    """A `PlaceFinder` over the native reader.

    Args:
        reader: the running reader.
        text_of: the judged text of a source, or None when it can't be had any more.
    """

    def __init__(self, reader: Reader, text_of: Callable[[str], bytes | None]) -> None:
        self._reader = reader
        self._text_of = text_of

    def places(self, asked: list[tuple[SubjectRef, list[Path]]]) -> list[list[Place | None]]:
        """Places of all paths, in the order asked; None where no document is the source (derived subjects)."""
        answers: list[list[Place | None]] = [[None] * len(paths) for _, paths in asked]
        by_source: dict[str, list[int]] = {}
        for index, (ref, paths) in enumerate(asked):
            if ref.source and paths:
                by_source.setdefault(ref.source, []).append(index)
        requests: list[PositionRequest] = []
        owners: list[list[int]] = []
        for source, indexes in by_source.items():
            data = self._text_of(source)
            if data is None:
                # Rendered, or changed since it was judged: the file is known, a line would be a guess.
                for index in indexes:
                    answers[index] = [Place(file=source)] * len(asked[index][1])
                continue
            requests.append(PositionRequest(path=source, data=data, wanted=_wanted(asked, indexes)))
            owners.append(indexes)
        for indexes, positions in zip(owners, self._reader.positions(requests), strict=True):
            for index, found in zip(indexes, positions, strict=True):
                answers[index] = [_place(asked[index][0], position) for position in found]
        return answers


def _wanted(asked: list[tuple[SubjectRef, list[Path]]], indexes: list[int]) -> tuple[PathsWanted, ...]:
    return tuple(
        PathsWanted(document=ref.document, item=ref.item, paths=tuple(paths))
        for ref, paths in (asked[index] for index in indexes)
    )


def _place(ref: SubjectRef, position: Position) -> Place:
    if not position.line:
        return Place(file=ref.source, line=ref.line, approximate=True)
    return Place(
        file=ref.source, line=position.line, column=position.column, approximate=position.approximate
    )
