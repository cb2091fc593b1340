"""Every pair of two populations is either equal, asked by one side without harm, or a flip: none is lost, none told twice."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.record.flips import Counts, FlipKind, flips
from audit.record.population import PairRow

OUTCOMES = ("pass", "fail", "warn", "error", "skip")
populations = st.dictionaries(
    st.tuples(st.sampled_from(["a/x", "a/y", "b/z"]), st.integers(0, 12)),
    st.sampled_from(OUTCOMES),
    max_size=25,
)


def row(rule: str, number: int, outcome: str) -> PairRow:
    return PairRow(
        rule, "eu", "apps/Deployment", "ml", f"d{number}", "list", str(number), "", "", outcome, "", ""
    )


def rows(population: dict[tuple[str, int], str]) -> list[PairRow]:
    return [row(rule, number, outcome) for (rule, number), outcome in population.items()]


@given(before=populations, after=populations)
def test_nothing_is_lost_and_nothing_told_twice(
    before: dict[tuple[str, int], str], after: dict[tuple[str, int], str]
) -> None:
    counts = Counts()
    found = list(flips(rows(before), rows(after), counts))
    keys = [flip.row.identity for flip in found]
    assert len(set(keys)) == len(keys)
    assert len(found) + counts.same + counts.only_before + counts.only_after == len({*before, *after})
    for flip in found:
        key = (flip.row.rule, int(flip.row.document))
        assert (flip.before, flip.after) == (before.get(key, ""), after.get(key, ""))
        assert flip.before != flip.after
    failing = {key for key, outcome in after.items() if outcome == "fail" and before.get(key) != "fail"}
    assert sum(flip.kind is FlipKind.NEW_FAILURE for flip in found) == len(failing)


@given(before=populations, after=populations)
def test_the_other_way_round_the_same_pairs_flip(
    before: dict[tuple[str, int], str], after: dict[tuple[str, int], str]
) -> None:
    there, back = (
        Counter(
            flip.kind
            for flip in flips(rows(one), rows(other), Counts())
            if "error" not in {flip.before, flip.after}
        )
        for one, other in ((before, after), (after, before))
    )
    assert there[FlipKind.NEW_FAILURE] == back[FlipKind.GONE_FAILURE]
    assert there[FlipKind.OTHER] == back[FlipKind.OTHER]


@given(population=populations)
def test_the_same_twice_flips_nothing(population: dict[tuple[str, int], str]) -> None:
    counts = Counts()
    assert list(flips(rows(population), reversed(rows(population)), counts)) == []
    assert counts.same == len(population)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("pass", "fail", FlipKind.NEW_FAILURE),
        ("", "fail", FlipKind.NEW_FAILURE),
        ("error", "fail", FlipKind.NEW_FAILURE),
        ("fail", "pass", FlipKind.GONE_FAILURE),
        ("fail", "", FlipKind.GONE_FAILURE),
        ("fail", "error", FlipKind.UNDECIDED),
        ("pass", "error", FlipKind.UNDECIDED),
        ("", "error", FlipKind.UNDECIDED),
        ("error", "skip", FlipKind.DECIDED),
        ("pass", "skip", FlipKind.OTHER),
        ("error", "", None),
        ("", "pass", None),
        ("warn", "", None),
    ],
)
def test_what_a_flip_is_called(before: str, after: str, kind: FlipKind | None) -> None:
    sides = [[row("r", 1, outcome)] if outcome else [] for outcome in (before, after)]
    assert [flip.kind for flip in flips(sides[0], sides[1], Counts())] == ([kind] if kind else [])
