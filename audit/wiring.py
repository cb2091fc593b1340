"""The only list of adapters: configuration in, a runnable audit out."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

import msgspec

import audit
from audit.assess.waive import WaiverIndex
from audit.collect.discovery import Selection
from audit.collect.manifests import ManifestScope, ManifestSource
from audit.collect.members import Collected, Member
from audit.collect.scope import OutOfScope
from audit.collect.texts import SourceTexts
from audit.config.check import check_names, rule_matches
from audit.config.environment import read_secret
from audit.config.schema import Config
from audit.errors import ConfigError
from audit.evaluate.reader.engine import DUPLICATE_KEY, ReaderEngine
from audit.evaluate.rego.engine import RegoEngine
from audit.evaluate.rego.foreign import ForeignRegoEngine, eval_rules
from audit.library.catalogs import resolve_profile
from audit.library.foreign.opening import open_source
from audit.library.library import Library, LibrarySources, load_all
from audit.library.policy_source import PolicySource
from audit.model.gap import Gap, Notice
from audit.model.result import AssessmentResult, RuleState
from audit.model.run import ClusterRecord, RunRecord
from audit.native.evaluator import EvalLimits, Evaluator
from audit.native.reader import Reader, ReadLimits
from audit.normalise.context import ClusterContext
from audit.normalise.identity import normalise_document
from audit.pipeline import Parts, run_audit
from audit.ports import Clock, Engine, ProgressSink, ReportWriter, StopSignal
from audit.record.findings import FindingStore
from audit.record.ledger import Ledger
from audit.record.places import Places
from audit.record.population import PopulationWriter
from audit.record.proof import Proof
from audit.record.run_record import RecordFacts, build_record, digest_of_files
from audit.report.json_writer import seal
from audit.resources import content_dir
from audit.score.verdict import GateConditions


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> dt.datetime:
        """Aware, whole seconds."""
        return dt.datetime.now(dt.UTC).replace(microsecond=0)


def build(config: Config, *, progress: ProgressSink, clock: Clock | None = None) -> Audit:
    """Load the library, start the engines, and get ready to run.

    Raises:
        AuditError: configuration or content is wrong, an engine can't be started, or the output can't be written.
    """
    with ExitStack() as stack:
        audit_ = Audit(config, stack, progress=progress, clock=clock or SystemClock())
        audit_.stack = stack.pop_all()
        return audit_


def load_library(config: Config) -> Library:
    """Load all authored content, without anything else.

    Raises:
        AuditError: something of it is wrong.
    """
    with _evaluator(config) as evaluator:
        return _load(config, evaluator)


def writers(names: Sequence[str], lang: str) -> list[ReportWriter]:
    """The report writers of these formats, in the order given."""
    from audit.report.csv_writer import CsvWriter
    from audit.report.html import HtmlWriter
    from audit.report.json_writer import JsonWriter
    from audit.report.junit import JunitWriter
    from audit.report.markdown import MarkdownWriter
    from audit.report.sarif import SarifWriter

    known: dict[str, Any] = {
        "html": lambda: HtmlWriter(language=lang),
        "json": JsonWriter,
        "sarif": SarifWriter,
        "junit": JunitWriter,
        "markdown": MarkdownWriter,
        "csv": CsvWriter,
    }
    return [known[name]() for name in names]


class Audit:
    """One audit, ready to run once. A context manager: leaving it stops every process and removes every spool."""

    def __init__(self, config: Config, stack: ExitStack, *, progress: ProgressSink, clock: Clock) -> None:
        self.stack = stack
        self._config = config
        self._progress = progress
        self._clock = clock
        self._evaluator = stack.enter_context(_evaluator(config))
        self.library = _load(config, self._evaluator)
        self._selected = _selected(config, self.library)
        self._engines: list[Engine] = [
            self._rego_engine(stack),
            *self._foreign_engines(stack),
            *self._kyverno_engine(stack),
            ReaderEngine(audit.__version__, self._selected),
        ]
        self._reader = stack.enter_context(_reader(config, self.library))
        self._population = PopulationWriter(Path(config.output.folder))
        stack.callback(self._population.discard)
        self._findings = FindingStore()
        stack.callback(self._findings.close)

    def _rego_engine(self, stack: ExitStack) -> Engine:
        """The embedded OPA, or a server. The embedded one compiles in any case: its errors name file and line."""
        rule_set, options = self.library.rule_set, self._config.engine.opa
        rules = tuple(rule for rule in rule_set.rules if rule.id in self._selected)
        asked = rule_set.eval_rules(self._selected)
        self._evaluator.load(rule_set.modules, msgspec.json.encode(rule_set.data), asked).check()
        self._engine_notices: tuple[Notice, ...] = ()
        if self._config.engine.rego == "embedded":
            return RegoEngine(self._evaluator, rules)
        from audit.evaluate.opa_server.start import settings_from, start

        token = read_secret(options.token_env) if options.token_env else ""
        settings = settings_from(options, self._config.limits, token=token, jobs=_jobs(self._config))
        engine = start(settings, self._evaluator, rule_set, rules, asked, say=self._progress.note)
        stack.callback(engine.close)
        self._engine_notices = engine.notices
        return engine

    def _kyverno_engine(self, stack: ExitStack) -> Iterator[Engine]:
        """The Kyverno CLI, when there are policies for it. What it can't be asked is a gap, and deselected."""
        loaded = self.library.kyverno
        self._kyverno_gaps: tuple[Gap, ...] = ()
        self._kyverno_notices: tuple[Notice, ...] = ()
        if not (loaded.policies or loaded.gaps or loaded.notices):
            return
        from audit.evaluate.kyverno import KyvernoOptions, build_kyverno

        self._progress.note("Trying the Kyverno policies")
        build = build_kyverno(loaded, self._clock.now(), KyvernoOptions(jobs=_jobs(self._config)))
        stack.callback(build.close)
        self._kyverno_gaps, self._kyverno_notices = build.gaps, build.notices
        askable = {rule.id for rule in build.rules}
        self._selected -= {rule.id for rule in loaded.rules} - askable
        if build.start is not None and not askable.isdisjoint(self._selected):
            engine = build.start(self._selected)
            stack.callback(engine.close)
            yield engine

    def _foreign_engines(self, stack: ExitStack) -> Iterator[Engine]:
        """One child for each program: names and data of two sources never meet."""
        for program in self.library.rule_set.foreign:
            asked = eval_rules(program, self._selected)
            if asked:
                evaluator = stack.enter_context(_evaluator(self._config))
                evaluator.load(program.modules, msgspec.json.encode(program.data), asked).check()
                yield ForeignRegoEngine(evaluator, program, self._selected)

    def run(self, stop: StopSignal) -> AssessmentResult:
        """Run the pipeline. The result's groups are readable until the audit is closed."""
        now = self._clock.now()
        texts = SourceTexts(Path())
        waivers = WaiverIndex(self.library.waivers, now)
        ledger = Ledger(
            {rule.id: rule for rule in self.library.rules},
            waivers.match,
            Places(self._reader, texts.read),
            self._findings,
            self._population,
        )
        library = self.library
        result = run_audit(
            Parts(
                title=self._config.title,
                members=[self._member(c.name, c.paths, texts, stop) for c in self._config.members()],
                engines=self._engines,
                rules=tuple(RuleState(rule=r, selected=r.id in self._selected) for r in library.rules),
                catalogs=library.catalogs,
                mappings=library.mappings,
                checks=library.checks,
                profile=resolve_profile(
                    self._config.profile, library.catalogs, file=self._config.file or None
                ),
                statements=library.statements,
                waivers=waivers.states,
                allowed_gaps=self._config.allowed_gaps(),
                load_gaps=(*library.gaps, *self._kyverno_gaps),
                load_notices=(*library.notices, *self._engine_notices, *self._kyverno_notices),
                workload_kinds=frozenset(library.rule_set.workload_kinds),
                gates=GateConditions(
                    fail_on=self._config.gates.fail_on,
                    min_ratio=self._config.gates.min_ratio,
                    min_coverage=self._config.gates.min_coverage,
                    min_objects=self._config.gates.min_objects,
                ),
                ledger=ledger,
                findings=self._findings,
                proof=Proof(),
                finish_record=self._finish_record,
            ),
            clock=self._clock,
            progress=self._progress,
            stop=stop,
        )
        return seal(result)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.stack.close()

    def _member(self, name: str, paths: tuple[str, ...], texts: SourceTexts, stop: StopSignal) -> Member:
        config = self._config
        scope = ManifestScope(
            cluster=name,
            paths=paths,
            base=Path(),
            selection=Selection(
                include=config.files.include,
                exclude=tuple(entry.path for entry in config.scope.exclude if entry.path),
                respect_gitignore=config.files.gitignore,
            ),
            max_file_bytes=config.limits.max_file_bytes,
        )
        needed = {
            kind for rule in self.library.rules if rule.id in self._selected for kind in rule.context_kinds
        }
        return Member(
            name=name,
            paths=paths,
            source=ManifestSource(
                scope, self._reader, normalise_document, texts, progress=self._progress, stop=stop
            ),
            context=ClusterContext(
                name, needed, workload_kinds=frozenset(self.library.rule_set.workload_kinds)
            ),
            out_of_scope=tuple(
                OutOfScope(
                    reason=entry.reason,
                    kind=entry.selector.kind,
                    namespace=entry.selector.namespace,
                    name=entry.selector.name,
                    labels=entry.selector.labels,
                )
                for entry in config.scope.exclude
                if entry.selector
            ),
        )

    def _finish_record(
        self, proof: Proof, members: Sequence[Collected], ledger: Ledger, now: dt.datetime
    ) -> RunRecord:
        library = self.library
        sources = {name: text.encode() for name, text in library.rule_set.modules.items()}
        sources["data"] = msgspec.json.encode(library.rule_set.data, order="sorted")
        for program in library.rule_set.foreign:
            sources |= {f"{program.source}: {key}": text.encode() for key, text in program.modules.items()}
            sources[f"{program.source}: data"] = msgspec.json.encode(program.data, order="sorted")
        facts = RecordFacts(
            version=audit.__version__,
            engines=tuple(engine.version() for engine in self._engines),
            rules=tuple(RuleState(rule=r, selected=r.id in self._selected) for r in library.rules),
            rule_sources_sha256=digest_of_files(sources),
            catalogs=library.catalogs,
            mappings_sha256=library.mappings_sha256,
            configuration=self._config.record,
            population_file=self._population.path.name,
        )
        digest = self._population.finish()
        clusters = tuple(
            ClusterRecord(
                name=m.name, kind="manifests", reached=m.reached, subjects=m.subjects, paths=m.member.paths
            )
            for m in members
        )
        return build_record(facts, proof, clusters, ledger, population_sha256=digest, now=now)


