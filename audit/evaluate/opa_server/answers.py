"""Reads a server's answers by the contract of the embedded engine, so that both give equal findings.

The embedded engine hands values over as MessagePack and shows a value that would take more than 8 KiB there as a note
of its size; sizes are therefore counted as it counts them.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from audit.evaluate.opa_server.failures import MAX_MESSAGE
from audit.evaluate.opa_server.questions import Look, Member
from audit.model.finding import Outcome, PairAnswer, Violation
from audit.native.evaluator import EvalRule

MAX_VIOLATIONS = 1000
MAX_VALUE_BYTES = 8192
_PASS = b"[[true],[[]]]"
_SKIP = b"[[false],[]]"
_KEYS = frozenset({"path", "message", "container", "seen", "expected", "undecided"})
_SMALL = MAX_VALUE_BYTES // 3
"""JSON shorter than this holds no value over the limit: a number of three characters takes nine bytes at most."""


class OddAnswerError(Exception):
    """The rule applies, and its violations are not well-formed: a close look will tell what is wrong."""


class Reader:
    """Turns the JSON of one rule's answers into `PairAnswer`s; common ones are shared."""

    def __init__(self, rule: EvalRule) -> None:
        self._rule = rule
        self._pass = PairAnswer(rule.id, Outcome.PASS)
        self._skip = PairAnswer(rule.id, Outcome.SKIP, reason=rule.not_applicable)

    def read(self, raw: bytes) -> PairAnswer:
        """The answer.

        Raises:
            OddAnswerError: it needs a close look.
            ValueError: this is no answer.
        """
        if raw == _PASS:
            return self._pass
        if raw == _SKIP:
            return self._skip
        applies, found = _decode(raw)
        if not applies:
            return self.error("undefined", "applies is undefined")
        if not isinstance(applies[0], bool):
            return self.error("bad_answer", "applies is no boolean")
        if not applies[0]:
            return self._skip
        if not found:
            raise OddAnswerError
        if not found[0]:
            return self._pass
        certain, doubts = _apart(found[0])
        if not certain:
            return self.error("undecided", doubts)
        outcome = Outcome.WARN if self._rule.warn_only else Outcome.FAIL
        return PairAnswer(self._rule.id, outcome, _violations(certain, small=len(raw) < _SMALL))

    def explain(self, look: Look | None) -> PairAnswer:
        """The error answer for violations that are not well-formed.

        Raises:
            ValueError: there is nothing wrong with them.
        """
        if look is None:
            return self.error("undefined", "violations is undefined")
        if look.type != "set":
            return self.error("bad_answer", "violations is no set")
        for member in look.members[:MAX_VIOLATIONS]:
            if fault := _fault(member):
                return self.error("bad_answer", fault)
        raise ValueError("well-formed after all")

    def error(self, code: str, message: str) -> PairAnswer:
        """An error answer, its text capped."""
        text = message.encode("utf-8", "replace")[:MAX_MESSAGE].decode("utf-8", "replace")
        return PairAnswer(self._rule.id, Outcome.ERROR, reason=code, message=text)


def _apart(members: Any) -> tuple[list[Any], str]:
    """Violations, and the messages of members that say `undecided`."""
    if not isinstance(members, list):
        raise OddAnswerError
    undecided = [m for m in members if isinstance(m, dict) and m.get("undecided") is True]
    certain = [m for m in members if not (isinstance(m, dict) and m.get("undecided") is True)]
    return certain, "; ".join(m["message"] for m in undecided if isinstance(m.get("message"), str))


def _violations(members: Any, *, small: bool) -> tuple[Violation, ...]:
    return tuple(_violation(member, small=small) for member in members[:MAX_VIOLATIONS])


