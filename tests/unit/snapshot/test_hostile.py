"""Snapshots that were cut, changed, or made to harm: each is a gap with its name, and never a pass."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from audit.collect.snapshot.form import MANIFEST, MARK, SIGNATURE, SnapshotError, encode_manifest
from audit.collect.snapshot.lines import LineLimits
from audit.collect.snapshot.opening import open_snapshot
from audit.collect.snapshot.signing import Signer, TrustedKey
from audit.collect.snapshot.storage import is_snapshot
from audit.errors import UsageError
from audit.model.gap import GapKind
from audit.native.reader import Reader
from tests.unit.snapshot.making import (
    CONFIG_MAP,
    DEPLOYMENT,
    forged,
    gaps,
    manifest_of,
    objects,
    read_back,
    thing,
    told,
    written,
)


@pytest.fixture
def path(reader: Reader, tmp_path: Path) -> Path:
    pages = [(CONFIG_MAP, n, [thing(CONFIG_MAP, f"a{n}"), thing(CONFIG_MAP, f"b{n}")]) for n in (1, 2)]
    return written(
        tmp_path, told(reader, [*pages, (DEPLOYMENT, 1, [thing(DEPLOYMENT, "d")])]), [CONFIG_MAP, DEPLOYMENT]
    )


def file_of(path: Path, entry: int = 0) -> Path:
    return path / [one.file for one in manifest_of(path).listed if one.file][entry]


def test_a_cut_file_costs_its_kind_and_no_other(path: Path, reader: Reader) -> None:
    file = file_of(path)
    file.write_bytes(file.read_bytes()[:-5])
    back = read_back(path, reader)
    [gap] = gaps(back)
    assert (gap.kind, gap.kinds) == (GapKind.UNREADABLE, ("ConfigMap",))
    assert "truncated" in gap.reason
    assert [item.ref.kind for item in objects(back)] == ["Deployment"]


@pytest.mark.parametrize(
    ("harm", "kind", "word"),
    [
        (lambda f: f.write_bytes(f.read_bytes()[:-1] + b"x"), GapKind.UNTRUSTED, "changed"),
        (lambda f: f.write_bytes(f.read_bytes() + b"x"), GapKind.UNTRUSTED, "longer"),
        (lambda f: f.unlink(), GapKind.UNREADABLE, "missing"),
        (
            lambda f: (f.rename(f.with_name("x")), f.symlink_to(f.with_name("x"))),
            GapKind.UNREADABLE,
            "can't be read",
        ),
        (lambda f: (f.unlink(), f.mkdir()), GapKind.UNREADABLE, "can't be read"),
        (lambda f: (f.unlink(), os.mkfifo(f)), GapKind.UNREADABLE, "can't be read"),
    ],
    ids=["changed", "longer", "missing", "link", "folder", "pipe"],
)
def test_a_file_that_is_another(
    path: Path, reader: Reader, harm: Callable[[Path], Any], kind: GapKind, word: str
) -> None:
    harm(file_of(path))
    back = read_back(path, reader)
    [gap] = gaps(back)
    assert (gap.kind, gap.kinds) == (kind, ("ConfigMap",))
    assert word in gap.reason
    assert [item.ref.kind for item in objects(back)] == ["Deployment"]


def line(name: str, *, page: int = 1, document: int = 9, **more: Any) -> bytes:
    return json.dumps(
        {"page": page, "document": document, "object": {**thing(CONFIG_MAP, name), **more}}
    ).encode()


@pytest.mark.parametrize(
    ("change", "told_of", "left"),
    [
        (lambda lines: [*lines[:2], lines[1], *lines[2:]], "a second time", 4),
        (lambda lines: [*lines, line("x", page=1)], "wrong place", 4),
        (lambda lines: [*lines, b"{"], "no line of a snapshot", 4),
        (lambda lines: [*lines, b"\xff\xfe"], "no line of a snapshot", 4),
        (lambda lines: [*lines, line("x", page=3, kind="Pod")], "no ConfigMap of v1", 4),
        (
            lambda lines: [*lines, line("x", page=3, apiVersion="artifacts.fleetaudit.dev/v1")],
            "no ConfigMap of v1",
            4,
        ),
        (
            lambda lines: [*lines, line("x", page=3, kind="List", items=[thing(DEPLOYMENT, "y")])],
            "no ConfigMap",
            4,
        ),
        (lambda lines: [*lines, b'{"page":3,"document":1,"object":"' + b"[" * 10 + b'"}'], "no line", 4),
    ],
    ids=["twice", "order", "cut", "bytes", "kind", "evidence", "list", "text"],
)
def test_lines_that_no_collector_writes(
    path: Path, reader: Reader, change: Callable[[list[bytes]], list[bytes]], told_of: str, left: int
) -> None:
    forged(path, change)
    back = read_back(path, reader)
    [gap] = gaps(back)
    assert (gap.kind, gap.kinds) == (GapKind.UNTRUSTED, ("ConfigMap",))
    assert told_of in gap.reason
    assert sum(item.ref.kind == "ConfigMap" for item in objects(back)) == left


def test_a_list_cannot_pass_for_an_object_by_way_of_the_reader(path: Path, reader: Reader) -> None:
    items = [thing(DEPLOYMENT, "smuggled")]
    forged(path, lambda lines: [*lines, line("x", page=3, items=items)])
    assert "smuggled" not in {item.ref.name for item in objects(read_back(path, reader))}


def test_many_wrong_lines_end_the_file(path: Path, reader: Reader) -> None:
    forged(path, lambda lines: [*lines, *[b"{"] * 1000])
    found = gaps(read_back(path, reader))
    assert len(found) == 21
    assert "more than 20 lines are wrong" in found[-1].reason


def test_fewer_lines_than_said(path: Path, reader: Reader) -> None:
    forged(path, lambda lines: lines[:1], objects=4)
    [gap] = gaps(read_back(path, reader))
    assert "has 1 lines, and its manifest says 4" in gap.reason


@pytest.mark.parametrize(
    ("claims", "limits", "word"),
    [
        ({"content_bytes": 100}, {}, "more than its manifest says"),
        ({}, {"max_content_bytes": 1 << 20}, "max_kind_bytes"),
        ({}, {"max_line_bytes": 1 << 20}, "a line of more than"),
    ],
    ids=["claims", "content", "line"],
)
def test_a_bomb_is_not_unpacked(
    path: Path, reader: Reader, claims: dict[str, Any], limits: dict[str, int], word: str
) -> None:
    forged(path, lambda lines: [*lines, b" " * (200 << 20)], **claims)
    assert file_of(path).stat().st_size < 1 << 20
    allowed = LineLimits(**({"max_content_bytes": 1 << 30, "max_line_bytes": 64 << 20} | limits))
    found = gaps(read_back(path, reader, limits=allowed))
    assert found[-1].kind is GapKind.TOO_LARGE
    assert word in found[-1].reason


def test_trailing_bytes_behind_the_stream(path: Path, reader: Reader) -> None:
    file = file_of(path)
    packed = file.read_bytes() + gzip.compress(b"more\n")
    import hashlib

    manifest = manifest_of(path)
    first, *others = manifest.listed
    changed = msgspec.structs.replace(first, bytes=len(packed), sha256=hashlib.sha256(packed).hexdigest())
    file.write_bytes(packed)
    (path / MANIFEST).write_bytes(
        encode_manifest(msgspec.structs.replace(manifest, listed=(changed, *others)))
    )
    [gap] = gaps(read_back(path, reader))
    assert "doesn't end as its manifest says" in gap.reason


@pytest.mark.parametrize(
    "name", ["../outside.jsonl.gz", "/etc/passwd", "a/b.jsonl.gz", ".hidden.jsonl.gz", "x\n.jsonl.gz"]
)
def test_a_manifest_that_climbs_out_is_not_believed(path: Path, name: str) -> None:
    manifest = manifest_of(path)
    first, *others = manifest.listed
    changed = msgspec.structs.replace(manifest, listed=(msgspec.structs.replace(first, file=name), *others))
    (path / MANIFEST).write_bytes(encode_manifest(changed))
    with pytest.raises(SnapshotError) as caught:
        open_snapshot(str(path), ())
    assert caught.value.kind is GapKind.UNTRUSTED


def twice(data: bytes) -> bytes:
    content = json.loads(data)
    content["listed"].append(content["listed"][0])
    return MARK + json.dumps(content)[len(MARK) :].encode()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda data: data[: len(data) // 2], "truncated"),
        (lambda data: data.replace(b'"fleetaudit_snapshot":1', b'"fleetaudit_snapshot":2'), "format 2"),
        (lambda data: data.replace(b'"2026-11-30T12:00:00Z"', b'"yesterday"', 1), "no manifest"),
        (lambda data: data.replace(b'"objects":4', b'"objects":-1'), "no manifest"),
        (lambda data: MARK + b"[" * 100_000, "truncated"),
        (lambda data: data.replace(b'"test"', b'"\xff"', 1), "no manifest"),
        (twice, "twice"),
    ],
    ids=["cut", "version", "time", "count", "deep", "bytes", "twice"],
)
def test_a_manifest_that_is_none(path: Path, change: Callable[[bytes], bytes], word: str) -> None:
    file = path / MANIFEST
    file.write_bytes(change(file.read_bytes()))
    assert is_snapshot(path)
    with pytest.raises(SnapshotError) as caught:
        open_snapshot(str(path), ())
    assert caught.value.kind is GapKind.UNREADABLE
    assert word in caught.value.reason


@pytest.mark.parametrize("name", ["ecdsa", "p384", "rsa", "ed25519"])
def test_signatures_of_every_kind_of_key(
    reader: Reader, tmp_path: Path, pairs: dict[str, tuple[Path, Path]], name: str
) -> None:
    private, public = pairs[name]
    path = written(tmp_path, told(reader, []), [CONFIG_MAP], signer=Signer(private))
    keys = [TrustedKey(name="other", path=pairs["other"][1]), TrustedKey(name=name, path=public)]
    assert open_snapshot(str(path), keys).signed_by == name
    [notice] = open_snapshot(str(path), ()).notices
    assert "no key is configured" in notice.message
    for file, change in ((MANIFEST, b" "), (SIGNATURE, b"AAAA")):
        whole = (path / file).read_bytes()
        (path / file).write_bytes(whole + change)
        with pytest.raises(SnapshotError) as caught:
            open_snapshot(str(path), keys)
        assert caught.value.kind is GapKind.UNTRUSTED
        (path / file).write_bytes(whole)
    with pytest.raises(SnapshotError, match="not in snapshots.keys"):
        open_snapshot(str(path), keys[:1])
    (path / SIGNATURE).unlink()
    with pytest.raises(SnapshotError, match="not signed"):
        open_snapshot(str(path), keys)
    (path / SIGNATURE).write_bytes(b"AAAA")
    with pytest.raises(SnapshotError, match="can't be read"):
        open_snapshot(str(path), [TrustedKey(name="gone", path=tmp_path / "gone.pub")])


def test_keys_that_cannot_sign(tmp_path: Path, pairs: dict[str, tuple[Path, Path]]) -> None:
    for name, data in (("text", b"hello"), ("public", pairs["rsa"][1].read_bytes())):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(UsageError, match="no PEM file"):
            Signer(tmp_path / name)
    with pytest.raises(UsageError, match="No such file"):
        Signer(tmp_path / "gone")
