"""From command-line arguments to the effective configuration: one place for every command that needs one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from audit.cli.choices import LANGUAGES, PROFILES, formats_of, fractions_of, one_of, severity_of

if TYPE_CHECKING:
    from audit.config.effective import Overrides
    from audit.config.environment import Environment
    from audit.config.schema import Config


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
    from audit.config.effective import Overrides

    return configuration(Overrides(config=config, no_config=no_config))


def run_overrides(
    *,
    paths: list[str] | None,
    config: str | None,
    no_config: bool,
    clusters: list[str] | None,
    include: list[str] | None,
    exclude: list[str] | None,
    no_gitignore: bool,
    policy: list[str] | None,
    rules: list[str] | None,
    skip_rules: list[str] | None,
    profile: str | None,
    fail_on: str | None,
    min_ratio: list[str] | None,
    min_coverage: list[str] | None,
    min_objects: int | None,
    output: str | None,
    formats: list[str] | None,
    lang: str | None,
    jobs: int | None,
) -> Overrides:
    """Checks every value of ``run`` and ``check`` before anything is read.

    Raises:
        UsageError: a value that cannot be used.
    """
    from audit.config.effective import Overrides
    from audit.model.rule import Severity

    return Overrides(
        config=config,
        no_config=no_config,
        paths=_given(paths),
        clusters=_given(clusters),
        include=_given(include),
        exclude=_given(exclude),
        gitignore=False if no_gitignore else None,
        policy=_given(policy),
        rules=_given(rules),
        skip_rules=_given(skip_rules),
        profile=one_of("--profile", profile, PROFILES) if profile is not None else None,
        fail_on=Severity(severity_of("--fail-on", fail_on)) if fail_on is not None else None,
        min_ratio=fractions_of("--min-ratio", min_ratio or ()),
        min_coverage=fractions_of("--min-coverage", min_coverage or ()),
        min_objects=min_objects,
        folder=output,
        formats=formats_of(formats or ()),
        lang=one_of("--lang", lang, LANGUAGES) if lang is not None else None,
        jobs=jobs,
    )


def _given(values: Iterable[str] | None) -> tuple[str, ...]:
    return tuple(values or ())
