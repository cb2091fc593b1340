"""Asks the limited process about a file with pickles. Whatever happens to the process, the answer is never "harmless"."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from audit.collect.artifacts.model.pickle_allowed import ALLOWED
from audit.collect.artifacts.model.settings import ModelSettings

_WORKER = "audit.collect.artifacts.model.pickle_worker"
_MAX_ANSWER = 8 << 20
_LISTED = 100
_NOTHING: dict[str, Any] = {"count": 0, "listed": []}

_Row = tuple[str, str]


class _Rows(msgspec.Struct):
    count: int
    listed: list[_Row]


class _Done(msgspec.Struct):
    """What the process says when it gets to the end."""

    form: str
    pickles: int
    names: list[str]
    opcodes: int
    imports: list[tuple[str, int]]
    others: int
    unresolved: int
    extensions: int
    changed_imports: int
    persistent_ids: int
    broken: _Rows
    unexamined: _Rows
    odd: _Rows


class _Line(msgspec.Struct):
    """A line of the answer."""

    found: str = msgspec.field(name="import", default="")
    done: _Done | None = None
    over: str = ""


def pickle_facts(path: Path, settings: ModelSettings) -> dict[str, Any]:
    """What loading the file would import, or why nobody knows.

    ``status`` is ``read``, ``malformed`` or ``over_limit``. Imports that are not on the shipped list are named whatever the
    status.

    Raises:
        OSError: the file can't be read.
    """
    answer, ended = _ask(path, settings)
    lines: list[_Line] = []
    for raw in answer.splitlines():
        try:
            lines.append(msgspec.json.decode(raw, type=_Line))
        except msgspec.DecodeError:
            break
    done = next((line for line in lines if line.done is not None), None)
    if done is None or done.done is None:
        return _unfinished((line.found for line in lines if line.found), ended)
    return _facts(done.done, done.over)


def _ask(path: Path, settings: ModelSettings) -> tuple[bytes, str]:
    """What it said, and why it said no more."""
    seconds = max(1, int(settings.pickle_seconds / 2))
    with path.open("rb") as file:
        # -P: the folder that is audited may be the current one, and must not stand in for the standard library.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", _WORKER, str(settings.pickle_memory_bytes), str(seconds)],
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    timer = threading.Timer(settings.pickle_seconds, process.kill)
    timer.daemon = True
    timer.start()
    try:
        assert process.stdout is not None  # noqa: S101  # asked for
        answer = process.stdout.read(_MAX_ANSWER)
        if len(answer) == _MAX_ANSWER:
            process.kill()
    finally:
        timer.cancel()
        if process.stdout is not None:
            process.stdout.close()
        code = process.wait()
    if code == 0:
        return answer, ""
    return answer, f"reading it took more than {settings.pickle_seconds:g} s or more memory than allowed"


def _unfinished(names: Iterable[str], ended: str) -> dict[str, Any]:
    others = [{"name": name[:200], "count": None} for name in names]
    return {
        "status": "over_limit",
        "reason": ended or "the process that reads it gave no answer",
        "form": "",
        "pickles": None,
        "opcodes": None,
        "allowed": None,
        "imports": {"count": len(others), "listed": others[:_LISTED]},
        "unresolved": None,
        "extensions": None,
        "changed_imports": None,
        "broken": _NOTHING,
        "unexamined": _NOTHING,
        "odd": _NOTHING,
    }


def _facts(done: _Done, over: str) -> dict[str, Any]:
    others = [{"name": name[:200], "count": count} for name, count in done.imports if name not in ALLOWED]
    status = "over_limit" if over else "malformed" if done.broken.count else "read"
    return {
        "status": status,
        "reason": over or (done.broken.listed[0][1] if done.broken.listed else ""),
        "form": done.form,
        "pickles": done.pickles,
        "opcodes": done.opcodes,
        "allowed": sum(name in ALLOWED for name, _ in done.imports),
        "imports": {"count": len(others) + done.others, "listed": others[:_LISTED]},
        "unresolved": done.unresolved,
        "extensions": done.extensions,
        "changed_imports": done.changed_imports,
        **{name: _rows(getattr(done, name)) for name in ("broken", "unexamined", "odd")},
    }


def _rows(rows: _Rows) -> dict[str, Any]:
    return {
        "count": rows.count,
        "listed": [{"name": name, "reason": reason} for name, reason in rows.listed],
    }
