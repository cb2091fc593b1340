"""What reads files that are evidence and no manifests."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from audit.collect.artifacts.digests import Digests
from audit.collect.artifacts.empty import readers as empty_readers
from audit.collect.artifacts.evidence.factory import readers as result_readers
from audit.collect.artifacts.evidence.settings import EvidenceSettings
from audit.collect.artifacts.model.reader import readers as model_readers
from audit.collect.artifacts.model.settings import ModelSettings
from audit.collect.artifacts.reading import Registry
from audit.collect.artifacts.sbom.reader import readers as sbom_readers
from audit.collect.artifacts.sbom.settings import SbomSettings
from audit.collect.artifacts.signatures.factory import readers as signature_readers
from audit.collect.artifacts.signatures.settings import SignatureSettings
from audit.config.schema import Config
from audit.library.authored import read_document
from audit.library.entries import convert

VULNERABILITIES = "evidence/vulnerabilities-fixed"
FRESH = "evidence/evidence-fresh"


def evidence_readers(
    config: Config,
    parameters: Mapping[str, Mapping[str, Any]],
    now: dt.datetime,
    digests: Digests | None = None,
) -> Registry:
    """The readers, in the order in which they are asked.

    Args:
        config: where it is written whom to trust.
        parameters: the effective parameters of all rules, by rule id.
        now: the moment of judging, up to which ages are counted.
        digests: of files; computed anew when not given.

    Raises:
        ContentError: the file about signatures is wrong.
    """
    base = Path(config.signatures).parent if config.signatures else Path()
    times = parameters.get(FRESH, {}).get("stated_times", {})
    believed = parameters.get(VULNERABILITIES, {}).get("vex_authors", ())
    digests = digests or Digests()
    readers = (
        *signature_readers(signature_settings(config), base=base, now=now, digests=digests),
        *model_readers(ModelSettings(), digests.sha256),
        *sbom_readers(SbomSettings(now=now)),
        *result_readers(EvidenceSettings(now=now, vex_authors=tuple(believed), stated_times=dict(times))),
    )
    # Last, because an empty file may also be one that must be signed, or a bundle by its name.
    return Registry((*readers, *empty_readers(readers)), digests)


def signature_settings(config: Config) -> SignatureSettings | None:
    """Whom the configuration trusts; None when it says nothing.

    Raises:
        ContentError: the file can't be read, or something in it is wrong.
    """
    return settings_in(Path(config.signatures)) if config.signatures is not None else None


def settings_in(path: Path) -> SignatureSettings:
    """Whom a file says to trust.

    Raises:
        ContentError: the file can't be read, or something in it is wrong.
    """
    document = read_document(path)
    return convert(document, (), document.value, SignatureSettings)
