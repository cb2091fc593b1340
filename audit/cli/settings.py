"""From command-line arguments to the effective configuration: one place for every command that needs one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from audit.cli.choices import (
    LANGUAGES,
    PROFILES,
    formats_of,
    fractions_of,
    one_of,
    rego_engine_of,
    require_signed_of,
    severity_of,
)

if TYPE_CHECKING:
    from audit.cli.asked import Asked
    from audit.config.environment import Environment
    from audit.config.overrides import Overrides
    from audit.config.schema import Config
    from audit.library.library import Library


def environment() -> Environment:
    """The process environment, read once per command."""
    from audit.config.environment import read_environment

    return read_environment()


def configuration(overrides: Overrides, surroundings: Environment | None = None) -> Config:
    """Defaults, file, environment and command line, put together."""
    from audit.config.effective import effective_config

    return effective_config(overrides, surroundings or environment(), Path())


def content_configuration(config: str | None, *, no_config: bool = False) -> Config:
    """The configuration for commands that only look at authored content."""
    from audit.config.overrides import Overrides

    return configuration(Overrides(config=config, no_config=no_config))


def content_library(config: str | None, *, no_config: bool = False) -> Library:
    """All authored content, loaded under that configuration."""
    from audit import wiring

    return wiring.load_library(content_configuration(config, no_config=no_config))


def run_overrides(asked: Asked) -> Overrides:
    """Checks every value of ``run`` and ``check`` before anything is read.

    Raises:
        UsageError: a value that cannot be used.
    """
    from audit.config.overrides import Overrides
    from audit.errors import UsageError
    from audit.model.rule import Severity

    if asked.history is not None and asked.no_history:
        raise UsageError("--history and --no-history exclude each other")
    return Overrides(
        config=asked.config,
        no_config=asked.no_config,
        paths=_given(asked.paths),
        clusters=_given(asked.cluster),
        contexts=contexts_of(asked.context, asked.kubeconfig, every=asked.all_contexts),
        kubeconfig=asked.kubeconfig,
        in_cluster=asked.in_cluster,
        register=asked.register,
        include=_given(asked.include),
        exclude=_given(asked.exclude),
        gitignore=False if asked.no_gitignore else None,
        policy=_given(asked.policy),
        engine=rego_engine_of(asked.engine) if asked.engine is not None else None,
        rules=_given(asked.rule),
        skip_rules=_given(asked.skip_rule),
        profile=one_of("--profile", asked.profile, PROFILES) if asked.profile is not None else None,
        fail_on=Severity(severity_of("--fail-on", asked.fail_on)) if asked.fail_on is not None else None,
        as_of=asked.as_of,
        registries=_given(asked.registry),
        require_signed=require_signed_of(asked.require_signed) if asked.require_signed is not None else None,
        min_ratio=fractions_of("--min-ratio", asked.min_ratio or ()),
        min_coverage=fractions_of("--min-coverage", asked.min_coverage or ()),
        min_objects=asked.min_objects,
        folder=asked.output,
        formats=formats_of(asked.formats or ()),
        lang=one_of("--lang", asked.lang, LANGUAGES) if asked.lang is not None else None,
        history=asked.history,
        no_history=asked.no_history,
        jobs=asked.jobs,
        no_cache=asked.no_cache,
    )


def contexts_of(named: Iterable[str] | None, kubeconfig: str | None, *, every: bool) -> tuple[str, ...]:
    """The kubeconfig contexts that are meant.

    Raises:
        UsageError: all of them are, and there are none.
    """
    if not every:
        return _given(named)
    from audit.wiring.contexts import all_contexts

    return all_contexts(kubeconfig)


def _given(values: Iterable[str] | None) -> tuple[str, ...]:
    return tuple(values or ())
