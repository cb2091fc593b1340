"""Frames: what is cut is joined again, and nothing else is believed."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.native import frames
from audit.native.frames import FrameError, Kind, Message


@given(st.lists(st.tuples(st.sampled_from(list(Kind)), st.integers(0, 2**32 - 1), st.binary(max_size=300))))
def test_round_trip(messages: list[tuple[Kind, int, bytes]]) -> None:
    stream = io.BytesIO(b"".join(piece for message in messages for piece in frames.encode(*message)))
    assert [frames.read_message(stream) for _ in messages] == [Message(*message) for message in messages]
    assert frames.read_message(stream) is None


@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_a_long_message_is_chunked_under_the_cap(extra: int) -> None:
    payload = bytes(2 * frames.MAX_FRAME + extra)
    pieces = frames.encode(Kind.BATCH, 5, payload)
    assert max(map(len, pieces)) <= frames.MAX_FRAME
    assert len(pieces) // 2 == 2 + (extra > 0)
    assert frames.read_message(io.BytesIO(b"".join(pieces))) == Message(Kind.BATCH, 5, payload)


def test_a_message_over_the_cap_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MAX_MESSAGE", 10)
    with pytest.raises(FrameError, match="over the cap"):
        frames.encode(Kind.BATCH, 1, bytes(11))


@pytest.mark.parametrize(
    ("stream", "why"),
    [
        (b"\x00\x00", "inside a frame"),
        (b"\x00\x00\x00\x09A\x00\x00\x00\x01abc", "inside a frame"),
        (b"\x00\x00\x00\x04A\x00\x00\x00\x01", "claims 4 bytes"),
        (b"\xff\xff\xff\xffA\x00\x00\x00\x01", "claims 4294967295 bytes"),
        (b"\x00\x00\x00\x05\xc1\x00\x00\x00\x01", "inside a frame"),
    ],
)
def test_broken_streams(stream: bytes, why: str) -> None:
    with pytest.raises(FrameError, match=why):
        frames.read_message(io.BytesIO(stream))
