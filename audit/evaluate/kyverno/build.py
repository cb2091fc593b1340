"""Put the Kyverno engine together: find the CLI, try the policies, say what is missing."""

from __future__ import annotations

import datetime as dt
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from audit.errors import EngineError
from audit.evaluate.kyverno.batch.runs import COMPARE_EVERY, BatchRuns
from audit.evaluate.kyverno.engine import KyvernoEngine
from audit.evaluate.kyverno.judges import Batch, Judges, find_judges, start_runs, usable_cores
from audit.evaluate.kyverno.offline import make_ready
from audit.evaluate.kyverno.request import Request
from audit.evaluate.kyverno.run import Effort, Runs
from audit.evaluate.kyverno.subjects import ShardSizes
from audit.evaluate.kyverno.trial import try_all
from audit.model.gap import Gap, GapKind, Notice
from audit.model.kyverno import KyvernoPolicy, LoadedPolicies, PolicyException
from audit.model.rule import Rule

EXCEPTION_EXPIRED = "exception_expired"


class KyvernoOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the engine."""

    cli: str | None = None
    """Path of the CLI; else FLEETAUDIT_KYVERNO, else ``kyverno`` or ``kubectl-kyverno`` on PATH."""
    batch: Batch = "off"
    """Whether the batch child judges, with the CLI as its reference: where it is installed, never, or always."""
    compare_every: int = COMPARE_EVERY
    """Of so many objects the batch child judges, one is judged by the CLI too."""
    jobs: int = 0
    """Processes at a time; 0 means one for each core."""
    request: Request = Request()
    """The user's values, user and context files, decoded."""
    effort: Effort = Effort()
    sizes: ShardSizes = ShardSizes()


class KyvernoBuild(msgspec.Struct, frozen=True, kw_only=True):
    """What `build_kyverno` gives."""

    rules: tuple[Rule, ...]
    """Rules that will be answered; empty when nothing is there to answer."""
    gaps: tuple[Gap, ...]
    """Policies that could not be read or are not loaded by the CLI, and the missing CLI itself."""
    notices: tuple[Notice, ...]
    start: Callable[[frozenset[str]], KyvernoEngine] | None
    """Starts the engine for the selected rule ids; None when nothing is there to answer."""
    close: Callable[[], None]
    """Gives temporary files back when no engine was started."""


def build_kyverno(
    loaded: LoadedPolicies, now: dt.datetime, options: KyvernoOptions | None = None
) -> KyvernoBuild:
    """Rules, gaps and a way to start the engine, from policies that `audit.library.kyverno.load_kyverno` read.

    The policies are tried once with the CLI, which takes about half a second for each family of policies: one that the
    CLI does not load becomes a gap of kind policy, and its rules are left out. So does everything when there is no CLI.

    Args:
        loaded: the policies.
        now: decides which PolicyExceptions are live.
        options: settings.
    """
    options = options or KyvernoOptions()
    if not loaded.policies:
        return KyvernoBuild(
            rules=(), gaps=loaded.gaps, notices=loaded.notices, start=None, close=lambda: None
        )
    notices = [*loaded.notices]
    try:
        judges = find_judges(options.cli, options.batch)
    except EngineError as error:
        return _unasked(loaded, error.message, error.suggestion or "")
    notices += judges.notices
    try:
        folder = tempfile.TemporaryDirectory(prefix="fleetaudit-kyverno-")
        runs = start_runs(
            judges,
            Path(folder.name),
            options.request,
            options.effort,
            loaded.global_context,
            jobs=options.jobs or usable_cores(),
            compare_every=options.compare_every,
        )
    except EngineError as error:
        return _unasked(loaded, error.message, error.suggestion or "")
    except OSError as error:
        return _unasked(loaded, f"temporary files could not be written: {error.strerror}", "free some space")
    live = tuple(exception for exception in loaded.exceptions if exception.is_live(now))
    fit, lacking = _fit(runs, judges, loaded.policies)
    ready = [make_ready(policy, options.request, runs.capabilities, None) for policy in fit]
    tried = try_all(runs, fit, ready, live)
    by_key = {policy.key: policy for policy in loaded.policies}
    failed = {exception.id: exception for exception in live}
    gaps = [
        *loaded.gaps,
        *(_policy_gap(by_key[key], reason) for key, reason in (lacking | tried.unloadable).items()),
        *(_exception_gap(failed[id_], reason) for id_, reason in tried.broken_exceptions.items()),
    ]
    lost = {policy.key for policy in loaded.policies} - {policy.key for policy in tried.policies}
    rules = tuple(rule for rule in loaded.rules if not any(_holds(by_key[key], rule) for key in lost))
    ids = {rule.id for rule in rules}
    policies = [p for p in tried.policies if any(rule.rule.id in ids for rule in p.rules)]

    def start(selected: frozenset[str]) -> KyvernoEngine:
        chosen = tuple(rule for rule in rules if rule.id in selected)
        return KyvernoEngine(
            runs,
            policies,
            chosen,
            tried.exceptions,
            jobs=options.jobs or usable_cores(),
            sizes=options.sizes,
        )

    return KyvernoBuild(
        rules=rules,
        gaps=tuple(gaps),
        notices=(*notices, *_expired(loaded.exceptions, now)),
        start=start,
        close=folder.cleanup,
    )


