"""The single observations of ``fleetaudit doctor``."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

import audit
from audit.config.environment import Environment
from audit.errors import AuditError, EngineError
from audit.process import run_tool

_TIMEOUT_SECONDS = 10.0
_MOST_BYTES = 100_000


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """One thing looked at."""

    name: str
    present: bool
    detail: str
    without: str = ""
    """What is lost when it is absent."""
    essential: bool = False
    """Without it nothing can be audited."""


class _Tool(msgspec.Struct, frozen=True):
    name: str
    arguments: tuple[str, ...]
    without: str


_TOOLS = (
    _Tool("helm", ("version", "--short"), "Helm charts are not rendered: each is a gap"),
    _Tool("kubectl", ("version", "--client"), "kustomizations are not rendered: each is a gap"),
    _Tool("opa", ("version",), "no OPA server can be started (engine.rego: opa-server)"),
)


def examine(environment: Environment) -> list[Observation]:
    """All observations, the essential ones first."""
    return [
        _version(),
        _engine(),
        *_content(),
        _cores(environment),
        _memory(),
        _temporary_folder(),
        *(_tool(tool, environment) for tool in _TOOLS),
        _kyverno(),
        _kyverno_batch(),
        _terminal(environment),
        _locale(environment),
        *_network_settings(environment),
    ]


def _version() -> Observation:
    python = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    return Observation(name="fleetaudit", present=True, detail=f"{audit.__version__}, {python}")


def _engine() -> Observation:
    from audit.evaluate.rego.engine import embedded_version

    without = "no rule can be asked"
    try:
        version = embedded_version()
    except AuditError as error:
        return Observation(name="engine", present=False, detail=str(error), without=without, essential=True)
    digest = f", sha256 {version.binary_sha256[:12]}..." if version.binary_sha256 else ""
    detail = f"{version.name} {version.version}{digest}"
    return Observation(name="engine", present=True, detail=detail, without=without, essential=True)


def _content() -> Iterator[Observation]:
    from audit.resources import content_dir

    for name in ("rego", "controls", "reports"):
        try:
            folder = content_dir(name)
        except AuditError as error:
            yield Observation(name=name, present=False, detail=str(error), essential=True)
        else:
            yield Observation(name=name, present=True, detail=str(folder), essential=True)


def _cores(environment: Environment) -> Observation:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limit = f", FLEETAUDIT_JOBS={environment.jobs}" if environment.jobs else ""
    return Observation(name="cores", present=True, detail=f"{usable} usable{limit}")


def _memory() -> Observation:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = _cgroup_limit()
    detail = f"{total / 2**30:.1f} GiB"
    if limit is not None and limit < total:
        detail += f", limited to {limit / 2**30:.1f} GiB"
    return Observation(name="memory", present=True, detail=detail)


def _cgroup_limit() -> int | None:
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(name).read_text(encoding="ascii").strip()
        except OSError:
            continue
        return int(text) if text.isdigit() else None
    return None


def _temporary_folder() -> Observation:
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    return Observation(name="temporary", present=True, detail=f"{folder}, {free / 2**30:.1f} GiB free")


def _tool(tool: _Tool, environment: Environment) -> Observation:
    path = shutil.which(tool.name, path=environment.search_path)
    if path is None:
        return Observation(name=tool.name, present=False, detail="not on PATH", without=tool.without)
    with tempfile.TemporaryDirectory(prefix="fleetaudit-") as home:
        result = run_tool(
            path,
            list(tool.arguments),
            folder=Path(home),
            home=Path(home),
            timeout_seconds=_TIMEOUT_SECONDS,
            max_bytes=_MOST_BYTES,
        )
    if not result.ok:
        detail = f"{path} does not work: {result.problem}"
        return Observation(name=tool.name, present=False, detail=detail, without=tool.without)
    lines = [line.strip() for line in result.stdout.decode("utf-8", "replace").splitlines() if line.strip()]
    return Observation(name=tool.name, present=True, detail=f"{lines[0] if lines else 'works'} ({path})")


def _kyverno() -> Observation:
    """As a run finds it: named by the environment, or under either of its names on PATH."""
    from audit.evaluate.kyverno.binary import find_kyverno

    without = "Kyverno policies are a gap, and exit code 3"
    try:
        cli = find_kyverno()
    except EngineError as error:
        return Observation(name="kyverno", present=False, detail=_told(error), without=without)
    version = cli.engine_version()
    assumed = version.details.get("capabilities", "")
    detail = f"{version.version}{f' ({assumed})' if assumed else ''} ({cli.path})"
    return Observation(name="kyverno", present=True, detail=detail)


def _kyverno_batch() -> Observation:
    from audit.evaluate.kyverno.batch.program import find_batch
    from audit.native.binary import said_by

    without = "the Kyverno CLI judges alone, which takes longer"
    try:
        program = find_batch()
        version = said_by(program).kyverno
    except EngineError as error:
        return Observation(name="kyverno-batch", present=False, detail=_told(error), without=without)
    return Observation(name="kyverno-batch", present=True, detail=f"Kyverno {version} ({program.path})")


def _told(error: AuditError) -> str:
    """What is wrong, and what to do about it."""
    return f"{error.message}; {error.suggestion}" if error.suggestion else error.message


def _terminal(environment: Environment) -> Observation:
    if not sys.stdout.isatty():
        detail = "standard output is no terminal: plain text"
    elif environment.no_color:
        detail = f"{environment.term or 'unknown'}, colour off (NO_COLOR or TERM)"
    else:
        detail = f"{environment.term or 'unknown'}, {shutil.get_terminal_size().columns} columns, colour on"
    return Observation(name="terminal", present=True, detail=detail)


def _locale(environment: Environment) -> Observation:
    encoding = (sys.stdout.encoding or "unknown").lower()
    detail = f"{environment.locale or 'not set'}, output {encoding}"
    without = "" if encoding.startswith("utf") else "characters outside this encoding are printed as ?"
    return Observation(name="locale", present=encoding.startswith("utf"), detail=detail, without=without)


def _network_settings(environment: Environment) -> Iterator[Observation]:
    proxies = ", ".join(environment.proxies) or "none set"
    yield Observation(name="proxies", present=True, detail=f"{proxies}; not used by audits of local input")
    authorities = ", ".join(environment.authorities) or "system trust store"
    yield Observation(
        name="certificates", present=True, detail=f"{authorities}; not used by audits of local input"
    )
