"""The CLI's standard error, read for reasons. Its logger writes coloured lines; a panic or an abort ends it."""

from __future__ import annotations

import re
import unicodedata

import msgspec

from audit.evaluate.kyverno.process import RunResult

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LINE = re.compile(
    r"^(?P<time>\S+)\s+(?P<level>[A-Z]{3}|-\d+)\s+(?:(?P<place>\S+\.go:\d+)\s*>\s*)?(?P<text>.*)$"
)
_FIELD = re.compile(r"(?P<key>[A-Za-z_.]+)=(?:\"(?P<quoted>(?:[^\"\\]|\\.)*)\"|(?P<bare>\S*))")
_MAX_REASON = 300
_READ_BYTES = 4 << 20


class LogLine(msgspec.Struct, frozen=True):
    """One log line."""

    level: str
    message: str
    fields: dict[str, str]


def log_lines(text: str) -> list[LogLine]:
    """All lines that are log lines."""
    found = []
    for raw in _COLOUR.sub("", text).splitlines():
        match = _LINE.match(raw)
        if match is None:
            continue
        rest = match["text"]
        first = _FIELD.search(rest)
        fields = {
            f["key"]: (
                f["quoted"].replace('\\"', '"').replace("\\n", "\n") if f["quoted"] is not None else f["bare"]
            )
            for f in _FIELD.finditer(rest)
        }
        found.append(LogLine(match["level"], rest[: first.start()].strip() if first else rest, fields))
    return found


def errors_in(result: RunResult) -> list[LogLine]:
    """Lines of level ERR."""
    return [line for line in log_lines(result.stderr_head(_READ_BYTES)) if line.level == "ERR"]


def failure_reason(result: RunResult) -> str:
    """Why a run gave no report, in one line."""
    if result.problem:
        return result.problem.replace("_", " ")
    tail = _COLOUR.sub("", result.stderr_tail(64 << 10))
    for sign in ("panic", "fatal error", "Error"):
        found = re.findall(rf"^{sign}: (.+)$", tail, re.MULTILINE)
        if found:
            return f"{sign}: {clean(found[0])}"
    lines = [line for line in tail.strip().splitlines() if line.strip()]
    said = clean(lines[-1]) if lines else "nothing was said"
    return f"exit code {result.code}: {said}"


def clean(text: str, limit: int = _MAX_REASON) -> str:
    """One printable line of bounded length: what is quoted comes from files under audit.

    Too long a line loses its middle: Kyverno's errors begin with the rule and end with the cause.
    """
    line = " ".join(_COLOUR.sub("", text).split())
    if not line.isprintable():
        line = "".join(char if unicodedata.category(char)[0] != "C" else "\ufffd" for char in line)
    if len(line) <= limit:
        return line
    half = (limit - 1) // 2
    return f"{line[:half]}…{line[-half:]}"
