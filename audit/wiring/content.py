"""What people wrote: the built-in content and the user's, loaded, checked against the configuration, and selected."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from audit.config.check import check_names, rule_matches
from audit.config.schema import Config
from audit.errors import UsageError
from audit.evaluate.reader.engine import DUPLICATE_KEY
from audit.library.foreign.git import is_git
from audit.library.foreign.opening import open_source
from audit.library.library import Library, LibrarySources, load_all
from audit.library.policy_source import PolicySource
from audit.library.shipped import BUILTIN, kyverno_pack
from audit.native.evaluator import Evaluator
from audit.resources import content_dir
from audit.wiring.engines import embedded_opa
from audit.wiring.moment import SystemClock, judging
from audit.wiring.signed_content import SignedContent


def load_library(config: Config) -> Library:
    """Load all authored content, without anything else.

    Raises:
        AuditError: something of it is wrong.
    """
    with embedded_opa(config) as evaluator:
        return load(config, evaluator, judging(config, SystemClock()).clock.now())


def load(config: Config, evaluator: Evaluator, now: dt.datetime) -> Library:
    """Like `load_library`, with an engine that is running already.

    Args:
        config: which content there is besides what is shipped.
        evaluator: a started engine.
        now: the moment that signatures of content are judged at.

    Raises:
        AuditError: something of it is wrong.
    """
    own = list(_policy_sources(config))
    # Before anything is parsed: what nobody vouches for is not even read.
    signed = SignedContent(config, own, now)
    sources = LibrarySources(
        policies=[
            PolicySource(path=content_dir("rego"), label="rego", builtin=True),
            *own,
        ],
        kyverno=[source for path in _builtin(config) for source in kyverno_pack(path)],
        parameters=config.parameters,
        pod_templates=[Path(path) for path in config.pod_templates],
        mappings=[Path(path) for path in config.mappings],
        twins=[Path(path) for path in config.twins],
        components=[content_dir("controls") / "components.yaml", *(Path(path) for path in config.components)],
        waivers=[Path(path) for path in config.waivers],
        statements=[Path(path) for path in config.statements],
        clusters=config.cluster_names(),
    )
    library = load_all(sources, evaluator, (DUPLICATE_KEY,))
    signed.still_the_same()
    library = msgspec.structs.replace(
        library,
        signatures=signed.of_rules(library.rules),
        notices=(*signed.notices(library.rules), *library.notices),
    )
    _check_names(config, library)
    return library


def selected_rules(config: Config, library: Library) -> frozenset[str]:
    """Ids of the rules that are asked."""

    def meant(patterns: Sequence[str], rule: str) -> bool:
        return any(rule_matches(pattern, rule) for pattern in patterns)

    return frozenset(
        rule.id
        for rule in library.rules
        if (not config.rules.select or meant(config.rules.select, rule.id))
        and not meant(config.rules.skip, rule.id)
    )


def _check_names(config: Config, library: Library) -> None:
    problems = check_names(
        config,
        rules=[rule.id for rule in library.rules],
        controls={catalog.id: [c.id for c in catalog.controls] for catalog in library.catalogs},
    )
    if problems:
        first, *others = problems
        first.others = tuple(others)
        raise first


def _builtin(config: Config) -> list[str]:
    """Shipped packs that are asked for, each once."""
    asked = (*config.policy.paths, *(entry.path for entry in config.policy.sources))
    return list(dict.fromkeys(path for path in asked if path.startswith(BUILTIN)))


def _policy_sources(config: Config) -> Iterator[PolicySource]:
    """The user's policies, pinned addresses fetched.

    Raises:
        UsageError: a path leads nowhere. What cannot be fetched, or is no good policy, is a gap instead.
    """
    named = [*config.policy.paths, *(entry.path for entry in config.policy.sources)]
    missing = [
        UsageError(
            "no such policy file or folder",
            file=path,
            suggestion="--policy and the configuration's policy.paths name files, folders or pinned git addresses",
        )
        for path in named
        if not is_git(path) and not path.startswith(BUILTIN) and not Path(path).exists()
    ]
    if missing:
        missing[0].others = tuple(missing[1:])
        raise missing[0]
    cache = (Path(config.cache) if config.cache else Path.home() / ".cache") / "fleetaudit" / "policies"
    for path in config.policy.paths:
        if not path.startswith(BUILTIN):
            yield open_source(path, cache)
    for entry in config.policy.sources:
        if entry.path.startswith(BUILTIN):
            continue
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
