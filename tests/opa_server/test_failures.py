"""Servers that are down, slow, overloaded, restarted, lying or cut off in mid-batch: errors, never a decision."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from audit.errors import EngineError
from audit.evaluate.opa_server import asker, connection
from audit.evaluate.opa_server.engine import OpaServerEngine, open_engine
from audit.evaluate.opa_server.settings import Secret
from audit.model.finding import Outcome, PairAnswer
from audit.native.evaluator import EvalRule
from tests.opa_server.programs import Remote, free_port, program_of, remote_server, server_engine, settings
from tests.proxy import Drip, Drop, Fault, Half, Proxy, Reply, Request, Wait, proxy_before

pytestmark = pytest.mark.tools

APPLIES = "default applies := false\napplies if input.metadata.name\n"
SMALL = program_of(
    {
        "a.rego": f"package r.a\n\n{APPLIES}violations contains v if {{ false; v := {{}} }}\n",
        "b.rego": f'package r.b\n\n{APPLIES}violations contains {{"path": [], "message": "m", "seen": input.metadata.name}}\n',
        "c.rego": f"package r.c\n\n{APPLIES}violations contains v if {{ false; v := {{}} }}\n",
    },
    [EvalRule(id=f"r/{name}", package=f"r.{name}") for name in "abc"],
)


def pods(count: int) -> list[tuple[str, bytes]]:
    return [("Pod", b'{"metadata":{"name":"p%d"}}' % number) for number in range(count)]


def letters(answers: list[PairAnswer]) -> str:
    return "".join(answer.outcome.value[0] for answer in answers)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Back-off as in life, only quicker."""
    monkeypatch.setattr(connection, "_DELAYS", (0.01, 0.02, 0.04))


@pytest.fixture
def proxy(remote: Remote) -> Iterator[Proxy]:
    with proxy_before(remote.url) as found:
        yield found


def on_reply(fault: Fault | Callable[[Request], Fault | None] | None) -> Callable[[Request], Fault | None]:
    """Break requests about objects only."""

    def plan(request: Request) -> Fault | None:
        if not request.path.partition("?")[0].endswith("/reply"):
            return None
        return fault(request) if callable(fault) else fault

    return plan


def on_poison(fault: Fault) -> Callable[[Request], Fault | None]:
    """Break requests in which the object p7 is."""
    return on_reply(lambda request: fault if b'"p7"' in request.body else None)


def first(times: int, fault: Fault) -> Callable[[Request], Fault | None]:
    """Break some requests, then no more."""
    count = itertools.count()
    return on_reply(lambda _: fault if next(count) < times else None)


def assert_only(answers: list[list[PairAnswer]], poison: int, reason: str) -> None:
    """Every answer is right, except those about one object, which are errors."""
    for number, each in enumerate(answers):
        if number == poison:
            assert letters(each) == "eee"
            assert {answer.reason for answer in each} == {reason}
            assert all(answer.message for answer in each)
        else:
            assert letters(each) == "pfp", number
            assert each[1].violations[0].seen == f"p{number}"


def assert_no_decision(answers: list[list[PairAnswer]], reasons: set[str]) -> None:
    assert {answer.outcome for each in answers for answer in each} == {Outcome.ERROR}
    assert {answer.reason for each in answers for answer in each} <= reasons
    assert all(answer.message for each in answers for answer in each)


def test_nobody_is_there() -> None:
    started = time.monotonic()
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(EngineError, match=f"{url}.*the connection to the server failed") as caught:
        open_engine(SMALL, (), settings(url=url), say=print)
    assert "engine.opa.url" in (caught.value.suggestion or "")
    assert time.monotonic() - started < 10


def test_something_else_is_there(proxy: Proxy) -> None:
    proxy.plan = lambda _: Reply(200, b"<html>It works</html>")
    with pytest.raises(EngineError, match="does not answer as an OPA server does"):
        open_engine(SMALL, (), settings(url=proxy.url), say=print)


@pytest.mark.parametrize("token", ["wrong", ""])
def test_a_wrong_token_is_said_at_the_start(remote: Remote, token: str) -> None:
    with pytest.raises(EngineError, match="does not let us in: the server answers HTTP 401") as caught:
        open_engine(SMALL, (), settings(url=remote.url, token=Secret(token)), say=print)
    assert "token_env" in (caught.value.suggestion or "")


