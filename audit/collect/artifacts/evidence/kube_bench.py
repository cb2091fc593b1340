"""Results of kube-bench in all shapes: objects in a row, an array, an object with totals, log lines in front."""

from __future__ import annotations

import json
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
from audit.collect.artifacts.evidence.result_file import ResultReader, named, number
from audit.collect.artifacts.sbom.document import mapping, mappings
from audit.collect.artifacts.sbom.json_document import refuse_bomb
from audit.collect.artifacts.sbom.problems import FormatError

_STATES = {"PASS": PASSED, "FAIL": FAILED, "WARN": MANUAL, "INFO": EXCLUDED}
_TOTALS = {"pass": PASSED, "fail": FAILED, "warn": MANUAL, "info": EXCLUDED}


class KubeBenchReader(ResultReader):
    """Reads ``kube-bench --json``. It writes no time into the file."""

    name = "kube-bench"
    kinds = frozenset({"BenchmarkResult"})

    def fits(self, text: str) -> bool:
        """By the words for tests, wherever the JSON begins."""
        return '"node_type"' in text and '"tests"' in text and ("{" in text[:4000] or "[" in text[:4000])

    def specs(self, data: bytes) -> Iterator[dict[str, Any]]:
        """All node types of the file in one result."""
        notices: list[str] = []
        controls: list[dict[str, Any]] = []
        totals: list[dict[str, Any]] = []
        refuse_bomb(data)
        for value in _values(data.decode("utf-8"), notices):
            _sort(value, controls, totals)
        if not controls:
            raise FormatError("no_controls", "it holds no tests")
        rows: dict[str, Row] = {}
        for one in controls:
            _add(one, rows)
        facts = benchmark_facts(list(rows.values()))
        stated = _stated(totals or controls)
        if any(facts["counts"][_TOTALS[key]] != value for key, value in stated.items() if key != "info"):
            notices.append("totals_differ")
        yield {
            "form": "kube-bench",
            "tool": {"name": "kube-bench", "version": ""},
            "benchmark": {"id": "kube-bench", "version": named(controls[0].get("version")), "profile": ""},
            "target": sorted({named(one.get("node_type")) for one in controls}),
            "created": self.created(None),
            "started": self.created(None),
            "scores": [],
            "notices": notices,
            **facts,
        }


def _values(text: str, notices: list[str]) -> Iterator[Any]:
    """JSON values one after the other, after lines that are none."""
    decoder = json.JSONDecoder()
    at = _begin(text)
    if text[:at].strip():
        notices.append("lines_before")
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


def _sort(value: Any, controls: list[dict[str, Any]], totals: list[dict[str, Any]]) -> None:
    if isinstance(value, list):
        for one in value:
            _sort(one, controls, totals)
    elif isinstance(value, dict):
        if "Controls" in value:
            controls += mappings(value.get("Controls"))
            if mapping(value.get("Totals")):
                totals.append(mapping(value["Totals"]))
        elif "tests" in value:
            controls.append(value)
        elif any(_total(value, key) is not None for key in _TOTALS):
            totals.append(value)


def _add(control: dict[str, Any], rows: dict[str, Row]) -> None:
    node = named(control.get("node_type"))
    for section in mappings(control.get("tests")):
        for result in mappings(section.get("results")):
            id_ = f"{node}/{named(result.get('test_number'))}"
            word = named(result.get("status"))
            row = rows.setdefault(id_, Row(id=id_, title=named(result.get("test_desc")), instances=[]))
            row.instances.append((_STATES.get(word.upper(), UNSURE), word))


def _total(value: dict[str, Any], key: str) -> float | None:
    """Spelt with an underscore, and without in older versions."""
    return next(
        (n for name in (f"total_{key}", f"total{key}") if (n := number(value.get(name))) is not None), None
    )


def _stated(parts: list[dict[str, Any]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in parts:
        for key in _TOTALS:
            value = _total(part, key)
            if value is not None:
                found[key] = found.get(key, 0) + int(value)
    return found
