"""Rego text to tokens: enough to know names, references and comments, in either dialect.

Everything that decides a verdict is parsed by OPA. The tokens serve what OPA cannot tell before it runs: which names a
file that does not parse would have defined, what a policy reads, and where a package clause stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple


class Kind(Enum):
    """What a token is."""

    NAME = "name"
    STRING = "string"
    NUMBER = "number"
    SIGN = "sign"
    COMMENT = "comment"
    NEWLINE = "newline"


class Token(NamedTuple):
    """One token with its place."""

    kind: Kind
    text: str
    """As written; of strings the decoded value."""
    line: int
    column: int
    start: int
    """Offset of the first character in the text."""
    end: int


_TOKEN = re.compile(
    r"""
      (?P<blank>[ \t\r\f\v]+)
    | (?P<newline>\n)
    | (?P<comment>\#[^\n]*)
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
    | (?P<template>\$["`])
    | (?P<raw>`[^`]*`?)
    | (?P<string>"(?:[^"\\\n]|\\.)*"?)
    | (?P<sign>:=|==|!=|<=|>=|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_KINDS = {
    "newline": Kind.NEWLINE,
    "comment": Kind.COMMENT,
    "name": Kind.NAME,
    "number": Kind.NUMBER,
    "raw": Kind.STRING,
    "string": Kind.STRING,
    "sign": Kind.SIGN,
}


def tokens(text: str) -> list[Token]:
    """All tokens, blanks left out. Broken text gives tokens too: this never fails."""
    return list(_scan(text))


def _scan(text: str) -> Iterator[Token]:
    position, line, line_start = 0, 1, 0
    # Depths of braces at which an expression inside a template string ends, with the string's closing character.
    templates: list[tuple[int, str]] = []
    depth = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:  # cannot happen: the last alternative takes any character
            return
        group = match.lastgroup or "sign"
        written = match.group()
        end = match.end()
        if group == "template":
            end, opened = _template_part(text, end, written[1])
            if opened:
                templates.append((depth, written[1]))
                depth += 1
        elif group == "sign" and written == "{":
            depth += 1
        elif group == "sign" and written == "}":
            depth -= 1
            if templates and templates[-1][0] == depth:
                _, closing = templates[-1]
                end, opened = _template_part(text, end, closing)
                depth += opened
                if not opened:
                    templates.pop()
                group = "template"
        if group in _KINDS:
            value = _string(written) if group in ("string", "raw") else written
            yield Token(_KINDS[group], value, line, position - line_start + 1, position, end)
        newlines = text.count("\n", position, end)
        if newlines:
            line += newlines
            line_start = text.rindex("\n", position, end) + 1
        position = end


def _template_part(text: str, position: int, closing: str) -> tuple[int, bool]:
    """Skip the literal part of a template string: (offset after it, whether an expression begins there)."""
    while position < len(text):
        char = text[position]
        if char == "\\":
            position += 2
            continue
        if char == closing:
            return position + 1, False
        if char == "{":
            return position + 1, True
        position += 1
    return position, False


def _string(written: str) -> str:
    if written.startswith("`"):
        return written.strip("`")
    if "\\" not in written:
        return written.strip('"')
    try:
        decoded = json.loads(written, strict=False)
    except ValueError:
        return written.strip('"')
    return decoded if isinstance(decoded, str) else written
