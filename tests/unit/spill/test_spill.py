"""Records come back as written, whatever their sizes, to several readers at once."""

from __future__ import annotations

from itertools import zip_longest

from hypothesis import given
from hypothesis import strategies as st

from audit.spill import Spill


@given(st.lists(st.binary(max_size=64)))
def test_small_records_come_back(records: list[bytes]) -> None:
    spill = Spill()
    for record in records:
        spill.append(record)
    assert list(spill) == records
    assert len(spill) == len(records)
    spill.close()


def test_records_over_and_around_the_chunk_come_back_to_two_readers() -> None:
    sizes = [0, 1, (1 << 20) - 5, 1 << 20, (1 << 20) + 1, 3 << 20, 7, (1 << 20) - 4, 0]
    records = [bytes([index]) * size for index, size in enumerate(sizes)]
    spill = Spill()
    for record in records:
        spill.append(record)
    for (first, second), record in zip_longest(zip(spill, spill, strict=True), records):
        assert first == second == record
    spill.append(b"late")
    assert list(spill) == [*records, b"late"]
    spill.close()
