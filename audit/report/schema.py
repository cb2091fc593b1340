"""The published JSON Schema of the JSON report, generated from the code that writes it.

``python -m audit.report.schema`` rewrites ``reports/schema/report-v1.schema.json``; a test keeps it current.
"""

from __future__ import annotations

import functools
import json
from typing import Any

import jsonschema_rs
import msgspec

from audit.errors import ReportError
from audit.report.document import SCHEMA_NAME, ReportDocument
from audit.resources import content_dir

FILE = "report-v1.schema.json"


def build() -> dict[str, Any]:
    """The schema as data."""
    (reference,), components = msgspec.json.schema_components([ReportDocument], ref_template="#/$defs/{name}")
    for definition in components.values():
        if definition.get("type") == "object" and "properties" in definition:
            # Readers may lack a key the model gained later; this version's writer leaves none out.
            definition["required"] = sorted(definition["properties"])
    components["Fraction"]["properties"]["percent"] = {
        "description": "One decimal, truncated; null for 0/0, which is not stated.",
        "anyOf": [{"type": "string", "pattern": r"^\d+\.\d$"}, {"type": "null"}],
    }
    components["Fraction"]["required"] = ["denominator", "numerator", "percent"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://{SCHEMA_NAME}.schema.json",
        "title": "fleetaudit report",
        **reference,
        "$defs": components,
    }


def text() -> str:
    """The schema as the file holds it."""
    return json.dumps(build(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


@functools.cache
def _validator() -> Any:
    return jsonschema_rs.validator_for(build())


def check(data: dict[str, Any], place: str) -> None:
    """Validate a report.

    Raises:
        ReportError: it breaks the schema; the message names the first offending key.
    """
    error = next(_validator().iter_errors(data), None)
    if error is not None:
        key = ".".join(str(part) for part in error.instance_path)
        raise ReportError(f"the report breaks its schema: {error.message[:300]}", file=place, key=key)


def main() -> None:
    """Rewrite the published file."""
    path = content_dir("reports") / "schema" / FILE
    path.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
