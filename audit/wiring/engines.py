"""What judges: the engines of one run, in the order they are asked."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

import audit
from audit.config.environment import read_secret
from audit.config.schema import Config
from audit.evaluate.cache.engine import CachedEngine
from audit.evaluate.reader.engine import ReaderEngine
from audit.evaluate.rego.engine import RegoEngine
from audit.evaluate.rego.foreign import ForeignRegoEngine, eval_rules
from audit.evaluate.twins import TwinPairs
from audit.library.library import Library
from audit.model.gap import Gap, Notice
from audit.native.evaluator import EvalLimits, Evaluator
from audit.ports import Engine, ProgressSink
from audit.wiring.caching import ResultCache
from audit.wiring.cores import jobs

_KYVERNO_SEES = frozenset({"Namespace", "apiextensions.k8s.io/CustomResourceDefinition"})
"""The Kyverno CLI is handed labels of namespaces and definitions of custom kinds with every object."""


@contextmanager
def embedded_opa(config: Config) -> Iterator[Evaluator]:
    """The engine that loads the Rego and, unless a server does it, evaluates it."""
    limits = EvalLimits(object_seconds=config.limits.object_seconds, memory_bytes=config.limits.memory_bytes)
    with Evaluator(
        jobs=jobs(config), limits=limits, allow_builtins=config.policy.allow_builtins
    ) as evaluator:
        yield evaluator


class Engines:
    """The engines of one run, started.

    Args:
        config: which of them are wanted, and how.
        library: what they are asked.
        selected: ids of the rules to ask. What can't be asked after all is taken out: see `self.selected`.
        evaluator: the embedded engine that loaded the library.
        stack: closes whatever is started here.
        progress: told of what takes long.
        now: the moment that accepted exceptions are judged at.
    """

    def __init__(
        self,
        config: Config,
        library: Library,
        selected: frozenset[str],
        evaluator: Evaluator,
        stack: ExitStack,
        *,
        progress: ProgressSink,
        now: dt.datetime,
    ) -> None:
        self.selected = selected
        self.gaps: list[Gap] = []
        """What could not be asked."""
        self.notices: list[Notice] = []
        self._config = config
        self._library = library
        self._evaluator = evaluator
        self._stack = stack
        self._progress = progress
        self._now = now
        self.cache = ResultCache(config, stack, progress.note)
        self._closing: list[Callable[[], tuple[Notice, ...]]] = []
        self.all: list[Engine] = [
            self._rego(),
            *self._foreign(),
            *self._kyverno(),
            ReaderEngine(audit.__version__, self.selected),
        ]
        self.twins = TwinPairs(library.twins, {rule.id for engine in self.all for rule in engine.rules()})
        self._closing.append(self.twins.notices)

    def closing_notices(self) -> tuple[Notice, ...]:
        """What is known only when everything was asked."""
        return tuple(notice for ask in self._closing for notice in ask())

    def _rego(self) -> Engine:
        """The embedded OPA, or a server. The embedded one compiles in any case: its errors name file and line."""
        rule_set, options = self._library.rule_set, self._config.engine.opa
        rules = tuple(rule for rule in rule_set.rules if rule.id in self.selected)
        asked = rule_set.eval_rules(self.selected)
        data = msgspec.json.encode(rule_set.data)
        self._evaluator.load(rule_set.modules, data, asked, strict=True).check()
        if self._config.engine.rego == "embedded":
            return self.cache.before(
                RegoEngine(self._evaluator, rules), {"modules": rule_set.modules, "data": rule_set.data}
            )
        from audit.evaluate.opa_server.start import settings_from, start

        token = read_secret(options.token_env) if options.token_env else ""
        settings = settings_from(options, self._config.limits, token=token, jobs=jobs(self._config))
        engine = start(settings, self._evaluator, rule_set, rules, asked, say=self._progress.note)
        self._stack.callback(engine.close)
        self.notices += engine.notices
        return engine

    def _foreign(self) -> Iterator[Engine]:
        """One child for each program: names and data of two sources never meet."""
        for program in self._library.rule_set.foreign:
            asked = eval_rules(program, self.selected)
            if asked:
                evaluator = self._stack.enter_context(embedded_opa(self._config))
                evaluator.load(program.modules, msgspec.json.encode(program.data), asked).check()
                engine = ForeignRegoEngine(evaluator, program, self.selected)
                yield self.cache.before(engine, {"program": program}, always_seen=None)

    def _kyverno(self) -> Iterator[Engine]:
        """The Kyverno CLI, when there are policies for it. What it can't be asked is a gap, and deselected."""
        loaded = self._library.kyverno
        if not (loaded.policies or loaded.gaps or loaded.notices):
            return
        from audit.evaluate.kyverno import KyvernoOptions, build_kyverno, load_request

        own = self._config.engine.kyverno
        request = load_request(
            *(Path(name) if name else None for name in (own.values, own.user_info, own.context))
        )
        options = KyvernoOptions(cli=own.binary, batch=own.batch, jobs=jobs(self._config), request=request)
        self._progress.note("Trying the Kyverno policies")
        build = build_kyverno(loaded, self._now, options)
        self._stack.callback(build.close)
        self.gaps += build.gaps
        self.notices += build.notices
        askable = {rule.id for rule in build.rules}
        self.selected -= {rule.id for rule in loaded.rules} - askable
        if build.start is not None and not askable.isdisjoint(self.selected):
            engine = build.start(self.selected)
            self._stack.callback(engine.close)
            cached = self.cache.before(
                engine,
                {
                    "policies": loaded.policies,
                    "exceptions": [one for one in loaded.exceptions if one.is_live(self._now)],
                    "context": loaded.global_context,
                },
                always_seen=_KYVERNO_SEES,
            )
            known = cached.accepted_by if isinstance(cached, CachedEngine) else set[str]()
            self._closing.append(
                lambda: engine.notices(frozenset(id_ for ids in known for id_ in ids.split(", ")))
            )
            yield cached
