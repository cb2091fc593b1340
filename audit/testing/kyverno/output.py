"""Standard output of ``kyverno test -o json``: one array for each document of each suite, between sentences."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import msgspec

_BEGIN = re.compile(r"^Loading test (?P<name>.*) \( (?P<path>.*) \) \.\.\.$", re.MULTILINE)
_CHECKED = re.compile(r"^  Checking results \.\.\.$", re.MULTILINE)
_ARRAY = re.compile(r"^\[", re.MULTILINE)
_POLICY_ERROR = re.compile(r"^  ERROR: (?P<path>.+?): (?P<said>.+)$", re.MULTILINE)
_LOAD_ERROR = re.compile(r"^  Path: (?P<path>.+)\n    Error: (?P<said>.+)$", re.MULTILINE)


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """What the CLI says of one rule and one resource."""

    policy: str
    rule: str
    resource: str
    """``apiVersion/Kind/namespace/name``; ``/name`` for what a rule generates and for payloads."""
    result: str
    reason: str
    message: str

    @property
    def parts(self) -> tuple[str, str, str] | None:
        """(kind, namespace, name) of an object; None for everything else."""
        found = self.resource.rsplit("/", 3)
        return (found[1], found[2], found[3]) if len(found) == 4 else None

    @property
    def shown(self) -> str:
        """The resource as people write it."""
        parts = self.parts
        if parts is None:
            return self.resource.lstrip("/")
        kind, namespace, name = parts
        return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """What was printed of one document."""

    path: str
    rows: tuple[Row, ...] | None
    """None when the CLI did not come to its results."""
    refused: tuple[tuple[str, str], ...]
    """Path and reason of policies that the CLI passes over."""


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one process printed."""

    sections: tuple[Section, ...]
    unread: dict[str, str]
    """Path to error of suites that the CLI could not read; it runs none then."""


def read_output(text: str) -> Output:
    """Take the output apart."""
    return Output(
        sections=tuple(_sections(text)),
        unread={match["path"]: match["said"] for match in _LOAD_ERROR.finditer(text)},
    )


def _sections(text: str) -> Iterator[Section]:
    begins = list(_BEGIN.finditer(text))
    for number, begin in enumerate(begins):
        end = begins[number + 1].start() if number + 1 < len(begins) else len(text)
        part = text[begin.end() : end]
        yield Section(
            path=begin["path"],
            rows=_rows(part),
            refused=tuple((match["path"], match["said"]) for match in _POLICY_ERROR.finditer(part)),
        )


def _rows(part: str) -> tuple[Row, ...] | None:
    checked = _CHECKED.search(part)
    array = _ARRAY.search(part, checked.end()) if checked else None
    if array is None:
        return None
    try:
        rows, _ = json.JSONDecoder().raw_decode(part, array.start())
        return tuple(_row(row) for row in rows)
    except (ValueError, AttributeError):
        return None


def _row(row: dict[str, object]) -> Row:
    def text(key: str) -> str:
        return str(row.get(key, ""))

    return Row(
        policy=text("POLICY"),
        rule=text("RULE"),
        resource=text("RESOURCE"),
        result=text("RESULT"),
        reason=text("REASON"),
        message=text("Message"),
    )
