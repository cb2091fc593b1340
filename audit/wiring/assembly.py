"""Puts one audit together, runs it, and closes its books."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

import audit
from audit.assess.waive import WaiverIndex
from audit.collect.members import Collected
from audit.collect.texts import SourceTexts
from audit.config.schema import Config
from audit.evaluate.components import ComponentProfiles
from audit.evaluate.twins import TwinPairs
from audit.library.catalogs import resolve_profile
from audit.library.library import Library
from audit.library.twins import mapped_to_pairs
from audit.model.result import AssessmentResult, RuleState
from audit.model.run import ClusterRecord, RunRecord
from audit.parts import Parts
from audit.pipeline import run_audit
from audit.ports import Clock, ProgressSink, StopSignal
from audit.record.findings import FindingStore
from audit.record.keeping import FindingKeeper
from audit.record.ledger import Ledger
from audit.record.places import Places
from audit.record.pod_paths import PodPaths
from audit.record.population import PopulationWriter
from audit.record.proof import Proof
from audit.record.run_record import RecordFacts, build_record, digest_of_files
from audit.redact import masked
from audit.report.json_writer import seal
from audit.score.verdict import GateConditions
from audit.wiring.caching import digests_of
from audit.wiring.collecting import members, native_reader, needs_of
from audit.wiring.consistency import PolicyDesk
from audit.wiring.content import load, selected_rules
from audit.wiring.engines import Engines, embedded_opa
from audit.wiring.evidence import evidence_readers
from audit.wiring.fleet import fleet_of
from audit.wiring.moment import Judging, SystemClock, judging
from audit.wiring.own_files import own_files
from audit.wiring.registries import with_registries


@contextmanager
def build(
    config: Config, *, progress: ProgressSink, folder: Path | None = None, clock: Clock | None = None
) -> Iterator[Audit]:
    """Load the library, start the engines, and get ready to run. Leaving it stops every process and removes every spool.

    Args:
        config: what is audited, and how.
        progress: told how far the run is.
        folder: where the population file goes; the configured folder by default.
        clock: says when it is now, which is when things are judged unless the configuration names a past moment.

    Raises:
        AuditError: configuration or content is wrong, an engine can't be started, or the output can't be written.
    """
    with ExitStack() as stack:
        place = folder or Path(config.output.folder)
        moment = judging(config, clock or SystemClock())
        yield Audit(config, stack, folder=place, progress=progress, moment=moment)


class Audit:
    """One audit, ready to run once. Its result's groups are readable until `stack` is closed."""

    def __init__(
        self, config: Config, stack: ExitStack, *, folder: Path, progress: ProgressSink, moment: Judging
    ) -> None:
        clock = moment.clock
        self._fleet = fleet_of(config, clock.now())
        # Waivers and statements may name a cluster that only its snapshot names.
        config = msgspec.structs.replace(config, registered=(*config.registered, *self._fleet.names))
        self._config = config
        self._stack = stack
        self._progress = progress
        self._clock = clock
        self._moment = moment
        evaluator = stack.enter_context(embedded_opa(config))
        self.library = load(config, evaluator, clock.now())
        self._engines = Engines(
            config,
            self.library,
            selected_rules(config, self.library),
            evaluator,
            stack,
            progress=progress,
            now=clock.now(),
        )
        self._reader = stack.enter_context(native_reader(config, self.library))
        self._population = PopulationWriter(folder)
        stack.callback(self._population.discard)
        self._findings = FindingStore(pods=PodPaths(self.library.rule_set.data["pod_templates"]))
        stack.callback(self._findings.close)
        self._digests = digests_of(config, stack, progress.note)
        self._proof = Proof()
        self._policies = PolicyDesk(config, clock)
        self._components = ComponentProfiles(self.library.components)
        self._texts = SourceTexts(Path())
        self._waivers = WaiverIndex(self.library.waivers, clock.now(), self._engines.twins.rule_of)
        self._keeper = FindingKeeper(
            {rule.id: rule for rule in self.library.rules},
            Places(self._reader, self._texts.read),
            self._findings,
        )
        stack.callback(self._keeper.abandon)
        self._ledger = Ledger(self._waivers.match, self._keeper, self._population)

    @property
    def twins(self) -> TwinPairs:
        """What the engines are asked twice, and how often they differ."""
        return self._engines.twins

    def run(self, stop: StopSignal) -> AssessmentResult:
        """Run the pipeline."""
        result = run_audit(self._parts(stop), clock=self._clock, progress=self._progress, stop=stop)
        cache = self._engines.cache
        if cache.known:
            total = cache.known + cache.asked
            self._progress.note(f"{cache.known:,} of {total:,} answer lists were known from an earlier run")
        return seal(masked(result))

    def _parts(self, stop: StopSignal) -> Parts:
        config, library, engines = self._config, self.library, self._engines
        return Parts(
            title=config.title,
            members=list(
                with_registries(
                    members(
                        config,
                        needs_of(config, library, engines.selected),
                        self._reader,
                        self._texts,
                        own_files(config, self._population.path.parent),
                        fleet=self._fleet,
                        artifacts=evidence_readers(
                            config, library.rule_set.data["parameters"], self._clock.now(), self._digests
                        ),
                        notes=self._policies.notes,
                        progress=self._progress,
                        stop=stop,
                    ),
                    config,
                    library,
                    self._reader,
                    self._stack,
                    now=self._clock.now(),
                    progress=self._progress,
                    stop=stop,
                )
            ),
            engines=engines.all,
            twins=engines.twins,
            rules=self._rules(),
            catalogs=library.catalogs,
            mappings=mapped_to_pairs(library.mappings, engines.twins.rule_of),
            checks=library.checks,
            profile=resolve_profile(config.profile, library.catalogs, file=config.file or None),
            statements=library.statements,
            waivers=self._waivers.states,
            allowed_gaps=config.allowed_gaps(),
            load_gaps=(
                *library.gaps,
                *engines.gaps,
                *self._fleet.gaps,
                *self._policies.read_baseline(self._progress, stop),
            ),
            load_notices=(*self._moment.notices, *library.notices, *engines.notices, *self._fleet.notices),
            closing_notices=lambda: (
                *engines.closing_notices(),
                *self._components.notices(),
                *self._ledger.notices(),
            ),
            components=self._components,
            workload_kinds=frozenset(library.rule_set.workload_kinds),
            gates=GateConditions(
                fail_on=config.gates.fail_on,
                min_ratio=config.gates.min_ratio,
                min_coverage=config.gates.min_coverage,
                min_objects=config.gates.min_objects,
            ),
            ledger=self._ledger,
            findings=self._findings,
            proof=self._proof,
            consistency=self._policies.result,
            finish_record=self._finish_record,
        )

    def _rules(self) -> tuple[RuleState, ...]:
        selected = self._engines.selected
        rule_of = self._engines.twins.rule_of
        return tuple(
            RuleState(
                rule=rule,
                selected=rule.id in selected,
                twin_of=rule_of.get(rule.id, ""),
                signature=self.library.signatures.get(rule.id, ""),
            )
            for rule in self.library.rules
        )

    def _finish_record(self, collected: Sequence[Collected], now: dt.datetime) -> RunRecord:
        facts = RecordFacts(
            version=audit.__version__,
            engines=tuple(engine.version() for engine in self._engines.all),
            rules=self._rules(),
            rule_sources_sha256=digest_of_files(_rule_sources(self.library)),
            catalogs=self.library.catalogs,
            mappings_sha256=self.library.mappings_sha256,
            configuration=self._config.record,
            arguments=self._config.arguments,
            population_file=self._population.path.name,
        )
        digest = self._population.finish()
        clusters = tuple(
            ClusterRecord(
                name=m.name,
                kind=m.member.kind,
                reached=m.reached,
                subjects=m.subjects,
                paths=m.member.paths,
                server=m.member.live() if m.member.live else None,
                snapshot=m.member.snapshot,
                region=m.member.region,
                tier=m.member.tier,
                owner=m.member.owner,
            )
            for m in collected
        )
        return build_record(facts, self._proof, clusters, self._ledger, population_sha256=digest, now=now)


def _rule_sources(library: Library) -> dict[str, bytes]:
    """Every policy module and its data, shared code included, by a name of their own."""
    sources = {name: text.encode() for name, text in library.rule_set.modules.items()}
    sources["data"] = msgspec.json.encode(library.rule_set.data, order="sorted")
    sources["components"] = msgspec.json.encode(library.components, order="sorted")
    for program in library.rule_set.foreign:
        sources |= {f"{program.source}: {key}": text.encode() for key, text in program.modules.items()}
        sources[f"{program.source}: data"] = msgspec.json.encode(program.data, order="sorted")
    return sources
