"""The published JSON Schema is that of the structs, and agrees with the loader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from audit.config.json_schema import configuration_schema
from audit.config.load import parse_config
from audit.errors import ConfigError

CHECKOUT = Path(__file__).resolve().parents[3]
PUBLISHED = CHECKOUT / "docs" / "schema" / "fleetaudit-config-v1.schema.json"


@pytest.fixture(scope="module")
def validator() -> Any:
    return jsonschema_rs.validator_for(json.loads(configuration_schema()))


def test_the_published_copy_is_current() -> None:
    assert PUBLISHED.read_text(encoding="utf-8") == configuration_schema(), (
        "renew it: python -m audit.config.json_schema > docs/schema/fleetaudit-config-v1.schema.json"
    )


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "title: x\npaths: [a]\n",
        "clusters: [{name: a, server: {context: c, kubeconfig: k, secret_metadata: true}}, {name: b, server: {}}]\n",
        "clusters: [{name: a, paths: [b], labels: {x: y}, tier: t, owner: o}]\n",
        "profile: full\n",
        "profile: {lfai: [A-1]}\n",
        "gates: {fail_on: high, min_ratio: {lfai: 0.5}, min_coverage: {lfai: 1}, min_objects: 4}\n",
        "scope: {exclude: [{reason: r, path: x}, {reason: r, selector: {kind: Pod, labels: {a: b}}}]}\n",
        "allow_gaps: [{kind: absent, source: x, reason: r, expires: '2026-01-01'}]\n",
        "output: {folder: o, formats: [html, csv], lang: zh-CN}\nlimits: {object_seconds: 2.5}\njobs: 3\n",
        "parameters: {image/registry-allowed: {registries: [a, b]}}\n",
    ],
)
def test_what_loads_is_valid(validator: Any, text: str) -> None:
    parse_config(text.encode(), "f")
    validator.validate(yaml.safe_load(text))


@pytest.mark.parametrize(
    "text",
    [
        "titel: x\n",
        "paths: a\n",
        "clusters: [{name: a}]\n",
        "clusters: [{name: a, paths: [b], server: {context: c}}]\n",
        "clusters: [{name: a, server: {contexts: [c]}}]\n",
        "clusters: [{name: a, paths: []}]\n",
        "profile: none\n",
        "gates: {min_ratio: 0.7}\n",
        "gates: {min_ratio: {lfai: 7}}\n",
        "gates: {fail_on: bad}\n",
        "output: {formats: [pdf]}\n",
        "allow_gaps: [{kind: absent}]\n",
        "jobs: 0\n",
    ],
)
def test_what_is_refused_is_invalid(validator: Any, text: str) -> None:
    with pytest.raises(ConfigError):
        parse_config(text.encode(), "f")
    assert not validator.is_valid(yaml.safe_load(text))


def test_every_key_is_described() -> None:
    definitions = json.loads(configuration_schema())["$defs"]
    assert all(definition.get("description") for definition in definitions.values())
