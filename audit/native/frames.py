"""Frames of the child's pipes: u32 big-endian length of what follows, u8 type, u32 request id, payload.

A message longer than one frame is cut into frames of the same type and id; all but the last carry the MORE bit.
"""

from __future__ import annotations

import enum
import struct
from typing import IO, NamedTuple

MAX_FRAME = 16 << 20
"""Largest payload of one frame, in bytes."""
MAX_MESSAGE = 1 << 30
"""Largest joined message, in bytes."""

_HEAD = struct.Struct(">IBI")
_HEADER = 5
_MORE = 0x80
U32 = struct.Struct(">I")


class FrameError(Exception):
    """What came over the pipe is no frame."""


class Kind(enum.IntEnum):
    """Types of messages; requests first, then what the child sends."""

    CONFIGURE = ord("C")
    BATCH = ord("B")
    LOAD = ord("L")
    INVENTORY = ord("N")
    INSPECT = ord("I")
    QUERY = ord("Q")
    TRACE = ord("X")
    POSITIONS = ord("P")
    SUITE = ord("S")
    TESTS = ord("R")
    HELLO = ord("H")
    PART = ord("A")
    DONE = ord("D")
    FAILED = ord("E")
    HEARTBEAT = ord("T")


class Message(NamedTuple):
    """One whole request or reply."""

    kind: int
    request: int
    payload: bytes


def encode(kind: Kind, request: int, payload: bytes) -> list[bytes]:
    """Cut a message into byte strings to write one after the other.

    Raises:
        FrameError: the message is over the cap.
    """
    if len(payload) > MAX_MESSAGE:
        raise FrameError(f"a message of {len(payload)} bytes is over the cap of {MAX_MESSAGE}")
    if len(payload) <= MAX_FRAME:
        return [_HEAD.pack(len(payload) + _HEADER, kind, request), payload]
    pieces: list[bytes] = []
    for start in range(0, len(payload), MAX_FRAME):
        part = payload[start : start + MAX_FRAME]
        more = _MORE if start + MAX_FRAME < len(payload) else 0
        pieces += [_HEAD.pack(len(part) + _HEADER, kind | more, request), part]
    return pieces


def read_message(stream: IO[bytes]) -> Message | None:
    """Read and join one message; None at the end of the stream.

    Raises:
        FrameError: the stream ends inside a message, or holds something else.
    """
    parts: list[bytes] = []
    total = 0
    while True:
        head = stream.read(_HEAD.size)
        if not head and not parts:
            return None
        if len(head) < _HEAD.size:
            raise FrameError("the stream ends inside a frame")
        length, kind, request = _HEAD.unpack(head)
        if not _HEADER <= length <= MAX_FRAME + _HEADER:
            raise FrameError(f"a frame claims {length} bytes")
        payload = stream.read(length - _HEADER)
        if len(payload) < length - _HEADER:
            raise FrameError("the stream ends inside a frame")
        total += len(payload)
        if total > MAX_MESSAGE:
            raise FrameError("a message is over the cap")
        if not kind & _MORE and not parts:
            return Message(kind, request, payload)
        parts.append(payload)
        if not kind & _MORE:
            return Message(kind, request, b"".join(parts))


def field(data: bytes) -> tuple[bytes, bytes]:
    """A field of a batch: its u32 length, then its bytes."""
    return U32.pack(len(data)), data
