"""What kind of model file something is: by its first bytes, and by its name only where those say nothing."""

from __future__ import annotations

import re
import struct
from pathlib import PurePath

PICKLE, SAFETENSORS, GGUF = "pickle", "safetensors", "gguf"
NUMPY = "numpy"
"""Arrays of numbers; those of objects are pickles."""
UNKNOWN = "unknown"
"""A file that has the ending of a model and the content of nothing that is known."""

PICKLE_ENDINGS = frozenset({".pkl", ".pickle", ".pt", ".pth", ".ckpt", ".joblib", ".dill", ".npy", ".npz"})
_BY_ENDING = {
    ".keras": "keras",
    ".h5": "hdf5",
    ".hdf5": "hdf5",
    ".onnx": "onnx",
    ".tflite": "tflite",
    ".mlmodel": "coreml",
    ".engine": "tensorrt",
    ".plan": "tensorrt",
    ".msgpack": "msgpack",
    ".pdparams": "paddle",
    ".ot": "rust-tch",
    ".llamafile": "llamafile",
    ".nemo": "nemo",
    ".mar": "torchserve",
}
"""Formats that are known by name and not looked into."""
MODEL_ENDINGS = frozenset({".safetensors", ".gguf", ".bin", *PICKLE_ENDINGS, *_BY_ENDING})
_WEIGHTS_BIN = re.compile(
    r"(^|[._-])(model|adapter|pytorch|training_args|optimizer|scheduler|weights)([._-]|$)"
)
_PROTOCOL = tuple(bytes([0x80, version]) for version in range(2, 6))
_OLD_PICKLE = re.compile(
    rb"\A\(?[(\]})dl0-9p\n]{0,40}[ci][A-Za-z_][\w.]{0,200}\r?\n[A-Za-z_][\w.]{0,200}\r?\n"
)
"""A pickle of the oldest protocols that soon imports something."""
_GGUF = b"GGUF"
_HDF5 = b"\x89HDF\r\n\x1a\n"
MAX_HEADER = 100 << 20


def format_of(name: str, head: bytes) -> str | None:
    """One of the formats; None when it is no model file.

    Args:
        name: of the file.
        head: its first bytes.
    """
    ending = PurePath(name).suffix.lower()
    found = _by_content(ending, head)
    if found is not None:
        return found
    if ending in _BY_ENDING:
        return _BY_ENDING[ending]
    if ending == ".safetensors":
        return SAFETENSORS
    if ending == ".gguf":
        return GGUF
    if ending in PICKLE_ENDINGS:
        return PICKLE
    if ending == ".bin" and _WEIGHTS_BIN.search(PurePath(name).stem.lower()):
        return UNKNOWN
    return None


def _by_content(ending: str, head: bytes) -> str | None:
    if head.startswith(_GGUF):
        return GGUF
    if head.startswith(_PROTOCOL) or head.startswith(b"\x93NUMPY") or _OLD_PICKLE.match(head):
        return PICKLE
    if head.startswith(_HDF5):
        return "hdf5"
    if head[4:8] == b"TFL3":
        return "tflite"
    if head.startswith(b"PK\x03\x04") and ending in MODEL_ENDINGS:
        return _BY_ENDING.get(ending, PICKLE)
    if _is_safetensors(head):
        return SAFETENSORS
    return None


def _is_safetensors(head: bytes) -> bool:
    if len(head) < 10:
        return False
    (length,) = struct.unpack("<Q", head[:8])
    return 2 <= length <= MAX_HEADER and head[8:9] == b"{" and head[9:10] in b'"} \t\r\n'


def expected_format(name: str) -> str | None:
    """What the ending promises; None when it promises nothing certain."""
    ending = PurePath(name).suffix.lower()
    if ending in (".safetensors", ".gguf"):
        return ending[1:]
    return _BY_ENDING.get(ending)