def test_a_token_withdrawn_in_mid_run_ends_all_asking(proxy: Proxy) -> None:
    with server_engine(SMALL, url=proxy.url, jobs=1) as engine:
        refuse = Reply(401, b'{"code": "unauthorized", "message": "no"}')
        proxy.plan = on_reply(lambda _: refuse if len(proxy.asked()) > 1 else None)
        answers = list(engine.answers(pods(500), b"{}"))
    assert {letters(each) for each in answers[:100]} == {"pfp"}
    assert_no_decision(answers[100:], {"http_401"})
    assert len(proxy.asked()) == 2


def test_a_connection_dropped_now_and_then_is_made_again(proxy: Proxy) -> None:
    with server_engine(SMALL, url=proxy.url) as engine:
        for fault in (Drop(), Half(), Reply(503, b"busy"), Reply(429, b"", (("Retry-After", "0"),))):
            proxy.plan = first(3, fault)
            assert {letters(each) for each in engine.answers(pods(20), b"{}")} == {"pfp"}, fault


@pytest.mark.parametrize("fault", [Drop(), Half()], ids=["before the answer", "within the answer"])
def test_an_object_that_always_breaks_the_connection_costs_its_own_answers(
    proxy: Proxy, fault: Fault
) -> None:
    with server_engine(SMALL, url=proxy.url, jobs=1) as engine:
        proxy.plan = on_poison(fault)
        answers = list(engine.answers(pods(30), b"{}"))
    assert_only(answers, 7, "engine_failed")


def test_an_object_the_server_finds_too_large_costs_its_own_answers(proxy: Proxy) -> None:
    with server_engine(SMALL, url=proxy.url, jobs=1) as engine:
        proxy.plan = on_reply(lambda r: Reply(413, b"too large") if len(r.body) > 4000 else None)
        items = pods(30)
        items[7] = ("Pod", json.dumps({"metadata": {"name": "p7"}, "x": "x" * 5000}).encode())
        answers = list(engine.answers(items, b"{}"))
        # A batch that is too large as a whole is asked in parts.
        whole = list(engine.answers(pods(200), b"{}"))
    assert_only(answers, 7, "http_413")
    assert {letters(each) for each in whole} == {"pfp"}


def test_an_overloaded_server_is_given_up_and_nothing_passes(proxy: Proxy) -> None:
    with server_engine(SMALL, url=proxy.url, jobs=1) as engine:
        proxy.plan = on_reply(Reply(429, b"", (("Retry-After", "0"),)))
        answers = list(engine.answers(pods(300), b"{}"))
    assert_no_decision(answers, {"http_429"})
    assert "given up" in answers[-1][0].message
    assert len(proxy.asked()) <= 4 * asker.GIVEN_UP_AFTER


def edited(change: Callable[[Any], Any]) -> Callable[[Request, bytes], bytes]:
    def edit(request: Request, body: bytes) -> bytes:
        if not request.path.partition("?")[0].endswith("/reply"):
            return body
        return json.dumps(change(json.loads(body))).encode()

    return edit


def _rows(change: Callable[[list[Any]], Any]) -> Callable[[Any], Any]:
    def applied(answer: Any) -> Any:
        answer["result"]["answers"] = change(answer["result"]["answers"])
        return answer

    return applied


LIES: dict[str, Callable[[Any], Any]] = {
    "no result": lambda answer: {},
    "null": lambda answer: {"result": None},
    "another shape": lambda answer: {"result": {"allow": True}},
    "true": lambda answer: {"result": True},
    "list": lambda answer: [answer],
    "other inventory": lambda answer: {"result": answer["result"] | {"stamp": "other"}},
    "no rows": _rows(lambda rows: []),
    "one row less": _rows(lambda rows: rows[:-1]),
    "a row twice": _rows(lambda rows: [*rows, rows[0]]),
    "strange place": _rows(lambda rows: [[row[0] + 1, row[1]] for row in rows]),
    "fewer rules": _rows(lambda rows: [[row[0], row[1][:-1]] for row in rows]),
    "odd answer": _rows(lambda rows: [[row[0], [[1, 2, 3]] * 3] for row in rows]),
    "text answer": _rows(lambda rows: [[row[0], ["pass"] * 3] for row in rows]),
    "null answer": _rows(lambda rows: [[row[0], [None] * 3] for row in rows]),
}


