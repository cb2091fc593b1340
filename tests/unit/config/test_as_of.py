"""A run that is judged as at an earlier moment: which moments are taken, and that it is said."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from audit.config.effective import effective_config
from audit.config.environment import Environment
from audit.config.load import parse_config
from audit.config.overrides import Overrides
from audit.config.schema import ClusterConfig, Config, ServerConfig
from audit.errors import ConfigError, UsageError
from audit.model.expiry import moment_of
from audit.wiring.moment import FixedClock, judging

NOW = dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC)
CLOCK = FixedClock(NOW)


def test_without_one_it_is_now() -> None:
    found = judging(Config(), CLOCK)
    assert (found.clock.now(), found.notices) == (NOW, ())


def test_an_earlier_moment_is_taken_and_told() -> None:
    found = judging(Config(as_of="2026-03-02T10:00:00+02:00", file="fleet.yaml"), CLOCK)
    assert found.clock.now() == dt.datetime(2026, 3, 2, 8, tzinfo=dt.UTC)
    [notice] = found.notices
    assert (notice.code, notice.source) == ("judged_as_of", "fleet.yaml")
    assert "2026-03-02 08:00 UTC" in notice.message


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (Config(as_of="2026-12-01T12:00:01Z"), "has not come yet"),
        (Config(as_of="2026-11-30"), "a time with its zone"),
        (Config(as_of="2026-11-30T10:00:00"), "zone"),
        (Config(as_of="yesterday"), "a time with its zone"),
        (
            Config(as_of="2026-11-30T10:00:00Z", clusters=(ClusterConfig(name="a", server=ServerConfig()),)),
            "running cluster",
        ),
    ],
)
def test_what_is_no_earlier_moment_is_refused(config: Config, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        judging(config, CLOCK)


def test_the_file_is_told_the_line() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(b"title: a\nas_of: '2026-11-30'\n", "fleetaudit.yaml")
    assert (caught.value.line, caught.value.key) == (2, "as_of")


def test_yaml_may_leave_out_the_quotes() -> None:
    assert parse_config(b"as_of: 2026-11-30T12:00:00Z\n", "f").as_of == "2026-11-30T12:00:00Z"


def test_the_command_line_wins_and_is_repeated() -> None:
    overrides = Overrides(no_config=True, as_of="2026-11-30T12:00:00Z")
    config = effective_config(overrides, Environment(), Path())
    assert config.as_of == "2026-11-30T12:00:00Z"
    assert config.record["as_of"] == "2026-11-30T12:00:00Z"
    assert config.arguments[1:3] == ("--as-of", "2026-11-30T12:00:00Z")


def test_a_date_alone_is_no_moment() -> None:
    with pytest.raises(ValueError, match="zone"):
        moment_of("2026-11-30")