@contextmanager
def _evaluator(config: Config) -> Iterator[Evaluator]:
    limits = EvalLimits(object_seconds=config.limits.object_seconds, memory_bytes=config.limits.memory_bytes)
    with Evaluator(
        jobs=_jobs(config), limits=limits, allow_builtins=config.policy.allow_builtins
    ) as evaluator:
        yield evaluator


def _reader(config: Config, library: Library) -> Reader:
    projections: dict[str, set[str]] = {}
    for rule in library.rules:
        for need in rule.context:
            for kind in need.kinds:
                key = f"{need.group}/{kind}" if need.group else kind
                projections.setdefault(key, set()).update(need.fields)
    table = library.rule_set.data["pod_templates"]
    return Reader(
        jobs=_jobs(config),
        limits=ReadLimits(
            max_file_bytes=config.limits.max_file_bytes, memory_bytes=config.limits.memory_bytes
        ),
        projections={kind: sorted(fields) for kind, fields in sorted(projections.items())},
        pod_template_table={kind: [entry["path"] for entry in entries] for kind, entries in table.items()},
    )


def _load(config: Config, evaluator: Evaluator) -> Library:
    sources = LibrarySources(
        policies=[
            PolicySource(path=content_dir("rego"), label="rego", builtin=True),
            *_policy_sources(config),
        ],
        parameters=config.parameters,
        pod_templates=[Path(path) for path in config.pod_templates],
        mappings=[Path(path) for path in config.mappings],
        waivers=[Path(path) for path in config.waivers],
        statements=[Path(path) for path in config.statements],
        clusters=frozenset(cluster.name for cluster in config.members()),
    )
    library = load_all(sources, evaluator, (DUPLICATE_KEY,))
    problems = check_names(
        config,
        rules=[rule.id for rule in library.rules],
        controls={catalog.id: [c.id for c in catalog.controls] for catalog in library.catalogs},
    )
    if problems:
        first, *others = problems
        raise ConfigError(
            first.message,
            file=first.file,
            line=first.line,
            column=first.column,
            key=first.key,
            suggestion=first.suggestion,
            others=others,
        )
    return library


