"""What reads files that are evidence and no manifests."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from audit.collect.artifacts.evidence.factory import readers as result_readers
from audit.collect.artifacts.evidence.settings import EvidenceSettings
from audit.collect.artifacts.reading import Registry
from audit.collect.artifacts.sbom.reader import readers as sbom_readers
from audit.collect.artifacts.sbom.settings import SbomSettings
from audit.collect.artifacts.signatures.factory import readers as signature_readers
from audit.config.schema import Config


def evidence_readers(config: Config, now: dt.datetime) -> Registry:
    """The readers, in the order in which they are asked.

    Args:
        config: what is trusted, and which limits hold.
        now: the moment of judging, up to which ages are counted.
    """
    del config
    return Registry(
        (
            *signature_readers(None, base=Path(), now=now),
            *sbom_readers(SbomSettings(now=now)),
            *result_readers(EvidenceSettings(now=now)),
        )
    )
