"""Run an outside tool: no shell, a time limit, bounded output, a closed environment, typed failure."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

# What a renderer needs to start; nothing that lets it find a cluster, a proxy or somebody's credentials.
_KEPT_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")
# For tools without a proxy of their own: a proxy that nobody listens on, and a git that speaks no protocol.
_OFFLINE_ENVIRONMENT = {
    **dict.fromkeys(
        ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"), "http://127.0.0.1:9"
    ),
    "GIT_ALLOW_PROTOCOL": "none",
}
_PROBE_SECONDS = 10.0


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """How an outside tool ended."""

    ok: bool
    stdout: bytes
    problem: str = ""
    """One line for people; empty when ok."""


def find_tool(name: str) -> str | None:
    """Absolute path of a tool on PATH, or None."""
    return shutil.which(name)


def run_tool(
    path: str,
    arguments: list[str],
    *,
    folder: Path,
    home: Path,
    timeout_seconds: float,
    max_bytes: int,
    given: bytes = b"",
    keep: Sequence[str] = (),
    offline: bool = False,
) -> ToolResult:
    """Run `path` in `folder`, with `home` as its home so that it reads no personal configuration.

    `given` is what it reads on its standard input. `keep` names variables that it may see besides the few it needs to
    start: a tool that is meant to reach the network is told of proxies and authorities.

    `offline` keeps it from connecting as far as the platform lets an ordinary user do that: a second line only, so what
    would make it connect must have been ruled out before.

    Output beyond `max_bytes` is a failure, not a truncation: half a rendering would look whole.
    """
    environment = {name: os.environ[name] for name in (*_KEPT_ENVIRONMENT, *keep) if name in os.environ}
    environment |= {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_CACHE_HOME": str(home)}
    command = [path, *arguments]
    if offline:
        environment |= _OFFLINE_ENVIRONMENT
        command = [*_without_network(), *command]
    try:
        with subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE if given else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                stdout, _ = process.communicate(given or None, timeout=timeout_seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                return ToolResult(ok=False, stdout=b"", problem=f"no answer within {timeout_seconds:g} s")
            code = process.returncode
    except OSError as error:
        return ToolResult(ok=False, stdout=b"", problem=f"could not be started: {error.strerror}")
    if code != 0:
        # What the tool said may quote the input, secrets included, so it is not repeated.
        return ToolResult(ok=False, stdout=b"", problem=f"exit code {code}")
    if len(stdout) > max_bytes:
        return ToolResult(ok=False, stdout=b"", problem=f"printed {len(stdout)} bytes, limit {max_bytes}")
    return ToolResult(ok=True, stdout=stdout)


@functools.cache
def _without_network() -> tuple[str, ...]:
    """What starts a command in a network of its own that leads nowhere; nothing where that isn't permitted."""
    unshare, true = find_tool("unshare"), find_tool("true")
    if unshare is None or true is None:
        return ()
    prefix = (unshare, "--user", "--map-root-user", "--net", "--")
    try:
        probe = subprocess.run(
            [*prefix, true],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return prefix if probe.returncode == 0 else ()
