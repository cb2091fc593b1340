"""Results of kube-bench in all shapes: objects in a row, an array, an object with totals, log lines in front."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from audit.collect.artifacts.evidence.benchmark import (
    EXCLUDED,
    FAILED,
    MANUAL,
    PASSED,
    UNSURE,
    Row,
    benchmark_facts,
)
from audit.collect.artifacts.evidence.fields import mapping_at, mapping_of, mappings_at, text_at, whole_at
from audit.collect.artifacts.evidence.result_file import ResultReader
from audit.collect.artifacts.evidence.set_aside import SetAside
from audit.collect.artifacts.sbom.json_document import refuse_bomb
from audit.collect.artifacts.sbom.problems import FormatError

_STATES = {"PASS": PASSED, "FAIL": FAILED, "WARN": MANUAL, "INFO": EXCLUDED}
_SKIPPED = "skip"
"""The type of a test that the configuration of kube-bench switched off; its state is INFO."""


class KubeBenchReader(ResultReader):
    """Reads ``kube-bench --json``. It writes no time into the file."""

    name = "kube-bench"
    kinds = frozenset({"BenchmarkResult"})

    def fits(self, text: str) -> bool:
        """By the words for tests, wherever the JSON begins."""
        return '"node_type"' in text and '"tests"' in text and ("{" in text[:4000] or "[" in text[:4000])

    def specs(self, data: bytes) -> Iterator[dict[str, Any]]:
        """All node types of the file in one result."""
        notices: list[dict[str, Any]] = []
        refuse_bomb(data)
        whole = _Whole()
        for value in _values(data.decode("utf-8"), notices):
            whole.take(value)
        if not whole.controls:
            raise FormatError("no_controls", "it holds no tests")
        rows: dict[str, Row] = {}
        counted: Counter[str] = Counter()
        differs: list[str] = []
        for one in whole.controls:
            here = _add(one, rows, differs)
            _compare(f"node type {text_at(one, 'node_type') or '?'}", _stated(one, "total"), here, differs)
            counted += here
        stated = [_stated(one, "total") for one in whole.totals]
        _compare("the whole", _summed(stated), counted, differs)
        if differs:
            message = f"its totals contradict its rows ({'; '.join(differs[:3])}); the rows count, and nothing passes"
            notices.append({"code": "totals_differ", "message": message, "count": 1})
        yield {
            "form": "kube-bench",
            "tool": {"name": "kube-bench", "version": ""},
            "benchmark": {
                "id": "kube-bench",
                "version": text_at(whole.controls[0], "version"),
                "profile": "",
            },
            "target": sorted({text_at(one, "node_type") for one in whole.controls}),
            "created": self.created(None),
            "started": self.created(None),
            "scores": [],
            **benchmark_facts(
                list(rows.values()),
                notices,
                {"status": "differ" if differs else "agree", "differences": differs[:20]},
            ),
        }


def _values(text: str, notices: list[dict[str, Any]]) -> Iterator[Any]:
    """JSON values one after the other, after lines that are none."""
    decoder = json.JSONDecoder()
    at = _begin(text)
    if text[:at].strip():
        notices.append(
            {"code": "lines_before", "message": "lines that are no JSON stand before the results", "count": 1}
        )
    while at < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            place = len(text[: error.pos].encode())
            raise FormatError("not_json", f"not a whole JSON document (byte {place})") from None
        except RecursionError:
            raise FormatError("too_deep", "nested too deeply to be read") from None
        yield value
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1


def _begin(text: str) -> int:
    """Where the JSON begins. A log line may begin with a bracket, too: ``[WARN] …``."""
    at = 0
    for line in text.splitlines(keepends=True):
        stripped = line.lstrip()
        if stripped.startswith(("{", "[{", "[\n", "[\r")) or stripped == "[":
            return at + len(line) - len(stripped)
        at += len(line)
    return 0


class _Whole:
    """The parts of a file, whatever its shape."""

    def __init__(self) -> None:
        self.controls: list[dict[str, Any]] = []
        self.totals: list[dict[str, Any]] = []

    def take(self, value: Any) -> None:
        """Sort one value.

        Raises:
            FormatError: it is no part of a result.
        """
        for one in value if isinstance(value, list) else [value]:
            part = mapping_of(one, "a part of the result")
            if "Controls" in part:
                self.controls += mappings_at(part, "Controls")
                self.totals += [totals] if (totals := mapping_at(part, "Totals")) else []
            elif "tests" in part:
                self.controls.append(part)
            else:
                self.totals.append(part)


def _add(control: dict[str, Any], rows: dict[str, Row], differs: list[str]) -> Counter[str]:
    """Rows of one node type; how often each of kube-bench's words stands there."""
    node = text_at(control, "node_type")
    counted: Counter[str] = Counter()
    for section in mappings_at(control, "tests"):
        here: Counter[str] = Counter()
        for result in mappings_at(section, "results"):
            id_ = f"{node}/{text_at(result, 'test_number')}"
            word = text_at(result, "status")
            row = rows.setdefault(id_, Row(id=id_, title=text_at(result, "test_desc"), instances=[]))
            row.instances.append((_STATES.get(word.upper(), UNSURE), word))
            if text_at(result, "type") == _SKIPPED:
                row.set_aside.append(SetAside(status=_SKIPPED, source="kube-bench configuration"))
                row.replaced.append(UNSURE)
            here[word.upper()] += 1
        _compare(f"section {text_at(section, 'section') or '?'}", _stated(section, ""), here, differs)
        counted += here
    return counted


def _stated(part: dict[str, Any], prefix: str) -> dict[str, int]:
    """Totals by word. Spelt with an underscore, and without in older versions.

    Raises:
        FormatError: one is no number.
    """
    found: dict[str, int] = {}
    for word in _STATES:
        key = word.lower()
        for name in (f"{prefix}_{key}", f"{prefix}{key}") if prefix else (key,):
            value = whole_at(part, name)
            if value is not None:
                found.setdefault(word, value)
    return found


def _summed(parts: list[dict[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return dict(total)


def _compare(what: str, stated: dict[str, int], counted: Counter[str], differs: list[str]) -> None:
    differs += [
        f"{what}: {count} {word} stated, {counted[word]} counted"
        for word, count in stated.items()
        if counted[word] != count
    ]