@pytest.mark.parametrize("lie", LIES)
def test_answers_that_are_none_decide_nothing(proxy: Proxy, lie: str) -> None:
    with server_engine(SMALL, url=proxy.url, jobs=1) as engine:
        proxy.edit = edited(LIES[lie])
        answers = list(engine.answers(pods(5), b"{}"))
    assert_no_decision(answers, {"engine_failed"})


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"<html></html>",
        b'{"result": NaN}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"result": ' + b"9" * 5000 + b"}",
    ],
    ids=["empty", "cut", "html", "nan", "no utf-8", "deep", "number"],
)
def test_garbage_decides_nothing(proxy: Proxy, body: bytes) -> None:
    with server_engine(SMALL, url=proxy.url, jobs=1) as engine:
        proxy.plan = on_reply(Reply(200, body))
        answers = list(engine.answers(pods(3), b"{}"))
    assert_no_decision(answers, {"engine_failed"})


def test_a_close_look_that_contradicts_decides_nothing(proxy: Proxy) -> None:
    """The batch says that violations are odd; asked about one of them, the server says that they are fine."""
    with server_engine(SMALL, url=proxy.url, jobs=1) as engine:
        proxy.edit = edited(_rows(lambda rows: [[row[0], [[[True], []]] * 3] for row in rows]))
        answers = list(engine.answers(pods(1), b"{}"))
    assert_no_decision(answers, {"engine_failed"})


def test_an_answer_without_end_is_cut(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MAX_ANSWER_BYTES", 100_000)
    with server_engine(SMALL, url=proxy.url, jobs=1) as engine:
        proxy.plan = on_reply(Reply(200, b" " * 200_000))
        assert_no_decision(list(engine.answers(pods(2), b"{}")), {"engine_failed"})


@pytest.mark.parametrize("fault", [Wait(30), Drip(0.3)], ids=["silent", "drop by drop"])
def test_a_slow_server_is_given_up_in_time(
    proxy: Proxy, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asker, "GIVEN_UP_AFTER", 6)
    started = time.monotonic()
    with server_engine(SMALL, url=proxy.url, jobs=1, timeout_seconds=0.5, object_seconds=0.3) as engine:
        proxy.plan = on_reply(fault)
        answers = list(engine.answers(pods(300), b"{}"))
    assert_no_decision(answers, {"timeout"})
    assert time.monotonic() - started < 20


def test_one_slow_object_costs_its_own_answers(proxy: Proxy) -> None:
    with server_engine(SMALL, url=proxy.url, jobs=1, timeout_seconds=0.8, object_seconds=0.5) as engine:
        proxy.plan = on_poison(Wait(30))
        answers = list(engine.answers(pods(12), b"{}"))
    assert_only(answers, 7, "timeout")


def test_a_server_that_dies_in_mid_run(tmp_path: Path) -> None:
    """What was answered stands, the rest are errors, and cleaning up does not hang."""
    said: list[str] = []
    with remote_server(tmp_path) as mortal:
        engine = open_engine(SMALL, (), settings(url=mortal.url, jobs=1), say=said.append)
        answers = []
        for each in engine.answers(iter(pods(1000)), b"{}"):
            if len(answers) == 100:
                mortal.process.kill()
                mortal.process.wait()
            answers.append(each)
        started = time.monotonic()
        engine.close()
        assert time.monotonic() - started < 5
    judged = [each for each in answers if letters(each) == "pfp"]
    assert 100 <= len(judged) <= 500
    assert answers[: len(judged)] == judged
    assert_no_decision(answers[len(judged) :], {"engine_failed"})
    [last] = [line for line in said if "not removed from the OPA server" in line]
    assert "policy fleetaudit/" in last
    assert "data.fleetaudit_" in last


def test_a_server_that_forgot_the_rules_decides_nothing(remote: Remote, proxy: Proxy) -> None:
    with server_engine(SMALL, url=proxy.url, jobs=1) as engine:
        [policy] = [name for name in remote.state()[0] if name.startswith("fleetaudit/")]
        assert remote.session.delete(f"{remote.url}/v1/policies/{policy}", timeout=30).status_code == 200
        answers = list(engine.answers(pods(3), b"{}"))
    assert_no_decision(answers, {"engine_failed"})
    assert "rules are gone" in answers[0][0].message


def test_an_inventory_that_does_not_arrive_decides_nothing(proxy: Proxy) -> None:
    with server_engine(SMALL, url=proxy.url, jobs=1) as engine:
        assert [letters(each) for each in engine.answers(pods(1), b"{}")] == ["pfp"]
        proxy.plan = lambda r: Reply(413, b"too large") if r.method == "PATCH" else None
        answers = list(engine.answers(pods(3), b'{"Node": {}}'))
        proxy.plan = lambda r: None
        # The next cluster's is smaller.
        assert [letters(each) for each in engine.answers(pods(1), b"{}")] == ["pfp"]
    assert_no_decision(answers, {"http_413"})


def test_redirects_are_not_followed(proxy: Proxy, remote: Remote) -> None:
    with proxy_before(remote.url) as elsewhere:
        with server_engine(SMALL, url=proxy.url, jobs=1) as engine:
            proxy.plan = on_reply(lambda r: Reply(307, b"", (("Location", f"{elsewhere.url}{r.path}"),)))
            answers = list(engine.answers(pods(3), b"{}"))
        assert elsewhere.seen == []
    assert_no_decision(answers, {"http_307"})


def test_a_program_the_server_does_not_compile(proxy: Proxy, remote: Remote) -> None:
    before = remote.state()
    error = {
        "code": "invalid_parameter",
        "message": "error(s) occurred while compiling module(s)",
        "errors": [{"code": "rego_type_error", "message": "undefined function x.y"}],
    }
    proxy.plan = lambda r: (
        Reply(400, json.dumps(error).encode()) if r.method == "PUT" and "policies" in r.path else None
    )
    with pytest.raises(EngineError, match=r"undefined function x\.y"):
        open_engine(SMALL, (), settings(url=proxy.url), say=print)
    assert remote.state() == before


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("0.42.2", "version 0.42.2; at least 1.0 is needed"),
        ("", "does not say which version"),
        ("nightly", "does not say which version"),
        ("1.2.3\n<script>", "does not say which version"),
    ],
)
def test_versions_that_cannot_be_used(proxy: Proxy, version: str, words: str) -> None:
    proxy.edit = _told(version)
    with pytest.raises(EngineError, match=words):
        open_engine(SMALL, (), settings(url=proxy.url), say=print)