def _violation(member: Any, *, small: bool) -> Violation:
    if not isinstance(member, dict) or not member.keys() <= _KEYS:
        raise OddAnswerError
    path, message, container = member.get("path"), member.get("message"), member.get("container", "")
    if not isinstance(path, list) or not all(map(_is_segment, path)):
        raise OddAnswerError
    if not isinstance(message, str) or not isinstance(container, str):
        raise OddAnswerError
    seen, expected = member.get("seen"), member.get("expected")
    return Violation(
        path=tuple(path),
        message=_clip(message),
        container=_clip(container),
        seen=seen if small else _capped(seen),
        expected=expected if small else _capped(expected),
    )


def _is_segment(segment: Any) -> bool:
    return isinstance(segment, str) or (type(segment) is int and 0 <= segment < 1 << 63)


def _fault(member: Member) -> str:
    """What the embedded engine says of a member, or nothing. It looks at these things in this order."""
    if member.type != "object":
        return "a violation is no object"
    unknown = next((key[1:-1] for key in member.keys if key[1:-1] not in _PRINTED_KEYS), None)
    if unknown is not None:
        return f"a violation has the unknown key {unknown}"
    return _path_fault(member) or _text_fault(member)


def _path_fault(member: Member) -> str:
    if "path" not in member.types:
        return "a violation has no path"
    if member.types["path"] != "array":
        return "the path of a violation is no array"
    for kind, printed in member.path:
        if kind == "number":
            digits = printed[1:-1]
            if not digits.isdigit() or int(digits) >= 1 << 63:
                return f"the path of a violation has the index {digits}"
        elif kind != "string":
            return "the path of a violation has a segment that is neither text nor number"
    return ""


def _text_fault(member: Member) -> str:
    for name, required in (("message", True), ("container", False)):
        if name not in member.types:
            if required:
                return f"a violation has no {name}"
        elif member.types[name] != "string":
            return f"the {name} of a violation is no text"
    return ""


_PRINTED_KEYS = frozenset(f'"{key}"' for key in _KEYS)


def _clip(text: str) -> str:
    """Cut at a character boundary."""
    raw = text.encode("utf-8", "replace")
    return text if len(raw) <= MAX_MESSAGE else raw[:MAX_MESSAGE].decode("utf-8", "ignore")


def _capped(value: Any) -> Any:
    size = packed_size(value)
    return value if size <= MAX_VALUE_BYTES else f"(a value of {size} bytes)"


def packed_size(value: Any) -> int:
    """Bytes of a value as the embedded engine's child packs it: integers take 1, 5 or 9."""
    if value is None or isinstance(value, bool):
        return 1
    if isinstance(value, int):
        if -32 <= value < 128:
            return 1
        return 5 if -(1 << 31) <= value < 1 << 31 else 9
    if isinstance(value, float):
        return 9
    if isinstance(value, str):
        length = len(value.encode("utf-8", "replace"))
        return length + (1 if length < 32 else 2 if length < 1 << 8 else 3 if length < 1 << 16 else 5)
    head = 1 if len(value) < 16 else 3 if len(value) < 1 << 16 else 5
    if isinstance(value, dict):
        return head + sum(packed_size(key) + packed_size(item) for key, item in value.items())
    return head + sum(map(packed_size, value))


def _integer(digits: str) -> int | float | str:
    """64 bits exactly, else the nearest double, else the digits."""
    if len(digits) < 19 or -(1 << 63) <= int(digits[:400]) < 1 << 64:
        return int(digits)
    return _double(digits)


def _double(digits: str) -> float | str:
    number = float(digits)
    return digits if number in {float("inf"), float("-inf")} else number


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_double, parse_constant=_no_constant)


def _decode(raw: bytes) -> tuple[list[Any], list[Any]]:
    """`applies` and `violations`, each in a list that is empty when it is undefined."""
    try:
        value = _DECODER.decode(raw.decode("utf-8"))
    except (RecursionError, UnicodeDecodeError) as error:
        raise ValueError("no JSON") from error
    if isinstance(value, list) and len(value) == 2 and all(isinstance(part, list) for part in value):
        return value[0], value[1]
    raise ValueError("not two lists")


def as_bytes(raw: msgspec.Raw) -> bytes:
    """The JSON text."""
    return bytes(memoryview(raw))
