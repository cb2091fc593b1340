"""The JSON Schema of ``fleetaudit.yaml``, generated from the structs.

``python -m audit.config.json_schema > docs/schema/fleetaudit-config-v1.schema.json`` renews the published copy.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import msgspec

from audit.config.schema import FileConfig

FILE_NAME = "fleetaudit.schema.json"
"""What ``fleetaudit init`` writes beside the configuration, for editors."""
SCHEMA_ID = "https://fleetaudit.dev/schema/fleetaudit-config-v1.schema.json"


def configuration_schema() -> str:
    """JSON text with a final line end; equal structs give equal bytes."""
    (schema,), components = msgspec.json.schema_components([FileConfig], ref_template="#/$defs/{name}")
    components["ClusterConfig"]["oneOf"] = [{"required": ["paths"]}, {"required": ["server"]}]
    document: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "fleetaudit.yaml",
        **schema,
        "$defs": dict(sorted(components.items())),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(configuration_schema())
