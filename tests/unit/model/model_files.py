"""Model files by the book, written byte by byte, to be spoilt."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from audit.collect.artifacts.model.reader import readers
from audit.collect.artifacts.model.settings import ModelSettings
from audit.collect.artifacts.reading import ArtifactReader, Facts, look_at

SETTINGS = ModelSettings()


def safetensors(
    tensors: Mapping[str, tuple[str, list[int], int]] | None = None, metadata: Mapping[str, str] | None = None
) -> bytes:
    """A file with tensors given as type, shape and bytes."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    at = 0
    chosen = {"weight": ("F32", [2, 3], 24), "bias": ("BF16", [4], 8)} if tensors is None else tensors
    for name, (kind, shape, size) in chosen.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    return safetensors_of(json.dumps(header).encode(), bytes(at))


def safetensors_of(header: bytes, data: bytes = b"") -> bytes:
    """A file with any header."""
    return struct.pack("<Q", len(header)) + header + data


class Gguf:
    """A GGUF file, piece by piece."""

    def __init__(self, order: str = "<", version: int = 3) -> None:
        self.order = order
        self.version = version
        self.keys: list[bytes] = []
        self.infos: list[bytes] = []
        self.alignment = 32
        self.data = b""

    def pack(self, form: str, *values: Any) -> bytes:
        return struct.pack(self.order + form, *values)

    def text(self, value: str | bytes) -> bytes:
        raw = value.encode() if isinstance(value, str) else value
        return self.pack("Q", len(raw)) + raw

    def key(self, name: str, kind: int, value: bytes) -> None:
        self.keys.append(self.text(name) + self.pack("I", kind) + value)

    def tensor(self, name: str, shape: list[int], kind: int, offset: int) -> None:
        dims = b"".join(self.pack("Q", size) for size in shape)
        self.infos.append(self.text(name) + self.pack("I", len(shape)) + dims + self.pack("IQ", kind, offset))

    def built(self, *, tensors: int | None = None, keys: int | None = None) -> bytes:
        head = b"GGUF" + self.pack("I", self.version)
        head += self.pack(
            "QQ", len(self.infos) if tensors is None else tensors, len(self.keys) if keys is None else keys
        )
        head += b"".join(self.keys) + b"".join(self.infos)
        return head + bytes(-len(head) % self.alignment) + self.data


def gguf(order: str = "<") -> Gguf:
    """A sound one: a name, a licence, a list of words, two tensors."""
    file = Gguf(order)
    file.key("general.architecture", 8, file.text("llama"))
    file.key("general.license", 8, file.text("apache-2.0"))
    file.key("llama.context_length", 4, file.pack("I", 4096))
    file.key("tokenizer.ggml.tokens", 9, file.pack("IQ", 8, 2) + file.text("a") + file.text("b"))
    file.key("tokenizer.ggml.scores", 9, file.pack("IQ", 6, 2) + file.pack("ff", 0, 1))
    file.tensor("token_embd.weight", [32, 2], 2, 0)
    file.tensor("norm.weight", [4], 0, 64)
    file.data = bytes(64 + 16)
    return file


_STORAGE = b"X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x06tQ"
STATE = (
    b"\x80\x02ccollections\nOrderedDict\n)R(X\x06\x00\x00\x00weight"
    b"ctorch._utils\n_rebuild_tensor_v2\n((" + _STORAGE + b"K\x00K\x02K\x03\x86K\x03K\x01\x86\x89"
    b"ccollections\nOrderedDict\n)RtRu."
)
"""What torch writes for ``{"weight": a tensor of two by three}``."""


def torch_archive(
    pickled: bytes = STATE, extra: Mapping[str, bytes] | None = None, *, compression: int = zipfile.ZIP_STORED
) -> bytes:
    """An archive as ``torch.save`` makes it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        archive.writestr("model/data.pkl", pickled)
        archive.writestr("model/byteorder", b"little")
        archive.writestr("model/data/0", bytes(24))
        archive.writestr("model/version", b"3\n")
        for name, data in (extra or {}).items():
            archive.writestr(name, data)
    return buffer.getvalue()


def old_torch(pickled: bytes = STATE) -> bytes:
    """A file of torch before 1.6: five pickles and raw tensors."""
    magic = pickle.dumps(0x1950A86A20F9469CFC6C, protocol=2)
    return b"".join(
        (
            magic,
            pickle.dumps(1001, 2),
            pickle.dumps({"little_endian": True}, 2),
            pickled,
            pickle.dumps(["0"], 2),
            bytes(32),
        )
    )


class Calls:
    """Pickles to a call."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self._call = (function, arguments)

    def __reduce__(self) -> Any:
        return self._call


def reader_of(path: Path, label: str = "", settings: ModelSettings = SETTINGS) -> ArtifactReader | None:
    [reader] = readers(settings)
    artifact = look_at(path, label or path.name, max_bytes=64 << 20)
    return reader if reader.recognises(artifact) else None


def facts_of(path: Path, label: str = "", settings: ModelSettings = SETTINGS) -> list[Facts]:
    """All facts of a file."""
    reader = reader_of(path, label, settings)
    assert reader is not None, f"{path.name} is not recognised"
    found = list(reader.read(look_at(path, label or path.name, max_bytes=64 << 20)))
    assert {facts.kind for facts in found} <= reader.kinds
    json.dumps([facts.document() for facts in found])
    return found


def spec_of(
    path: Path, kind: str = "ModelFile", label: str = "", settings: ModelSettings = SETTINGS
) -> dict[str, Any]:
    """The only facts of a kind."""
    [facts] = [one for one in facts_of(path, label, settings) if one.kind == kind]
    return dict(facts.spec)


def file_spec(
    tmp_path: Path, content: bytes, name: str = "model.pt", settings: ModelSettings = SETTINGS
) -> dict[str, Any]:
    """The facts of a file with this content."""
    path = tmp_path / name
    path.write_bytes(content)
    return spec_of(path, settings=settings)