def test_another_version_is_stated_and_noticed(proxy: Proxy) -> None:
    proxy.edit = _told("1.4.0-dev")
    with server_engine(SMALL, url=proxy.url, embedded="1.22.3") as engine:
        version, [notice] = engine.version(), engine.notices
    assert (version.name, version.version) == ("opa", "1.4.0-dev")
    assert version.details["embedded"] == "1.22.3"
    assert notice.code == "engine_version"
    assert "1.4.0-dev" in notice.message
    assert "1.22.3" in notice.message


def _told(version: str) -> Callable[[Request, bytes], bytes]:
    def edit(request: Request, body: bytes) -> bytes:
        if "provenance" not in request.path:
            return body
        return json.dumps({"provenance": {"version": version}}).encode()

    return edit


def test_the_token_is_nowhere_to_be_read(remote: Remote, proxy: Proxy) -> None:
    with server_engine(SMALL, url=proxy.url) as engine:
        shown = [repr(engine.version()), repr(engine.notices), repr(settings(url=proxy.url))]
    assert not [text for text in shown if "let-me-in" in text]
    assert all(request.headers["Authorization"] == "Bearer let-me-in" for request in proxy.seen)


def test_errors_do_not_pass_through_the_surroundings(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of the environment neither sees the objects nor answers for the server."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with server_engine(SMALL, url=proxy.url) as engine:
        assert [letters(each) for each in engine.answers(pods(1), b"{}")] == ["pfp"]


def asked_while(engine: OpaServerEngine, count: int) -> list[str]:
    return [letters(each) for each in engine.answers(pods(count), b"{}")]


def test_connections_are_kept_and_shared(proxy: Proxy) -> None:
    with server_engine(SMALL, url=proxy.url, jobs=2) as engine:
        assert asked_while(engine, 1000) == ["pfp"] * 1000
    assert len(proxy.asked()) == 10
    assert all(request.headers.get("Connection") == "keep-alive" for request in proxy.asked())
