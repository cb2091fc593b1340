"""Reads Rego as far as moving a module needs: its words, and what they refer to.

The scanner follows OPA's own: strings, raw strings, template strings with expressions inside, comments, numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
    (?P<comment>\#[^\n]*)
    |(?P<text>"(?:[^"\\\n]|\\.)*"|`[^`]*`)
    |(?P<template>\$["`])
    |(?P<word>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
    |(?P<space>\s+)
    |(?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_TEMPLATE_REST = {
    '"': re.compile(r'(?:[^"\\{\n]|\\.)*(["{]?)'),
    "`": re.compile(r"(?:[^`\\{]|\\\{|\\)*([`{]?)"),
}
_STEP = re.compile(r'\.([A-Za-z_][A-Za-z0-9_]*)|\["((?:[^"\\\n]|\\.)*)"\]')

Path = tuple[str, ...]
"""Steps below ``data`` (or another root)."""


class Token(NamedTuple):
    """One token; all of them together are the whole source."""

    kind: str
    text: str
    end: int
    """Where the next one starts."""


class Import(NamedTuple):
    """One import."""

    root: str
    """``data``, ``input``, ``rego`` or ``future``."""
    path: Path
    alias: str
    first: int
    last: int
    """Its first and last token."""


class Module:
    """A module, taken apart."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens = list(_tokens(source))
        self.imports = list(self._imports())
        statements = [(self.package_word() - 1, self.package_word())]
        statements += [(entry.first, entry.last) for entry in self.imports]
        self._statement = {at for first, last in statements for at in range(first, last + 1)}

    def words(self) -> Iterator[tuple[int, str]]:
        """(token, word) of every word that stands for something by itself: no key after a dot, no part of an import."""
        before = ""
        for at, token in enumerate(self.tokens):
            if token.kind == "word" and before != "." and at not in self._statement:
                yield at, token.text
            if token.kind not in {"space", "comment"}:
                before = token.text

    def steps_after(self, at: int) -> tuple[Path, int]:
        """The literal steps after a token, and the end of each in characters."""
        return literal_steps(self.source, self.tokens[at].end)

    def package_word(self) -> int:
        """The token after ``package``."""
        words = [at for at, token in enumerate(self.tokens) if token.kind == "word"]
        return words[1]

    def _imports(self) -> Iterator[Import]:
        before = ""
        for at, token in enumerate(self.tokens):
            if token.kind == "word" and token.text == "import" and before != ".":
                yield self._import(at)
            if token.kind not in {"space", "comment"}:
                before = token.text

    def _import(self, first: int) -> Import:
        at = self._next_word(first)
        root = self.tokens[at].text
        path, end = self.steps_after(at)
        while self.tokens[at].end < end:
            at += 1
        alias = path[-1] if path else root
        after = self._next_word(at)
        if after > at and self.tokens[after].text == "as" and "\n" not in self._between(at, after):
            at = self._next_word(after)
            alias = self.tokens[at].text
        return Import(root, path, alias, first, at)

    def _next_word(self, at: int) -> int:
        for later in range(at + 1, len(self.tokens)):
            if self.tokens[later].kind == "word":
                return later
        return at

    def _between(self, first: int, last: int) -> str:
        return self.source[self.tokens[first].end : self.tokens[last].end]


def literal_steps(source: str, start: int = 0) -> tuple[Path, int]:
    """The literal steps that follow, and where they end: ``.a["b-c"].d[x]`` gives a, b-c, d. An escape ends them."""
    steps: list[str] = []
    while match := _STEP.match(source, start):
        step = match[1] or match[2] or ""
        if "\\" in step:
            break
        steps.append(step)
        start = match.end()
    return tuple(steps), start


def meaning(source: str) -> list[str]:
    """The tokens that count: `opa build` formats modules, which must not look like another text."""
    ignored = {"space", "comment"}
    words = [token.text for token in _tokens(source) if token.kind not in ignored and token.text != ";"]
    return [
        word for word, after in zip(words, [*words[1:], ""], strict=True) if word != "," or after not in "]})"
    ]


def path_of(package: str) -> Path:
    """``pod.privileged`` or ``a["b-c"]`` as a path."""
    return literal_steps(f".{package}")[0]


def _tokens(source: str) -> Iterator[Token]:
    templates: list[
        tuple[str, int]
    ] = []  # quote of each open template, and the braces open inside its expression
    at = 0
    while match := _TOKEN.match(source, at):
        kind, text = match.lastgroup or "", match[0]
        start, at = at, match.end()
        if kind == "template":
            at = _template_part(source, at, text[1], templates)
        elif kind == "sign" and templates:
            quote, depth = templates.pop()
            if text == "}" and depth == 0:
                at = _template_part(source, at, quote, templates)
                kind = "template"
            else:
                templates.append((quote, depth + {"{": 1, "}": -1}.get(text, 0)))
        yield Token(kind, source[start:at], at)


def _template_part(source: str, at: int, quote: str, templates: list[tuple[str, int]]) -> int:
    """The text of a template up to its end or the next expression."""
    rest = _TEMPLATE_REST[quote].match(source, at)
    if rest is None:
        return at
    if rest[1] == "{":
        templates.append((quote, 0))
    return rest.end()
