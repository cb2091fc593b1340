"""What a command line may say about the configuration."""

from __future__ import annotations

from typing import Literal

import msgspec

from audit.config.schema import CustomProfile
from audit.model.rule import Severity


class Overrides(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line said. None or empty means it said nothing, and the file or the default holds."""

    config: str | None = None
    no_config: bool = False
    title: str | None = None
    paths: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()
    kubeconfig: str | None = None
    in_cluster: bool = False
    register: str | None = None
    policy: tuple[str, ...] = ()
    as_of: str | None = None
    registries: tuple[str, ...] = ()
    require_signed: Literal["refuse", "mark"] | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    gitignore: bool | None = None
    engine: Literal["embedded", "opa-server"] | None = None
    rules: tuple[str, ...] = ()
    skip_rules: tuple[str, ...] = ()
    profile: str | CustomProfile | None = None
    fail_on: Severity | None = None
    min_ratio: dict[str, float] = {}
    min_coverage: dict[str, float] = {}
    min_objects: int | None = None
    jobs: int | None = None
    no_cache: bool = False
    folder: str | None = None
    formats: tuple[str, ...] = ()
    lang: str | None = None
    history: str | None = None
    no_history: bool = False
