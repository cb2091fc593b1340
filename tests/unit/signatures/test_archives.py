"""Archives that try to harm: each ends at a bound or with a reason, quickly and in little memory."""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.collect.artifacts.reading import UnreadError
from audit.collect.artifacts.signatures import tar_stream
from audit.collect.artifacts.signatures.image_files import image_files, looks_like_image
from audit.collect.artifacts.signatures.tar_stream import TarError, members
from audit.model.gap import GapKind
from tests.shared_data import CHECKOUT
from tests.signatures.image_builder import LayoutBuilder, write_tar
from tests.signatures.workbench import Workbench


def add(archive: tarfile.TarFile, name: str, data: bytes = b"", **fields: object) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    archive.addfile(info, io.BytesIO(data))


def made(path: Path, fill: Callable[[tarfile.TarFile], None], mode: str = "w") -> Path:
    with tarfile.open(path, mode, format=tarfile.PAX_FORMAT) as archive:  # type: ignore[call-overload]
        fill(archive)
    return path


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=200).filter(
    lambda name: name not in (".", "..") and name.strip() == name
)


@settings(max_examples=40, deadline=None)
@given(
    files=st.dictionaries(NAMES, st.binary(max_size=2000), max_size=6),
    kind=st.sampled_from([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT]),
    packed=st.booleans(),
)
def test_what_the_standard_library_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], kind: int, packed: bool
) -> None:
    path = tmp_path_factory.mktemp("tar") / "a.tar"
    with tarfile.open(path, "w:gz" if packed else "w", format=kind) as archive:
        for name, data in files.items():
            add(archive, name, data)
    assert {member.name: member.read(member.size) for member in members(path)} == files


def test_links_devices_and_folders_are_passed_over(tmp_path: Path) -> None:
    def fill(archive: tarfile.TarFile) -> None:
        add(archive, "blobs", type=tarfile.DIRTYPE)
        add(archive, "index.json", type=tarfile.SYMTYPE, linkname="/etc/passwd")
        add(archive, "manifest.json", type=tarfile.LNKTYPE, linkname="manifest.json")
        add(archive, "oci-layout", type=tarfile.SYMTYPE, linkname="oci-layout")
        add(archive, "null", type=tarfile.CHRTYPE)
        add(archive, "real", b"x")

    assert [member.name for member in members(made(tmp_path / "a.tar", fill))] == ["real"]


@pytest.mark.parametrize(
    "name", ["../index.json", "/index.json", "a/../index.json", "blobs/sha256/../../index.json"]
)
def test_names_that_climb_are_nothing_that_is_kept(tmp_path: Path, name: str) -> None:
    path = write_tar(tmp_path / "a.tar", {name: b"{}"})
    assert image_files(path).named == {}


def test_a_name_that_stands_twice_is_refused(tmp_path: Path) -> None:
    def fill(archive: tarfile.TarFile) -> None:
        add(archive, "index.json", b"{}")
        add(archive, "index.json", b'{"manifests": []}')

    with pytest.raises(UnreadError, match="twice"):
        image_files(made(tmp_path / "a.tar", fill))


def test_a_packed_bomb_stops_at_its_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tar_stream, "FREE_UNPACKED", 4 << 20)
    path = tmp_path / "bomb.tgz"
    header = tarfile.TarInfo("blobs/sha256/" + "0" * 64)
    header.size = 1 << 30
    with gzip.open(path, "wb") as stream:
        stream.write(header.tobuf())
        for _ in range(64):
            stream.write(b"\0" * (1 << 20))
    assert path.stat().st_size * tar_stream.MAX_RATIO < 64 << 20
    with pytest.raises(UnreadError) as caught:
        image_files(path)
    assert caught.value.kind is GapKind.TOO_LARGE


@pytest.mark.parametrize("kind", [b"x", b"g", b"L", b"K"])
def test_a_header_that_says_it_is_huge_is_not_believed(tmp_path: Path, kind: bytes) -> None:
    info = tarfile.TarInfo("x")
    info.size = 4 << 30
    info.type = kind
    path = tmp_path / "a.tar"
    path.write_bytes(info.tobuf(tarfile.GNU_FORMAT) + b"0" * 4096)
    with pytest.raises(TarError, match="extended header is too large"):
        list(members(path))


