"""What loading a pickle would import is named without loading it, and what can't be read to its end is never harmless."""

from __future__ import annotations

import collections
import datetime as dt
import io
import os
import pickle
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.collect.artifacts.model.pickle_allowed import ALLOWED
from audit.collect.artifacts.model.pickle_machine import Found, read_pickle
from audit.collect.artifacts.model.pickle_source import MalformedError, OverLimitError, Source
from audit.collect.artifacts.model.settings import ModelSettings
from tests.unit.model.model_files import STATE, Calls, file_spec, old_torch, torch_archive

SYSTEM = "posix.system"


def pickled(tmp_path: Path, content: bytes, name: str = "model.pt", **limits: Any) -> dict[str, Any]:
    spec = file_spec(tmp_path, content, name, ModelSettings(**limits))
    assert spec["format"] == "pickle"
    found: dict[str, Any] = spec["pickle"]
    return found


def names(found: dict[str, Any]) -> set[str]:
    return {one["name"] for one in found["imports"]["listed"]}


def harmless(found: dict[str, Any]) -> bool:
    """What the rule passes."""
    return bool(
        found["status"] == "read"
        and found["pickles"]
        and not any(found[key] for key in ("unresolved", "extensions", "changed_imports"))
        and not any(found[key]["count"] for key in ("imports", "broken", "unexamined", "odd"))
    )


@pytest.mark.parametrize("protocol", range(6))
def test_a_call_is_named_in_every_protocol(tmp_path: Path, protocol: int) -> None:
    found = pickled(tmp_path, pickle.dumps([1, {"a": Calls(os.system, "id")}], protocol=protocol))
    assert (found["status"], names(found)) == ("read", {SYSTEM})
    assert not harmless(found)


@pytest.mark.parametrize("protocol", range(6))
def test_plain_values_and_allowed_names_are_harmless(tmp_path: Path, protocol: int) -> None:
    value = {
        "a": [1, 2.5, "text", b"bytes", None, True, 1 << 100, (), {1, 2}, frozenset({3}), "x" * 1000],
        "b": collections.OrderedDict(c=dt.date(2026, 1, 1)),
    }
    found = pickled(tmp_path, pickle.dumps(value, protocol=protocol))
    assert harmless(found), found
    assert found["allowed"] > 0


def test_torch_files_of_all_ages(tmp_path: Path) -> None:
    found = pickled(tmp_path, torch_archive())
    assert harmless(found)
    assert found["form"] == "torch archive"
    assert found["allowed"] == 3
    found = pickled(tmp_path, old_torch())
    assert harmless(found)
    assert found["form"] == "torch before 1.6"
    evil = pickle.dumps(Calls(os.system, "id"), 2)
    assert names(pickled(tmp_path, torch_archive(evil))) == {SYSTEM}
    assert names(pickled(tmp_path, old_torch(evil))) == {SYSTEM}


