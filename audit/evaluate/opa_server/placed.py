"""A program put on a server by us: started with one of our own, or pushed to one that runs."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Callable
from urllib.parse import urlsplit

import msgspec

from audit.errors import EngineError
from audit.evaluate.opa_server.connection import Connection
from audit.evaluate.opa_server.failures import AskError, Cause
from audit.evaluate.opa_server.managed import Layout, ManagedServer
from audit.evaluate.opa_server.merge import Merger, Piece
from audit.evaluate.opa_server.placement import (
    Answers,
    Names,
    Question,
    identify,
    in_places,
    not_usable,
    notices_about,
    unfit,
)
from audit.evaluate.opa_server.program import Graph, Program
from audit.evaluate.opa_server.questions import ASK, STAMP, Look, Refs, asking_rules, plain_refs
from audit.evaluate.opa_server.scan import path_of
from audit.evaluate.opa_server.settings import ServerSettings
from audit.model.gap import Notice
from audit.model.run import EngineVersion

_MAX_RESTARTS = 200
"""Enough for twenty objects that bring the server down, each found by halving its batch."""
_INSTALL_SECONDS = 60.0
_ASK_MODULE = "ask.rego"
_MANY = 20


class _Reply(msgspec.Struct, frozen=True):
    stamp: str
    answers: list[tuple[int, list[msgspec.Raw]]]


class _Result(msgspec.Struct, frozen=True):
    result: _Reply | None = None


class _LookResult(msgspec.Struct, frozen=True):
    result: list[Look] | None = None


class _Placed:
    """Asks through the generated module; the inventory is a data document beside a stamp that every reply repeats."""

    def __init__(self, prefix: str) -> None:
        self.notices: tuple[Notice, ...] = ()
        self.missing: dict[int, str] = {}
        self._prefix = prefix
        root = f"/v1/data/{prefix}/{ASK}" if prefix else f"/v1/data/{ASK}"
        # A failed builtin is an error, as in the embedded engine: undefined would read as "no violation".
        self._reply = f"{root}/reply?strict-builtin-errors=true"
        self._look = f"{root}/look?strict-builtin-errors=true"
        self._replies = msgspec.json.Decoder(_Result)
        self._looks = msgspec.json.Decoder(_LookResult)
        self._inventory = b""
        self._stamp = b'""'
        self._names = Names({}, {})

    def connected(self) -> Connection:
        """The connection in use."""
        raise NotImplementedError

    def set_inventory(self, inventory: bytes) -> None:
        """Replace inventory and stamp in one transaction."""
        self._inventory = inventory
        digest = hashlib.sha256(inventory).hexdigest()[:16]
        self._stamp = msgspec.json.encode(f"{secrets.token_hex(4)}-{digest}")
        self._send_inventory()

    def _send_inventory(self) -> None:
        if self._inventory:
            values = {"inventory": self._inventory, STAMP: self._stamp}
            self.connected().patch_data(self._prefix, values, _INSTALL_SECONDS)

    def ask(self, question: Question, seconds: float) -> list[Answers]:
        """One list for each object."""
        stamp = self._stamp
        raw = self.connected().ask(self._reply, _body(question), seconds)
        try:
            reply = self._replies.decode(raw).result
        except (msgspec.DecodeError, RecursionError) as error:
            raise unfit("is not what was asked for") from error
        if reply is None:
            raise unfit("shows that the rules are gone; was it restarted?")
        if msgspec.json.encode(reply.stamp) != stamp:
            raise unfit("rests on another inventory")
        return in_places(reply.answers, question)

    def look(self, rule: int, raw: bytes, seconds: float) -> Look | None:
        """Describe one answer."""
        body = b'{"input":{"rule":"r%d","object":%b}}' % (rule, raw)
        try:
            result = self._looks.decode(self.connected().ask(self._look, body, seconds)).result
        except (msgspec.DecodeError, RecursionError) as error:
            raise unfit("is not what was asked for") from error
        if result is None:
            raise unfit("shows that the rules are gone; was it restarted?")
        return result[0] if result else None

    def rule_at(self, file: str, row: int) -> int | None:
        """The rule in a module."""
        return self._names.rule_at(file, row)

    def place(self, file: str, row: int) -> tuple[str, int]:
        """Our label and line."""
        return self._names.place(file, row)

    def in_our_words(self, text: str) -> str:
        """Our names in the server's text."""
        return self._names.ours(text)


def _body(question: Question) -> bytes:
    sets = {str(number): [f"r{rule}" for rule in rules] for number, rules in enumerate(question.sets)}
    objects = b",".join(b'{"s":"%d","v":%b}' % (number, raw) for number, raw in question.objects)
    return b'{"input":{"sets":%b,"objects":[%b]}}' % (msgspec.json.encode(sets), objects)


def _rule_files(program: Program) -> dict[str, int]:
    packages = {info.file: info.package for info in program.packages}
    numbers = {rule.package: number for number, rule in enumerate(program.rules)}
    return {file: numbers[package] for file, package in packages.items() if package in numbers}