def _policy_sources(config: Config) -> Iterator[PolicySource]:
    """The user's policies, pinned addresses fetched."""
    cache = (Path(config.cache) if config.cache else Path.home() / ".cache") / "fleetaudit" / "policies"
    for path in config.policy.paths:
        yield open_source(path, cache)
    for entry in config.policy.sources:
        known = PolicySource(
            path=Path(),
            label="",
            builtin=False,
            name=entry.name or "",
            shape=entry.shape,
            namespaces=entry.namespaces,
            rules=entry.rules,
            data=tuple(Path(path) for path in entry.data),
            libraries=tuple(Path(path) for path in entry.libraries),
            kinds=entry.kinds,
            combine=entry.combine,
            allow=entry.allow or "",
            severity=entry.severity,
        )
        yield open_source(entry.path, cache, known)


def _selected(config: Config, library: Library) -> frozenset[str]:
    def meant(patterns: Sequence[str], rule: str) -> bool:
        return any(rule_matches(pattern, rule) for pattern in patterns)

    return frozenset(
        rule.id
        for rule in library.rules
        if (not config.rules.select or meant(config.rules.select, rule.id))
        and not meant(config.rules.skip, rule.id)
    )


def _jobs(config: Config) -> int:
    """Cores asked for, else those this process may use."""
    if config.jobs:
        return config.jobs
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
