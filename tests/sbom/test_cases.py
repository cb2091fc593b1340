"""Documents that other tools stumbled over, with what is right."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

import pytest

from tests.meta.documents import CHECKOUT
from tests.shared_data import shared_dir
from tests.unit.sbom.reading import read_file

pytestmark = pytest.mark.corpora


def expected(case: str) -> Any:
    return json.loads(shared_dir("cases", case, "expect.json").read_text(encoding="utf-8"))


def facts(case: str, name: str) -> dict[str, Any]:
    found = read_file(shared_dir("cases", case, name))
    assert found is not None
    return found


def test_noassertion_is_no_licence() -> None:
    case = "19-sbom-noassertion"
    want, found = expected(case), facts(case, "sbom.spdx.json")["licences"]
    by_status: dict[str, list[str]] = {}
    for row in found["expressions"]:
        by_status.setdefault(row["status"], []).extend(row["examples"])
    assert sorted(by_status["known"]) == sorted(want["known"])
    assert by_status["none"] == want["none"]
    assert sorted(by_status["noassertion"] + by_status["absent"]) == sorted(want["unknown"])
    assert sorted(by_status["unparsable"]) == sorted(want["unparsable"])
    assert by_status["undeclared_ref"] == want["undeclared_ref"]
    named = [name for row in found["expressions"] for name in row["licences"]]
    assert named.count("NOASSERTION") == want["licences_named_NOASSERTION"]


def test_encodings() -> None:
    case = "21-sbom-encodings"
    want = expected(case)
    for name in want["two_components"]:
        found = facts(case, name)
        assert found["counts"]["packages"] == 2, name
        assert found["format"]["status"] == "valid", name
        examples = found["licences"]["expressions"][0]["examples"]
        assert examples == want["names"], name
    codes = {name: facts(case, name)["format"]["code"] for name in want["error"]}
    assert codes == {"latin1.cdx.json": "not_utf8", "two-documents.cdx.json": "data_after_end"}


def test_cycles_and_nesting() -> None:
    case = "22-sbom-cycles-and-nesting"
    want = expected(case)
    begun = time.process_time()
    cycle = facts(case, "cycle.cdx.json")
    assert (cycle["counts"]["packages"], cycle["counts"]["edges"]) == (
        want["cycle"]["components"],
        want["cycle"]["edges"],
    )
    assert cycle["structure"]["cycles"]["examples"] == want["cycle"]["cycles"]
    nested = facts(case, "nested.cdx.json")
    assert nested["counts"]["packages"] == want["nested"]["components"]
    brackets = facts(case, "brackets.cdx.json")
    by_name = {row["examples"][0]: row["status"] for row in brackets["licences"]["expressions"]}
    assert by_name["z"] == want["brackets"]["z"]
    assert time.process_time() - begun < 3 * want["seconds_each_below"]


@pytest.mark.parametrize("name", ["cycle.cdx.json", "nested.cdx.json", "brackets.cdx.json"])
def test_each_is_done_in_its_time_and_memory(name: str) -> None:
    """In a process of its own, whose peak is that of this file alone."""
    case = "22-sbom-cycles-and-nesting"
    want = expected(case)
    code = (
        "import sys, time; from pathlib import Path; from tests.peak_memory import peak_kib;"
        "from tests.unit.sbom.reading import read_file;"
        "begun = time.process_time(); assert read_file(Path(sys.argv[1])) is not None;"
        "print(time.process_time() - begun, peak_kib() / 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(shared_dir("cases", case, name))],
        capture_output=True,
        text=True,
        cwd=CHECKOUT,
        timeout=60,
        check=True,
    )
    seconds, megabytes = map(float, done.stdout.split())
    assert seconds < want["seconds_each_below"]
    assert megabytes < want["peak_mb_below"]
