"""A snapshot appears whole or not at all, in a folder and under an address."""

from __future__ import annotations

from pathlib import Path

import fsspec
import pytest

from audit.collect.snapshot.form import MANIFEST
from audit.collect.snapshot.opening import open_snapshot
from audit.collect.snapshot.storage import Remote, addresses_matching, is_snapshot, target_of
from audit.errors import UsageError
from audit.native.reader import Reader
from tests.unit.snapshot.making import CONFIG_MAP, objects, read_back, thing, told, written, written_to


def test_nothing_is_there_before_the_end(tmp_path: Path) -> None:
    target = target_of(str(tmp_path), "test")
    with target.create("0000.jsonl.gz") as stream:
        stream.write(b"x")
    with target.create(MANIFEST) as stream:
        stream.write(b'{"fleetaudit_snapshot":1}')
    assert not (tmp_path / "test").exists()
    assert [path for path in tmp_path.glob("*") if not path.name.startswith(".")] == []
    target.publish()
    assert is_snapshot(tmp_path / "test")
    assert [path.name for path in tmp_path.iterdir()] == ["test"]


def test_what_was_thrown_away_leaves_nothing(tmp_path: Path) -> None:
    target = target_of(str(tmp_path), "test")
    with target.create("0000.jsonl.gz") as stream:
        stream.write(b"x")
    target.discard()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_goes_and_a_running_one_stays(tmp_path: Path) -> None:
    (tmp_path / ".fleetaudit-collect-dead").mkdir()
    first = target_of(str(tmp_path), "a")
    second = target_of(str(tmp_path), "b")
    assert len(list(tmp_path.iterdir())) == 2
    for target in (first, second):
        with target.create(MANIFEST) as stream:
            stream.write(b'{"fleetaudit_snapshot":1}')
        target.publish()
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}


def test_a_second_snapshot_replaces_the_first_and_nothing_else_is_replaced(
    reader: Reader, tmp_path: Path
) -> None:
    first = told(reader, [(CONFIG_MAP, 1, [thing(CONFIG_MAP, "a")])])
    second = told(reader, [(CONFIG_MAP, 1, [thing(CONFIG_MAP, "b")])])
    written(tmp_path, first, [CONFIG_MAP])
    path = written(tmp_path, second, [CONFIG_MAP])
    assert [item.ref.name for item in objects(read_back(path, reader))] == ["b"]
    assert len(list(path.iterdir())) == 2
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(UsageError, match="something else"):
        target_of(str(tmp_path), "mine")


@pytest.mark.parametrize("scheme", ["memory://store", "file://{}"])
def test_an_address_is_as_good_as_a_folder(reader: Reader, tmp_path: Path, scheme: str) -> None:
    root = scheme.format(tmp_path) + "/2026-11-30"
    for name, found in (("eu", "a"), ("us", "b"), ("eu", "c")):
        target = target_of(root, name)
        events = told(reader, [(CONFIG_MAP, 1, [thing(CONFIG_MAP, found)])])
        written_to(target, events, [CONFIG_MAP], cluster=name)
    addresses = addresses_matching(f"{root}/*")
    assert [address.rpartition("/")[2] for address in addresses] == ["eu", "us"]
    assert {item.ref.name for one in addresses for item in objects(read_back(one, reader))} == {"b", "c"}
    files, path = fsspec.core.url_to_fs(f"{root}/eu")
    assert len(files.ls(path)) == 2, "files of the first snapshot are gone"
    assert addresses_matching(f"{root}/nobody*") == []


def test_an_address_that_was_not_finished_is_no_snapshot(reader: Reader) -> None:
    target = Remote("memory://store/unfinished/eu")
    with target.create("0000.jsonl.gz") as stream:
        stream.write(b"x")
    assert addresses_matching("memory://store/unfinished/*") == []
    target.discard()
    assert target._files.ls("/store/unfinished/eu") == []


def test_an_address_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing installed knows"):
        addresses_matching("nosuchstore://x/*")
    with pytest.raises(Exception, match="no manifest"):
        open_snapshot(str(tmp_path), ())
