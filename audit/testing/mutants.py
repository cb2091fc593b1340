"""Planted faults: one small change of a rule at a time, of the kinds that people make."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

_SWAPS = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_COMPARISON = re.compile(r"(?<= )(==|!=|<=|>=|<|>)(?= )")
_NOT = re.compile(r"(?<![\w.])not (?=[\w(])")
_WORD = re.compile(r"(?<![\w.\"])(true|false)(?![\w\"])")
_NUMBER = re.compile(r"(?<![\w.\"\[])(\d+)(?![\w.\"\]])")
_OPENS = re.compile(r"(\{|\bif \{)\s*$")
_BINDS = re.compile(r":=|\bsome \b|\bevery \b|^import |^package |^default ")
_TEXTS = re.compile(r"\"(?:[^\"\\]|\\.)*\"|`[^`]*`")


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    """One fault, planted."""

    line: int
    """1-based."""
    fault: str
    """``comparison``, ``negation``, ``truth``, ``number`` or ``condition``."""
    before: str
    after: str
    """Empty where the line was taken out."""
    source: str
    """The whole module with the fault."""


def mutants_of(source: str) -> Iterator[Mutant]:
    """All faults that are planted in a module, in the order of its lines. Some don't compile, and are for the caller to drop."""
    lines = source.splitlines()
    depth = 0
    for place, line in enumerate(lines):
        code = _code(line)
        stripped = code.strip()
        if stripped:
            for fault, changed in _changes(line, code):
                yield _mutant(lines, place, fault, changed)
            if depth > 0 and _is_condition(stripped):
                yield _mutant(lines, place, "condition", None)
        depth += code.count("{") - code.count("}")


def _changes(line: str, code: str) -> Iterator[tuple[str, str]]:
    for match in _COMPARISON.finditer(code):
        yield "comparison", line[: match.start()] + _SWAPS[match[1]] + line[match.end() :]
    for match in _NOT.finditer(code):
        yield "negation", line[: match.start()] + line[match.end() :]
    for match in _WORD.finditer(code):
        yield (
            "truth",
            line[: match.start()] + ("false" if match[1] == "true" else "true") + line[match.end() :],
        )
    for match in _NUMBER.finditer(code):
        yield "number", line[: match.start()] + str(int(match[1]) + 1) + line[match.end() :]


def _code(line: str) -> str:
    """The line with texts and comments blanked, so that places stay what they are."""
    blank = _TEXTS.sub(lambda found: '"' + " " * (len(found[0]) - 2) + '"', line)
    start = blank.find("#")
    return blank if start < 0 else blank[:start] + " " * (len(blank) - start)


def _is_condition(code: str) -> bool:
    """A whole expression on a line of its own that binds nothing: taking it out leaves a rule that still compiles."""
    whole = not _OPENS.search(code) and code[0] not in '}])"' and code[-1] not in ",([{|"
    return whole and not _BINDS.search(code)


def _mutant(lines: list[str], place: int, fault: str, changed: str | None) -> Mutant:
    kept = [*lines[:place], *([] if changed is None else [changed]), *lines[place + 1 :]]
    return Mutant(
        line=place + 1,
        fault=fault,
        before=lines[place].strip(),
        after="" if changed is None else changed.strip(),
        source="\n".join(kept) + "\n",
    )