@pytest.mark.parametrize(
    "record", [b"9999999 path=x\n", b"-5 path=x\n", b"path=x\n", b"3 path=x\n", b"0 a=b\n", b" \n"]
)
def test_broken_extended_headers_are_refused(tmp_path: Path, record: bytes) -> None:
    info = tarfile.TarInfo("x")
    info.size = len(record)
    info.type = b"x"
    path = tmp_path / "a.tar"
    path.write_bytes(info.tobuf() + record.ljust(512, b"\0"))
    with pytest.raises(TarError):
        list(members(path))


@pytest.mark.parametrize("keep", [100, 512, 700, 1100])
def test_a_truncated_archive_is_broken_and_not_short(tmp_path: Path, keep: int) -> None:
    whole = write_tar(tmp_path / "a.tar", {"index.json": b"x" * 600}).read_bytes()
    path = tmp_path / "b.tar"
    path.write_bytes(whole[:keep])
    with pytest.raises((TarError, UnreadError)):
        image_files(path)


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=3000), packed=st.booleans())
def test_noise_never_does_more_than_fail(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, packed: bool
) -> None:
    path = tmp_path_factory.mktemp("tar") / "a.tar"
    path.write_bytes(b"\x1f\x8b" + data if packed else data)
    looks_like_image(path, data)
    with suppress(UnreadError):
        image_files(path)


@settings(max_examples=150, deadline=None)
@given(at=st.integers(0, 20_000), value=st.integers(0, 255))
def test_one_byte_changed_never_does_more_than_fail(
    tmp_path_factory: pytest.TempPathFactory, at: int, value: int
) -> None:
    layout = LayoutBuilder()
    layout.image()
    path = tmp_path_factory.mktemp("tar") / "a.tar"
    data = bytearray(layout.archive(path).read_bytes())
    data[at % len(data)] = value
    path.write_bytes(data)
    bench = Workbench(path.parent)
    if not looks_like_image(path, bytes(data[:65536])):
        return
    with suppress(UnreadError):
        assert all(one.spec["status"] != "verified" for one in bench.facts("a.tar"))


def test_links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    layout = LayoutBuilder()
    layout.image()
    folder = layout.write(tmp_path / "saved")
    secret = tmp_path / "secret"
    secret.write_text('{"manifests": []}')
    blobs = folder / "blobs" / "sha256"
    (blobs / ("f" * 64)).symlink_to(secret)
    (folder / "manifest.json").symlink_to(secret)
    found = image_files(folder)
    assert "manifest.json" not in found.named
    assert f"sha256:{'f' * 64}" not in found.blobs | dict.fromkeys(found.wrong)
    (folder / "blobs").rename(tmp_path / "elsewhere")
    (folder / "blobs").symlink_to(tmp_path / "elsewhere")
    assert image_files(folder).blobs == {}


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["index.json"], True),
        (["./blobs/sha256/" + "0" * 64], True),
        (["0" * 64 + ".json"], True),
        (["0" * 64 + "/layer.tar"], True),
        (["python-3.12/README"], False),
        (["notes.json"], False),
    ],
)
@pytest.mark.parametrize("packed", [True, False])
def test_only_archives_of_images_are_recognised(
    tmp_path: Path, names: list[str], expected: bool, packed: bool
) -> None:
    path = write_tar(tmp_path / "a.tar", dict.fromkeys(names, b"{}"), packed=packed)
    assert looks_like_image(path, path.read_bytes()[:65536]) is expected


@pytest.mark.parametrize("packed", [True, False])
def test_a_large_layer_costs_no_memory(tmp_path: Path, packed: bool) -> None:
    """200 MB of layer, read in a process that may have 150 MB beside the interpreter."""
    layout = LayoutBuilder()
    layout.image()
    path = tmp_path / "big.tar"
    layer = tarfile.TarInfo("blobs/sha256/" + "1" * 64)
    layer.size = 200 << 20
    plain = layout.archive(tmp_path / "small.tar").read_bytes()
    with gzip.open(path, "wb", compresslevel=1) if packed else path.open("wb") as stream:
        stream.write(layer.tobuf())
        for _ in range(200):
            stream.write(os.urandom(1 << 10) * 1024)
        stream.write(plain)
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from audit.collect.artifacts.signatures.image_files import image_files\n"
        "from tests.peak_memory import peak_kib\n"
        "before = peak_kib()\n"
        "assert 'index.json' in image_files(Path(sys.argv[1])).named\n"
        "print(peak_kib() - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        capture_output=True,
        text=True,
        cwd=CHECKOUT,
        timeout=60,
        check=True,
    )
    assert int(done.stdout) < 30_000
