"""Headers of safetensors and GGUF: sound ones are valid, and every lie in them is found."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.collect.artifacts.model.gguf import gguf_facts
from audit.collect.artifacts.model.recognition import format_of
from audit.collect.artifacts.model.safetensors import safetensors_facts
from audit.collect.artifacts.model.settings import ModelSettings
from tests.unit.model.model_files import Gguf, file_spec, gguf, safetensors, safetensors_of, torch_archive


def header(tmp_path: Path, content: bytes, name: str = "model.safetensors") -> dict[str, Any]:
    found: dict[str, Any] = file_spec(tmp_path, content, name)["header"]
    return found


def entry(**changes: Any) -> bytes:
    return json.dumps({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}}).encode()


def test_a_sound_file(tmp_path: Path) -> None:
    found = header(tmp_path, safetensors(metadata={"format": "pt"}))
    assert (found["status"], found["tensors"], found["parameters"]) == ("valid", 2, 10)
    assert found["types"] == [{"name": "BF16", "count": 1}, {"name": "F32", "count": 1}]
    assert found["metadata"] == {"format": "pt"}
    assert header(tmp_path, safetensors({"none": ("F32", [0], 0)}))["status"] == "valid"
    assert header(tmp_path, safetensors_of(b"{}      "))["status"] == "valid"


LIES: dict[str, tuple[bytes, str]] = {
    "shorter than its length": (b"\x01\x02", "truncated"),
    "a header longer than the file": (struct.pack("<Q", 1000) + b'{"a":1}', "truncated"),
    "a length of all ones": (b"\xff" * 8 + b'{"a":1}', "header_too_large"),
    "an empty header": (safetensors_of(b""), "not_json"),
    "no JSON": (safetensors_of(b'{"a": '), "not_json"),
    "a list": (safetensors_of(b"[1, 2]"), "not_json"),
    "blanks in front": (safetensors_of(b' {"a":{}}'), "not_json"),
    "a name twice": (
        safetensors_of(b'{"a":' + entry()[6:-1] + b',"a":' + entry()[6:-1] + b"}", bytes(8)),
        "duplicate_keys",
    ),
    "a key twice in a tensor": (
        safetensors_of(b'{"a":{"dtype":"F32","dtype":"U8","shape":[2],"data_offsets":[0,8]}}', bytes(8)),
        "duplicate_keys",
    ),
    "nested to the bottom": (safetensors_of(b'{"a":' * 90_000 + b"1" + b"}" * 90_000), "too_deep"),
    "a type that is none": (safetensors_of(entry(dtype="F33"), bytes(8)), "unknown_dtype"),
    "a type that is no text": (safetensors_of(entry(dtype=[]), bytes(8)), "unknown_dtype"),
    "a shape below zero": (safetensors_of(entry(shape=[-2]), bytes(8)), "bad_entry"),
    "a shape that is true": (safetensors_of(entry(shape=[True]), bytes(8)), "bad_entry"),
    "a shape that overflows": (safetensors_of(entry(shape=[1 << 40, 1 << 40]), bytes(8)), "bad_entry"),
    "offsets of floats": (safetensors_of(entry(data_offsets=[0, 8.0]), bytes(8)), "bad_entry"),
    "an entry more": (safetensors_of(entry(code="x"), bytes(8)), "bad_entry"),
    "bytes that are not its shape": (safetensors_of(entry(shape=[3]), bytes(8)), "wrong_size"),
    "end before begin": (safetensors_of(entry(data_offsets=[8, 0]), bytes(8)), "wrong_size"),
    "behind the end": (safetensors_of(entry()), "out_of_range"),
    "bytes behind the tensors": (safetensors_of(entry(), bytes(9)), "trailing_bytes"),
    "a hole": (safetensors_of(entry(data_offsets=[8, 16]), bytes(16)), "hole"),
    "two that overlap": (
        safetensors_of(entry()[:-1] + b"," + entry().replace(b'"a"', b'"b"')[1:], bytes(8)),
        "overlap",
    ),
    "metadata that is no text": (safetensors_of(b'{"__metadata__":{"a":1}}'), "bad_metadata"),
}


@pytest.mark.parametrize("case", LIES)
def test_every_lie_of_safetensors_is_found(tmp_path: Path, case: str) -> None:
    content, code = LIES[case]
    found = header(tmp_path, content)
    assert found["status"] in ("invalid", "unknown")
    assert code in {one["code"] for one in found["problems"]}
    assert found["reason"]


def test_the_format_is_that_of_the_content(tmp_path: Path) -> None:
    spec = file_spec(tmp_path, torch_archive(), "model.safetensors")
    assert (spec["format"], spec["ending"]["status"]) == ("pickle", "differs")
    spec = file_spec(tmp_path, safetensors(), "pytorch_model.bin")
    assert (spec["format"], spec["ending"]["status"]) == ("safetensors", "open")
    spec = file_spec(tmp_path, gguf().built(), "model.bin")
    assert spec["format"] == "gguf"
    spec = file_spec(tmp_path, b"\x89HDF\r\n\x1a\n....", "weights.safetensors")
    assert (spec["format"], spec["examined"], spec["ending"]["status"]) == ("hdf5", False, "differs")
    spec = file_spec(tmp_path, b"whatever", "pytorch_model-00001-of-00002.bin")
    assert (spec["format"], spec["examined"]) == ("unknown", False)


@pytest.mark.parametrize(
    "name", ["m.keras", "m.h5", "m.onnx", "m.tflite", "m.mlmodel", "m.engine", "m.msgpack", "m.nemo", "m.mar"]
)
def test_formats_known_by_name_are_not_examined(tmp_path: Path, name: str) -> None:
    spec = file_spec(tmp_path, b"anything at all", name)
    assert (spec["examined"], spec["pickle"], spec["header"]) == (False, None, None)


def test_other_files_are_no_models() -> None:
    assert format_of("firmware.bin", b"\x7fELF") is None
    assert format_of("deployment.yaml", b"kind: Deployment\n") is None
    assert format_of("notes.txt", b"see the class\nand the name\n") is None
    assert format_of("data.json", b'{"a": 1}') is None
    assert format_of("harmless.json", b"\x80\x04]") == "pickle", "content decides, whatever the name"


# ---- GGUF


@pytest.mark.parametrize("order", "<>")
def test_a_sound_gguf(tmp_path: Path, order: str) -> None:
    found = header(tmp_path, gguf(order).built(), "m.gguf")
    assert (found["status"], found["version"], found["tensors"], found["parameters"]) == ("valid", 3, 2, 68)
    assert found["metadata"] == {"general.architecture": "llama", "general.license": "apache-2.0"}
    assert found["chat_template"] is False


def changed(change: Callable[[Gguf], object], **counts: int) -> bytes:
    file = gguf()
    change(file)
    return file.built(**counts)


def gguf_info(offset: int) -> bytes:
    file = Gguf()
    file.tensor("norm.weight", [4], 0, offset)
    return file.infos[0]


GGUF_LIES: dict[str, tuple[bytes, str]] = {
    "nothing but the magic": (b"GGUF", "truncated"),
    "a version of the future": (changed(lambda f: setattr(f, "version", 9)), "unknown_version"),
    "the first version": (changed(lambda f: setattr(f, "version", 1)), "unknown_version"),
    "more tensors than any": (changed(lambda f: None, tensors=1 << 60), "too_many"),
    "more keys than any": (changed(lambda f: None, keys=1 << 60), "too_many"),
    "more keys than there are": (changed(lambda f: None, keys=900_000), "truncated"),
    "a key longer than the file": (changed(lambda f: f.keys.insert(0, b"\xff" * 8)), "truncated"),
    "a text longer than the file": (changed(lambda f: f.key("x", 8, b"\xff" * 7 + b"\x7f")), "truncated"),
    "a list longer than the file": (changed(lambda f: f.key("x", 9, f.pack("IQ", 12, 1 << 60))), "truncated"),
    "a list of more texts than any": (changed(lambda f: f.key("x", 9, f.pack("IQ", 8, 1 << 60))), "too_many"),
    "lists in lists in lists": (changed(lambda f: f.key("x", 9, f.pack("IQ", 9, 1) * 60)), "too_deep"),
    "a type of value that is none": (changed(lambda f: f.key("x", 99, b"")), "bad_value_type"),
    "a list of a type that is none": (
        changed(lambda f: f.key("x", 9, f.pack("IQ", 99, 1))),
        "bad_value_type",
    ),
    "a key twice": (changed(lambda f: f.key("general.architecture", 4, f.pack("I", 1))), "duplicate_keys"),
    "an alignment of zero": (
        changed(lambda f: f.key("general.alignment", 4, f.pack("I", 0))),
        "bad_alignment",
    ),
    "an alignment of 33": (
        changed(lambda f: f.key("general.alignment", 4, f.pack("I", 33))),
        "bad_alignment",
    ),
    "a name twice": (changed(lambda f: f.tensor("norm.weight", [4], 0, 64)), "duplicate_names"),
    "a long name": (changed(lambda f: f.tensor("n" * 65, [4], 0, 64)), "long_name"),
    "five dimensions": (changed(lambda f: f.tensor("x", [1] * 5, 0, 64)), "bad_shape"),
    "four billion dimensions": (
        changed(lambda f: f.infos.append(f.text("x") + f.pack("I", 0xFFFFFFFF))),
        "bad_shape",
    ),
    "a shape that overflows": (changed(lambda f: f.tensor("x", [1 << 40, 1 << 40], 0, 64)), "bad_shape"),
    "half a block": (changed(lambda f: f.tensor("x", [33], 2, 64)), "bad_shape"),
    "a type of tensor that is not known": (changed(lambda f: f.tensor("x", [4], 4, 64)), "unknown_type"),
    "not aligned": (changed(lambda f: f.infos.__setitem__(1, gguf_info(65))), "not_aligned"),
    "two that overlap": (changed(lambda f: f.infos.__setitem__(1, gguf_info(32))), "overlap"),
    "behind the end": (changed(lambda f: setattr(f, "data", b"")), "out_of_range"),
    "a name that is no UTF-8": (
        changed(lambda f: f.keys.append(f.text(b"\xff") + f.pack("IB", 7, 1))),
        "not_utf8",
    ),
}


@pytest.mark.parametrize("case", GGUF_LIES)
def test_every_lie_of_gguf_is_found(tmp_path: Path, case: str) -> None:
    content, code = GGUF_LIES[case]
    found = header(tmp_path, content, "m.gguf")
    assert found["status"] in ("invalid", "unknown")
    assert code in {one["code"] for one in found["problems"]}, found["problems"]


def test_a_cut_file_is_never_valid(tmp_path: Path) -> None:
    whole = gguf().built()
    for cut in range(4, len(whole), 7):
        assert header(tmp_path, whole[:cut], "m.gguf")["status"] != "valid", cut
    whole = safetensors()
    for cut in range(1, len(whole), 3):
        assert header(tmp_path, whole[:cut])["status"] != "valid", cut


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_no_byte_makes_a_reader_fail(tmp_path: Path, data: st.DataObject) -> None:
    whole, read = data.draw(
        st.sampled_from(
            [
                (safetensors(), lambda path: safetensors_facts(path, max_header=1 << 20)),
                (gguf().built(), lambda path: gguf_facts(path, max_entries=1000)),
            ]
        )
    )
    at = data.draw(st.integers(0, len(whole) - 1))
    spoilt = whole[:at] + data.draw(st.binary(max_size=9)) + whole[at + data.draw(st.integers(0, 9)) :]
    path = tmp_path / "m"
    path.write_bytes(spoilt)
    assert read(path)["status"] in ("valid", "invalid", "unknown")


def test_a_large_header_is_said_and_not_judged(tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(safetensors_of(b'{"a":1}' + b" " * 3000))
    found = file_spec(tmp_path, path.read_bytes(), "m.safetensors", ModelSettings(header_max_bytes=1000))[
        "header"
    ]
    assert (found["status"], found["problems"][0]["code"]) == ("unknown", "header_too_large")
