"""What all readers of results do alike: look at the head, decode, and name what can't be read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import msgspec

from audit.collect.artifacts.evidence.matching import fits
from audit.collect.artifacts.evidence.settings import EvidenceSettings
from audit.collect.artifacts.reading import Artifact, Facts, UnreadError, sha256_of
from audit.collect.artifacts.sbom.created import created_facts
from audit.collect.artifacts.sbom.decoding import peek, utf8
from audit.collect.artifacts.sbom.json_document import refuse_bomb
from audit.collect.artifacts.sbom.problems import FormatError, short

TIMES = "parameters.evidence/evidence-fresh.stated_times"


class ResultReader:
    """A reader of one family of results. A result that can't be read is a gap.

    Args:
        settings: the moment ages are counted to.
    """

    name = ""
    kinds: frozenset[str] = frozenset()
    suffixes: frozenset[str] = frozenset({".json"})
    shares = False

    def __init__(self, settings: EvidenceSettings) -> None:
        self._settings = settings

    def recognises(self, artifact: Artifact) -> bool:
        """Whether the beginning says that it is one."""
        return self.fits(peek(artifact.head).lstrip("\ufeff \t\r\n"))

    def fits(self, text: str) -> bool:
        """Whether a file that begins so is one."""
        raise NotImplementedError

    def specs(self, data: bytes) -> Iterator[dict[str, Any]]:
        """The facts in a UTF-8 document.

        Raises:
            FormatError: it is not what it seemed to be.
        """
        raise NotImplementedError

    def read(self, artifact: Artifact) -> Iterator[Facts]:
        """The facts; several objects when a file holds several results.

        Raises:
            UnreadError: it can't be looked at.
            OSError: the file can't be read.
        """
        file = {"label": artifact.label, "sha256": sha256_of(artifact.path), "bytes": artifact.size}
        try:
            data, _ = utf8(artifact.data())
            specs = list(self.specs(data))
        except FormatError as error:
            raise UnreadError(error.message) from None
        if not specs:
            raise UnreadError("it holds no result")
        [kind] = self.kinds
        for number, spec in enumerate(specs, 1):
            self._date(spec, artifact.label)
            name = artifact.label if len(specs) == 1 else f"{artifact.label}#{number}"
            yield Facts(kind=kind, name=name, spec={"file": file, **spec})

    def _date(self, spec: dict[str, Any], label: str) -> None:
        """Give a result that says no time the one that the configuration states, and say whose word that is."""
        if spec["created"]["status"] != "absent":
            return
        stated = next(
            (time for glob, time in self._settings.stated_times.items() if fits(label, [glob])), None
        )
        if stated is not None:
            spec["created"] = self.created(stated)
            message = f"it does not say when it was made; {TIMES} says {short(stated)}"
            spec["notices"] = [*spec["notices"], {"code": "time_stated", "message": message, "count": 1}]

    def created(self, value: Any) -> dict[str, Any]:
        """Facts about the time of the result."""
        said = value if isinstance(value, str) and value.strip() else None
        return created_facts(said, self._settings.moment())


def objects_of(data: bytes) -> Any:
    """One JSON value.

    Raises:
        FormatError: it is none, with the place.
    """
    refuse_bomb(data)
    try:
        return msgspec.json.decode(data)
    except RecursionError:
        raise FormatError("too_deep", "nested too deeply to be read") from None
    except msgspec.DecodeError as error:
        said = str(error)
        where = said[said.find("(byte") :] if "(byte" in said else f"(byte {len(data)})"
        raise FormatError("not_json", f"not a whole JSON document {where}") from None


def named(value: Any) -> str:
    """A text of the result, cut; an empty one for anything else."""
    return short(value) if isinstance(value, str) else ""


def number(value: Any) -> float | None:
    """A number that can be compared; None for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None
