"""The law of the chain: whatever is changed, taken out, put in or swapped, the first place that no longer holds is named."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from audit.history.chain import Break, Walk, digest_of_details, digest_of_ratios, link
from audit.history.entries import entry_of
from audit.history.model import Link, RunRow
from tests import builders as b
from tests.history.runs import result
from tests.unit.history.links import chain, run

NUMBERS = [field.name for field in msgspec.structs.fields(RunRow) if field.type is int]
TEXTS = [field.name for field in msgspec.structs.fields(RunRow) if field.type is str]

runs = st.lists(
    st.builds(
        run,
        title=st.text(max_size=5),
        gaps=st.integers(0, 9),
        objects=st.integers(0, 10**12),
        complete=st.booleans(),
    ),
    min_size=1,
    max_size=8,
)


def walked(links: Iterable[Link]) -> tuple[Walk, Break | None]:
    walk = Walk()
    for found in links:
        if broken := walk.step(found):
            return walk, broken
    return walk, None


@given(runs)
def test_a_chain_holds(rows: list[RunRow]) -> None:
    links = chain(rows)
    walk, broken = walked(links)
    assert broken is None
    assert walk.last == links[-1]
    assert len(walk.digests) == len(links)


@st.composite
def changed_field(draw: st.DrawFn, link: Link) -> Link:
    """The link with one thing changed, its digest left as it was."""
    place = draw(st.sampled_from(["previous", "appended_at", "digest", "complete", *NUMBERS, *TEXTS]))
    if place in {"previous", "appended_at", "digest"}:
        changed = draw(st.text(max_size=64).filter(lambda text: text != getattr(link, place)))
        return msgspec.structs.replace(link, **{place: changed})
    old = getattr(link.run, place)
    new: Any = (
        not old if isinstance(old, bool) else draw(st.integers() if isinstance(old, int) else st.text())
    )
    if new == old:
        new = old + 1 if isinstance(old, int) else f"{old}x"
    return msgspec.structs.replace(link, run=msgspec.structs.replace(link.run, **{place: new}))


@given(st.data(), runs)
def test_any_change_is_found_where_it_is(data: st.DataObject, rows: list[RunRow]) -> None:
    links = chain(rows)
    place = data.draw(st.integers(0, len(links) - 1))
    links[place] = data.draw(changed_field(links[place]))
    _, broken = walked(links)
    assert broken is not None
    assert (broken.number, broken.kind) == (place + 1, "changed")


@given(st.data(), runs)
def test_a_change_with_a_new_digest_is_found_at_the_next_run(data: st.DataObject, rows: list[RunRow]) -> None:
    links = chain([*rows, run()])
    place = data.draw(st.integers(0, len(links) - 2))
    old = links[place]
    forged = msgspec.structs.replace(old.run, gaps=old.run.gaps + 1)
    links[place] = link(old.number, old.previous, old.appended_at, forged)
    _, broken = walked(links)
    assert broken is not None
    assert (broken.number, broken.kind) == (place + 2, "changed")


@given(st.data(), runs)
def test_the_first_run_that_is_missing_is_named(data: st.DataObject, rows: list[RunRow]) -> None:
    links = chain([*rows, run()])
    gone = data.draw(st.sets(st.integers(0, len(links) - 2), min_size=1))
    _, broken = walked(found for place, found in enumerate(links) if place not in gone)
    assert broken is not None
    assert (broken.number, broken.kind) == (min(gone) + 1, "missing")


@given(st.data(), runs)
def test_a_run_that_stands_twice_is_found(data: st.DataObject, rows: list[RunRow]) -> None:
    links = chain(rows)
    place = data.draw(st.integers(0, len(links) - 1))
    _, broken = walked([*links[: place + 1], *links[place:]])
    assert broken is not None
    assert (broken.number, broken.kind) == (place + 1, "order")


def test_every_field_of_a_run_is_in_its_digest() -> None:
    (first,) = chain([run()])
    digests = {first.digest}
    for field in msgspec.structs.fields(RunRow):
        old = getattr(first.run, field.name)
        new = not old if isinstance(old, bool) else old + 1 if isinstance(old, int) else f"{old}x"
        digests.add(chain([run(**{field.name: new})])[0].digest)
    assert len(digests) == len(msgspec.structs.fields(RunRow)) + 1


@given(st.data())
def test_rows_are_digested_with_their_order(data: st.DataObject) -> None:
    entry = entry_of(result(0, b.group(), b.group(b.finding(subject=b.subject("other")))), 0)
    assert len(set(entry.ratios)) > 1
    shuffled = tuple(data.draw(st.permutations(entry.ratios)))
    assert (digest_of_ratios(shuffled) == entry.run.ratios_sha256) == (shuffled == entry.ratios)
    turned = msgspec.structs.replace(entry.details, groups=entry.details.groups[::-1])
    assert digest_of_details(turned) != entry.run.details_sha256