def _unasked(loaded: LoadedPolicies, reason: str, hint: str) -> KyvernoBuild:
    gap = Gap(
        kind=GapKind.POLICY,
        cluster="",
        source="kyverno",
        reason=f"{len(loaded.rules)} Kyverno rules were not asked: {reason}",
        kinds=(),
        hint=hint,
    )
    return KyvernoBuild(
        rules=(), gaps=(*loaded.gaps, gap), notices=loaded.notices, start=None, close=lambda: None
    )


def _holds(policy: KyvernoPolicy, rule: Rule) -> bool:
    return any(own.rule.id == rule.id for own in policy.rules)


def _fit(
    runs: Runs, judges: Judges, policies: Sequence[KyvernoPolicy]
) -> tuple[list[KyvernoPolicy], dict[str, str]]:
    fit, lacking = [], {}
    for policy in policies:
        lack = runs.capabilities.lacks(policy)
        if lack:
            lacking[policy.key] = f"{lack}, {judges.name}"
        elif judges.cli is None and isinstance(runs, BatchRuns) and policy.document and runs.refuses(policy):
            lacking[policy.key] = f"{runs.refuses(policy)}, which needs the Kyverno CLI"
        else:
            fit.append(policy)
    return fit, lacking


def _policy_gap(policy: KyvernoPolicy, reason: str) -> Gap:
    return Gap(
        kind=GapKind.POLICY,
        cluster="",
        source=policy.file,
        reason=f"{policy.kind} {policy.row_name}: {reason}",
        line=policy.line,
        kinds=(),
        hint="mend the policy, or use a Kyverno CLI that knows it",
    )


def _exception_gap(exception: PolicyException, reason: str) -> Gap:
    return Gap(
        kind=GapKind.POLICY,
        cluster="",
        source=exception.file,
        reason=f"PolicyException {exception.id}: {reason}",
        line=exception.line,
        kinds=(),
        hint="mend the exception; until then nothing is accepted by it",
    )


def _expired(exceptions: Sequence[PolicyException], now: dt.datetime) -> list[Notice]:
    return [
        Notice(
            source=exception.file,
            code=EXCEPTION_EXPIRED,
            message=f"PolicyException {exception.id} is not honoured: "
            + (exception.problem or f"it ended at {exception.expires:%Y-%m-%dT%H:%M:%SZ}"),
            line=exception.line,
        )
        for exception in exceptions
        if not exception.is_live(now)
    ]
