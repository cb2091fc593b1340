"""A program that the server has already, from a bundle of the site's own: it is only asked, nothing is put there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from urllib.parse import urlsplit

import msgspec

from audit.errors import EngineError
from audit.evaluate.opa_server.connection import Connection
from audit.evaluate.opa_server.failures import AskError
from audit.evaluate.opa_server.merge import Piece
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
from audit.evaluate.opa_server.questions import Asked, Look, batch_query, look_query, plain_refs
from audit.evaluate.opa_server.scan import Path, meaning, path_of
from audit.evaluate.opa_server.settings import ServerSettings
from audit.model.gap import Notice
from audit.model.run import EngineVersion

_PREPARE_SECONDS = 60.0
_SHOWN = 5
_QUERY = "/v1/query"

_Row = tuple[int, tuple[list[msgspec.Raw]], tuple[list[msgspec.Raw]]]


class _Term(msgspec.Struct, frozen=True):
    value: object = None


class _Package(msgspec.Struct, frozen=True):
    path: list[_Term] = []


class _Head(msgspec.Struct, frozen=True):
    name: str = ""
    ref: list[_Term] = []


class _Rule(msgspec.Struct, frozen=True):
    head: _Head = _Head()


class _Ast(msgspec.Struct, frozen=True):
    package: _Package = _Package()
    rules: list[_Rule] = []


class _Policy(msgspec.Struct, frozen=True):
    id: str
    raw: str = ""
    ast: _Ast = _Ast()


class _Policies(msgspec.Struct, frozen=True):
    result: list[_Policy] = []


class _Rows(msgspec.Struct, frozen=True):
    """One binding, one variable for each set."""

    result: list[dict[str, list[_Row]]] | None = None


class _Found(msgspec.Struct, frozen=True):
    result: object = None


class _LookRow(msgspec.Struct, frozen=True):
    look: list[Look]


class _Looks(msgspec.Struct, frozen=True):
    result: list[_LookRow] | None = None


def _lenient(server: str) -> Notice:
    return Notice(
        source=server,
        code="lenient_engine",
        message="rules of a server's bundle are asked by free queries, which can't report a failed builtin: a rule that "
        "calls one on a value it doesn't take finds nothing there, where the embedded engine says error",
    )


class BundledPlacement:
    """Asks with free queries; the inventory travels with the objects of rules that may read it.

    Raises:
        EngineError: the server can't be asked, has none of the rules, or has other parameters than the run.
    """

    def __init__(self, program: Program, settings: ServerSettings) -> None:
        self._program = program
        self._settings = settings
        self.missing: dict[int, str] = {}
        self._revision = ""
        self._names = Names({}, {})
        self._queries: dict[tuple[tuple[int, ...], ...], bytes] = {}
        self._inventory = b"{}"
        self._decoder = msgspec.json.Decoder(_Rows)
        readers = Graph(program).readers_of_inventory(rule.package for rule in program.rules)
        self._asked = [Asked(plain_refs(rule.package), rule.package in readers) for rule in program.rules]
        self._connection = Connection(settings.url, settings.token, settings)
        try:
            identity = self._identity = identify(self._connection, settings.timeout_seconds)
            self.notices = (
                *notices_about(identity, settings, settings.url),
                _lenient(settings.url),
                *self._compare_policies(),
            )
            self._compare_data()
            self.ask(Question([()], []), settings.timeout_seconds)
        except AskError as error:
            self.close()
            raise not_usable(settings.url, error.message, error) from error
        except BaseException:
            self.close()
            raise

    def engine_version(self) -> EngineVersion:
        """The version that the server told, its bundles, and the digest of the policies it showed."""
        parts = urlsplit(self._settings.url)
        details = {
            "interface": "server, rules of its bundle",
            "server": f"{parts.scheme}://{parts.netloc}{parts.path}",
            "embedded": self._settings.embedded,
            "policies_sha256": self._revision,
        }
        details |= {f"bundle {name}": revision for name, revision in self._identity.bundles.items()}
        return EngineVersion(name="opa", version=self._identity.version, details=details)

    def set_inventory(self, inventory: bytes) -> None:
        """Keep it: it goes with the questions."""
        self._inventory = inventory

    def ask(self, question: Question, seconds: float) -> list[Answers]:
        """One list for each object."""
        rules = {rule for rules in question.sets for rule in rules}
        inventory = self._inventory if any(self._asked[rule].inventory for rule in rules) else b"{}"
        objects = b",".join(b'{"s":"s%d","v":%b}' % (number, raw) for number, raw in question.objects)
        body = b'{"query":%b,"input":{"objects":[%b],"inventory":%b}}' % (
            self._query(question.sets),
            objects,
            inventory,
        )
        raw = self._connection.ask(_QUERY, body, seconds)
        try:
            result = self._decoder.decode(raw).result
        except (msgspec.DecodeError, RecursionError) as error:
            raise unfit("is not what was asked for") from error
        if result is None or len(result) != 1:
            raise unfit("has no result")
        rows = [row for number in range(len(question.sets)) for row in result[0].get(f"s{number}", ())]
        return in_places([(row[0], self._in_order(row, question)) for row in rows], question)

    def look(self, rule: int, raw: bytes, seconds: float) -> Look | None:
        """Describe one answer."""
        query = msgspec.json.encode(look_query(self._asked[rule].refs))
        body = b'{"query":%b,"input":{"object":%b,"inventory":%b}}' % (query, raw, self._inventory)
        try:
            result = msgspec.json.decode(self._connection.ask(_QUERY, body, seconds), type=_Looks).result
        except (msgspec.DecodeError, RecursionError) as error:
            raise unfit("is not what was asked for") from error
        if not result:
            raise unfit("has no result")
        return result[0].look[0] if result[0].look else None

    def rule_at(self, file: str, row: int) -> int | None:
        """The rule in a module."""
        return self._names.rule_at(file, row)

    def place(self, file: str, row: int) -> tuple[str, int]:
        """Our label and line."""
        return self._names.place(file, row)

    def in_our_words(self, text: str) -> str:
        """Our names in the server's text."""
        return self._names.ours(text)

    def revive(self) -> bool:
        """Whether it answers again."""
        return self._connection.healthy()

    def close(self) -> None:
        """Nothing was put there."""
        self._connection.close()

    def _query(self, sets: list[tuple[int, ...]]) -> bytes:
        key = tuple(sets)
        known = self._queries.get(key)
        if known is None:
            text = batch_query(
                (f"s{number}", [self._asked[rule] for rule in rules]) for number, rules in enumerate(sets)
            )
            known = self._queries[key] = msgspec.json.encode(text)
        return known

    def _in_order(self, row: _Row, question: Question) -> Answers:
        """The answers without and with inventory, merged as they were asked."""
        place, (plain,), (reading,) = row
        if not 0 <= place < len(question.objects):
            raise unfit("speaks of objects that were not asked about")
        rules = question.sets[question.objects[place][0]]
        streams = {False: iter(plain), True: iter(reading)}
        if sum(self._asked[rule].inventory for rule in rules) != len(reading) or len(rules) != len(
            plain
        ) + len(reading):
            raise unfit("does not cover every rule")
        return [next(streams[self._asked[rule].inventory]) for rule in rules]

    def _compare_policies(self) -> Iterable[Notice]:
        """Find our packages among the server's policies; what is missing will be an error for each object."""
        raw = self._connection.get("/v1/policies", _PREPARE_SECONDS)
        try:
            policies = msgspec.json.decode(raw, type=_Policies).result
        except (msgspec.DecodeError, RecursionError) as error:
            raise unfit("about its policies is not OPA's") from error
        defined: dict[Path, set[str]] = {}
        texts: dict[Path, list[str]] = {}
        homes = {path_of(info.package): info.file for info in self._program.packages}
        labels: dict[str, list[Piece]] = {}
        for policy in policies:
            path = tuple(str(term.value) for term in policy.ast.package.path[1:])
            heads = (rule.head for rule in policy.ast.rules)
            defined.setdefault(path, set()).update(
                head.name or str(head.ref[0].value) for head in heads if head.name or head.ref
            )
            texts.setdefault(path, []).append(policy.raw)
            if path in homes:
                labels[policy.id] = [Piece(homes[path], 1, 0)]
        for number, rule in enumerate(self._program.rules):
            lacking = {"applies", "violations"} - defined.get(path_of(rule.package), set())
            if lacking:
                self.missing[number] = (
                    f"the server's bundle does not define data.{rule.package}." + " or ".join(sorted(lacking))
                )
        if len(self.missing) == len(self._program.rules):
            raise EngineError(
                f"the OPA server {self._settings.url} has none of the rules",
                suggestion="load the bundle that docs/opa-server.md describes, or leave engine.opa.bundle out",
            )
        files = {
            homes[path]: number
            for number, rule in enumerate(self._program.rules)
            if (path := path_of(rule.package)) in homes
        }
        self._names = Names(_by_file(labels), files)
        self._revision = hashlib.sha256(
            "\n".join(
                sorted(f"{p.id} {hashlib.sha256(p.raw.encode()).hexdigest()}" for p in policies)
            ).encode()
        ).hexdigest()
        return self._differing(texts, homes)

    def _differing(self, texts: dict[Path, list[str]], homes: dict[Path, str]) -> Iterable[Notice]:
        needed = {path for path in homes if path in texts}
        other = sorted(
            homes[path]
            for path in needed
            if [*map(meaning, texts[path])] != [meaning(self._program.modules[homes[path]])]
        )
        if other:
            shown = ", ".join(other[:_SHOWN]) + (
                f" and {len(other) - _SHOWN} more" if len(other) > _SHOWN else ""
            )
            yield Notice(
                source=self._settings.url,
                code="other_policies",
                message=f"decided by the server's own text of {len(other)} modules, which is not fleetaudit's: {shown}",
                count=len(other),
            )

    def _compare_data(self) -> None:
        """The report states parameters and pod templates, so the server's must be the same."""
        for name, ours in self._program.data.items():
            raw = self._connection.ask(f"/v1/data/{name}", b'{"input":{}}', _PREPARE_SECONDS)
            try:
                theirs = msgspec.json.decode(raw, type=_Found).result
            except (msgspec.DecodeError, RecursionError) as error:
                raise unfit(f"about data.{name} is no JSON") from error
            if _canonical(theirs) == _canonical(ours):
                continue
            keys = sorted(_different_keys(ours, theirs))[:_SHOWN]
            raise EngineError(
                f"data.{name} of the OPA server {self._settings.url} is not that of this run: {', '.join(keys)}",
                suggestion=f"put the same {name} into the bundle and into fleetaudit.yaml",
            )


def _by_file(labels: dict[str, list[Piece]]) -> dict[str, list[Piece]]:
    """Errors name a file by the end of its policy's id: how much of it depends on how the bundle was loaded."""
    ends: dict[str, list[list[Piece]]] = {}
    for name, pieces in labels.items():
        parts = name.split("/")
        for start in range(len(parts)):
            end = "/".join(parts[start:])
            for spelling in {end, f"/{end}"}:
                ends.setdefault(spelling, []).append(pieces)
    return {end: found[0] for end, found in ends.items() if len(found) == 1}


def _canonical(value: object) -> bytes:
    return msgspec.json.encode(value, order="deterministic")


def _different_keys(ours: object, theirs: object) -> Iterable[str]:
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return ["it is missing" if theirs is None else "it is no object"]
    return [str(key) for key in {*ours, *theirs} if _canonical(ours.get(key)) != _canonical(theirs.get(key))]
