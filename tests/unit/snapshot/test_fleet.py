"""Who is a member: by uid and signature, never by name; what is missing, late, a duplicate or foreign has its gap."""

from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from audit.collect.snapshot.signing import Signer
from audit.config.effective import effective_config
from audit.config.environment import Environment
from audit.config.overrides import Overrides
from audit.errors import AuditError, ConfigError, UsageError
from audit.model.gap import Gap, GapKind
from audit.native.reader import Reader
from audit.wiring.fleet import Fleet, fleet_of
from tests.unit.snapshot.making import BEGAN, CONFIG_MAP, forged, thing, told, written

NOW = BEGAN + dt.timedelta(hours=30)
EU, US, AP = (f"0000000{n}-0000-4000-8000-000000000000" for n in (1, 2, 3))


class World:
    """A folder with snapshots, and a register."""

    def __init__(self, folder: Path, reader: Reader) -> None:
        self.folder = folder
        self._reader = reader

    def snapshot(self, day: str, name: str, uid: str, **more: Any) -> Path:
        events = told(self._reader, [(CONFIG_MAP, 1, [thing(CONFIG_MAP, "a")])])
        return written(self.folder / day, events, [CONFIG_MAP], cluster=name, uid=uid, **more)

    def fleet(
        self, *paths: str, register: list[dict[str, Any]] | None = None, config: dict[str, Any] | None = None
    ) -> Fleet:
        over: dict[str, Any] = {"no_config": True}
        if register is not None:
            (self.folder / "register.yaml").write_text(yaml.safe_dump({"clusters": register}))
            over["register"] = str(self.folder / "register.yaml")
        if config is not None:
            (self.folder / "fleetaudit.yaml").write_text(yaml.safe_dump(config))
            over |= {"no_config": False, "config": str(self.folder / "fleetaudit.yaml")}
        asked = Overrides(paths=tuple(str(self.folder / path) for path in paths), **over)
        return fleet_of(effective_config(asked, Environment(), Path()), NOW)


@pytest.fixture
def world(tmp_path: Path, reader: Reader) -> World:
    return World(tmp_path, reader)


REGISTER = [
    {"name": "prod-eu", "uid": EU, "region": "eu-central-1", "tier": "production", "owner": "team-a"},
    {"name": "prod-us", "uid": US},
]


def told_of(fleet: Fleet) -> dict[str, Any]:
    """Member to the place it is judged on, or to the kinds of its gaps."""
    return {
        member.name: Path(member.opened.place.name).name
        if member.opened and not member.gaps
        else [gap.kind for gap in member.gaps]
        for member in fleet.members
    }


def test_snapshots_match_by_uid_whatever_they_are_called(world: World) -> None:
    world.snapshot("day", "in-cluster", EU)
    world.snapshot("day", "prod-eu", US)
    fleet = world.fleet("day/*", register=REGISTER)
    assert told_of(fleet) == {"prod-eu": "in-cluster", "prod-us": "prod-eu"}
    assert fleet.gaps == ()
    assert fleet.members[0].registered
    assert fleet.members[0].registered.region == "eu-central-1"


def test_what_is_missing_stays_a_member(world: World) -> None:
    world.snapshot("day", "prod-eu", EU)
    fleet = world.fleet("day/*", register=REGISTER)
    assert told_of(fleet) == {"prod-eu": "prod-eu", "prod-us": [GapKind.ABSENT]}
    [gap] = fleet.members[1].gaps
    assert gap.kinds is None
    assert "registered" in gap.reason
    assert told_of(world.fleet(register=REGISTER)) == {
        "prod-eu": [GapKind.ABSENT],
        "prod-us": [GapKind.ABSENT],
    }
    nothing = world.fleet("elsewhere/*", register=REGISTER)
    assert told_of(nothing) == {"prod-eu": [GapKind.ABSENT], "prod-us": [GapKind.ABSENT]}
    assert [(gap.kind, gap.kinds) for gap in nothing.gaps] == [(GapKind.ABSENT, ())]


def test_a_foreign_one_is_told_and_hides_nothing(world: World) -> None:
    for name, uid in (("a", EU), ("b", US), ("stranger", AP)):
        world.snapshot("day", name, uid)
    fleet = world.fleet("day/*", register=REGISTER)
    assert told_of(fleet) == {"prod-eu": "a", "prod-us": "b"}
    [gap] = fleet.gaps
    assert (gap.kind, gap.cluster, gap.kinds) == (GapKind.FOREIGN, "", ())
    assert "stranger" in gap.reason
    assert AP in gap.reason
    assert not gap.may_hide(("apps/Deployment",))
    assert not gap.may_hide(())


