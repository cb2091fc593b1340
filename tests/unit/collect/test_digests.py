"""A file is read once, and never taken for what it was before."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from audit.collect.artifacts.digests import Digests, UnknownAlgorithmError

LARGE = bytes(4 << 20)
LATER = 3600 * 10**9


class Kept:
    """A memory between runs."""

    def __init__(self) -> None:
        self.values: dict[bytes, bytes] = {}

    def read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return {key: self.values[key] for key in keys if key in self.values}

    def write(self, key: bytes, value: bytes) -> None:
        self.values[key] = value


def later() -> int:
    return time.time_ns() + LATER


@pytest.mark.parametrize("algorithm", ["sha256", "sha384", "sha512", "blake2b"])
@pytest.mark.parametrize("data", [b"", b"x", LARGE + b"y"], ids=["empty", "small", "large"])
def test_digests_are_those_of_the_standard_library(tmp_path: Path, algorithm: str, data: bytes) -> None:
    (tmp_path / "f").write_bytes(data)
    assert Digests().of(tmp_path / "f", algorithm) == hashlib.new(algorithm, data).hexdigest()


def test_blake3_where_its_package_is(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    assert pytest.importorskip("blake3")
    assert Digests().of(tmp_path / "f", "blake3").startswith("6437b3ac38465133ffb63b75273a8db5")


def test_other_algorithms_are_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    for algorithm in ("md5", "sha1", "", "crc32"):
        with pytest.raises(UnknownAlgorithmError):
            Digests().of(tmp_path / "f", algorithm)


def test_a_file_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(LARGE)
    digests = Digests()
    assert digests.sha256(tmp_path / "f") == digests.sha256(tmp_path / "f")
    assert digests.hashed == len(LARGE)
    digests.of(tmp_path / "f", "sha512")
    assert digests.hashed == 2 * len(LARGE)


def test_the_next_run_knows_what_did_not_change(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(LARGE)
    (tmp_path / "small").write_bytes(b"x")
    kept = Kept()
    first = Digests(kept, clock=later)
    found = first.sha256(tmp_path / "f")
    first.sha256(tmp_path / "small")
    assert len(kept.values) == 1, "small files are not worth it"
    second = Digests(kept, clock=later)
    assert second.sha256(tmp_path / "f") == found
    assert second.hashed == 0


def test_a_file_that_changed_a_moment_ago_is_not_remembered(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(LARGE)
    kept = Kept()
    Digests(kept).sha256(tmp_path / "f")
    assert not kept.values


def test_a_change_is_seen_even_when_size_and_time_are_set_back(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(LARGE)
    kept = Kept()
    digests = Digests(kept, clock=later)
    before = digests.sha256(path)
    info = path.stat()
    time.sleep(0.05)
    with path.open("r+b") as file:
        file.write(b"evil")
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert path.stat().st_mtime_ns == info.st_mtime_ns
    for again in (digests, Digests(kept, clock=later)):
        assert again.sha256(path) != before


def test_a_file_in_the_place_of_another_is_another(tmp_path: Path) -> None:
    kept = Kept()
    digests = Digests(kept, clock=later)
    (tmp_path / "f").write_bytes(LARGE)
    (tmp_path / "g").write_bytes(b"\1" + LARGE[1:])
    before = digests.sha256(tmp_path / "f")
    (tmp_path / "g").replace(tmp_path / "f")
    assert digests.sha256(tmp_path / "f") != before


def test_a_file_that_grows_while_it_is_read_has_no_digest(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(LARGE)

    def grow(_: str) -> None:
        with path.open("ab") as file:
            file.write(b"x")

    digests = Digests(say=grow)
    digests_module = __import__("audit.collect.artifacts.digests", fromlist=["x"])
    patch = pytest.MonkeyPatch()
    patch.setattr(digests_module, "_SAY_EVERY", 0.0)
    try:
        with pytest.raises(OSError, match="changed"):
            digests.sha256(path)
    finally:
        patch.undo()


def test_no_file_has_no_digest(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such"):
        Digests().sha256(tmp_path / "none")
    with pytest.raises(OSError, match="directory"):
        Digests().sha256(tmp_path)
