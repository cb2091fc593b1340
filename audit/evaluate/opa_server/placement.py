"""How a program is present on a server: asked through a module of ours, or through queries about a bundle."""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from audit.errors import EngineError
from audit.evaluate.opa_server.connection import Connection
from audit.evaluate.opa_server.failures import AskError, Cause
from audit.evaluate.opa_server.merge import Piece, reference_steps
from audit.evaluate.opa_server.questions import Look
from audit.evaluate.opa_server.scan import Path
from audit.evaluate.opa_server.settings import ServerSettings
from audit.model.gap import Notice
from audit.model.run import EngineVersion

Answers = list[msgspec.Raw]
"""JSON of each rule's answer about one object, in the order asked."""


class Question(NamedTuple):
    """Objects, and the rules each is asked."""

    sets: list[tuple[int, ...]]
    """Sets of rule numbers."""
    objects: list[tuple[int, bytes]]
    """Number of its set, and JSON."""


class Placement(Protocol):
    """A program on a server."""

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What the report should say of the server."""
        ...

    @property
    def missing(self) -> Mapping[int, str]:
        """Rules that the server does not have, with the reason."""
        ...

    def engine_version(self) -> EngineVersion:
        """What decides, for the run record."""
        ...

    def set_inventory(self, inventory: bytes) -> None:
        """Replace ``data.inventory``, a JSON object.

        Raises:
            AskError: the server did not take it.
        """
        ...

    def ask(self, question: Question, seconds: float) -> list[Answers]:
        """One list for each object.

        Raises:
            AskError: there is no answer to the whole question.
        """
        ...

    def look(self, rule: int, raw: bytes, seconds: float) -> Look | None:
        """Describe ``violations`` of one rule about one object; None when it is undefined.

        Raises:
            AskError: there is no answer.
        """
        ...

    def rule_at(self, file: str, row: int) -> int | None:
        """The rule whose module is at that line of a file of the server's."""
        ...

    def place(self, file: str, row: int) -> tuple[str, int]:
        """Our label and line for a line of a file of the server's."""
        ...

    def in_our_words(self, text: str) -> str:
        """Text of the server with our names of modules and packages."""
        ...

    def revive(self) -> bool:
        """After a lost connection: whether the server is there (again), with the program and the inventory."""
        ...

    def close(self) -> None:
        """Take away what was put there."""
        ...


class Names:
    """Maps the server's names and lines to ours.

    Args:
        files: the server's name of a file to the pieces in it, by line.
        rules: our label to the number of the rule that the module defines.
        prefix: what everything was moved below; empty when it was not.
        packages: package of each number in new names of rules (``p3_name``).
    """

    def __init__(
        self,
        files: Mapping[str, Sequence[Piece]],
        rules: Mapping[str, int],
        prefix: str = "",
        packages: Sequence[Path] = (),
    ) -> None:
        self._files = files
        self._rules = rules
        self._prefix = prefix
        self._packages = packages
        names = "|".join(map(re.escape, sorted(files, key=len, reverse=True)))
        self._place = re.compile(rf"({names}):(\d{{1,9}})") if files else None
        self._reference = re.compile(rf"data\.{prefix}\.(?:p(\d{{1,6}})_)?") if prefix else None

    def place(self, file: str, row: int) -> tuple[str, int]:
        """Our label and line."""
        pieces = self._files.get(file, ())
        at = bisect.bisect_right(pieces, row, key=lambda piece: piece.first) - 1
        return (pieces[at].label, row - pieces[at].first + 1) if at >= 0 else (file, row)

    def rule_at(self, file: str, row: int) -> int | None:
        """Number of the rule in the module."""
        return self._rules.get(self.place(file, row)[0])

    def ours(self, text: str) -> str:
        """`text` with our names."""
        if self._place:
            text = self._place.sub(lambda found: "{}:{}".format(*self.place(found[1], int(found[2]))), text)
        return self._reference.sub(self._original, text) if self._reference else text

    def _original(self, found: re.Match[str]) -> str:
        if found[1] is None or int(found[1]) >= len(self._packages):
            return "data."
        return "data" + reference_steps(self._packages[int(found[1])]) + "."


