"""Full validation by spdx-tools, bounded: in a process of its own, with limits of size, memory and time."""

from __future__ import annotations

import subprocess
import sys
import threading
import weakref
from typing import Any

import msgspec

from audit.collect.artifacts.sbom.document import Document
from audit.collect.artifacts.sbom.facts import left_out
from audit.collect.artifacts.sbom.problems import EXAMPLES, short
from audit.collect.artifacts.sbom.settings import SbomSettings

_WORKER = "audit.collect.artifacts.sbom.deep_worker"
MAX_PROBLEMS = 50


class DeepValidator:
    """Asks the worker, which is started when first needed and replaced when it had to be ended.

    Args:
        settings: whether, and within what limits.
    """

    def __init__(self, settings: SbomSettings) -> None:
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = threading.Lock()

    def validate(self, document: Document, plain: dict[str, Any]) -> dict[str, Any]:
        """The facts about deep validation of an SPDX 2 document in JSON form."""
        if not self._settings.deep:
            return left_out("switched off")
        size = sum(document.counts.get(key, 0) for key in ("packages", "files", "snippets", "relationships"))
        if size > self._settings.deep_max_elements:
            return left_out(
                f"{size} elements, limit {self._settings.deep_max_elements}: its cost grows with their square"
            )
        with self._one_at_a_time:
            answer = self._ask(msgspec.json.encode(plain))
        if answer is None:
            return left_out(f"no answer within {self._settings.deep_seconds:g} s or the memory allowed")
        try:
            messages = msgspec.json.decode(answer, type=list[str])
        except msgspec.DecodeError:
            return left_out("spdx-tools gave no answer that can be read")
        return {"status": "done", "reason": "", "errors": len(messages), "problems": _alike(messages)}

    def _ask(self, payload: bytes) -> bytes | None:
        process = self._started()
        timer = _Watch(process, self._settings.deep_seconds)
        try:
            with timer:
                assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018  # both are pipes
                process.stdin.write(len(payload).to_bytes(8, "big") + payload)
                process.stdin.flush()
                head = process.stdout.read(8)
                answer = process.stdout.read(int.from_bytes(head, "big")) if len(head) == 8 else b""
        except OSError:
            answer = b""
        if not answer:
            self._end()
            return None
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            # -P: the folder that is audited may be the current one, and must not stand in for the standard library.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", _WORKER, str(self._settings.deep_memory_bytes)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            weakref.finalize(self, _end, self._process)
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            _end(self._process)
            self._process = None


class _Watch:
    """Kills a process that takes too long."""

    def __init__(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        self._timer = threading.Timer(seconds, process.kill)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            try:
                stream.close()
            except OSError:
                # What was not written any more has nobody to read it.
                continue


def _alike(messages: list[str]) -> list[dict[str, Any]]:
    found: dict[str, int] = {}
    for message in messages:
        key = short(message)
        found[key] = found.get(key, 0) + 1
    rows = [{"code": "deep", "message": m, "count": n, "examples": []} for m, n in found.items()]
    return rows[: max(MAX_PROBLEMS, EXAMPLES)]
