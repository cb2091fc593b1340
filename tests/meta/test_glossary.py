"""The glossary covers the model: one word, one meaning, none missing."""

from __future__ import annotations

import ast
import re

from tests.meta.documents import CHECKOUT, table_under

# Nouns of one engine's own work. They never leave it, so people don't meet them in output.
ENGINES_OWN = {"foreign.py", "kyverno.py"}
GLOSSARY = CHECKOUT / "docs" / "glossary.md"


def model_classes() -> set[str]:
    return {
        node.name
        for file in (CHECKOUT / "audit" / "model").glob("*.py")
        if file.name not in ENGINES_OWN
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    }


def test_every_class_of_the_model_has_its_line_and_no_line_is_stale() -> None:
    named = {
        name
        for row in table_under(GLOSSARY, "## Names in the code")
        for name in re.findall(r"`(\w+)`", row[0])
    }
    assert named == model_classes()


def test_every_name_is_explained_by_a_word_of_the_first_table() -> None:
    words = {word.strip() for row in table_under(GLOSSARY, "## Words") for word in row[0].split(",")}
    used = {
        word.strip() for row in table_under(GLOSSARY, "## Names in the code") for word in row[1].split(",")
    }
    assert used <= words


def test_no_word_stands_twice() -> None:
    words = [row[0] for row in table_under(GLOSSARY, "## Words")]
    assert len(words) == len(set(words))
