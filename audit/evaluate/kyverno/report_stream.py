"""What the CLI printed: result rows, out of a stream with warnings, notices and several reports in it.

The report is JSON on one line, but never alone: deprecation warnings and a block of skipped policies come before
it, further reports (one for each namespaced policy) after a line ``---``, and a sentence may follow without a
newline. Kinds and API groups of the reports changed over the versions; ``results`` did not.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec


class RowResource(msgspec.Struct, frozen=True, gc=False):
    """The object a row is about."""

    uid: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""


class Row(msgspec.Struct, frozen=True, gc=False):
    """One result. Hundreds of thousands live for a moment, none in a cycle: the collector need not look at them."""

    policy: str
    result: str
    rule: str = ""
    message: str = ""
    source: str = ""
    resources: list[RowResource] = []
    properties: dict[str, str] = {}

    @property
    def uid(self) -> str:
        """The synthetic uid of its object; empty when the row names none."""
        return self.resources[0].uid if self.resources else ""


class _Report(msgspec.Struct):
    results: list[Row]


class Printed(msgspec.Struct, frozen=True):
    """Everything understood of standard output."""

    rows: list[Row]
    refused: dict[str, str]
    """Name of a policy the CLI skipped as invalid, and why."""
    reports: int
    broken: bool
    """A report began that could not be read to its end."""


_START = re.compile(rb'\{"(?:kind|apiVersion|metadata|results|source|summary)":')
_REFUSED_BLOCK = re.compile(
    # Text without a newline may stand before the first divider.
    r"-{20,}\n(?:Policies Skipped|Invalid Policies)[^\n]*:\n(.*?)^-{20,}$",
    re.MULTILINE | re.DOTALL,
)
_REFUSED = re.compile(r"^\d+\. (?P<name>[^\s:]+)(?:: (?P<reason>.*))?$", re.MULTILINE)
_DECODER = msgspec.json.Decoder(_Report)
_MAX_NOISE = 4 << 20


def read_printed(stdout: Path) -> Printed:
    """Rows and refused policies in a file of the CLI's standard output."""
    data = stdout.read_bytes()
    rows: list[Row] = []
    reports = 0
    broken = False
    noise: list[bytes] = []
    position = 0
    while match := _START.search(data, position):
        noise.append(data[position : match.start()])
        found, position, whole = _report(data, match.start())
        if found is not None:
            rows += found
            reports += 1
        elif not whole:
            broken = True
    noise.append(data[position:])
    text = b"".join(noise)[:_MAX_NOISE].decode("utf-8", "replace")
    return Printed(rows=rows, refused=refused_policies(text), reports=reports, broken=broken)


def _report(data: bytes, start: int) -> tuple[list[Row] | None, int, bool]:
    """(rows or None, where to go on, whether the JSON was whole)."""
    end = data.find(b"\n", start)
    end = len(data) if end < 0 else end
    try:
        return _DECODER.decode(data[start:end]).results, end, True
    except msgspec.DecodeError:
        pass
    # Text glued to its end, or some other JSON. Nothing beyond the line belongs to it.
    line = data[start:end].decode("utf-8", "replace")
    try:
        value, length = json.JSONDecoder().raw_decode(line)
    except ValueError:
        return None, end, False
    return _rows(value), start + max(len(line[:length].encode()), 1), True


def _rows(value: Any) -> list[Row] | None:
    try:
        return msgspec.convert(value, _Report).results
    except msgspec.ValidationError:
        return None


def refused_policies(text: str) -> dict[str, str]:
    """Name and reason of each policy in the blocks of skipped and invalid policies."""
    found: dict[str, str] = {}
    for block in _REFUSED_BLOCK.finditer(text):
        for entry in _REFUSED.finditer(block[1]):
            found[entry["name"]] = (entry["reason"] or "refused without a reason").strip()
    return found
