"""The effective configuration: defaults, then the file, then the environment, then the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from audit.authored import Document, KeyPath, dotted
from audit.config.arguments import judging_arguments
from audit.config.environment import Environment
from audit.config.fleet import RegisteredCluster
from audit.config.load import FILE_NAME, load_register, read_file
from audit.config.overrides import Overrides
from audit.config.registries import with_asked
from audit.config.schema import (
    DEFAULT_CLUSTER,
    IN_CLUSTER,
    ClusterConfig,
    Config,
    FileConfig,
    ScopeExclude,
    ServerConfig,
)
from audit.config.suggest import did_you_mean
from audit.config.values import check_values
from audit.errors import ConfigError, UsageError
from audit.redact import redacted

_ADDRESSES = ("git+", "builtin:")
"""Beginnings of policy sources that are no paths."""
_WITH_NAMES = {("rules",), ("parameters",), ("gates",), ("profile",)}
"""Where the file names rules and controls, which are only known once content is loaded."""
_NOT_RECORDED = ("output", "jobs", "result_cache", "history")


def effective_config(overrides: Overrides, environment: Environment, folder: Path) -> Config:
    """Put the layers together.

    Args:
        overrides: the command line.
        environment: the surroundings.
        folder: the working folder, where ``fleetaudit.yaml`` is found without being named. Files inside the audited
            paths are never taken as configuration: the audited party must not choose its own rules.

    Raises:
        ConfigError: the file is wrong.
        UsageError: the command line contradicts the file, or has a value that cannot be used.
    """
    check_values(overrides)
    path = find_file(overrides, environment, folder)
    written, document = read_file(path) if path else (FileConfig(), None)
    base = path.parent if path else Path()
    plain = msgspec.to_builtins(written)
    resolved = _resolved(msgspec.to_builtins(written), base)
    for data in (plain, resolved):
        _overlay(data, overrides, environment)
    lines = _lines(document, msgspec.to_builtins(written), plain) if document else {}
    record = redacted({key: plain[key] for key in plain if key not in _NOT_RECORDED})
    file = str(path) if path else ""
    own = {
        "file": file,
        "record": record,
        "lines": lines,
        "cache": environment.cache,
        "arguments": judging_arguments(overrides, file),
        "registered": tuple(cluster.name for cluster in written.clusters),
        "fleet": msgspec.to_builtins(_fleet(resolved["register"], overrides)),
    }
    for cluster in resolved["clusters"]:
        if not cluster["paths"]:
            del cluster["paths"]  # a server or a snapshot has none; a written empty list was refused
    return msgspec.convert({**resolved, **own}, Config)


def _fleet(register: str | None, overrides: Overrides) -> tuple[RegisteredCluster, ...]:
    """The registered clusters that are meant: all of them, or the one that is named."""
    if register is None:
        return ()
    fleet = load_register(Path(register))
    if overrides.paths or overrides.contexts or overrides.in_cluster or not overrides.clusters:
        return fleet
    return tuple(cluster for cluster in fleet if cluster.name in overrides.clusters)


def _lines(document: Document[ConfigError], written: Any, effective: Any) -> dict[str, int]:
    """Lines of the names that the file gives and the command line left alone, by dotted key."""
    return {
        dotted(path): line
        for path, line in document.lines.items()
        if path[:1] in _WITH_NAMES and _at(written, path) == _at(effective, path)
    }


def _at(data: Any, path: KeyPath) -> Any:
    for segment in path:
        try:
            data = data[segment]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def find_file(overrides: Overrides, environment: Environment, folder: Path) -> Path | None:
    """The configuration file that is used, if any.

    Raises:
        ConfigError: a file was named and is not there.
    """
    if overrides.no_config:
        return None
    named = overrides.config or environment.config
    if named:
        path = Path(named)
        path = path / FILE_NAME if path.is_dir() else path
        if not path.is_file():
            raise ConfigError(
                "there is no such configuration file",
                file=str(path),
                suggestion="`fleetaudit init` writes one",
            )
        return path
    if (folder / FILE_NAME).is_file():
        return Path(FILE_NAME) if folder == Path() else folder / FILE_NAME
    wrong = folder / "fleetaudit.yml"
    if wrong.is_file():
        raise ConfigError(
            f"the configuration file is called {FILE_NAME}", file=str(wrong), suggestion="rename it"
        )
    return None


def _resolved(data: dict[str, Any], base: Path) -> dict[str, Any]:
    def place(paths: list[str]) -> list[str]:
        return [_placed(path, base) for path in paths]

    for cluster in data["clusters"]:
        _resolve_cluster(cluster, base)
    for key in ("paths", "pod_templates", "mappings", "twins", "components", "waivers", "statements"):
        data[key] = place(data[key])
    _resolve_policy(data["policy"], base)
    for key in ("signatures", "register"):
        if data[key] is not None:
            data[key] = str(base / data[key])
    if data["consistency"] and data["consistency"]["baseline"]:
        data["consistency"]["baseline"] = _placed(data["consistency"]["baseline"], base)
    _resolve_registries(data["registries"], base)
    for key in data["snapshots"]["keys"]:
        key["path"] = str(base / key["path"])
    data["output"]["folder"] = str(base / data["output"]["folder"])
    if data["history"]["url"] is not None:
        data["history"]["url"] = _placed_history(data["history"]["url"], base)
    _resolve_engines(data["engine"], base)
    return data


def _resolve_policy(policy: dict[str, Any], base: Path) -> None:
    policy["paths"] = [_placed(path, base) for path in policy["paths"]]
    if policy["signers"] is not None:
        policy["signers"] = str(base / policy["signers"])
    for source in policy["sources"]:
        source["path"] = _placed(source["path"], base)
        for key in ("data", "libraries"):
            source[key] = [_placed(path, base) for path in source[key]]


def _resolve_engines(engines: dict[str, Any], base: Path) -> None:
    for name, files in (("opa", ("ca",)), ("kyverno", ("values", "user_info", "context"))):
        engine = engines[name]
        for key in files:
            if engine[key] is not None:
                engine[key] = str(base / engine[key])
        if engine["binary"] is not None and "/" in engine["binary"]:
            engine["binary"] = str(base / engine["binary"])


def _resolve_registries(registries: list[dict[str, Any]], base: Path) -> None:
    for registry in registries:
        for key in ("ca", "docker_config"):
            if registry[key] is not None:
                registry[key] = str(base / registry[key])


def _placed(path: str, base: Path) -> str:
    is_address = path == "-" or path.startswith(_ADDRESSES) or "://" in path
    return path if is_address else str(base / path)


def _placed_history(url: str, base: Path) -> str:
    """An SQLite file is relative to the configuration, as a path and as a URL with three slashes."""
    scheme, found, path = url.partition("://")
    if not found:
        return str(base / url)
    if scheme.lower() == "sqlite" and path.startswith("/") and not path.startswith("//"):
        return f"sqlite:///{quote(str(base))}/{path[1:]}"
    return url


def _resolve_cluster(cluster: dict[str, Any], base: Path) -> None:
    cluster["paths"] = [_placed(path, base) for path in cluster["paths"]]
    if cluster["snapshot"]:
        cluster["snapshot"] = _placed(cluster["snapshot"], base)
    if cluster["server"] and cluster["server"]["kubeconfig"]:
        cluster["server"]["kubeconfig"] = str(base / cluster["server"]["kubeconfig"])


def _overlay(data: dict[str, Any], over: Overrides, environment: Environment) -> None:
    _overlay_scope(data, over)
    data["policy"]["paths"] = [*data["policy"]["paths"], *over.policy]
    if over.require_signed is not None:
        data["policy"]["require_signed"] = over.require_signed
    if over.rules:
        data["rules"]["select"] = list(over.rules)
    if over.engine is not None:
        data["engine"]["rego"] = over.engine
    data["rules"]["skip"] = [*data["rules"]["skip"], *over.skip_rules]
    simple: tuple[tuple[str, Any], ...] = (
        ("title", over.title),
        ("profile", over.profile),
        ("jobs", over.jobs or environment.jobs),
        ("register", over.register),
        ("as_of", over.as_of),
    )
    data.update({key: value for key, value in simple if value is not None})
    data["registries"] = list(with_asked(data["registries"], over.registries))
    if over.no_cache:
        data["result_cache"]["enabled"] = False
    gates = data["gates"]
    if over.fail_on is not None:
        gates["fail_on"] = over.fail_on.value
    if over.min_objects is not None:
        gates["min_objects"] = over.min_objects
    gates["min_ratio"] = {**gates["min_ratio"], **over.min_ratio}
    gates["min_coverage"] = {**gates["min_coverage"], **over.min_coverage}
    if over.no_history:
        data["history"]["url"] = None
    else:
        data["history"]["url"] = over.history or environment.history or data["history"]["url"]
    output = data["output"]
    output["folder"] = over.folder or output["folder"]
    output["formats"] = list(over.formats) or output["formats"]
    output["lang"] = over.lang or environment.lang or output["lang"]


def _servers(over: Overrides) -> list[ClusterConfig]:
    """The running clusters that the command line names."""
    if over.in_cluster and over.contexts:
        raise UsageError("--in-cluster and --context exclude each other")
    servers = [ServerConfig(context=name, kubeconfig=over.kubeconfig) for name in over.contexts]
    if over.in_cluster:
        servers = [ServerConfig(in_cluster=True)]
    if not servers:
        return []
    if over.paths:
        raise UsageError(
            "paths and running clusters are not audited in one call",
            suggestion="list both under clusters in fleetaudit.yaml",
        )
    names = over.clusters or tuple(server.context or IN_CLUSTER for server in servers)
    if len(names) != len(servers):
        raise UsageError(
            f"{len(servers)} contexts and {len(names)} names", suggestion="give each its --cluster NAME"
        )
    return [ClusterConfig(name=name, server=server) for name, server in zip(names, servers, strict=True)]


def _overlay_scope(data: dict[str, Any], over: Overrides) -> None:
    if servers := _servers(over):
        data["clusters"] = [msgspec.to_builtins(cluster) for cluster in servers]
        data["paths"] = []
    elif over.paths:
        if len(over.clusters) > 1:
            raise UsageError(
                "paths on the command line are one cluster, and several names are given",
                suggestion="give one --cluster NAME, or list the clusters in fleetaudit.yaml",
            )
        name = over.clusters[0] if over.clusters else DEFAULT_CLUSTER
        data["clusters"] = [msgspec.to_builtins(ClusterConfig(name=name, paths=over.paths))]
        data["paths"] = []
    elif over.clusters:
        known = [cluster["name"] for cluster in data["clusters"]]
        for name in over.clusters:
            if name not in known:
                raise UsageError(
                    f"no cluster is called {name}",
                    suggestion=did_you_mean(
                        name, known, otherwise=f"known: {', '.join(known)}" if known else "name a PATH too"
                    ),
                )
        data["clusters"] = [c for c in data["clusters"] if c["name"] in over.clusters]
    data["files"]["include"] = list(over.include) or data["files"]["include"]
    if over.gitignore is not None:
        data["files"]["gitignore"] = over.gitignore
    data["scope"]["exclude"] = [
        *data["scope"]["exclude"],
        *(
            msgspec.to_builtins(ScopeExclude(path=pattern, reason="--exclude on the command line"))
            for pattern in over.exclude
        ),
    ]
