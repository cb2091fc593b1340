"""Puts the run record together, with a digest over each thing the result rests on."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from audit.model.control import Catalog
from audit.model.result import RuleState
from audit.model.run import ClusterRecord, EngineVersion, RunRecord
from audit.record.ledger import Ledger
from audit.record.proof import Proof


class RecordFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known before the run begins."""

    version: str
    engines: tuple[EngineVersion, ...]
    rules: tuple[RuleState, ...]
    rule_sources_sha256: str
    """Digest over every policy module and its data, shared code included."""
    catalogs: tuple[Catalog, ...]
    mappings_sha256: dict[str, str]
    configuration: dict[str, Any]
    arguments: tuple[str, ...]
    population_file: str


def build_record(
    facts: RecordFacts,
    proof: Proof,
    clusters: tuple[ClusterRecord, ...],
    ledger: Ledger,
    *,
    population_sha256: str,
    now: dt.datetime,
) -> RunRecord:
    """The record of one finished run."""
    selected = [state.rule for state in facts.rules if state.selected]
    return RunRecord(
        fleetaudit=facts.version,
        inputs=tuple(proof.inputs),
        engines=facts.engines,
        clusters=clusters,
        rules_sha256=digest_of([*(f"{r.id} {r.digest}" for r in selected), facts.rule_sources_sha256]),
        catalogs_sha256={catalog.id: catalog.digest for catalog in facts.catalogs},
        mappings_sha256=facts.mappings_sha256,
        scope_sha256=proof.scope_sha256(cluster.name for cluster in clusters),
        configuration=facts.configuration,
        arguments=facts.arguments,
        population_file=facts.population_file if population_sha256 else "",
        population_sha256=population_sha256,
        denominator=proof.denominator(
            judged=ledger.objects,
            # Twins ask nothing of their own: with them the same questions are asked, of several engines.
            rules=sum(state.selected and not state.twin_of for state in facts.rules),
            pairs_due=ledger.pairs_due,
            pairs_answered=ledger.pairs_answered,
        ),
        state_time=now.strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def digest_of(lines: Iterable[str]) -> str:
    """sha256 (hex) over lines, each ended by a line feed."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def digest_of_files(files: Mapping[str, bytes]) -> str:
    """sha256 (hex) over named contents, in name order."""
    return digest_of(f"{name} {hashlib.sha256(data).hexdigest()}" for name, data in sorted(files.items()))