def test_without_an_identity_nothing_matches(world: World) -> None:
    world.snapshot("day", "prod-eu", "")
    fleet = world.fleet("day/*", register=REGISTER)
    assert told_of(fleet) == {"prod-eu": [GapKind.ABSENT], "prod-us": [GapKind.ABSENT]}
    assert [gap.kind for gap in fleet.gaps] == [GapKind.FOREIGN]


def test_of_two_the_newest_is_judged_and_the_other_is_told(world: World) -> None:
    world.snapshot("monday", "prod-eu", EU, began=BEGAN)
    world.snapshot("tuesday", "prod-eu", EU, began=BEGAN + dt.timedelta(days=1))
    world.snapshot("tuesday", "prod-us", US)
    for register in (None, REGISTER):
        fleet = world.fleet("*day", register=register)
        [eu] = [member for member in fleet.members if member.name == "prod-eu"]
        assert eu.opened
        assert "tuesday" in eu.opened.place.name
        [gap] = eu.gaps
        assert (gap.kind, gap.kinds) == (GapKind.DUPLICATE, None)
        assert "monday" in gap.source
        assert len(fleet.members) == 2


def test_the_same_one_named_twice_is_one(world: World) -> None:
    world.snapshot("day", "prod-eu", EU)
    fleet = world.fleet("day/*", "day/prod-eu", "day")
    assert told_of(fleet) == {"prod-eu": "prod-eu"}
    assert [notice.code for notice in fleet.notices] == ["already_read"] * 2


@pytest.mark.parametrize(
    ("began", "kinds"),
    [
        (NOW - dt.timedelta(hours=24), []),
        (NOW - dt.timedelta(hours=24, seconds=1), [GapKind.LATE]),
        (NOW + dt.timedelta(minutes=9), []),
        (NOW + dt.timedelta(hours=2), [GapKind.LATE]),
    ],
    ids=["just", "late", "skew", "future"],
)
def test_late_ones_are_not_judged(world: World, began: dt.datetime, kinds: list[GapKind]) -> None:
    world.snapshot("day", "prod-eu", EU, began=began)
    [entry, _] = REGISTER
    for age in ("24h", "1d"):
        fleet = world.fleet("day/*", register=[{**entry, "max_age": age}])
        [member] = fleet.members
        assert [gap.kind for gap in member.gaps] == kinds
        assert (member.opened is None) == bool(kinds)
    assert not world.fleet("day/*", register=[entry]).members[0].gaps


def test_who_signs_for_a_cluster(world: World, pairs: dict[str, tuple[Path, Path]]) -> None:
    world.snapshot("day", "prod-eu", EU, signer=Signer(pairs["ecdsa"][0]))
    world.snapshot("day", "prod-us", US, signer=Signer(pairs["other"][0]))
    keys = [{"name": name, "path": str(pairs[name][1])} for name in ("ecdsa", "other")]
    register = [entry | {"key": "ecdsa"} for entry in REGISTER]
    fleet = world.fleet("day/*", register=register, config={"snapshots": {"keys": keys}})
    assert told_of(fleet) == {"prod-eu": "prod-eu", "prod-us": [GapKind.UNTRUSTED]}
    assert fleet.members[0].opened
    assert fleet.members[0].opened.signed_by == "ecdsa"
    only = world.fleet("day/*", register=register, config={"snapshots": {"keys": keys[:1]}})
    assert told_of(only) == {"prod-eu": "prod-eu", "prod-us": [GapKind.ABSENT]}
    assert [(gap.kind, gap.kinds) for gap in only.gaps] == [(GapKind.UNTRUSTED, ())]
    unchecked = world.fleet("day/*", register=register)
    assert told_of(unchecked) == {"prod-eu": [GapKind.UNTRUSTED], "prod-us": [GapKind.UNTRUSTED]}


def test_one_that_was_not_reached_says_why_and_no_more(world: World) -> None:
    gap = Gap(kind=GapKind.UNREACHABLE, cluster="prod-eu", source="prod-eu", reason="no answer: refused")
    written(world.folder / "day", [gap], [], cluster="prod-eu", reached=False)
    fleet = world.fleet("day/*", register=REGISTER)
    assert told_of(fleet) == {"prod-eu": [GapKind.UNREACHABLE], "prod-us": [GapKind.ABSENT]}
    assert fleet.gaps == ()


