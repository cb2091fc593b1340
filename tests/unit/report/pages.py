"""HTML reports as trees, for tests."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from xml.etree.ElementTree import Element

import html5lib

from audit.model.result import AssessmentResult
from audit.report.html import HtmlWriter


def html(result: AssessmentResult, language: str = "en") -> str:
    """The whole page."""
    stream = io.BytesIO()
    HtmlWriter(language).render_to(result, stream)
    return stream.getvalue().decode()


def tree(page: str) -> Element:
    """Parsed as a browser would; any parse error fails the test."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    root: Element = parser.parse(page)
    return root


def elements(root: Element) -> Iterator[Element]:
    """Elements only: comments have no tag name."""
    return (node for node in root.iter() if isinstance(node.tag, str))


def tags(root: Element) -> Counter[str]:
    """How often each element stands in the page."""
    return Counter(str(node.tag).rpartition("}")[2] for node in elements(root))


def text(node: Element) -> str:
    """All text below a node."""
    return "".join(node.itertext())


def by_id(root: Element, name: str) -> Element:
    """The one element with this id."""
    (found,) = (node for node in elements(root) if node.get("id") == name)
    return found
