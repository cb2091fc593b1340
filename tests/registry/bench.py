"""Facts about images in registries, by the configuration of a `Workbench`."""

from __future__ import annotations

import datetime as dt
import json
import threading
from typing import Any

import msgspec

from audit.collect.artifacts.registry.asking import RegistryImages
from audit.collect.artifacts.registry.fetching import Fetched, Trouble
from audit.collect.artifacts.registry.reading import ImageFacts
from audit.collect.artifacts.registry.references import reference_of
from audit.collect.artifacts.registry.settings import RegistrySettings
from audit.collect.artifacts.sbom.reader import readers as sbom_readers
from audit.collect.artifacts.sbom.settings import SbomSettings
from audit.collect.artifacts.signatures.factory import image_judge
from audit.collect.artifacts.signatures.settings import SignatureSettings
from tests.signatures.workbench import Workbench


def fetched(host: str, image: str, **settings: Any) -> Fetched:
    """What a registry without TLS has of one image."""
    reference = reference_of(f"{host}/{image}")
    assert reference is not None
    with RegistryImages([RegistrySettings(**{"host": host, "insecure": True, **settings})]) as images:
        [found] = images.fetched([reference], threading.Event())
    return found


def facts_of(bench: Workbench, found: Fetched) -> tuple[dict[str, list[dict[str, Any]]], list[Trouble]]:
    """Documents by kind, and troubles."""
    settings = msgspec.convert(bench.config, SignatureSettings) if bench.config else None
    judge = image_judge(settings, base=bench.folder, now=bench.now)
    sboms = sbom_readers(SbomSettings(now=dt.datetime(2026, 12, 1, tzinfo=dt.UTC)))
    facts, troubles = ImageFacts(judge, sboms).of(found, [str(found.reference)])
    documents: dict[str, list[dict[str, Any]]] = {}
    for one in facts:
        plain = json.loads(json.dumps(one.document()))
        documents.setdefault(one.kind, []).append(plain["spec"] | {"facts": plain["metadata"]["name"]})
    return documents, troubles


def verdict(bench: Workbench, found: Fetched) -> tuple[str, str]:
    """Status and code of the image."""
    [spec] = facts_of(bench, found)[0]["ImageSignatures"]
    return spec["status"], spec["code"]
