"""One child process: started, spoken to, listened to, and killed when it hangs."""

from __future__ import annotations

import collections
import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from typing import IO

import msgspec

from audit.errors import EngineError
from audit.native import frames
from audit.native.binary import Hello, Program, embedded
from audit.native.frames import Kind, Message

_START_SECONDS = 60.0
_STOP_SECONDS = 2.0
_POLL_SECONDS = 0.5
_STDERR_LINES = 200
_STDERR_LINE_BYTES = 2000
_QUEUED_MESSAGES = 16
MIN_PATIENCE = 10.0
"""Seconds a child may be silent at least, however short its items' limit is."""
_GO_HEAP_SHARE = 0.7
"""Share of the memory limit at which Go collects garbage as hard as it can, before anybody is stopped."""
EXIT_MEMORY = 86
"""Exit code of a child whose watchdog saw it over its memory limit."""


class ChildDiedError(Exception):
    """The child is gone, by itself or because it was killed for hanging. The text says which."""


class _Heartbeat(msgspec.Struct, frozen=True):
    oldest_ms: int
    resident: int


class _Failure(msgspec.Struct, frozen=True):
    code: str
    message: str


class Child:
    """A running child in one mode.

    Args:
        mode: what the program is to do, for example ``read`` or ``eval``.
        jobs: cores it may use.
        memory_bytes: resident memory after which it stops itself.
        item_seconds: time limit of one item inside the child; it is killed after three times as long.
        program: which program; the embedded engine when not given.

    Raises:
        EngineError: there is no program, it does not start, or it is not the right one.
    """

    def __init__(
        self,
        mode: str,
        *,
        jobs: int,
        memory_bytes: int,
        item_seconds: float,
        program: Program | None = None,
    ) -> None:
        self.program = program or embedded()
        self._patience = max(3 * item_seconds, MIN_PATIENCE)
        self._messages: queue.Queue[Message | None] = queue.Queue(maxsize=_QUEUED_MESSAGES)
        self._stderr: collections.deque[str] = collections.deque(maxlen=_STDERR_LINES)
        self._heard = time.monotonic()
        self._oldest = 0.0
        self._closing = False
        self._fault = ""
        self.resident = 0
        self.peak_resident = 0
        """Largest resident memory that a heartbeat told, in bytes."""
        environment = {
            "GOGC": "400",  # a small heap that is collected all the time costs a fifth of the speed
            "GOMAXPROCS": str(jobs),
            "GOMEMLIMIT": f"{int(memory_bytes * _GO_HEAP_SHARE)}B",
            "FLEETAUDIT_NATIVE_MEMORY": str(memory_bytes),
            "TZ": "UTC",
            **self.program.environment,
        }
        if sys.platform == "win32":
            environment["SYSTEMROOT"] = os.environ.get("SYSTEMROOT", "")
        try:
            # A session of its own: Ctrl-C reaches this process first, which then closes the pipe.
            self._process = subprocess.Popen(
                [self.program.path, mode],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=sys.platform != "win32",
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except OSError as error:
            raise self._unfit(f"does not start: {error}") from error
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None and stdout is not None and stderr is not None  # noqa: S101, PT018  # pipes asked for
        self._stdin = stdin
        self._threads = [
            threading.Thread(target=self._listen, args=(stdout,), name=f"native-{mode}-out", daemon=True),
            threading.Thread(target=self._drain, args=(stderr,), name=f"native-{mode}-err", daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        self.hello = self._greet()

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def _unfit(self, what: str) -> EngineError:
        return EngineError(f"{self.program.title} {what}", file=str(self.program.path))

    def _greet(self) -> Hello:
        deadline = time.monotonic() + _START_SECONDS
        message: Message | None = None
        with contextlib.suppress(queue.Empty):
            message = self._messages.get(timeout=max(0.0, deadline - time.monotonic()))
        if message is None or message.kind != Kind.HELLO:
            reason = self._obituary() if message is None else "it does not say hello"
            self.close()
            raise self._unfit(f"does not start: {reason}")
        try:
            hello = msgspec.json.decode(message.payload, type=Hello)
            self.program.check(hello, self.program.path)
        except (msgspec.DecodeError, EngineError):
            self.close()
            raise
        return hello

    def _listen(self, stdout: IO[bytes]) -> None:
        """Reads frames until the pipe ends. Heartbeats are noted, everything else is queued."""
        message: Message | None = None
        while True:
            try:
                message = frames.read_message(stdout)
            except (frames.FrameError, OSError, ValueError) as error:
                self._fault = str(error)
                message = None
            self._heard = time.monotonic()
            if message is not None and message.kind == Kind.HEARTBEAT:
                self._note(message)
                continue
            while not self._closing:
                with contextlib.suppress(queue.Full):
                    self._messages.put(message, timeout=_POLL_SECONDS)
                    break
            if message is None or self._closing:
                return

    def _note(self, message: Message) -> None:
        with contextlib.suppress(msgspec.DecodeError):
            beat = msgspec.json.decode(message.payload, type=_Heartbeat)
            self._oldest = beat.oldest_ms / 1000
            self.resident = beat.resident
            self.peak_resident = max(self.peak_resident, beat.resident)

    def _drain(self, stderr: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while line := stderr.readline(_STDERR_LINE_BYTES):
                self._stderr.append(line.decode("utf-8", "replace").rstrip())

    def send(self, kind: Kind, request: int, payload: bytes) -> None:
        """Write a message.

        Raises:
            ChildDiedError: nobody reads it.
        """
        try:
            for piece in frames.encode(kind, request, payload):
                self._stdin.write(piece)
            self._stdin.flush()
        except (OSError, ValueError) as error:
            raise ChildDiedError(self._obituary()) from error

    def receive(self, deadline: float | None = None) -> Message:
        """Next message that is no heartbeat.

        Args:
            deadline: moment of the monotonic clock after which the child is killed; None for as long as it gets on.

        Raises:
            ChildDiedError: the pipe ended, or the child hangs and was killed.
            EngineError: the child refuses a request.
        """
        while True:
            try:
                message = self._messages.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                self._kill_if_hanging(deadline)
                continue
            if message is None:
                raise ChildDiedError(self._obituary())
            if message.kind == Kind.FAILED:
                failure = msgspec.json.decode(message.payload, type=_Failure)
                raise EngineError(f"{self.program.title} refuses a request: {failure.message}")
            return message

    def _kill_if_hanging(self, deadline: float | None) -> None:
        if deadline is not None and time.monotonic() > deadline:
            self._fault = "killed: it was not ready in time"
            self._process.kill()
            return
        silent = time.monotonic() - self._heard
        if max(silent, self._oldest) > self._patience:
            self._fault = f"killed: it did not get on for {max(silent, self._oldest):.0f} s"
            self._process.kill()

    def _obituary(self) -> str:
        """Why the child is gone, in one line."""
        try:
            code = self._process.wait(timeout=_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
            if self._fault:
                return self._fault  # it lives on after nonsense
        if self._fault.startswith("killed"):
            return self._fault
        if code == EXIT_MEMORY:
            return "it needed more memory than allowed"
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"ended by {signal.Signals(-code).name}"
        self._threads[1].join(timeout=_STOP_SECONDS)
        said = next((line for line in self._stderr if line), self._fault)
        return f"exit code {code}" + (f": {said}" if said else "")

    def kill(self) -> None:
        """End it at once, whoever is waiting for it."""
        self._process.kill()

    def close(self) -> None:
        """End the child: closing its input is enough, a kill follows if it is not."""
        self._closing = True
        with contextlib.suppress(OSError, ValueError):
            self._stdin.close()
        try:
            self._process.wait(timeout=_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join(timeout=_STOP_SECONDS)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