class _Provenance(msgspec.Struct, frozen=True):
    version: str = ""
    bundles: dict[str, dict[str, str]] = {}


class _WithProvenance(msgspec.Struct, frozen=True):
    provenance: _Provenance = _Provenance()


class ServerIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """What a server says it is."""

    version: str
    bundles: dict[str, str]
    """Name to revision."""


_VERSION = re.compile(r"(\d{1,4})\.\d{1,4}\.\d{1,4}[0-9A-Za-z.+-]{0,60}")
OLDEST_MAJOR = 1


def identify(connection: Connection, seconds: float) -> ServerIdentity:
    """Ask for the version.

    Raises:
        EngineError: this is no OPA server, or one too old for Rego v1.
        AskError: no answer.
    """
    raw = connection.ask("/v1/data/fleetaudit_nothing?provenance=true", b'{"input":{}}', seconds)
    try:
        told = msgspec.json.decode(raw, type=_WithProvenance).provenance
    except msgspec.DecodeError as error:
        raise EngineError(f"{connection.url} does not answer as an OPA server does") from error
    match = _VERSION.fullmatch(told.version)
    if match is None:
        raise EngineError(
            f"{connection.url} does not say which version of OPA it is",
            suggestion="fleetaudit records what decided; allow POST /v1/data?provenance=true",
        )
    if int(match[1]) < OLDEST_MAJOR:
        raise EngineError(
            f"the OPA server is version {told.version}; at least {OLDEST_MAJOR}.0 is needed",
            suggestion="older servers read Rego differently; use a newer one, or the embedded engine",
        )
    bundles = {name: about.get("revision", "") for name, about in sorted(told.bundles.items())}
    return ServerIdentity(version=told.version, bundles=bundles)


def notices_about(identity: ServerIdentity, settings: ServerSettings, source: str) -> tuple[Notice, ...]:
    """What to say of a version that isn't the embedded one, and of a connection that proves nothing."""
    notices = []
    if settings.embedded and identity.version != settings.embedded:
        notices.append(
            Notice(
                source=source,
                code="engine_version",
                message=f"decided by OPA {identity.version}, not by the embedded version {settings.embedded}: "
                "builtins may answer differently",
            )
        )
    if settings.insecure:
        notices.append(
            Notice(
                source=source,
                code="insecure_engine",
                message="the server's certificate was not checked, so somebody else may have answered for it",
            )
        )
    return tuple(notices)


def not_usable(url: str, said: str, error: AskError) -> EngineError:
    """The error for a server that can't be used from the start."""
    if error.reason in {"http_401", "http_403"}:
        return EngineError(
            f"the OPA server {url} does not let us in: {said}",
            suggestion="check the token in the variable that engine.opa.token_env names, and the server's authorization policy",
        )
    return EngineError(
        f"the OPA server {url} can't be used: {said}",
        suggestion="check engine.opa.url, and that the server runs; nothing was judged",
    )


def unfit(what: str) -> AskError:
    """An answer that is none."""
    return AskError(Cause.UNFIT, "engine_failed", f"the server's answer {what}")


def in_places(rows: Sequence[tuple[int, Answers]], question: Question) -> list[Answers]:
    """Rows in the order of the objects.

    Raises:
        AskError: a row is missing, stands twice, or is not as long as its set.
    """
    found: list[Answers | None] = [None] * len(question.objects)
    for place, answers in rows:
        if not 0 <= place < len(found) or found[place] is not None:
            raise unfit("speaks of objects that were not asked about")
        if len(answers) != len(question.sets[question.objects[place][0]]):
            raise unfit("does not cover every rule")
        found[place] = answers
    whole = [answers for answers in found if answers is not None]
    if len(whole) != len(found):
        raise unfit("does not cover every object")
    return whole
