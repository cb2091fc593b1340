"""Suites of test.gatekeeper.sh: tests of one template and one constraint, each with its cases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from audit.errors import ContentError
from audit.testing.yaml_nodes import Part, parts_of

GROUP = "test.gatekeeper.sh"
KIND = "Suite"
_SUITE = ("apiVersion", "kind", "metadata", "tests", "skip")
_TEST = ("name", "template", "constraint", "expansion", "cases", "invalid", "skip")
_CASE = ("name", "object", "inventory", "assertions", "skip")
_ASSERTION = ("violations", "message")
_NUMBER = re.compile(r"[0-9]+\Z", re.ASCII)


class Assertion(msgspec.Struct, frozen=True, kw_only=True):
    """What must be true of a case's violations."""

    least: int
    most: int | None
    """None when there may be any number above `least`."""
    message: str | None
    """Only violations whose message this regular expression is found in are counted."""
    line: int

    @property
    def wanted(self) -> str:
        """In words."""
        if self.most == 0:
            return "none"
        return "at least one" if self.most is None else f"exactly {self.most}"


class SuiteCase(msgspec.Struct, frozen=True, kw_only=True):
    """One object, and what must be said of it."""

    object: str
    inventory: tuple[str, ...]
    assertions: tuple[Assertion, ...]


class SuiteTest(msgspec.Struct, frozen=True, kw_only=True):
    """A template and a constraint."""

    template: str
    constraint: str
    expansion: str
    invalid: bool
    """The constraint must be refused."""


def read_suites(path: Path, label: str) -> list[Part]:
    """The suites of a file; none when it holds something else.

    Raises:
        ContentError: it cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ContentError(f"cannot be read: {error}", file=label) from error
    return [part for part in parts_of(text, label) if _is_suite(part)]


def _is_suite(part: Part) -> bool:
    return part.get("apiVersion").typed.partition("/")[0] == GROUP and part.get("kind").typed == KIND


def tests_of(suite: Part) -> Iterator[tuple[str, Part]]:
    """Names and places of a suite's tests; one without a name gets a number.

    Raises:
        ContentError: there is no list of tests, or the suite has a field that nobody reads.
    """
    suite.known_keys(_SUITE)
    tests = suite.items("tests")
    if not tests:
        raise suite.error("holds no tests", key="tests")
    yield from _named(tests, "test")


def cases_of(test: Part) -> Iterator[tuple[str, Part]]:
    """Names and places of a test's cases.

    Raises:
        ContentError: `cases` is no list.
    """
    yield from _named(test.items("cases"), "case")


def _named(parts: list[Part], what: str) -> Iterator[tuple[str, Part]]:
    for number, part in enumerate(parts, 1):
        yield part.get("name").typed or f"{what} {number}", part


def read_test(part: Part) -> SuiteTest:
    """Read a test without its cases.

    Raises:
        ContentError: something is missing, or of the wrong kind.
    """
    part.known_keys(_TEST)
    for key in ("template", "constraint"):
        if not part.text(key):
            raise part.error("names no file", key=key)
    return SuiteTest(
        template=part.text("template"),
        constraint=part.text("constraint"),
        expansion=part.text("expansion"),
        invalid=part.flag("invalid"),
    )


def read_case(part: Part) -> SuiteCase:
    """Read a case.

    Raises:
        ContentError: something is missing, or of the wrong kind.
    """
    part.known_keys(_CASE)
    if not part.text("object"):
        raise part.error("names no file", key="object")
    assertions = tuple(_assertion(item) for item in part.items("assertions"))
    if not assertions:
        raise part.error("a case needs at least one", key="assertions")
    return SuiteCase(
        object=part.text("object"), inventory=tuple(part.texts("inventory")), assertions=assertions
    )


def _assertion(part: Part) -> Assertion:
    part.known_keys(_ASSERTION)
    least, most = _bounds(part.get("violations"))
    message = part.get("message")
    return Assertion(
        least=least,
        most=most,
        message=None if message.absent else message.as_text("message"),
        line=part.line,
    )


def _bounds(part: Part) -> tuple[int, int | None]:
    if part.absent or part.typed == "yes":
        return 1, None
    if part.typed == "no":
        return 0, 0
    # Quoted numbers are no numbers for gator either.
    if _NUMBER.match(part.typed) and not isinstance(part.value, str):
        return int(part.typed), int(part.typed)
    raise part.error(
        f"{part.typed or 'this'} is neither yes, no nor a number",
        key="violations",
        suggestion="write yes for at least one, no for none, or how many there must be",
    )