class ManagedPlacement(_Placed):
    """A server of our own, started with the program as it is; started anew when it dies.

    Raises:
        EngineError: it doesn't start.
    """

    def __init__(self, program: Program, settings: ServerSettings) -> None:
        super().__init__("")
        files = {label: f"m{number:04}.rego" for number, label in enumerate(sorted(program.modules))}
        texts = {files[label]: text for label, text in program.modules.items()}
        refs = [plain_refs(rule.package) for rule in program.rules]
        texts[_ASK_MODULE] = f"package {ASK}\n\n{asking_rules(refs, 'data')}"
        roots = [path_of(info.package) for info in program.packages]
        layout = Layout(
            texts,
            frozenset(files[info.file] for info in program.packages if info.dialect == "v0"),
            msgspec.json.encode(program.data),
            [*roots, (ASK,), *((key,) for key in program.data)],
        )
        self._names = Names(
            {f"bundle/m/{name}": [Piece(label, 1, 0)] for label, name in files.items()},
            _rule_files(program),
        )
        self._settings = settings
        self._lock = threading.Lock()
        self._restarts = 0
        self._server = ManagedServer(settings, layout)
        try:
            self._identity = identify(self._server.connection, _INSTALL_SECONDS)
        except AskError as error:
            self._server.close()
            raise EngineError(f"the OPA server does not answer: {error.message}") from error
        except BaseException:
            self._server.close()
            raise
        self.notices = notices_about(self._identity, settings, self._server.binary)

    def connected(self) -> Connection:
        """The connection to the present process."""
        return self._server.connection

    def engine_version(self) -> EngineVersion:
        """The version that the server told, and the digest of its binary."""
        return EngineVersion(
            name="opa",
            version=self._identity.version,
            binary_sha256=self._server.sha256(),
            details={"interface": "server, started here", "embedded": self._settings.embedded},
        )

    def revive(self) -> bool:
        """Start the process again if it is gone or deaf."""
        with self._lock:
            if self._server.connection.healthy():
                return True
            if self._restarts >= _MAX_RESTARTS:
                return False
            self._restarts += 1
            self._server.connection.close()
            self._server.kill()
            try:
                self._server.connection = self._server.start()
                self._send_inventory()
            except (EngineError, AskError):
                return False
            return True

    def close(self) -> None:
        """End the process."""
        self._server.connection.close()
        self._server.close()


class PushedPlacement(_Placed):
    """A running server that gets the program below a prefix of its own, and loses it again in the end.

    Args:
        program: what to put there; only the modules that the rules need are sent.
        settings: the server.
        say: told what takes long, and what could not be removed.

    Raises:
        EngineError: the server is not there, not welcome us, or does not take the program. Nothing stays behind.
    """

    def __init__(self, program: Program, settings: ServerSettings, say: Callable[[str], None]) -> None:
        run = secrets.token_hex(6)
        super().__init__(f"fleetaudit_{run}")
        self._settings = settings
        self._say = say
        self._folder = f"fleetaudit/{run}"
        self._put: list[str] = []
        self._data_put = False
        self._connection = Connection(settings.url, settings.token, settings)
        try:
            self._identity = identify(self._connection, settings.timeout_seconds)
            self._install(program)
        except AskError as error:
            self.close()
            raise not_usable(settings.url, self.in_our_words(error.message), error) from error
        except BaseException:
            self.close()
            raise
        self.notices = notices_about(self._identity, settings, settings.url)

    def connected(self) -> Connection:
        """The one connection."""
        return self._connection

    def engine_version(self) -> EngineVersion:
        """The version that the server told."""
        parts = urlsplit(self._settings.url)
        return EngineVersion(
            name="opa",
            version=self._identity.version,
            details={
                "interface": "server, rules pushed",
                "server": f"{parts.scheme}://{parts.netloc}{parts.path}",
                "embedded": self._settings.embedded,
            },
        )

    def revive(self) -> bool:
        """Whether it answers again. What was lost with a restart is not put there again: the answers will tell."""
        return self._connection.healthy()

    def close(self) -> None:
        """Remove modules, last first, and data. What can't be removed is named."""
        left = [f"policy {name}" for name in self._remove(self._put, self._connection.delete_policy)]
        data = [self._prefix] if self._data_put else []
        left += [f"data.{name}" for name in self._remove(data, self._connection.delete_data)]
        self._data_put = False
        self._connection.close()
        if left:
            shown = ", ".join(left[:3]) + (f" and {len(left) - 3} more" if len(left) > 3 else "")
            self._say(f"not removed from the OPA server {self._settings.url}: {shown}")

    def _remove(self, names: list[str], remove: Callable[[str], None]) -> list[str]:
        """Remove the last first, and return what is left. A server that is gone is not asked for each of them."""
        left: list[str] = []
        while names:
            try:
                remove(names[-1])
            except AskError as error:
                left.append(names[-1])
                if error.cause in {Cause.LOST, Cause.DENIED, Cause.SLOW}:
                    left += reversed(names[:-1])
                    names.clear()
                    break
            names.pop()
        return left

    def _install(self, program: Program) -> None:
        graph = Graph(program)
        merger = Merger(graph, graph.needed_by(rule.package for rule in program.rules), self._prefix)
        refs = [
            Refs(merger.name(rule.package, "applies"), merger.name(rule.package, "violations"))
            for rule in program.rules
        ]
        merged = merger.merge(asking_rules(refs, f"data.{self._prefix}", inside=True))
        names = [f"{self._folder}/m{number:04}.rego" for number in range(len(merged.texts))]
        self._names = Names(
            dict(zip(names, merged.pieces, strict=True)),
            _rule_files(program),
            self._prefix,
            merged.packages,
        )
        if len(names) > _MANY:
            self._say(f"pushing {len(names)} policies to {self._settings.url}, one by one")
        self._data_put = True
        self._connection.put_data(self._prefix, msgspec.json.encode(program.data), _INSTALL_SECONDS)
        for name, text in zip(names, merged.texts, strict=True):
            self._put.append(name)  # before it is there: a lost answer must not leave it behind
            self._connection.put_policy(name, text)
