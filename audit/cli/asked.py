"""The arguments that ``run`` and ``check`` have in common, stated once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, get_type_hints

from audit.cli import options as o
from audit.cli.command import Handler


class Asked(NamedTuple):
    """What was typed; nothing is checked yet."""

    paths: o.Paths = None
    config: o.ConfigFile = None
    no_config: o.NoConfig = False
    cluster: o.Clusters = None
    context: o.Contexts = None
    all_contexts: o.AllContexts = False
    kubeconfig: o.Kubeconfig = None
    in_cluster: o.InCluster = False
    register: o.Register = None
    include: o.Include = None
    exclude: o.Exclude = None
    no_gitignore: o.NoGitignore = False
    policy: o.Policies = None
    require_signed: o.RequireSigned = None
    engine: o.Engine = None
    rule: o.SelectedRules = None
    skip_rule: o.SkippedRules = None
    profile: o.ProfileName = None
    registry: o.Registries = None
    as_of: o.AsOf = None
    fail_on: o.FailOn = None
    min_ratio: o.MinRatio = None
    min_coverage: o.MinCoverage = None
    min_objects: o.MinObjects = None
    output: o.Output = None
    formats: o.Formats = None
    lang: o.Lang = None
    history: o.History = None
    no_history: o.NoHistory = False
    jobs: o.Jobs = None
    no_cache: o.NoCache = False
    quiet: o.Quiet = False
    verbose: o.Verbose = False
    log_file: o.LogFile = None
    no_progress: o.NoProgress = False


def asking(handler: Callable[[Asked], int]) -> Handler:
    """A command with the arguments of `Asked`. Typer learns options from a signature, so it gets one."""
    return asking_without()(handler)


def asking_without(*names: str) -> Callable[[Callable[[Asked], int]], Handler]:
    """A command with all arguments of `Asked` but these, which keep their defaults."""
    fields = [name for name in Asked._fields if name not in names]

    def decorate(handler: Callable[[Asked], int]) -> Handler:
        def command(**given: Any) -> int:
            return handler(Asked(**given))

        hints = get_type_hints(Asked, include_extras=True)
        command.__name__ = handler.__name__
        command.__doc__ = handler.__doc__
        command.__annotations__ = {name: hints[name] for name in fields}
        command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # read by `inspect.signature`
            [
                inspect.Parameter(
                    name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=Asked._field_defaults[name],
                    annotation=hints[name],
                )
                for name in fields
            ]
        )
        return command

    return decorate
