"""SARIF against the published schema, as the npm package of its authors ships it."""

from __future__ import annotations

import io
import json

import jsonschema_rs
import pytest

from audit.model.result import AssessmentResult
from audit.report.sarif import SarifWriter
from tests import builders as b
from tests.browser.packages import npm_file
from tests.unit.report.hostile import PAYLOADS, hostile
from tests.unit.report.story import story

RESULTS = {
    "story": story(),
    "hostile": hostile("".join(PAYLOADS)),
    "empty": b.result(),
    "times unknown": b.result(record=b.record(started="", finished="", state_time="")),
}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS.keys())
def test_sarif_obeys_the_published_schema(result: AssessmentResult) -> None:
    path = npm_file("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json")
    schema = json.loads(path.read_text(encoding="utf-8"))
    # This published pattern has a bracket too many and is no regular expression; the report sets no language.
    for name in ("run", "toolComponent"):
        del schema["definitions"][name]["properties"]["language"]["pattern"]
    validator = jsonschema_rs.validator_for(schema)
    stream = io.BytesIO()
    SarifWriter().render_to(result, stream)
    data = json.loads(stream.getvalue())
    errors = [f"{list(error.instance_path)}: {error.message[:200]}" for error in validator.iter_errors(data)]
    assert errors == []
    data["runs"][0]["results"].append({"ruleId": "x"})
    assert not validator.is_valid(data), "the schema must be looking"
