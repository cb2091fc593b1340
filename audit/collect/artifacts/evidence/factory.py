"""The readers of results, in the order in which they are asked."""

from __future__ import annotations

from collections.abc import Sequence

from audit.collect.artifacts.evidence.kube_bench import KubeBenchReader
from audit.collect.artifacts.evidence.openvex import OpenVexReader
from audit.collect.artifacts.evidence.sarif import SarifReader
from audit.collect.artifacts.evidence.scorecard import ScorecardReader
from audit.collect.artifacts.evidence.settings import EvidenceSettings
from audit.collect.artifacts.evidence.testgrid import TestGridReader
from audit.collect.artifacts.evidence.trivy import TrivyReader
from audit.collect.artifacts.evidence.xccdf import XccdfReader
from audit.collect.artifacts.reading import ArtifactReader


def readers(settings: EvidenceSettings) -> Sequence[ArtifactReader]:
    """All of them; no two recognise the same file."""
    return (
        ScorecardReader(settings),
        TestGridReader(settings),
        XccdfReader(settings),
        KubeBenchReader(settings),
        TrivyReader(settings),
        SarifReader(settings),
        OpenVexReader(settings),
    )
