"""A remembered answer is the engine's own, and any change of what it rests on asks again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.evaluate.cache.engine import CachedEngine
from audit.evaluate.cache.identity import identity_of
from audit.model.finding import Outcome, PairAnswer, Violation
from audit.model.rule import ContextNeed, Rule, Severity
from audit.model.run import EngineVersion
from audit.model.subject import SubjectRef
from audit.ports import CollectedObject

VERSION = EngineVersion(name="counting", version="1")


def rule(name: str, **changes: Any) -> Rule:
    fields: dict[str, Any] = {
        "id": f"x/{name}",
        "engine": "rego",
        "title": "t",
        "description": "d",
        "severity": Severity.LOW,
        "remediation": "r",
        "kinds": ("Pod",),
    }
    return Rule(**(fields | changes))


RULES = (
    rule("a"),
    rule("b"),
    rule("c", context=(ContextNeed(kinds=("Namespace",)),)),
)


def pod(raw: str, kind: str = "Pod") -> CollectedObject:
    ref = SubjectRef(cluster="a", group="", version="v1", kind=kind, namespace="ml", name="p")
    return CollectedObject(ref=ref, raw=raw.encode())


class Memory(dict[bytes, bytes]):
    """A store in memory."""

    def read(self, keys: list[bytes]) -> dict[bytes, bytes]:
        return {key: self[key] for key in keys if key in self}

    def write(self, key: bytes, value: bytes) -> None:
        self[key] = value


class Counting:
    """An engine that answers from the object's text, and keeps what it was asked."""

    def __init__(self, rules: tuple[Rule, ...] = RULES, answer: Any = None) -> None:
        self._rules = rules
        self._answer = answer or answer_for
        self.asked: list[bytes] = []
        self.ahead = 0

    def version(self) -> EngineVersion:
        return VERSION

    def rules(self) -> tuple[Rule, ...]:
        return self._rules

    def evaluate(
        self, cluster: str, objects: Iterable[CollectedObject], inventory: bytes
    ) -> Iterator[list[PairAnswer]]:
        window: list[CollectedObject] = []
        for item in objects:
            window.append(item)
            if len(window) > self.ahead:
                yield self._one(window.pop(0))
        for item in window:
            yield self._one(item)

    def _one(self, item: CollectedObject) -> list[PairAnswer]:
        self.asked.append(item.raw)
        return [self._answer(r, item) for r in self._rules if r.matches(item.ref.kind_key)]

    def close(self) -> None:
        pass


def answer_for(asked: Rule, item: CollectedObject) -> PairAnswer:
    text = item.raw.decode()
    letter = text[ord(asked.id[-1]) - ord("a")] if len(text) >= 3 else "p"
    if letter == "f":
        seen = {"text": text, "n": [1, 2.5, None, True]}
        return PairAnswer(
            asked.id, Outcome.FAIL, (Violation(path=("spec", 0, "x"), message=text, seen=seen),)
        )
    if letter == "w":
        return PairAnswer(asked.id, Outcome.WARN, (Violation(message=text),), caveats=("server_side",))
    if letter == "e":
        return PairAnswer(asked.id, Outcome.ERROR, reason="timeout", message="m")
    if letter == "s":
        return PairAnswer(asked.id, Outcome.SKIP, reason=asked.not_applicable)
    if letter == "o":
        return PairAnswer(asked.id, Outcome.SKIP, reason="other")
    if letter == "x":
        return PairAnswer(asked.id, Outcome.FAIL, (Violation(message="m"),), accepted_by="exception/one")
    return PairAnswer(asked.id, Outcome.PASS)


def cached(engine: Counting, store: Memory, sources: dict[str, bytes] | None = None) -> CachedEngine:
    identity = identity_of(engine.version(), engine.rules(), sources or {})
    assert identity
    return CachedEngine(engine, identity, store)


def answers(
    engine: CachedEngine, items: list[CollectedObject], inventory: bytes = b"{}"
) -> list[list[PairAnswer]]:
    return list(engine.evaluate("a", items, inventory))


@given(
    st.lists(st.text("pfwesox", min_size=3, max_size=3), max_size=40),
    st.lists(st.text("pfwesox", min_size=3, max_size=3), max_size=40),
    st.integers(0, 5),
)
def test_answers_are_the_engine_s_own_in_order(first: list[str], second: list[str], ahead: int) -> None:
    store = Memory()
    for texts in (first, second, first):
        engine = Counting()
        engine.ahead = ahead
        items = [pod(text) for text in texts]
        assert answers(cached(engine, store), items) == list(Counting().evaluate("a", items, b""))
    assert {raw for raw in engine.asked if b"e" not in raw} == set()


