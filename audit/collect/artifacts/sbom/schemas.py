"""The official JSON Schemas, compiled when first needed."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from audit.collect.artifacts.sbom.problems import FormatError, Problems
from audit.collect.artifacts.sbom.schema_errors import errors_in

_FOLDER = Path(__file__).parent / "schemas"
_CYCLONEDX = ("1.2", "1.3", "1.4", "1.5", "1.6", "1.7")
_SPDX = ("2.2", "2.3", "3.0.1")
_MASK = "the value"


def known(standard: str, version: str) -> bool:
    """Whether there is a schema for it."""
    return version in (_CYCLONEDX if standard == "CycloneDX" else _SPDX)


@functools.cache
def schema(standard: str, version: str) -> dict[str, Any]:
    """The schema itself; `known` says for what."""
    found: dict[str, Any] = msgspec.json.decode(_file(f"{standard.lower()}-{version}.json").read_bytes())
    return found


@functools.cache
def _validator(standard: str, version: str) -> Any:
    import jsonschema_rs

    own = schema(standard, version)
    if standard != "CycloneDX":
        return jsonschema_rs.validator_for(own, mask=_MASK)
    # The signature is `oneOf` by `format: uri`: without formats, valid documents would be refused.
    return jsonschema_rs.validator_for(own, mask=_MASK, validate_formats=True, retriever=_retrieve)


def _retrieve(uri: str) -> Any:
    name = uri.rpartition("/")[2]
    if not name.endswith(".SNAPSHOT.schema.json"):
        raise ValueError(f"no such schema: {name}")
    return msgspec.json.decode(_file(name).read_bytes())


def _file(name: str) -> Path:
    return _FOLDER / Path(name).name


def validate(standard: str, version: str, document: Mapping[str, Any]) -> tuple[Problems, bool]:
    """What the schema finds, alike ones counted together, and whether all of it was listed.

    Raises:
        FormatError: ``too_deep``: it is nested more deeply than the validator goes.
    """
    try:
        validator = _validator(standard, version)
        return (Problems(), True) if validator.is_valid(document) else errors_in(validator, document)
    except ValueError:
        raise FormatError("too_deep", "nested too deeply for the schema to be asked") from None
