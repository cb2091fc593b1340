"""What a Rego file says of itself: package, imports, rule heads, what it reads, and the METADATA above its rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple

import yaml

from audit.library.foreign.lexer import Kind, Token, tokens
from audit.library.foreign.steps import ANY, KEYWORDS, Path, closing, deeper, read_path

# A line that ends with one of these goes on with the next one.
_UNFINISHED = frozenset(
    {":=", "=", "==", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "|", "&", ",", ".", ";"}
)
# ... and one that begins with one of these belongs to the line before.
_CONTINUING_WORDS = frozenset({"else", "if", "contains", "with", "and", "or"})
_UNFINISHED_WORDS = frozenset({"if", "contains", "in", "not", "some", "every", "with", "as", "else"})


class Form(Enum):
    """How a rule is written."""

    SET = "set"
    """Partial set: ``deny contains x`` or ``deny[x] {``."""
    VALUE = "value"
    """One value, or true."""
    OBJECT = "object"
    FUNCTION = "function"
    DEFAULT = "default"


class Reference(NamedTuple):
    """Something read, from its root: ``("input", "spec", "*", "name")``."""

    path: Path
    line: int
    iterates: bool = False
    """Its last step is a variable, so the rule looks at every element."""
    compared: str = ""
    """The text it is compared with, where one stands beside it."""
    inside: bool = False
    """It stands inside a comprehension, a call or a literal, not in the body of the rule itself."""


class Statement(NamedTuple):
    """One rule, as far as its head and the references in it go."""

    name: str
    """Head up to the first bracket, for example ``deny`` or ``lib.helper``."""
    form: Form
    line: int
    references: tuple[Reference, ...]
    """From ``input`` and ``data``, imports followed."""
    locals: tuple[Reference, ...]
    """From variables and rules of the package, two steps and more."""
    aliases: dict[str, Path]
    """Variables, and the rule itself, that stand for one reference."""
    strings: tuple[str, ...]
    names: frozenset[str]
    """Every name in it that stands alone: variables, rules and functions of the package."""
    members: frozenset[str]
    """Every name after a dot."""
    metadata: dict[str, Any]


class Outline(NamedTuple):
    """One file."""

    package: Path
    package_line: int
    imports: dict[str, Path]
    """Local name to what it stands for."""
    statements: tuple[Statement, ...]

    @property
    def references(self) -> Iterator[Reference]:
        """Of all rules."""
        return (reference for statement in self.statements for reference in statement.references)

    def defined(self) -> set[str]:
        """First name of each rule."""
        return {statement.name.partition(".")[0] for statement in self.statements}


def outline(text: str) -> Outline:
    """Read a file; text that is no Rego gives what could be made of it."""
    package: Path = ()
    package_line = 0
    imports: dict[str, Path] = {}
    raw: list[tuple[list[Token], dict[str, Any]]] = []
    for statement, metadata in _statements(tokens(text)):
        first = statement[0].text
        if first == "package":
            package, _ = read_path(statement, 1)
            package_line = statement[0].line
        elif first == "import":
            _import(statement, imports)
        else:
            raw.append((statement, metadata))
    read = tuple(_statement(part, metadata, imports) for part, metadata in raw)
    return Outline(package, package_line, imports, read)


def _statements(all_tokens: Sequence[Token]) -> Iterator[tuple[list[Token], dict[str, Any]]]:
    current: list[Token] = []
    comments: list[Token] = []
    metadata: dict[str, Any] = {}
    depth = 0
    fresh_line = True
    for token in all_tokens:
        if token.kind is Kind.COMMENT:
            if depth == 0 and fresh_line:
                comments.append(token)
            continue
        if token.kind is Kind.NEWLINE:
            fresh_line = True
            continue
        begins = depth == 0 and fresh_line and token.kind is Kind.NAME and token.text not in _CONTINUING_WORDS
        if begins and not _goes_on(current):
            if current:
                yield current, metadata
            current, metadata, comments = [], _metadata(comments), []
        current.append(token)
        fresh_line = False
        depth = max(depth + deeper(token), 0)
    if current:
        yield current, metadata


def _goes_on(current: Sequence[Token]) -> bool:
    if not current:
        return False
    last = current[-1]
    if last.kind is Kind.SIGN:
        return last.text in _UNFINISHED
    part_of_a_path = len(current) > 1 and current[-2].text == "."
    return last.kind is Kind.NAME and last.text in _UNFINISHED_WORDS and not part_of_a_path


def _metadata(comments: Sequence[Token]) -> dict[str, Any]:
    """The YAML of the last METADATA block in these comment lines."""
    lines: list[str] | None = None
    previous = 0
    for comment in comments:
        body = comment.text[1:]
        if body.strip() == "METADATA":
            lines = []
        elif lines is not None and comment.line == previous + 1:
            lines.append(body.removeprefix(" "))
        elif lines is not None:
            lines = None
        previous = comment.line
    if not lines:
        return {}
    try:
        found = yaml.safe_load("\n".join(lines))
    except (yaml.YAMLError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _import(statement: Sequence[Token], imports: dict[str, Path]) -> None:
    path, after = read_path(statement, 1)
    if not path:
        return
    alias = path[-1]
    if after + 1 < len(statement) and statement[after].text == "as":
        alias = statement[after + 1].text
    imports[alias] = path


def _statement(part: Sequence[Token], metadata: dict[str, Any], imports: dict[str, Path]) -> Statement:
    start = 1 if part[0].text == "default" and len(part) > 1 else 0
    name, form = _head(part, start)
    references: list[Reference] = []
    strings: list[str] = []
    names: set[str] = set()
    members: set[str] = set()
    own: list[Reference] = []
    aliases: dict[str, Path] = {}
    index = start
    depth = 0
    while index < len(part):
        depth += deeper(part[index])
        alias = _alias(part, index, imports)
        if alias:
            aliases[part[index].text] = alias
        if index == start:
            index += 1
            continue
        token = part[index]
        if token.kind is Kind.STRING:
            strings.append(token.text)
        elif token.kind is Kind.NAME and token.text not in KEYWORDS:
            after_dot = index > 0 and part[index - 1].text == "." and part[index - 1].end == token.start
            if after_dot:
                members.add(token.text)
            else:
                path, end = read_path(part, index)
                names.add(path[0])
                root = imports.get(path[0], path[:1])
                if root[0] in ("input", "data"):
                    full = (*root, *path[1:])
                    references.append(
                        Reference(full, token.line, full[-1] == ANY, _compared(part, index, end), depth > 1)
                    )
                elif end < len(part) and part[end].text == "(":
                    names.add(".".join(path))
                elif len(path) > 1:
                    own.append(Reference(path, token.line, path[-1] == ANY, _compared(part, index, end)))
        index += 1
    return Statement(
        name,
        form,
        part[0].line,
        tuple(references),
        tuple(own),
        aliases,
        tuple(strings),
        frozenset(names),
        frozenset(members),
        metadata,
    )


def _alias(part: Sequence[Token], index: int, imports: dict[str, Path]) -> Path:
    """What a name is set to, when that is one reference and nothing more."""
    if part[index].kind is not Kind.NAME or index + 2 >= len(part) or part[index + 1].text not in (":=", "="):
        return ()
    path, end = read_path(part, index + 2)
    if not path or path[0] in KEYWORDS:
        return ()
    whole = end >= len(part) or part[end].line > part[end - 1].line or part[end].text in (";", "}", "|")
    return (*imports.get(path[0], path[:1]), *path[1:]) if whole else ()


def _compared(part: Sequence[Token], start: int, end: int) -> str:
    """The text on the other side of a comparison."""
    for sign, other in ((end, end + 1), (start - 1, start - 2)):
        if min(sign, other) < 0 or max(sign, other) >= len(part):
            continue
        if part[sign].text in ("==", "!=", "=") and part[other].kind is Kind.STRING:
            return part[other].text
    return ""


def _head(part: Sequence[Token], start: int) -> tuple[str, Form]:
    steps = [part[start].text]
    index = start + 1
    while index + 1 < len(part) and part[index].text == "." and part[index + 1].kind is Kind.NAME:
        steps.append(part[index + 1].text)
        index += 2
    name = ".".join(steps)
    if start:
        return name, Form.DEFAULT
    if index >= len(part):
        return name, Form.VALUE
    sign = part[index].text
    if sign == "contains":
        return name, Form.SET
    if sign == "(":
        return name, Form.FUNCTION
    if sign == "[":
        after = closing(part, index) + 1
        if after < len(part) and part[after].text == "contains":
            return name, Form.SET
        if after < len(part) and part[after].text in (":=", "=", "[", ".", "if"):
            return name, Form.OBJECT
        return name, Form.SET
    return name, Form.VALUE