def test_nothing_is_asked_twice_but_what_failed_to_answer() -> None:
    store = Memory()
    items = [pod("ppp"), pod("fws"), pod("epp"), pod("xop")]
    answers(cached(Counting(), store), items)
    engine = Counting()
    second = cached(engine, store)
    answers(second, items)
    assert engine.asked == [b"epp"]
    assert (second.known, second.asked) == (3, 1)
    assert second.accepted_by == {"exception/one"}


@pytest.mark.parametrize(
    "change", ["object", "rule", "parameter", "text", "version", "context", "kind", "selection"]
)
def test_any_change_of_what_it_rests_on_asks_again(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Memory()
    answers(cached(Counting(), store, {"m": b"1"}), [pod("ppp")], b'{"Namespace":{"":[]}}')
    rules, item, text, inventory = RULES, pod("ppp"), b"1", b'{"Namespace":{"":[]}}'
    if change == "object":
        item = pod("ppp ")
    elif change == "rule":
        rules = (msgspec.structs.replace(RULES[0], digest="other"), *RULES[1:])
    elif change == "parameter":
        rules = (msgspec.structs.replace(RULES[0], parameters={"limit": 2}), *RULES[1:])
    elif change == "text":
        text = b"2"
    elif change == "version":
        monkeypatch.setattr(Counting, "version", lambda _: EngineVersion(name="counting", version="2"))
    elif change == "context":
        inventory = b'{"Namespace":{"":[{"metadata":{"labels":{"a":"b"}}}]}}'
    elif change == "kind":
        rules = tuple(msgspec.structs.replace(one, kinds=("Pod", "Node")) for one in RULES)
        item = pod("ppp", "Node")
    else:
        rules = RULES[:2]
    engine = Counting(rules)
    answers(cached(engine, store, {"m": text}), [item], inventory)
    assert engine.asked == [item.raw]


def test_context_that_no_due_rule_sees_changes_nothing() -> None:
    store = Memory()
    answers(cached(Counting(), store), [pod("ppp")], b'{"Node":{"":[]}}')
    engine = Counting()
    answers(cached(engine, store), [pod("ppp")], b'{"Node":{"":[{"metadata":{"name":"n"}}]}}')
    assert engine.asked == []
    whole = identity_of(VERSION, RULES, {}, always_seen=None)
    assert whole
    for inventory in (b'{"Node":{"":[]}}', b'{"Node":{"":[{"metadata":{"name":"n"}}]}}'):
        engine = Counting()
        answers(CachedEngine(engine, whole, store), [pod("ppp")], inventory)
        assert engine.asked


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\x92\xa3ppp",
        b"\x92\xa1p\x90",
        b"\x92\xa3ppf\x90",
        b"\x92\xa3ppq\x90",
        b"\x92\xa3ppe\x90",
        b"\xff",
    ],
)
def test_a_value_that_does_not_fit_is_a_miss(value: bytes) -> None:
    store = Memory()
    answers(cached(Counting(), store), [pod("ppp")])
    for key in store:
        store[key] = value
    engine = Counting()
    assert [a.outcome for a in answers(cached(engine, store), [pod("ppp")])[0]] == [Outcome.PASS] * 3
    assert engine.asked


def test_an_incomplete_list_is_not_remembered() -> None:
    store = Memory()

    class Short(Counting):
        def _one(self, item: CollectedObject) -> list[PairAnswer]:
            return super()._one(item)[:-1]

    answers(cached(Short(), store), [pod("ppp")])
    assert store == {}


def test_an_engine_that_stops_early_gives_no_answers_of_others() -> None:
    store = Memory()
    answers(cached(Counting(), store), [pod("pps")])

    class Stops(Counting):
        def evaluate(
            self, cluster: str, objects: Iterable[CollectedObject], inventory: bytes
        ) -> Iterator[list[PairAnswer]]:
            for _ in objects:
                return
            yield []

    found = answers(cached(Stops(), store), [pod("pps"), pod("ppp"), pod("pps")])
    assert [[a.outcome.value for a in each] for each in found] == [["pass", "pass", "skip"]]


@pytest.mark.parametrize(
    "text",
    [
        "x := time.now_ns()",
        "n := rand.intn(`x`, 3)",
        'value: "{{ time_now_utc() }}"',
        "{{ random('[a-z]{4}') }}",
        "crypto.x509.parse_and_verify_certificates(x)",
        "io.jwt.decode_verify(x, y)",
    ],
)
def test_rules_whose_answer_changes_by_itself_are_never_remembered(text: str) -> None:
    assert identity_of(VERSION, RULES, {"m": text.encode()}) is None
