"""The asset label in ``config.json``: what the asset is, how sensitive, what personal data it holds, how long it is kept.

``python -m audit.collect.artifacts.model.label > docs/schema/fleetaudit-asset-label-v1.schema.json`` renews the published schema.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from audit.collect.artifacts.sbom.problems import EXAMPLES, short

SCHEMA_ID = "https://fleetaudit.dev/schema/fleetaudit-asset-label-v1.schema.json"
KEYS = ("asset_id", "sensitivity_level", "pii_fields", "retention_policy")
PLACE = "asset_label"
"""Key of `config.json` that may hold the four together; otherwise they stand at its top."""
ADAPTER_LEVEL = 3
"""Adapters are trained on what the base model was not, so that they are never of the lowest level."""


class AssetLabel(msgspec.Struct, frozen=True, kw_only=True):
    """The four entries. Others beside them are let be."""

    asset_id: Annotated[
        str,
        Meta(
            pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}$",
            description="Name of the asset in the inventory of its owner.",
        ),
    ]
    sensitivity_level: Annotated[
        Literal[1, 3, 5], Meta(description="1 public, 3 internal or de-identified, 5 confidential.")
    ]
    pii_fields: Annotated[
        list[Annotated[str, Meta(min_length=1, max_length=200)]],
        Meta(
            max_length=1000,
            description="Personal fields that the asset was made from or holds; empty when there are none.",
            extra_json_schema={"uniqueItems": True},
        ),
    ]
    retention_policy: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=500,
            pattern=r"\S",
            description="How long it is kept, such as P365D, or the name of the policy that says so.",
        ),
    ]


def label_schema() -> dict[str, Any]:
    """The published schema; the validator uses this very one."""
    (_, components) = msgspec.json.schema_components([AssetLabel], ref_template="#/$defs/{name}")
    schema = dict(components["AssetLabel"])
    schema["title"] = "Asset label of a model or data set"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_ID, **schema}


@functools.cache
def _validator() -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for(label_schema(), mask="the value")


def label_facts(config: Mapping[str, Any], *, adapter: bool) -> dict[str, Any]:
    """What the label says, and what is wrong with it.

    Args:
        config: the whole `config.json`.
        adapter: whether the folder holds an adapter to another model.
    """
    nested = config.get(PLACE)
    place = PLACE if nested is not None else ""
    found: Any = nested if place else {key: config[key] for key in KEYS if key in config}
    if not place and not found:
        return {"status": "absent", "place": "", "problems": []}
    problems = [
        {"place": "/".join(map(str, error.instance_path)) or "label", "message": short(error.message)}
        for error in _validator().iter_errors(found)
    ]
    level = found.get("sensitivity_level") if isinstance(found, Mapping) else None
    if not problems:
        if found["pii_fields"] and level == 1:
            problems.append(
                {
                    "place": "sensitivity_level",
                    "message": "personal fields are listed, and the level is the lowest",
                }
            )
        if adapter and found["sensitivity_level"] < ADAPTER_LEVEL:
            problems.append(
                {"place": "sensitivity_level", "message": f"an adapter is of level {ADAPTER_LEVEL} at least"}
            )
    return {
        "status": "invalid" if problems else "valid",
        "place": place,
        "problems": problems[: EXAMPLES * 4],
        "asset_id": short(found["asset_id"]) if not problems else None,
        "sensitivity_level": level if not problems else None,
        "pii_fields": len(found["pii_fields"]) if not problems else None,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(label_schema(), indent=2, ensure_ascii=False) + "\n")
