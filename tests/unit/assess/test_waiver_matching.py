"""What a waiver covers, and what it did."""

from __future__ import annotations

import datetime as dt

import pytest

from audit.assess.waive import WaiverIndex
from audit.model.acceptance import Waiver
from tests import builders as b

APP, SIDE = b.violation(container="app"), b.violation(container="side")
RULE = "pod/privileged"


def index(*waivers: Waiver) -> WaiverIndex:
    return WaiverIndex(waivers, b.NOW)


def test_a_live_waiver_accepts_every_violation_of_its_subject() -> None:
    found = index(b.waiver())
    assert found.match(RULE, b.subject("web"), (APP, SIDE)) == "W-001"
    (state,) = found.states()
    assert (state.live, state.matched, state.warning) == (True, 1, "")


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "web2"},
        {"name": "we"},
        {"namespace": "other"},
        {"namespace": ""},
        {"kind": "StatefulSet"},
        {"kind": "batch/Deployment"},
        {"cluster": "west"},
        {"rule": "pod/host-ports"},
        {"name": "web*"},
    ],
)
def test_names_are_literal(changes: dict[str, str]) -> None:
    found = index(b.waiver(**changes))
    assert found.match(RULE, b.subject("web"), (APP,)) is None
    assert found.states()[0].warning == "matched nothing"


@pytest.mark.parametrize(
    "changes", [{"cluster": "east"}, {"kind": "apps/Deployment"}, {"kind": ""}, {"container": "app"}]
)
def test_what_is_written_fits(changes: dict[str, str]) -> None:
    assert index(b.waiver(**changes)).match(RULE, b.subject("web"), (APP,)) == "W-001"


def test_a_generated_name_is_matched_by_its_mark() -> None:
    subject = b.subject("job-*")
    assert index(b.waiver(name="job-*")).match(RULE, subject, (APP,)) == "W-001"
    assert index(b.waiver(name="job-1")).match(RULE, subject, (APP,)) is None


def test_a_container_waiver_does_not_hide_its_neighbour() -> None:
    found = index(b.waiver(container="app"))
    assert found.match(RULE, b.subject("web"), (APP, SIDE)) is None
    (state,) = found.states()
    assert (state.matched, state.warning) == (0, "covers only a part of what fails, pairs: 1")


def test_one_waiver_per_container_share_the_work() -> None:
    found = index(b.waiver("W-a", container="app"), b.waiver("W-b", container="side"))
    assert found.match(RULE, b.subject("web"), (SIDE, APP)) == "W-b"
    assert [state.matched for state in found.states()] == [1, 1]


def test_an_ended_waiver_accepts_nothing_and_is_counted() -> None:
    found = index(b.waiver(expires=b.NOW))
    assert found.match(RULE, b.subject("web"), (APP,)) is None, "the moment of expiry is expired"
    (state,) = found.states()
    assert (state.live, state.matched) == (False, 1)
    just_live = index(b.waiver(expires=b.NOW + dt.timedelta(microseconds=1)))
    assert just_live.match(RULE, b.subject("web"), (APP,)) == "W-001"


def test_an_ended_waiver_behind_a_live_one_did_nothing() -> None:
    found = index(b.waiver("W-old", expires=b.NOW), b.waiver("W-new"))
    assert found.match(RULE, b.subject("web"), (APP,)) == "W-new"
    assert [state.matched for state in found.states()] == [0, 1]


def test_no_end_is_warned_about() -> None:
    found = index(b.waiver(expires=None))
    assert found.match(RULE, b.subject("web"), (APP,)) == "W-001"
    assert found.states()[0].warning == "no end date"
    assert index(b.waiver(expires=None)).states()[0].warning == "no end date; matched nothing"


def test_a_failure_without_details_needs_a_waiver_of_the_whole_subject() -> None:
    assert index(b.waiver()).match(RULE, b.subject("web"), ()) == "W-001"
    assert index(b.waiver(container="app")).match(RULE, b.subject("web"), ()) is None


def test_a_rule_nobody_waived_costs_one_look_up() -> None:
    class Untouchable:
        def __getattr__(self, name: str) -> object:
            raise AssertionError(f"looked at {name}")

    found = index(*(b.waiver(f"W-{n}", name=f"web-{n}") for n in range(1_000)))
    assert found.match("pod/host-ports", Untouchable(), (APP,)) is None  # type: ignore[arg-type]
