"""References in token form: their steps, and how Rego writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from audit.library.foreign.lexer import Kind, Token

Path = tuple[str, ...]
ANY = "*"
"""A step of a reference that is no constant."""

OPENERS = frozenset("([{")
CLOSERS = frozenset(")]}")
KEYWORDS = frozenset(
    {"package", "import", "default", "else", "as", "if", "contains", "in", "every", "some", "not"}
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def read_path(statement: Sequence[Token], start: int) -> tuple[Path, int]:
    """A reference that begins at a token: its steps, and the index after it."""
    if start >= len(statement) or statement[start].kind is not Kind.NAME:
        return (), start
    steps = [statement[start].text]
    index = start + 1
    while index + 1 < len(statement):
        sign = statement[index]
        # A reference has no blank before its dots and brackets; `input [x]` does not occur.
        if sign.kind is not Kind.SIGN or sign.start != statement[index - 1].end:
            break
        following = statement[index + 1]
        if sign.text == "." and following.kind is Kind.NAME:
            steps.append(following.text)
            index += 2
        elif sign.text == "[":
            close = closing(statement, index)
            inside = statement[index + 1 : close]
            constant = len(inside) == 1 and inside[0].kind in (Kind.STRING, Kind.NUMBER)
            steps.append(inside[0].text if constant else ANY)
            index = close + 1
        else:
            break
    return tuple(steps), index


def closing(statement: Sequence[Token], opening: int) -> int:
    """Index of the bracket that closes the one at `opening`; the end when none does."""
    depth = 0
    for index in range(opening, len(statement)):
        token = statement[index]
        if token.kind is Kind.SIGN:
            depth += (token.text in OPENERS) - (token.text in CLOSERS)
            if depth == 0:
                return index
    return len(statement)


def deeper(token: Token) -> int:
    """How much deeper in brackets the text is after a token."""
    if token.kind is not Kind.SIGN:
        return 0
    return (token.text in OPENERS) - (token.text in CLOSERS)


def is_identifier(text: str) -> bool:
    """Whether a step of a path can follow a dot."""
    return bool(_IDENTIFIER.match(text)) and text not in KEYWORDS


def rego_path(path: Sequence[str]) -> str:
    """Steps as Rego writes them: ``main["foo-bar"].deny``."""
    text = ""
    for step in path:
        if is_identifier(step):
            text += f".{step}" if text else step
        else:
            text += f'["{step}"]'
    return text
