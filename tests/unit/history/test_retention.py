"""Which runs give up their details."""

from __future__ import annotations

import datetime as dt

from hypothesis import given
from hypothesis import strategies as st

from audit.history.model import Retention
from audit.history.retention import outlived
from tests.history.runs import NOW, day
from tests.unit.history.links import chain, run

days = st.lists(st.tuples(st.integers(0, 333), st.sampled_from(["a", "b"])), max_size=12)
wishes = st.builds(
    Retention, keep_runs=st.none() | st.integers(1, 5), keep_days=st.none() | st.integers(1, 400)
)


@given(days, wishes)
def test_what_one_of_the_wishes_wants_stays(judged: list[tuple[int, str]], wish: Retention) -> None:
    links = chain([run(state_time=day(number), title=title) for number, title in judged])
    gone = set(outlived(links, wish, NOW))
    for title in ("a", "b"):
        mine = sorted(
            (item for item in links if item.run.title == title),
            key=lambda item: (item.run.state_time, item.number),
        )
        if mine:
            assert mine[-1].number not in gone
        if wish.keep_runs:
            assert not gone & {item.number for item in mine[-wish.keep_runs :]}
        if wish.keep_days:
            young = (NOW - dt.timedelta(days=wish.keep_days)).strftime("%Y-%m-%dT%H:%M:%SZ")
            assert not gone & {item.number for item in mine if item.run.state_time > young}
    if wish.keeps_all:
        assert not gone
    elif wish.keep_days is None and wish.keep_runs is not None:
        kept = [sum(item.run.title == title and item.number not in gone for item in links) for title in "ab"]
        assert all(number <= wish.keep_runs for number in kept)
