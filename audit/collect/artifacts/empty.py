"""Files in which nothing stands. A scan that failed often leaves one behind, and it must not vanish without a word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from audit.collect.artifacts.reading import Artifact, ArtifactReader, Facts, UnreadError
from audit.collect.artifacts.sbom.decoding import peek

_VALID_WHEN_EMPTY = frozenset({".yaml", ".yml", ".md"})
"""A YAML stream may hold no document at all, and a text says nothing by being there; every other form of evidence begins with something."""
_BLANK = "\ufeff \t\r\n"


class EmptyReader:
    """Recognises files that have the ending of evidence and hold nothing: no byte, blanks, or an empty JSON object.

    They are gaps of the kinds of evidence that such a file could have held. They hide no manifest: there is nothing in them.

    Args:
        ending: of the file's name, lower case.
        kinds: of the facts that a file with this ending may hold.
    """

    name = "empty file"
    suffixes: frozenset[str] = frozenset()
    shares = False

    def __init__(self, ending: str, kinds: frozenset[str]) -> None:
        self._ending = ending
        self.kinds = kinds

    def recognises(self, artifact: Artifact) -> bool:
        """Whether nothing stands in it."""
        return artifact.name.lower().endswith(self._ending) and bool(_nothing(artifact))

    def read(self, artifact: Artifact) -> Iterator[Facts]:
        """Never gives a fact.

        Raises:
            UnreadError: always.
        """
        yield from ()
        raise UnreadError(f"malformed: {_nothing(artifact)}", hint="make the file again, or remove it")


def _nothing(artifact: Artifact) -> str:
    """What there is in place of a content; empty when there is a content."""
    if artifact.path.is_dir() or artifact.size != len(artifact.head):
        return ""
    if not artifact.size:
        return "there is no byte in it"
    text = "".join(peek(artifact.head).split()).strip(_BLANK)
    if not text:
        return "there is nothing in it but blanks"
    return "an empty JSON object is neither a manifest nor evidence" if text == "{}" else ""


def readers(others: Sequence[ArtifactReader]) -> list[EmptyReader]:
    """One for each ending, the longest first: ``.sigstore.json`` is more than ``.json``.

    Args:
        others: the readers whose files may be empty. Those that share a file judge it themselves: what must be signed is
            judged by its signature, whatever is in it.
    """
    kinds: dict[str, frozenset[str]] = {}
    for reader in others:
        # Every reader is asked about JSON, because manifests are written in it too.
        for ending in () if reader.shares else (reader.suffixes | {".json"}) - _VALID_WHEN_EMPTY:
            kinds[ending] = kinds.get(ending, frozenset()) | reader.kinds
    return [EmptyReader(ending, kinds[ending]) for ending in sorted(kinds, key=lambda one: (-len(one), one))]