def test_a_broken_one_is_nobodys(world: World) -> None:
    path = world.snapshot("day", "prod-eu", EU)
    manifest = path / "manifest.json"
    manifest.write_bytes(manifest.read_bytes()[:200])
    fleet = world.fleet("day/*", register=REGISTER)
    assert told_of(fleet) == {"prod-eu": [GapKind.ABSENT], "prod-us": [GapKind.ABSENT]}
    assert [(gap.kind, gap.source) for gap in fleet.gaps] == [(GapKind.UNREADABLE, str(path))]
    alone = world.fleet("day/*")
    assert told_of(alone) == {"prod-eu": [GapKind.UNREADABLE]}


def test_running_clusters_and_manifests_beside_snapshots(world: World) -> None:
    world.snapshot("day", "x", US)
    (world.folder / "k8s").mkdir()
    config = {
        "register": "register.yaml",
        "clusters": [
            {"name": "prod-eu", "server": {"context": "eu"}},
            {"name": "other", "server": {"context": "o"}},
            {"name": "rendered", "paths": ["k8s"]},
            {"name": "prod-us", "snapshot": "day/x"},
        ],
    }
    fleet = world.fleet(register=REGISTER, config=config)
    assert list(fleet.names) == ["prod-eu", "prod-us", "rendered"]
    assert fleet.members[0].cluster
    assert fleet.members[1].opened
    assert [gap.source for gap in fleet.gaps] == ["other"]
    config["clusters"][3]["name"] = "prod-eu-copy"
    mixed = world.fleet(register=REGISTER, config=config)
    assert told_of(mixed)["prod-us"] == [GapKind.ABSENT]
    assert [gap.kind for gap in mixed.gaps] == [GapKind.FOREIGN] * 2


def test_alike_names_of_two_clusters(world: World) -> None:
    world.snapshot("a", "in-cluster", EU)
    world.snapshot("b", "in-cluster", US)
    fleet = world.fleet("a", "b")
    assert list(fleet.names) == [f"in-cluster@{EU[:8]}", f"in-cluster@{US[:8]}"]


def test_manifests_and_snapshots_are_not_one_cluster(world: World) -> None:
    world.snapshot("day", "prod-eu", EU)
    (world.folder / "k8s").mkdir()
    with pytest.raises(UsageError, match="k8s is no snapshot"):
        world.fleet("day", "k8s")
    assert world.fleet("k8s").members[0].cluster
    named = world.fleet(config={"clusters": [{"name": "mine", "paths": ["day/prod-eu"]}]})
    assert told_of(named) == {"mine": "prod-eu"}


@pytest.mark.parametrize(
    ("register", "word"),
    [
        ([], "length >= 1"),
        ([{"uid": EU}], "required"),
        (
            [{"name": "a", "uid": EU}, {"name": "b", "uid": EU}],
            "another cluster of the register has this uid",
        ),
        ([{"name": "a"}, {"name": "a"}], "another cluster of the register has this name"),
        ([{"name": "a", "max_age": "2 days"}], "not accepted"),
        ([{"name": "a", "uuid": EU}], "unknown key"),
    ],
)
def test_a_wrong_register_stops_the_run(world: World, register: list[Any], word: str) -> None:
    with pytest.raises(ConfigError) as caught:
        world.fleet(register=register)
    assert word in str(caught.value)
    assert "register.yaml" in (caught.value.file or "")


def test_no_register_there(world: World) -> None:
    with pytest.raises(AuditError, match="the register cannot be read"):
        world.fleet(config={"register": "gone.yaml"})


def test_only_the_file_of_the_kind_is_forged(world: World) -> None:
    """The manifest decides whose snapshot it is: one that was copied under another name stays the cluster that it was."""
    path = world.snapshot("day", "prod-eu", EU)
    shutil.copytree(path, world.folder / "day" / "prod-us")
    forged(path, lambda lines: lines)
    fleet = world.fleet("day/*", register=REGISTER)
    assert [gap.kind for gap in fleet.members[0].gaps] == [GapKind.DUPLICATE]
    assert told_of(fleet)["prod-us"] == [GapKind.ABSENT]
