"""Run the CLI: own process group, own home and temporary folder, closed environment, limits, output to files."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import msgspec

TIMED_OUT = "timed_out"
OUT_OF_MEMORY = "out_of_memory"
TOO_MUCH_OUTPUT = "too_much_output"
KILLED = "killed"
NOT_STARTED = "not_started"
STOPPED = "stopped"

_KEPT_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT")
# Go's HTTP clients obey these: nothing listens there, so every call to the network fails at once.
_DEAD_PROXY = "http://127.0.0.1:9"
_FIRST_LOOK_SECONDS = 0.02
_LOOK_SECONDS = 0.2


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of one run."""

    seconds: float
    memory_bytes: int
    """Resident memory; watched where the system tells it (Linux), a soft limit of Go's collector elsewhere."""
    output_bytes: int = 1 << 30
    gc_percent: int = 400
    """GOGC: at 400 the CLI needs 30 % less time and about twice the memory."""


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended."""

    code: int
    stdout: Path
    stderr: Path
    problem: str = ""
    """Empty, or one of the codes of this module."""

    def stdout_text(self, limit: int) -> str:
        """The first `limit` bytes of standard output."""
        return _head(self.stdout, limit)

    def stderr_tail(self, limit: int) -> str:
        """The last `limit` bytes of standard error."""
        try:
            with self.stderr.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - limit))
                return file.read().decode("utf-8", "replace")
        except OSError:
            return ""

    def stderr_head(self, limit: int) -> str:
        """The first `limit` bytes of standard error."""
        return _head(self.stderr, limit)


class ToolRunner:
    """Starts tools and can stop all of them; safe to use from several threads."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def run(self, command: list[str], folder: Path, limits: Limits) -> RunResult:
        """Run `command` inside `folder`, which must be its own: its output and home are put there."""
        stdout, stderr = folder / "stdout", folder / "stderr"
        for name in ("home", "tmp"):
            (folder / name).mkdir(exist_ok=True)
        try:
            with stdout.open("wb") as out, stderr.open("wb") as err:
                process = subprocess.Popen(
                    command,
                    cwd=folder,
                    env=_environment(folder, limits),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                )
        except OSError as error:
            stderr.write_text(f"could not be started: {error.strerror}\n", encoding="utf-8")
            return RunResult(code=-1, stdout=stdout, stderr=stderr, problem=NOT_STARTED)
        with self._lock:
            self._running.add(process)
            stopped = self._stopped
        try:
            problem = STOPPED if stopped else _watch(process, (stdout, stderr), limits)
        finally:
            _kill_group(process)
            with self._lock:
                self._running.discard(process)
        if not problem and process.returncode < 0:
            problem = STOPPED if self._stopped else KILLED
        return RunResult(code=process.returncode, stdout=stdout, stderr=stderr, problem=problem)

    def stop(self) -> None:
        """Kill everything that runs; later runs end at once."""
        with self._lock:
            self._stopped = True
            running = list(self._running)
        for process in running:
            _kill_group(process)


def dead_network() -> dict[str, str]:
    """Environment in which every call to the network fails at once."""
    return {"HTTP_PROXY": _DEAD_PROXY, "HTTPS_PROXY": _DEAD_PROXY, "NO_PROXY": ""}


def _environment(folder: Path, limits: Limits) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
    home = str(folder / "home")
    return (
        kept
        | dead_network()
        | {
            "HOME": home,
            "TMPDIR": str(folder / "tmp"),
            "XDG_CONFIG_HOME": home,
            "XDG_CACHE_HOME": home,
            "DOCKER_CONFIG": home,
            "KUBECONFIG": str(folder / "no-kubeconfig"),
            "GOGC": str(limits.gc_percent),
            "GOMEMLIMIT": str(limits.memory_bytes * 9 // 10),
            "GOMAXPROCS": "2",
            "GOTRACEBACK": "single",
        }
    )


def _watch(process: subprocess.Popen[bytes], outputs: tuple[Path, Path], limits: Limits) -> str:
    deadline = time.monotonic() + limits.seconds
    pause = _FIRST_LOOK_SECONDS
    while True:
        try:
            process.wait(timeout=pause)
        except subprocess.TimeoutExpired:
            pass
        else:
            return ""
        pause = min(_LOOK_SECONDS, pause * 2)
        if time.monotonic() > deadline:
            return TIMED_OUT
        if _resident_bytes(process.pid) > limits.memory_bytes:
            return OUT_OF_MEMORY
        if sum(_size(path) for path in outputs) > limits.output_bytes:
            return TOO_MUCH_OUTPUT


def _resident_bytes(pid: int) -> int:
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0  # not Linux, or just ended
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """The group is the child's own (a new session), so nobody else is hit; waits until the child is gone."""
    if process.poll() is not None:
        return  # its number may belong to somebody else by now
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _head(path: Path, limit: int) -> str:
    try:
        with path.open("rb") as file:
            return file.read(limit).decode("utf-8", "replace")
    except OSError:
        return ""
