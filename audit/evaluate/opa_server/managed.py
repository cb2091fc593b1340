"""Starts a local ``opa run --server`` for one run, and sees that it ends with us."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from audit.errors import EngineError
from audit.evaluate.opa_server.connection import Connection
from audit.evaluate.opa_server.failures import one_line
from audit.evaluate.opa_server.scan import Path as PackagePath
from audit.evaluate.opa_server.settings import Secret, ServerSettings

_INSTALL = "install OPA (https://www.openpolicyagent.org/docs/#running-opa) and put `opa` on PATH, or name it in engine.opa.binary"
_START_SECONDS = 60.0
_STOP_SECONDS = 2.0
_LOOK_SECONDS = 0.2
_PORT_ATTEMPTS = 5
_LOG_BYTES = 16384
_GO_HEAP_SHARE = 0.7

# The shell stands between us and the server: when our end of its input closes, however we end, the server is killed.
_GUARD = """
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
(read -r line <&3; kill -9 "$server") >/dev/null 2>&1 &
guard=$!
exec 3<&-
wait "$server"
status=$?
kill -9 "$guard" 2>/dev/null
exit "$status"
"""


class Layout:
    """The folder a server is started from: a bundle that owns its packages, and leaves the inventory to us.

    Args:
        modules: file name to text.
        v0: names of `modules` written in the older dialect.
        data: JSON of ``data.json``.
        roots: paths of the packages and data in it.
    """

    def __init__(
        self, modules: dict[str, str], v0: frozenset[str], data: bytes, roots: Sequence[PackagePath]
    ) -> None:
        self.modules = modules
        self.v0 = v0
        self.data = data
        self.roots = roots

    def write(self, folder: Path, token: Secret) -> None:
        """Write it below `folder`. Of the token, only a digest is written."""
        (folder / "m").mkdir()
        for name, text in self.modules.items():
            (folder / "m" / name).write_text(text, encoding="utf-8")
        (folder / "data.json").write_bytes(self.data)
        digest = hashlib.sha256(token.reveal().encode()).hexdigest()
        (folder / "authz.rego").write_text(
            "package system.authz\n\ndefault allow := false\n\n"
            f'allow if crypto.sha256(input.identity) == "{digest}"\n',
            encoding="utf-8",
        )
        manifest = {
            "revision": "",
            "roots": ["/".join(root) for root in outermost([*self.roots, ("system", "authz")])],
            "rego_version": 1,
            "file_rego_versions": {f"/m/{name}": 0 for name in sorted(self.v0)},
        }
        (folder / ".manifest").write_text(json.dumps(manifest), encoding="utf-8")


def outermost(paths: Sequence[PackagePath]) -> list[PackagePath]:
    """Without those that lie below another one."""
    kept: list[PackagePath] = []
    for path in sorted(set(paths)):
        if not any(path[: len(other)] == other for other in kept):
            kept.append(path)
    return kept


class ManagedServer:
    """One server process on a loopback port that only we have the token of.

    Args:
        settings: binary, memory, cores.
        layout: what it serves.

    Raises:
        EngineError: there is no ``opa``, or it doesn't start.
    """

    def __init__(self, settings: ServerSettings, layout: Layout) -> None:
        self._settings = settings
        self.binary = _find(settings.binary)
        self._token = Secret(secrets.token_urlsafe(32))
        self._home = Path(tempfile.mkdtemp(prefix="fleetaudit-opa-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._over = threading.Event()
        try:
            (self._home / "bundle").mkdir()
            (self._home / "tmp").mkdir()
            layout.write(self._home / "bundle", self._token)
            self.connection = self.start()
        except BaseException:
            self.close()
            raise

    def start(self) -> Connection:
        """Start a process on a free port, and wait until it answers.

        Raises:
            EngineError: it ends, or doesn't answer.
        """
        said = ""
        for _ in range(_PORT_ATTEMPTS):
            port = _free_port()
            self._process = self._spawn(port)
            connection = Connection(f"http://127.0.0.1:{port}", self._token, self._settings)
            said = self._wait(connection)
            if not said:
                return connection
            connection.close()
            self._kill()
            if "address already in use" not in said:
                break
        raise EngineError(f"the OPA server does not start: {said}")

    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.poll() is None

    def close(self) -> None:
        """End the process and remove its folder."""
        self._over.set()
        self._kill()
        shutil.rmtree(self._home, ignore_errors=True)

    def kill(self) -> None:
        """End the process, so that it can be started anew."""
        self._kill()

    def sha256(self) -> str:
        """Digest of the program."""
        digest = hashlib.sha256()
        with Path(self.binary).open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
        return digest.hexdigest()

    def _spawn(self, port: int) -> subprocess.Popen[bytes]:
        arguments = [
            "run",
            "--server",
            f"--addr=127.0.0.1:{port}",
            "--authentication=token",
            "--authorization=basic",
            "--skip-version-check",
            "--log-level=error",
            "--log-format=json",
            "--shutdown-grace-period=1",
            "--bundle",
            "bundle",
        ]
        environment = {
            "PATH": os.defpath,
            "HOME": str(self._home),
            "TMPDIR": str(self._home / "tmp"),
            "TZ": "UTC",
            "GOGC": "400",  # a small heap that is collected all the time costs a fifth of the speed
            "GOMAXPROCS": str(max(self._settings.jobs, 1)),
            "GOMEMLIMIT": f"{int(self._settings.memory_bytes * _GO_HEAP_SHARE)}B",
        }
        try:
            with (self._home / "log").open("wb") as log:
                process = subprocess.Popen(
                    ["/bin/sh", "-c", _GUARD, "sh", self.binary, *arguments],
                    cwd=self._home,
                    env=environment,
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
        except OSError as error:
            raise EngineError(f"{self.binary} can't be started: {error.strerror}") from error
        threading.Thread(target=self._watch, args=(process,), name="opa-memory", daemon=True).start()
        return process

    def _wait(self, connection: Connection) -> str:
        """Empty once the server answers, else why it never will."""
        deadline = time.monotonic() + _START_SECONDS
        pause = 0.02
        while time.monotonic() < deadline:
            if not self.alive():
                return self._last_words()
            if connection.healthy():
                return ""
            time.sleep(pause)
            pause = min(pause * 1.5, 0.5)
        return f"no answer within {_START_SECONDS:g} s"

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            lines = (self._home / "log").read_bytes()[-_LOG_BYTES:].decode("utf-8", "replace").splitlines()
            for line in reversed(lines):
                with contextlib.suppress(ValueError):
                    entry = json.loads(line)
                    if isinstance(entry, dict) and entry.get("level") in {"error", "fatal"}:
                        return one_line(f"{entry.get('msg', '')} {entry.get('err', '')}")
            text = [line for line in lines if line.strip() and not line.startswith("{")]
            if text:
                return one_line(text[0])
        return "it ended at once"

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a server that grows over its limit: Go's own limit is only a wish. Linux only."""
        pages = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
        while not self._over.wait(_LOOK_SECONDS) and process.poll() is None:
            try:
                resident = sum(_resident_pages(pid) for pid in _group(process.pid)) * pages
            except OSError:
                return
            if resident > 2 * self._settings.memory_bytes:
                _kill_group(process)
                return

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin:
            with contextlib.suppress(OSError):
                process.stdin.close()
        _kill_group(process)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_SECONDS)


def _find(wanted: str) -> str:
    found = shutil.which(wanted or "opa")
    if found is None:
        said = f"there is no executable {wanted}" if wanted else "there is no `opa` on PATH"
        raise EngineError(f"{said}, so no OPA server can be started", suggestion=_INSTALL)
    return str(Path(found).resolve())


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


def _group(leader: int) -> list[int]:
    children = Path(f"/proc/{leader}/task/{leader}/children").read_text(encoding="ascii").split()
    return [int(child) for child in children]


def _resident_pages(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
