"""Children that die, hang or are not the right ones: nothing is lost, nothing is left running."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from audit.errors import EngineError
from audit.native import binary, supervise
from audit.native.child import Child, ChildDiedError
from audit.native.evaluator import EvalLimits, Evaluator
from audit.native.events import DocumentRead, FileDone
from audit.native.frames import U32, Kind, Message, field
from audit.native.reader import Reader, SourceText
from audit.native.supervise import Supervisor
from tests.native.asking import LOOP, PASSES, loaded, outcomes, pod, pods, when
from tests.native.reading import many

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def gone(pid: int, seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(pid)


def killed_after(
    supervisor: Supervisor, items: list[tuple[str, bytes]], places: set[int]
) -> Iterator[tuple[str, bytes]]:
    """Hand over items, and kill the child as some of them pass."""
    for place, item in enumerate(items):
        if place in places:
            os.kill(supervisor.child.pid, signal.SIGKILL)
        yield item


def test_a_child_killed_in_the_middle_costs_no_answer() -> None:
    objects = [pod(f"p{n}", padding="x" * 900) for n in range(3000)]
    with loaded(a=PASSES, b=PASSES) as evaluator:
        answers = list(evaluator.evaluate(killed_after(evaluator.supervisor, objects, {1000, 2500})))
        assert len(answers) == len(objects)
        assert {outcomes(each) for each in answers} == {"pp"}
        assert evaluator.supervisor.restarts >= 2
        assert evaluator.supervisor.poisons == 0


def test_the_inventory_survives_a_restart() -> None:
    body = "default applies := false\napplies if data.inventory.x\nviolations contains 1 if false\n"
    with loaded(a=body) as evaluator:
        evaluator.set_inventory(b'{"x": true}')
        list(evaluator.evaluate([pod("p")]))
        os.kill(evaluator.supervisor.child.pid, signal.SIGKILL)
        assert [outcomes(a) for a in evaluator.evaluate([pod("p")])] == ["p"]


def test_a_reader_killed_in_the_middle_repeats_and_loses_no_event() -> None:
    files = [SourceText(token=n, path=str(n), data="\n---\n".join(many(2000)).encode()) for n in range(8)]
    with Reader(jobs=2) as reader:
        seen: list[tuple[int, int]] = []
        ends = 0
        for event in reader.read(files):
            if isinstance(event, DocumentRead):
                seen.append((event.token, event.document))
                if len(seen) in (500, 9000):
                    os.kill(reader.supervisor.child.pid, signal.SIGKILL)
            ends += isinstance(event, FileDone)
        assert reader.supervisor.restarts >= 1
    assert seen == [(token, document) for token in range(8) for document in range(1, 2001)]
    assert ends == 8


class Fragile:
    """Work whose items are numbers; the child dies of some of them."""

    kind = Kind.BATCH
    last = int

    def size(self, _item: int, /) -> int:
        return 1

    def encode(self, items: list[int], /) -> bytes:
        return ",".join(map(str, items)).encode()

    def decode(self, _message: Message, items: list[int], /) -> list[int]:
        return items

    def give_up(self, item: int, _reason: str, /) -> int:
        return -item


class FragileChild:
    """Stands in for a process, so that deaths can be counted exactly."""

    def __init__(self, poisons: set[int]) -> None:
        self.poisons = poisons
        self.queue: list[Message | None] = []

    def send(self, kind: Kind, request: int, payload: bytes) -> None:
        dead = not self.poisons.isdisjoint(map(int, payload.split(b",")))
        self.queue.append(None if dead else Message(Kind.DONE, request, b""))

    def receive(self) -> Message:
        message = self.queue.pop(0)
        if message is None:
            raise ChildDiedError("poisoned")
        return message

    def close(self) -> None:
        pass


def supervised(count: int, poisons: set[int]) -> tuple[list[int], Supervisor]:
    supervisor = Supervisor(lambda: FragileChild(poisons))  # type: ignore[arg-type,return-value]
    return list(supervisor.run(Fragile(), range(1, count + 1))), supervisor


@pytest.mark.parametrize("poisons", [set(), {1}, {64}, {7, 8}, {1, 32, 33, 64}], ids=str)
def test_bisection_finds_exactly_the_poisons(poisons: set[int]) -> None:
    outputs, supervisor = supervised(64, poisons)
    assert outputs == [-n if n in poisons else n for n in range(1, 65)]
    assert supervisor.poisons == len(poisons)
    # One death in the window, then at most log2(64) + 1 for each poison.
    assert supervisor.restarts <= len(poisons) * 8


def test_after_twenty_poisons_the_rest_is_given_up() -> None:
    outputs, supervisor = supervised(3000, set(range(100, 3001)))
    assert outputs[:99] == list(range(1, 100))
    assert outputs[99:] == [-n for n in range(100, 3001)]
    assert supervisor.poisons == supervise.MAX_POISONS
    assert supervisor.restarts < supervise.MAX_POISONS * 13


def test_no_more_than_two_batches_are_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise, "_BATCH_ITEMS", 1)
    under_way: list[int] = []
    child = FragileChild(set())
    original = child.send

    def send(kind: Kind, request: int, payload: bytes) -> None:
        original(kind, request, payload)
        under_way.append(len(child.queue))

    child.send = send  # type: ignore[method-assign]
    list(Supervisor(lambda: child).run(Fragile(), range(50)))  # type: ignore[arg-type,return-value]
    assert max(under_way) == supervise.WINDOW == 2


def test_large_batches_both_ways_do_not_block_the_pipes() -> None:
    """Requests and answers of megabytes at once: each side keeps reading while it writes."""
    body = 'applies := true\nviolations contains {"path": [i], "message": input.text} if some i in numbers.range(0, 60)\n'
    with loaded(a=body) as evaluator:
        answers = list(evaluator.evaluate([pod("p", text="x" * 4000) for _ in range(600)]))
    assert all(len(each[0].violations) == 61 for each in answers)


def test_the_end_of_input_ends_a_child_in_the_middle_of_work() -> None:
    with loaded(EvalLimits(object_seconds=600), a=when("p0", LOOP)) as evaluator:
        child = evaluator.supervisor.child
        kind, raw = pods(1)[0]
        child.send(Kind.BATCH, 99, b"".join([U32.pack(1), *field(kind.encode()), *field(raw)]))
        time.sleep(0.3)
        assert child._process.poll() is None
        child._stdin.close()
        assert child._process.wait(timeout=5) == 0


def test_a_killed_engine_takes_its_child_along() -> None:
    program = (
        "import sys, time\n"
        "from audit.native.evaluator import Evaluator\n"
        "e = Evaluator(jobs=1)\n"
        "e.hello()\n"
        "print(e.supervisor.child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as engine:
        assert engine.stdout is not None
        pid = int(engine.stdout.readline())
        assert os.getsid(pid) != os.getsid(engine.pid)  # Ctrl-C in a terminal reaches the engine alone
        engine.kill()
        engine.wait()
    assert gone(pid)


def test_closing_leaves_no_process_and_no_thread() -> None:
    threads = threading.active_count()
    with loaded(a=PASSES) as evaluator:
        pid = evaluator.supervisor.child.pid
        list(evaluator.evaluate(pods(10)))
    assert gone(pid)
    assert threading.active_count() == threads


def script(folder: Path, text: str) -> str:
    path = folder / "fleetaudit-native"
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def hello(protocol: int, opa: str) -> str:
    return (
        "import json, struct, sys\n"
        f"body = json.dumps({{'protocol': {protocol}, 'mode': 'eval', 'opa': '{opa}', 'go': 'go1', 'platform': 'x'}})\n"
        "sys.stdout.buffer.write(struct.pack('>IBI', len(body) + 5, ord('H'), 0) + body.encode())\n"
        "sys.stdout.flush()\nsys.stdin.read()\n"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (hello(binary.PROTOCOL + 1, binary.OPA_VERSION), "protocol 2"),
        (hello(binary.PROTOCOL, "1.20.2"), "OPA 1.20.2"),
        ("import sys\nsys.exit('out of order')\n", "exit code 1: out of order"),
        ("print('hello')\n", "does not start"),
    ],
)
def test_a_program_of_another_kind_is_refused(
    text: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(binary.OVERRIDE, script(tmp_path, text))
    with pytest.raises(EngineError, match=words):
        Child("eval", jobs=1, memory_bytes=1 << 30, item_seconds=1)


def test_a_missing_program_says_how_to_build_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(binary.OVERRIDE, str(tmp_path / "none"))
    with pytest.raises(EngineError, match="which is no file"):
        binary.find_binary()
    monkeypatch.delenv(binary.OVERRIDE)
    monkeypatch.setattr(binary, "__file__", str(tmp_path / "binary.py"))
    with pytest.raises(EngineError, match="pip install"):
        binary.find_binary()


def test_the_program_tells_its_version() -> None:
    assert binary.version().protocol == binary.PROTOCOL
    path = binary.find_binary()
    assert binary.binary_sha256(path) == binary.binary_sha256(path)


def test_the_environment_does_not_reach_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_SECRET", "canary")
    with Evaluator(jobs=1, allow_builtins=["opa.runtime"]) as evaluator:
        environment = Path(f"/proc/{evaluator.supervisor.child.pid}/environ")
        if not environment.exists():
            pytest.skip("no /proc")
        assert b"canary" not in environment.read_bytes()
