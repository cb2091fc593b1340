"""Findings are kept beside the evaluation: every one, each with its own place, and no failure goes unnoticed."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.model.finding import Outcome, PairAnswer, Violation
from audit.model.rule import Rule
from audit.model.subject import Place, SubjectRef
from audit.record import keeping
from audit.record.findings import FindingStore
from audit.record.keeping import Answered, FindingKeeper, Path
from tests import builders

RULE = "image/digest-pinned"


class Lines:
    """Places whose line is the number in the path; remembers what it was asked, and by whom."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.threads: set[str] = set()

    def places(self, asked: list[tuple[SubjectRef, list[Path]]]) -> list[list[Place | None]]:
        self.batches.append(len(asked))
        self.threads.add(threading.current_thread().name)
        return [
            [Place(file=ref.source, line=int(path[1]), column=1) for path in paths] for ref, paths in asked
        ]


@pytest.fixture
def store() -> Iterator[FindingStore]:
    with FindingStore() as store:
        yield store


@pytest.fixture
def rules() -> dict[str, Rule]:
    return {RULE: builders.rule(RULE)}


def answered(number: int, source: str) -> Answered:
    violation = Violation(message=f"no {number}", path=("spec", number))
    answer = PairAnswer(rule=RULE, outcome=Outcome.FAIL, violations=(violation,))
    ref = SubjectRef(cluster="a", group="", version="v1", kind="Pod", name=f"pod-{number}", source=source)
    return Answered(ref, [(answer, "")])


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(1, 1300), max_size=5))
def test_every_finding_is_kept_once_with_its_own_place(files: list[int]) -> None:
    lines = Lines()
    with FindingStore() as store:
        keeper = FindingKeeper({RULE: builders.rule(RULE)}, lines, store)
        number = 0
        for file, count in enumerate(files):
            for _ in range(count):
                number += 1
                keeper.add(answered(number, f"{file}.yaml"))
        keeper.settle()
        kept = sorted(
            (member.place.line, member.violation.path[1])
            for group in store.groups()
            for member in group.members
            if member.place is not None
        )
    assert kept == [(n, n) for n in range(1, number + 1)]
    assert sum(lines.batches) == number
    assert lines.threads <= {"findings_0"}


def test_batches_within_one_file_grow(store: FindingStore, rules: dict[str, Rule]) -> None:
    """Each batch reads its file anew: a large file must not be read once for every few hundred objects."""
    lines = Lines()
    keeper = FindingKeeper(rules, lines, store)
    for number in range(1, 10_001):
        keeper.add(answered(number, "large.yaml"))
    keeper.settle()
    assert lines.batches == [500, 1000, 2000, 4000, 2500]


def test_what_goes_wrong_is_raised_when_it_is_settled(store: FindingStore, rules: dict[str, Rule]) -> None:
    class Broken:
        def places(self, _asked: list[tuple[SubjectRef, list[Path]]]) -> list[list[Place | None]]:
            raise OSError("the reader is gone")

    keeper = FindingKeeper(rules, Broken(), store)
    keeper.add(answered(1, "a.yaml"))
    with pytest.raises(OSError, match="the reader is gone"):
        keeper.settle()
    keeper.abandon()


def test_no_more_is_held_than_two_batches(store: FindingStore, rules: dict[str, Rule]) -> None:
    """What is faster than the keeper waits for it, so memory does not grow with the cluster."""
    may_go_on = threading.Event()

    class Slow(Lines):
        def places(self, asked: list[tuple[SubjectRef, list[Path]]]) -> list[list[Place | None]]:
            assert may_go_on.wait(10)
            return super().places(asked)

    keeper = FindingKeeper(rules, Slow(), store)
    done = threading.Event()

    def fill() -> None:
        for number in range(1, 4 * keeping._BATCH_OBJECTS + 2):
            keeper.add(answered(number, f"{number}.yaml"))
        done.set()

    filling = threading.Thread(target=fill)
    filling.start()
    assert not done.wait(0.3)
    may_go_on.set()
    filling.join(10)
    assert done.is_set()
    keeper.settle()


def test_abandoned_nothing_is_left_running(store: FindingStore, rules: dict[str, Rule]) -> None:
    keeper = FindingKeeper(rules, Lines(), store)
    for number in range(1, 1_200):
        keeper.add(answered(number, f"{number}.yaml"))
    keeper.abandon()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("findings")]
