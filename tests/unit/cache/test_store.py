"""The store on disk: bounded, checked, and never worth more than a miss when something is wrong with it."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from audit.evaluate.cache.store import AnswerStore

KEY, OTHER = b"k" * 16, b"o" * 16
SIZE = 64 << 20


class Shop:
    """Stores in one folder, and what they said."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "answers"
        self.said: list[str] = []

    def open(self, *, max_bytes: int = SIZE, hour: int = 0) -> AnswerStore:
        return AnswerStore(self.folder, max_bytes, self.said.append, clock=lambda: hour * 3600.0)

    @property
    def file(self) -> Path:
        [file] = self.folder.glob("*.sqlite")
        return file

    def put(self, *pairs: tuple[bytes, bytes], hour: int = 0, max_bytes: int = SIZE) -> None:
        store = self.open(hour=hour, max_bytes=max_bytes)
        for key, value in pairs:
            store.write(key, value)
        store.close()

    def get(self, *keys: bytes, hour: int = 0) -> dict[bytes, bytes]:
        store = self.open(hour=hour)
        found = store.read(keys)
        store.close()
        return found


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_values_outlive_the_run(shop: Shop) -> None:
    shop.put((KEY, b"value"), (OTHER, b""))
    assert shop.get(KEY, OTHER, b"x" * 16) == {KEY: b"value", OTHER: b""}
    assert not shop.said


def test_the_folder_is_its_user_s_alone(shop: Shop) -> None:
    shop.put((KEY, b"value"))
    assert stat.S_IMODE(shop.folder.stat().st_mode) == 0o700


def test_a_folder_that_others_may_write_to_is_not_believed(shop: Shop) -> None:
    shop.put((KEY, b"value"))
    shop.folder.chmod(0o777)
    assert shop.get(KEY) == {}
    assert "others may write" in shop.said[0]


@pytest.mark.parametrize("damage", ["value", "swapped", "cut", "text"])
def test_a_damaged_entry_is_a_miss(shop: Shop, damage: str) -> None:
    shop.put((KEY, b"value"), (OTHER, b"other"))
    with sqlite3.connect(shop.file) as database:
        if damage == "value":
            database.execute("UPDATE answers SET value = value || x'00' WHERE key = ?", (KEY,))
        elif damage == "swapped":
            database.execute(
                "UPDATE answers SET value = (SELECT value FROM answers WHERE key = ?) WHERE key = ?",
                (OTHER, KEY),
            )
        elif damage == "cut":
            database.execute("UPDATE answers SET value = x'01' WHERE key = ?", (KEY,))
        else:
            database.execute("UPDATE answers SET value = 'text' WHERE key = ?", (KEY,))
    store = shop.open()
    assert store.read([KEY, OTHER]) == {OTHER: b"other"}
    assert store.damaged == 1
    store.close()


@pytest.mark.parametrize("content", [b"", b"garbage" * 1000, None])
def test_a_file_that_is_no_database_is_begun_anew(shop: Shop, content: bytes | None) -> None:
    shop.put((KEY, b"value" * 4000))
    whole = shop.file.read_bytes()
    shop.file.write_bytes(whole[:100] + b"\xff" * (len(whole) - 100) if content is None else content)
    assert shop.get(KEY) == {}
    shop.put((KEY, b"again"))
    assert shop.get(KEY) == {KEY: b"again"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_costs_the_cache_and_no_more(shop: Shop) -> None:
    shop.folder.mkdir(mode=0o500)
    shop.put((KEY, b"value"))
    assert shop.get(KEY) == {}
    assert "no result cache" in shop.said[0]


def test_a_folder_that_can_t_be_costs_the_cache_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    shop = Shop(tmp_path / "file")
    shop.put((KEY, b"value"))
    assert shop.get(KEY) == {}
    assert "no result cache" in shop.said[0]


def test_a_full_disk_costs_the_cache_and_no_more(shop: Shop) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    store = shop.open()
    store._database.execute("PRAGMA max_page_count = 8")  # type: ignore[union-attr]  # a disk of eight pages
    for number in range(600):
        store.write(number.to_bytes(16), b"v" * 1000)
    assert store.read([KEY]) == {}
    store.close()
    assert any("full" in line for line in shop.said)


def test_what_was_used_longest_ago_is_forgotten_first(shop: Shop) -> None:
    value = os.urandom(4000)
    old = [(f"old{n:013}".encode(), value) for n in range(300)]
    new = [(f"new{n:013}".encode(), value) for n in range(300)]
    shop.put(*old, hour=1)
    shop.put(*new, hour=2)
    assert shop.get(old[0][0], hour=3)
    before = shop.file.stat().st_size
    shop.put((KEY, b"x"), hour=4, max_bytes=1 << 20)
    assert shop.file.stat().st_size < 1 << 20 < before
    left = shop.get(*(key for key, _ in (*old, *new)), KEY)
    assert KEY in left
    assert old[0][0] in left
    assert sum(key.startswith(b"new") for key in left) > 150
    assert sum(key.startswith(b"old") for key in left) == 1


def test_two_runs_at_once(shop: Shop) -> None:
    one, two = shop.open(), shop.open()
    one.write(KEY, b"one")
    two.write(OTHER, b"two")
    one.close()
    two.close()
    assert shop.get(KEY, OTHER) == {KEY: b"one", OTHER: b"two"}
