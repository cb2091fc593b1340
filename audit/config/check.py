"""Errors that no type can express: parts of the configuration that contradict each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

import msgspec

from audit.authored import KeyPath as Path
from audit.authored import dotted
from audit.config.judging import PolicySourceConfig
from audit.config.registries import RegistryConfig
from audit.config.schema import Config, FileConfig, Selector
from audit.config.suggest import did_you_mean
from audit.errors import ConfigError
from audit.loopback import is_loopback
from audit.model.expiry import expiry_of, moment_of


class Problem(msgspec.Struct, frozen=True):
    """One contradiction, at a path of the configuration."""

    path: Path
    message: str
    suggestion: str | None = None


def problems_within(config: FileConfig) -> Iterator[Problem]:
    """What is wrong with the file taken alone."""
    if config.clusters and config.paths:
        yield Problem(
            ("paths",), "paths and clusters exclude each other", "make the paths a cluster of their own"
        )
    yield from _cluster_problems(config)
    for index, exclude in enumerate(config.scope.exclude):
        place = ("scope", "exclude", index)
        if (exclude.path is None) == (exclude.selector is None):
            yield Problem(place, "needs either a path or a selector")
        elif exclude.selector == Selector():
            yield Problem((*place, "selector"), "an empty selector would exclude everything")
    for index, source in enumerate(config.policy.sources):
        if source.path.startswith("builtin:") and source != PolicySourceConfig(path=source.path):
            yield Problem(
                ("policy", "sources", index), f"{source.path} is known already: it takes no other key"
            )
    yield from _engine_problems(config)
    names = [key.name for key in config.snapshots.keys]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield Problem(("snapshots", "keys", index, "name"), f"another key is called {name}")
    yield from _moment_problems(config)
    yield from registry_problems(config.registries)


def registry_problems(registries: Sequence[RegistryConfig]) -> Iterator[Problem]:
    """Registries that contradict each other, or what is secure."""
    hosts = [registry.host.lower() for registry in registries]
    for index, registry in enumerate(registries):
        if hosts[index] in hosts[:index]:
            yield Problem(("registries", index, "host"), f"{registry.host} is listed already")
        if registry.insecure and not is_loopback(registry.host):
            yield Problem(
                ("registries", index, "insecure"),
                "only this machine may be asked without TLS",
                "name its authority under ca",
            )


def _moment_problems(config: FileConfig) -> Iterator[Problem]:
    if config.as_of is not None:
        try:
            moment_of(config.as_of)
        except ValueError as error:
            yield Problem(("as_of",), str(error))
    for index, gap in enumerate(config.allow_gaps):
        try:
            expiry_of(gap.expires)
        except ValueError as error:
            yield Problem(("allow_gaps", index, "expires"), str(error))


def _cluster_problems(config: FileConfig) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for index, cluster in enumerate(config.clusters):
        if cluster.name in seen:
            yield Problem(
                ("clusters", index, "name"),
                f"cluster {cluster.name} is already number {seen[cluster.name] + 1} of the list",
                "give each cluster its own name",
            )
        seen.setdefault(cluster.name, index)
        if sum((bool(cluster.paths), cluster.server is not None, cluster.snapshot is not None)) != 1:
            yield Problem(("clusters", index), "needs either paths, a server or a snapshot")
        server = cluster.server
        if server and server.in_cluster and (server.context or server.kubeconfig):
            yield Problem(
                ("clusters", index, "server"), "in_cluster takes neither a context nor a kubeconfig"
            )


def _engine_problems(config: FileConfig) -> Iterator[Problem]:
    opa = config.engine.opa
    if opa == type(opa)():
        return
    if config.engine.rego != "opa-server":
        yield Problem(
            ("engine", "opa"), "is only used with rego: opa-server", "set engine.rego, or remove it"
        )
    if opa.url is None:
        for key in ("token_env", "ca", "insecure", "bundle"):
            if getattr(opa, key):
                yield Problem(("engine", "opa", key), "needs the url of a running server")
        return
    if opa.binary is not None:
        yield Problem(
            ("engine", "opa", "binary"), "no server is started when there is a url", "remove one of them"
        )
    host = urlsplit(opa.url).hostname or ""
    if opa.token_env and opa.url.startswith("http:") and not opa.insecure and not is_loopback(host):
        yield Problem(
            ("engine", "opa", "url"),
            "the token would travel unencrypted",
            "use https, or accept it with insecure: true",
        )


def check_names(
    config: Config, *, rules: Iterable[str], controls: Mapping[str, Iterable[str]]
) -> list[ConfigError]:
    """Names in the configuration that the loaded content does not know.

    Args:
        config: the effective configuration.
        rules: ids of all loaded rules.
        controls: framework id to the ids of its controls.
    """
    known_rules = sorted(rules)
    known_controls = {framework: sorted(ids) for framework, ids in controls.items()}
    problems = [*_unknown_rules(config, known_rules), *_unknown_controls(config, known_controls)]
    return [_placed(problem, config) for problem in problems]


_OPTIONS = {
    ("rules", "select"): "--rule",
    ("rules", "skip"): "--skip-rule",
    ("gates", "min_ratio"): "--min-ratio",
    ("gates", "min_coverage"): "--min-coverage",
}


def _placed(problem: Problem, config: Config) -> ConfigError:
    """With the line of the file, or with the option when the command line said it."""
    key = dotted(problem.path)
    line = config.lines.get(key)
    option = _OPTIONS.get((str(problem.path[0]), str(problem.path[1])))
    if line is None and option:
        return ConfigError(problem.message, key=option, suggestion=problem.suggestion)
    return ConfigError(
        problem.message, file=config.file or None, line=line, key=key, suggestion=problem.suggestion
    )


def _unknown_rules(config: Config, known: list[str]) -> Iterator[Problem]:
    for key in ("select", "skip"):
        for index, pattern in enumerate(getattr(config.rules, key)):
            if not any(rule_matches(pattern, rule) for rule in known):
                yield Problem(
                    ("rules", key, index),
                    f"no rule is called {pattern}",
                    did_you_mean(pattern, known, otherwise="`fleetaudit rules` lists them"),
                )
    for rule in config.parameters:
        if rule not in known:
            yield Problem(
                ("parameters", rule),
                f"no rule is called {rule}",
                did_you_mean(rule, known, otherwise="`fleetaudit rules` lists them"),
            )


def _unknown_controls(config: Config, known: dict[str, list[str]]) -> Iterator[Problem]:
    for key in ("min_ratio", "min_coverage"):
        for framework in getattr(config.gates, key):
            if framework not in known:
                yield _unknown_framework(("gates", key, framework), framework, known)
    if isinstance(config.profile, str):
        return
    for framework, ids in config.profile.items():
        if framework not in known:
            yield _unknown_framework(("profile", framework), framework, known)
            continue
        for index, control in enumerate(ids):
            if control not in known[framework]:
                yield Problem(
                    ("profile", framework, index),
                    f"{framework} has no control {control}",
                    did_you_mean(control, known[framework], otherwise="`fleetaudit controls` lists them"),
                )


def _unknown_framework(path: Path, framework: str, known: Iterable[str]) -> Problem:
    names = sorted(known)
    return Problem(
        path,
        f"no framework is called {framework}",
        did_you_mean(framework, names, otherwise=f"known: {', '.join(names)}"),
    )


def rule_matches(pattern: str, rule: str) -> bool:
    """Whether a rule id is meant by an id or by a glob such as ``rbac/*``."""
    return fnmatchcase(rule, pattern)
