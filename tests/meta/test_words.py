"""House style, where a machine can see it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.meta.documents import CHECKOUT, pages, prose

# What no report and no page of ours may claim.
CLAIMS = re.compile(
    r"\bcertified\b|\bNIST[- ]compliant\b|\bcompliant with NIST\b|\ball good\b|\bfully compliant\b",
    re.IGNORECASE,
)
MARKETING = re.compile(
    r"\b(blazing|seamless(ly)?|effortless(ly)?|world-class|cutting-edge|robust|simply|leverage[sd]?|game-chang\w+)\b",
    re.IGNORECASE,
)


def shown_texts() -> list[Path]:
    """What people read in output: templates, translations, catalogs, rule words."""
    return sorted(
        path
        for folder, patterns in {
            "reports/templates": ("*.j2", "*.html"),
            "reports/locale": ("*.po",),
            "controls": ("*.yaml",),
            "rego": ("*.rego",),
        }.items()
        for pattern in patterns
        for path in (CHECKOUT / folder).rglob(pattern)
    )


def string_literals(file: Path) -> list[str]:
    """String constants of a module that are not docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation
    ]


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_pages_are_plain(page: Path) -> None:
    text = prose(page)
    assert not MARKETING.findall(text)
    assert not CLAIMS.findall(text)
    assert "!" not in re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL).replace("](", "")


def test_output_never_claims_a_certificate() -> None:
    found = {
        str(path.relative_to(CHECKOUT)): CLAIMS.findall(path.read_text(encoding="utf-8"))
        for path in shown_texts()
        if CLAIMS.search(path.read_text(encoding="utf-8"))
    }
    code = {
        str(path.relative_to(CHECKOUT)): text
        for path in (CHECKOUT / "audit").rglob("*.py")
        for text in string_literals(path)
        if CLAIMS.search(text)
    }
    assert not found
    assert not code


def test_reports_say_statement() -> None:
    """ "Attestation" is the signed form of in-toto, which we don't have yet; the evidence kind is a data value."""
    found = [
        f"{path.relative_to(CHECKOUT)}: {line.strip()}"
        for path in shown_texts()
        if path.suffix in {".j2", ".html", ".po"}
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"\battestations?\b", line) and not re.search(r"[\"'.]attestation[\"']?", line)
    ]
    assert not found
