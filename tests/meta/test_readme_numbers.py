"""Numbers in the README that no console block shows come from the loaded library."""

from __future__ import annotations

import re

from audit import wiring
from audit.config.schema import Config
from audit.model.control import CheckState
from tests.meta.documents import CHECKOUT

TEXT = (CHECKOUT / "README.md").read_text(encoding="utf-8")


def stated(pattern: str) -> tuple[int, ...]:
    found = re.search(pattern, TEXT)
    assert found, f"the README no longer says {pattern}"
    return tuple(int(number) for number in found.groups())


def test_rules_controls_and_checks_are_as_many_as_stated() -> None:
    library = wiring.load_library(Config())
    engines = [rule.engine for rule in library.rules]
    assert stated(r"(\d+) rules in Rego and one in the reader") == (engines.count("rego"),)
    assert engines.count("reader") == 1
    sizes = {catalog.id: len(catalog.controls) for catalog in library.catalogs}
    assert stated(r"AI RMF 1\.0 \((\d+) subcategories\) and LFAI \((\d+) controls") == (
        sizes["nist-ai-rmf"],
        sizes["lfai"],
    )
    built = sum(check.state is CheckState.BUILT for check in library.checks)
    assert stated(r"Of (\d+) checks that the two catalogs name, (\d+) are built") == (
        len(library.checks),
        built,
    )
