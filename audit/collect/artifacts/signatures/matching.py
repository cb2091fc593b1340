"""Patterns for names and identities: exact, glob, and regular expressions that take linear time.

Python's own engine backtracks, and a pattern such as ``(a+)+`` never comes back. Here a pattern becomes a set of states
walked once along the text, so time is bounded by pattern length times text length whatever either holds. A pattern
always matches the whole text: a forgotten anchor is the classic hole in an identity policy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

MAX_PATTERN = 512
MAX_STATES = 4000
MAX_TEXT = 4096
MAX_REPEAT = 200

_Test = Callable[[str], bool]
# A state is (test, next) or (None, (next, ...)); the last one accepts.
_State = tuple[_Test | None, tuple[int, ...]]

# Texts that have only their form in common.
_UNRELATED = (
    ("x", "zq9", "~#_\u00e9"),
    ("https://a.b/c/d@e", "https://zq9.r/~s/t@u/v"),
    ("a@b.c", "zq9@r.s.t"),
)
_SPECIAL = set("\\.+*?()|[]{}^$")
_CLASSES: dict[str, _Test] = {
    "d": lambda c: c in "0123456789",
    "w": lambda c: c.isascii() and (c.isalnum() or c == "_"),
    "s": lambda c: c in " \t",
}


class PatternError(ValueError):
    """A pattern that is not understood, or that matches everything."""


class Pattern:
    """A compiled pattern.

    Args:
        states: the machine; state 0 begins, the last accepts.
        source: the pattern as written.
    """

    def __init__(self, states: list[_State], source: str) -> None:
        self._states = states
        self.source = source

    def matches(self, text: str) -> bool:
        """Whether the whole text matches. Texts over the limit match nothing."""
        if len(text) > MAX_TEXT:
            return False
        current = self._closure({0})
        for char in text:
            reached = set[int]()
            for index in current:
                test, following = self._states[index]
                if test is not None and test(char):
                    reached.update(following)
            if not reached:
                return False
            current = self._closure(reached)
        return len(self._states) - 1 in current

    def _closure(self, states: set[int]) -> set[int]:
        todo, seen = list(states), set(states)
        while todo:
            test, following = self._states[todo.pop()]
            if test is None:
                fresh = set(following) - seen
                seen |= fresh
                todo.extend(fresh)
        return seen


def exact(text: str) -> Pattern:
    """Matches this text alone."""
    return _pattern([("one", _is(char)) for char in text], text)


def glob(text: str) -> Pattern:
    """``*`` is anything but a slash, ``**`` anything, ``?`` one character that is no slash; all else is itself."""
    _bounded(text)
    parts: list[_Node] = []
    index = 0
    while index < len(text):
        if text.startswith("**/", index) and (index == 0 or text[index - 1] == "/"):
            # "**/" at the beginning of a segment also matches no folder at all.
            parts.append(("maybe", ("all", [("star", ("one", _any)), ("one", _is("/"))])))
            index += 3
        elif text.startswith("**", index):
            parts.append(("star", ("one", _any)))
            index += 2
        elif text[index] == "*":
            parts.append(("star", ("one", _no_slash)))
            index += 1
        else:
            parts.append(("one", _no_slash if text[index] == "?" else _is(text[index])))
            index += 1
    return _pattern(parts, text)


def regex(text: str) -> Pattern:
    """A regular expression of literals, ``.``, classes, groups, ``|`` and ``* + ? {m,n}``; it matches the whole text.

    Raises:
        PatternError: it is not understood. Look-around, references and lazy repetition are not.
    """
    _bounded(text)
    body = text.removeprefix("^")
    if body.endswith("$") and not body.endswith("\\$"):
        body = body[:-1]
    return _pattern([_Parser(body).parse()], text)


def says_nothing(pattern: Pattern) -> bool:
    """Whether it matches every word, every address or every mailbox: as an identity, such a pattern allows everybody."""
    return any(all(pattern.matches(text) for text in family) for family in _UNRELATED)


# ("one", test), ("all", [nodes]), ("any", [nodes]), ("star", node), ("plus", node), ("maybe", node)
_Node = tuple[str, object]


def _is(char: str) -> _Test:
    return lambda other: other == char


def _any(char: str) -> bool:
    return char != "\n"


def _no_slash(char: str) -> bool:
    return char not in "/\n"


def _bounded(text: str) -> None:
    if not text:
        raise PatternError("a pattern must not be empty")
    if len(text) > MAX_PATTERN:
        raise PatternError(f"a pattern has {MAX_PATTERN} characters at most")


def _pattern(nodes: list[_Node], source: str) -> Pattern:
    states: list[_State] = []
    _emit(("all", nodes), states)
    states.append((None, ()))
    return Pattern(states, source)


def _emit(node: _Node, states: list[_State]) -> None:
    """Append the states of a node; it begins at its first state and leaves to the one after its last."""
    if len(states) > MAX_STATES:
        raise PatternError("the pattern is too large when its repetitions are written out")
    kind, value = node
    start = len(states)
    if kind == "one":
        states.append((value, (start + 1,)))  # type: ignore[arg-type]  # a tagged tuple: "one" carries a test
    elif kind == "all":
        for part in value:  # type: ignore[attr-defined]  # "all" carries nodes
            _emit(part, states)
    elif kind == "any":
        states.append((None, ()))
        begins: list[int] = []
        ends: list[int] = []
        for part in value:  # type: ignore[attr-defined]  # "any" carries nodes
            begins.append(len(states))
            _emit(part, states)
            ends.append(len(states))
            states.append((None, ()))
        states[start] = (None, tuple(begins))
        for end in ends:
            states[end] = (None, (len(states),))
    else:
        states.append((None, ()))
        _emit(value, states)  # type: ignore[arg-type]  # star, plus and maybe carry a node
        after = len(states) + 1
        states.append((None, (after,) if kind == "maybe" else (start + 1, after)))
        states[start] = (None, (start + 1,) if kind == "plus" else (start + 1, after))


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0

    def parse(self) -> _Node:
        node = self._alternatives()
        if self.at < len(self.text):
            self._fail("a closing bracket without an opening one")
        return node

    def _fail(self, why: str) -> NoReturn:
        raise PatternError(f"{why}, at character {self.at + 1}")

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _take(self) -> str:
        char = self._peek()
        if not char:
            self._fail("the pattern ends too early")
        self.at += 1
        return char

    def _alternatives(self) -> _Node:
        self.depth += 1
        if self.depth > 20:
            self._fail("groups are nested too deeply")
        options = [self._sequence()]
        while self._peek() == "|":
            self.at += 1
            options.append(self._sequence())
        self.depth -= 1
        return options[0] if len(options) == 1 else ("any", options)

    def _sequence(self) -> _Node:
        parts: list[_Node] = []
        while self._peek() and self._peek() not in "|)":
            parts.append(self._repeated(self._atom()))
        return ("all", parts)

    def _repeated(self, node: _Node) -> _Node:
        char = self._peek()
        if not char or char not in "*+?{":
            return node
        self.at += 1
        names = {"*": "star", "+": "plus", "?": "maybe"}
        node = self._counted(node) if char == "{" else (names[char], node)
        following = self._peek()
        if following and following in "*+?{":
            self._fail("repetition of a repetition is not supported")
        return node

    def _counted(self, node: _Node) -> _Node:
        end = self.text.find("}", self.at)
        low, comma, high = self.text[self.at : end].partition(",") if end > 0 else ("", "", "")
        if not (low.isascii() and low.isdigit()) or (high and not (high.isascii() and high.isdigit())):
            self._fail("a count must be {m}, {m,} or {m,n}")
        self.at = end + 1
        least = int(low)
        most = int(high) if high else (None if comma else least)
        if max(least, most or 0) > MAX_REPEAT or (most is not None and most < least):
            self._fail(f"a count is {MAX_REPEAT} at most, and the second is not below the first")
        copies: list[_Node] = [node] * least
        if most is None:
            copies.append(("star", node))
        else:
            copies += [("maybe", node)] * (most - least)
        return ("all", copies)

    def _atom(self) -> _Node:
        char = self._take()
        if char == "(":
            if self._peek() == "?":
                if not self.text.startswith("?:", self.at):
                    self._fail("groups that begin with (? are not supported")
                self.at += 2
            node = self._alternatives()
            if self._take() != ")":
                self._fail("a group is not closed")
            return node
        if char == "[":
            return ("one", self._set())
        if char == ".":
            return ("one", _any)
        if char == "\\":
            return ("one", self._escape())
        if char in _SPECIAL:
            self._fail(f"{char} has no meaning here; write \\{char}")
        return ("one", _is(char))

    def _escape(self) -> _Test:
        char = self._take()
        if char in _CLASSES:
            return _CLASSES[char]
        if char.isascii() and char.isalnum():
            self._fail(f"\\{char} is not supported")
        return _is(char)

    def _set(self) -> _Test:
        negated = self._peek() == "^"
        if negated:
            self.at += 1
        tests: list[_Test] = []
        while self._peek() != "]":
            low = self._take()
            if low == "[":
                self._fail("write \\[ for a bracket in a set")
            if low == "\\":
                tests.append(self._escape())
                continue
            if self._peek() == "-" and self.text[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                high = self._take()
                if high in "\\[" or high < low:
                    self._fail("a range in a set goes from the lower to the higher plain character")
                tests.append(lambda c, low=low, high=high: low <= c <= high)  # type: ignore[misc]  # bound per range
            else:
                tests.append(_is(low))
        self.at += 1
        if not tests:
            self._fail("a set must not be empty")
        return lambda c: any(test(c) for test in tests) != negated
