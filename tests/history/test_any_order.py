"""Whatever is appended and pruned in whatever order: the chain holds, and what was not pruned comes out as it went in."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from audit.history.address import parse_address
from audit.history.database.reading import opened
from audit.history.database.verifying import verify
from audit.history.database.writing import prune
from audit.history.model import Retention
from tests import builders as b
from tests.history.runs import NOW, append, result, sealed_bytes

appended = st.tuples(st.just("append"), st.integers(0, 333), st.integers(0, 2), st.sampled_from("ab"))
pruned = st.tuples(st.just("prune"), st.integers(1, 4), st.none() | st.integers(1, 300), st.none())


# A file is made for each example, so there are few, but of many steps.
@settings(max_examples=15, deadline=None)
@given(st.lists(st.one_of(appended, appended, pruned), min_size=1, max_size=7))
def test_the_chain_holds(steps: list[tuple[str, int, int | None, str | None]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        url = str(Path(name) / "history.db")
        append(url, result())
        told = [result()]
        for kind, number, other, title in steps:
            if kind == "append":
                what = result(number, *[b.group()] * bool(other), gaps=(b.gap(),) * (other or 0), title=title)
                assert append(url, what).number == len(told) + 1
                told.append(what)
            else:
                prune(parse_address(url), Retention(keep_runs=number, keep_days=other), NOW)
        with opened(parse_address(url)) as stored:
            links = stored.links()
            verdict = verify(stored)
            assert verdict.broken is None
            assert verdict.runs == len(told) == len(links)
            assert verdict.whole == sum(not link.pruned_at for link in links)
            for link, what in zip(links, told, strict=True):
                if not link.pruned_at:
                    stored.unpack(link, Path(name))
                    assert (Path(name) / "report.json").read_bytes() == sealed_bytes(what)