def test_a_tar_of_the_first_torch(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in {
            "sys_info": pickle.dumps({}, 2),
            "pickle": pickle.dumps(Calls(os.system, "id"), 2),
        }.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        link = tarfile.TarInfo("out")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    found = pickled(tmp_path, buffer.getvalue())
    assert (found["form"], names(found)) == ("tar", {SYSTEM})
    assert found["odd"]["listed"][0]["name"] == "out"


HOSTILE = {
    "the state of an imported class is set": b"\x80\x02ccollections\nOrderedDict\n}b.",
    "an entry of an imported class is set": b"\x80\x02ccollections\nOrderedDict\nK\x01K\x02s.",
    "an extension code": b"\x80\x02\x82\x01.",
    "a name worked out at run time": b"\x80\x04\x8c\x02os(\x8c\x01stR\x93.",
    "a name in a list": b"\x80\x04\x8c\x02os]\x93.",
    "a name in an escape": b"\x80\x04V\\u006fs\n\x8c\x06system\x93.",
    "the result of a call is called": b"\x80\x02ccollections\nOrderedDict\n)R)R.",
    "a name through the memo": b"\x80\x04\x8c\x02os\x94\x8c\x06system\x9400h\x00h\x01\x93.",
    "a name behind a decoy": b"\x80\x04\x8c\x02os\x8c\x06system\x8c\x0bcollections\x8c\x0bOrderedDict00\x93.",
    "a name with dots": b"\x80\x04\x8c\x0bcollections\x8c\x11OrderedDict.clear\x93.",
    "the old opcode of an instance": b"(S'id'\nios\nsystem\n.",
    "an object whose class is behind a mark": b"(cos\nsystem\nS'id'\no.",
    "keyword arguments": b"\x80\x04cos\nsystem\n)}\x92.",
    "a name that is no UTF-8": b"\x80\x02c\xff\xfe\nx\n.",
    "a name overwritten in the memo": (
        b"\x80\x04\x8c\x0bcollections\x94\x8c\x02osq\x000h\x00\x8c\x06system\x93."
    ),
    "an end that is missing": b"\x80\x02]",
    "an opcode that does not exist": b"\x80\x02\xff.",
    "an empty stack": b"\x80\x020.",
    "a mark that is missing": b"\x80\x02t.",
    "a memo that is empty": b"\x80\x02h\x05.",
    "a text longer than the file": b"\x80\x04X\xff\xff\xff\x7fabc.",
    "a length below zero": b"\x80\x02T\xff\xff\xff\xff.",
    "a second pickle": pickle.dumps({}) + pickle.dumps(Calls(os.system, "id")),
    "bytes behind the end": pickle.dumps({}) + b"PK\x03\x04 and more",
    "nothing but text": b"hello, this is no pickle",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_pickles_are_never_harmless(tmp_path: Path, case: str) -> None:
    found = pickled(tmp_path, HOSTILE[case])
    assert not harmless(found), found


def test_hostile_names_are_resolved(tmp_path: Path) -> None:
    for case in (
        "a name through the memo",
        "a name behind a decoy",
        "the old opcode of an instance",
        "keyword arguments",
    ):
        assert names(pickled(tmp_path, HOSTILE[case])) == {"os.system"}, case
    assert names(pickled(tmp_path, HOSTILE["a name overwritten in the memo"])) == {"os.system"}
    assert names(pickled(tmp_path, HOSTILE["a name with dots"])) == {"collections.OrderedDict.clear"}


def test_no_allowed_name_runs_what_it_is_given() -> None:
    forbidden = {
        "eval",
        "exec",
        "getattr",
        "setattr",
        "__import__",
        "compile",
        "open",
        "apply",
        "input",
        "map",
        "partial",
    }
    assert not {name for name in ALLOWED if name.rpartition(".")[2] in forbidden}
    assert not {
        name
        for name in ALLOWED
        if name.split(".")[0] in ("os", "posix", "subprocess", "sys", "functools", "copyreg")
    }


def archive(entries: list[tuple[str, bytes]], **options: Any) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", **options) as made:
        for name, data in entries:
            made.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_odd_archives_are_never_harmless(tmp_path: Path) -> None:
    evil = pickle.dumps(Calls(os.system, "id"))
    doubled = pickled(tmp_path, archive([("m/data.pkl", STATE), ("m/data.pkl", evil)]))
    assert names(doubled) == {SYSTEM}
    assert "two members" in doubled["odd"]["listed"][0]["reason"]
    climbing = pickled(tmp_path, torch_archive(extra={"../../x.pkl": STATE}))
    assert "leads out" in climbing["odd"]["listed"][0]["reason"]
    hidden = pickled(tmp_path, torch_archive(extra={"model/notes": evil}))
    assert names(hidden) == {SYSTEM}, "a pickle whose name says nothing"
    nested = pickled(tmp_path, torch_archive(extra={"model/inner.zip": torch_archive(evil)}))
    assert nested["unexamined"]["listed"][0]["reason"] == "an archive in the archive"
    script = pickled(tmp_path, torch_archive(extra={"model/code/run.py": b"def f(): pass"}))
    assert script["unexamined"]["listed"][0]["reason"] == "a TorchScript program"
    for found in (doubled, climbing, hidden, nested, script):
        assert not harmless(found)
    whole = torch_archive()
    for cut in (10, 60, len(whole) // 2, len(whole) - 1):
        assert not harmless(pickled(tmp_path, whole[:cut])), cut
    assert not harmless(pickled(tmp_path, archive([("readme.txt", b"x")]))), "nothing was found to look at"


def test_an_encrypted_member_and_a_wrong_checksum(tmp_path: Path) -> None:
    data = bytearray(torch_archive())
    data[6] |= 1
    central = data.rindex(b"PK\x01\x02", 0, data.rindex(b"model/byteorder"))
    central = data.index(b"PK\x01\x02")
    data[central + 8] |= 1
    found = pickled(tmp_path, bytes(data))
    assert "it is encrypted" in {one["reason"] for one in found["broken"]["listed"]}
    spoilt = bytearray(torch_archive())
    spoilt[spoilt.index(b"OrderedDict")] ^= 1
    assert pickled(tmp_path, bytes(spoilt))["status"] == "malformed"


def test_arrays_of_objects_are_pickles(tmp_path: Path) -> None:
    def npy(descr: str, data: bytes) -> bytes:
        header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': (1,), }}".encode().ljust(117) + b"\n"
        return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data

    evil = pickle.dumps(Calls(os.system, "id"))
    assert names(pickled(tmp_path, npy("'|O'", evil), "a.npy")) == {SYSTEM}
    assert names(pickled(tmp_path, npy("[('a', '<f4'), ('b', '|O')]", evil), "a.npy")) == {SYSTEM}
    for descr in ("'<f4'", "[('Object', '<f4')]", "[('a', ('<f4', (2,)))]"):
        plain = file_spec(tmp_path, npy(descr, bytes(8)), "a.npy")
        assert (plain["format"], plain["pickle"]["pickles"]) == ("numpy", 0)
    for descr in ("5", "[5]", "[('a',)]", "[('a', [('b', '|O')])]"):
        assert pickled(tmp_path, npy(descr, b""), "a.npy")["status"] == "malformed"
    assert pickled(tmp_path, npy("__import__('os')", b""), "a.npy")["status"] == "malformed"
    odd = archive([("a.npy", npy("'<f4'", bytes(4))), ("../b.npy", npy("'<f4'", bytes(4)))])
    assert not harmless(pickled(tmp_path, odd, "a.npz"))
    packed = pickled(tmp_path, archive([("a.npy", npy("'|O'", evil))]), "a.npz")
    assert (packed["form"], names(packed)) == ("npz", {SYSTEM})


def test_a_flood_ends_in_bounded_time_and_memory(tmp_path: Path) -> None:
    flood = b"\x80\x04]" + b"K\x01a" * 6_000_000 + b"cos\nsystem\n."
    began = time.monotonic()
    found = pickled(tmp_path, flood, pickle_memory_bytes=256 << 20)
    assert found["opcodes"] > 12_000_000
    assert names(found) == {"os.system"}, "the last of twelve million opcodes"
    assert time.monotonic() - began < 120


@pytest.mark.parametrize(
    "flood",
    [
        b"\x80\x04" + b"]" * 6_000_000 + b".",
        b"(" * 6_000_000,
        b"\x80\x04]"
        + b"".join(b"r" + (number * 2 + 5).to_bytes(4, "little") for number in range(1_200_000))
        + b".",
        b"\x80\x04" + b"\x8c\x02ab\x940" * 1_100_000 + b".",
        b"I" + b"1" * 3_000_000,
    ],
    ids=["stack", "marks", "sparse memo", "texts in the memo", "line"],
)
def test_what_grows_without_bound_is_over_the_limit(tmp_path: Path, flood: bytes) -> None:
    found = pickled(tmp_path, b"cos\nsystem\n0" + flood if flood.startswith(b"(") else flood, "a.pkl")
    assert found["status"] == "over_limit"
    assert not harmless(found)


def test_a_bomb_is_ended_and_what_it_said_so_far_is_known(tmp_path: Path) -> None:
    bomb = torch_archive(
        b"\x80\x04cos\nsystem\n0]" + b"K\x01a" * 20_000_000 + b".", compression=zipfile.ZIP_DEFLATED
    )
    assert len(bomb) < 1 << 20
    began = time.monotonic()
    found = pickled(tmp_path, bomb, pickle_seconds=2.0)
    assert (found["status"], names(found)) == ("over_limit", {"os.system"})
    assert time.monotonic() - began < 30
    many = b"\x80\x04" + b"".join(b"\x8c\x04%04x\x940" % (n % 65536) for n in range(900_000)) + b"N."
    assert pickled(tmp_path, many)["status"] == "read"
    assert pickled(tmp_path, many, pickle_memory_bytes=60 << 20)["status"] == "over_limit"


def test_the_folder_that_is_audited_is_not_imported_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("json.py", "zipfile.py", "audit.py"):
        (tmp_path / name).write_text("import pathlib; pathlib.Path('ran').touch(); raise SystemExit(0)")
    monkeypatch.chdir(tmp_path)
    assert harmless(pickled(tmp_path, torch_archive()))
    assert not (tmp_path / "ran").exists()


# ---- the law: what the real machine imports is named, or the pickle is called bad


class Recording(pickle.Unpickler):
    """The real machine, told harmless things when it imports."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.found: list[tuple[str, str]] = []

    def find_class(self, module: str, name: str) -> Any:
        self.found.append((module, name))
        return Harmless

    def persistent_load(self, pid: Any) -> Any:
        return pid


class Harmless:
    def __init__(self, *arguments: Any, **named: Any) -> None:
        """Takes anything."""


_NAMES = (
    b"\x8c\x02os",
    b"\x8c\x06system",
    b"\x8c\x01a",
    b"X\x02\x00\x00\x00os",
    b"U\x06system",
    b"Vos\n",
    b"S'os'\n",
)
_OPCODES = st.sampled_from(
    [
        *_NAMES,
        *_NAMES,
        *(b"cos\nsystem\n", b"ccollections\nOrderedDict\n", b"(ia\nb\n"),
        *(
            b"\x93",
            b"\x93",
            b"\x93",
            b"\x94",
            b"\x94",
            b"q\x00",
            b"q\x01",
            b"q\x05",
            b"p2\n",
            b"r\x01\x00\x00\x00",
        ),
        *(b"h\x00", b"h\x01", b"h\x02", b"g1\n", b"j\x01\x00\x00\x00"),
        *(
            b"0",
            b"1",
            b"2",
            b"(",
            b"N",
            b"K\x01",
            b"]",
            b"}",
            b")",
            b"\x85",
            b"\x86",
            b"\x87",
            b"t",
            b"l",
            b"d",
        ),
        *(
            b"R",
            b"b",
            b"a",
            b"e",
            b"s",
            b"u",
            b"o",
            b"\x81",
            b"\x92",
            b"Q",
            b"\x8f",
            b"\x90",
            b"\x91",
            b"\x98",
        ),
    ]
)


@settings(max_examples=3000, deadline=None)
@given(st.lists(_OPCODES, max_size=25))
def test_whatever_the_real_machine_imports_is_named(opcodes: list[bytes]) -> None:
    data = b"\x80\x04" + b"".join(opcodes) + b"."
    real = Recording(data)
    try:
        real.load()
        loaded = True
    except Exception:  # noqa: BLE001  # whatever the real machine stumbles over
        loaded = False
    found = Found(frozenset(), lambda name: None)
    try:
        read_pickle(Source(io.BytesIO(data)), found)
        read = True
    except (MalformedError, OverLimitError):
        read = False
    missed = [f"{module}.{name}" for module, name in real.found if f"{module}.{name}" not in found.imports]
    assert not missed or found.unresolved, (opcodes, missed)
    assert read or not loaded, "what can be loaded can be read"
