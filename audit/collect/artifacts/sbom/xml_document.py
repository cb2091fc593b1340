"""XML as a small tree: no entities, no document type, bounded depth and size."""

from __future__ import annotations

from typing import Any
from xml.parsers import expat

import msgspec

from audit.collect.artifacts.sbom.problems import FormatError

MAX_DEPTH = 200
MAX_ELEMENTS = 1_200_000
_SEPARATOR = "}"
_NO_ATTRIBUTES: dict[str, str] = {}
"""Of all elements without any; nobody writes into it."""


class Element(msgspec.Struct, gc=False):
    """An element; names are ``namespace}local``, or ``local`` where there is no namespace."""

    tag: str
    attributes: dict[str, str]
    children: list[Element]
    text: str = ""

    @property
    def name(self) -> str:
        """Local name."""
        return local(self.tag)

    def first(self, name: str) -> Element | None:
        """First child with this local name."""
        return next((child for child in self.children if local(child.tag) == name), None)


def local(tag: str) -> str:
    """The name without its namespace."""
    return tag.rpartition(_SEPARATOR)[2]


def namespace(tag: str) -> str:
    """The namespace; empty when there is none."""
    return tag.rpartition(_SEPARATOR)[0]


class _Builder:
    def __init__(self, parser: Any, only: frozenset[str] = frozenset()) -> None:
        self.root: Element | None = None
        self.found: list[Element] = []
        self._only = only
        self._depth = 0
        self._stack: list[Element] = []
        self._texts: list[list[str]] = []
        self._count = 0
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.data
        parser.StartDoctypeDeclHandler = _refuse
        parser.EntityDeclHandler = _refuse
        parser.ExternalEntityRefHandler = _refuse

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise FormatError("too_deep", f"elements are nested deeper than {MAX_DEPTH}")
        if self._only and not self._stack:
            if self.root is None:
                self.root = Element(tag, attributes, [])
            if local(tag) not in self._only:
                return
        element = Element(tag, attributes or _NO_ATTRIBUTES, [])
        self._count += 1
        if self._count > MAX_ELEMENTS:
            raise FormatError("too_large", f"more than {MAX_ELEMENTS} elements")
        if self._stack:
            self._stack[-1].children.append(element)
        elif self._only:
            self.found.append(element)
        else:
            self.root = element
        self._stack.append(element)
        self._texts.append([])

    def end(self, tag: str) -> None:
        del tag  # expat has checked that it is the one that is open
        self._depth -= 1
        if not self._stack:
            return
        element, texts = self._stack.pop(), self._texts.pop()
        if texts:
            element.text = "".join(texts)

    def data(self, text: str) -> None:
        if self._texts:
            self._texts[-1].append(text)


def _refuse(*_: Any) -> Any:
    raise FormatError("entities_refused", "XML with a document type or entities is refused")


def parse_xml(data: bytes) -> Element:
    """The root element of a UTF-8 document.

    Raises:
        FormatError: ``entities_refused``, ``too_deep``, ``too_large``, ``truncated``, ``data_after_end`` or ``not_xml``.
    """
    return _parsed(data, frozenset())[0]


def subtrees(data: bytes, names: frozenset[str]) -> tuple[Element, list[Element]]:
    """The root without its content, and the elements of these local names with theirs; nothing else is kept.

    Raises:
        FormatError: as `parse_xml`.
    """
    return _parsed(data, names)


def _parsed(data: bytes, only: frozenset[str]) -> tuple[Element, list[Element]]:
    # The declaration may name the encoding that the file had before it was made UTF-8.
    parser = expat.ParserCreate("utf-8", _SEPARATOR)
    parser.buffer_text = True
    builder = _Builder(parser, only)
    try:
        parser.Parse(data, True)  # noqa: FBT003  # takes no keywords
    except expat.ExpatError as error:
        raise _named(error) from None
    if builder.root is None:
        raise FormatError("truncated", "the document has no element")
    return builder.root, builder.found


def _named(error: expat.ExpatError) -> FormatError:
    said = expat.ErrorString(error.code) or "not well-formed"
    place = f"line {error.lineno}, column {error.offset}"
    if "junk after" in said:
        return FormatError("data_after_end", f"data after the end of the document ({place})")
    if "no element" in said or "unclosed" in said:
        return FormatError("truncated", f"the document ends before it is complete ({place})")
    return FormatError("not_xml", f"not well-formed XML: {said} ({place})")
