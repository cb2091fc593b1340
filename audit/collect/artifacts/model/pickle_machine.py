"""Reads one pickle without doing what it says: a stack machine over the kinds of its values.

Texts and imported names are followed through stack and memo, everything else is one opaque value. So each import is named as the
real machine would name it, and whatever can't be named is counted as unresolved. Memory does not grow with the number of opcodes,
only with the depth of the stack and the texts kept, and both are bounded. Needs nothing but the standard library.
"""

from __future__ import annotations

from collections.abc import Callable

from audit.collect.artifacts.model.pickle_memo import Memo, Value
from audit.collect.artifacts.model.pickle_source import MalformedError, OverLimitError, Source

MAX_STACK = 4_000_000
MAX_TEXT = 512
"""Longer texts are never the name of an import."""
_LONGEST_FIXED = 9
_TORCH_MAGIC = bytes.fromhex("6cfc9c46f9206aa85019")
"""First value of a file that torch wrote before it used archives, as a little-endian number."""

TORCH = 1
"""What a text or an import is not: the sign of an old torch file."""
_Import = tuple[str, str]


class Found:
    """What was seen, in all pickles of a file together.

    Args:
        allowed: imports that count as harmless.
        tell: told of each import that does not, when it is first met.
    """

    def __init__(self, allowed: frozenset[str], tell: Callable[[str], None]) -> None:
        self._allowed = allowed
        self._tell = tell
        self.imports: dict[str, int] = {}
        self.others = 0
        """Imports not listed any more, because there were too many different ones."""
        self.unresolved = 0
        """Imports or calls whose name is worked out only when it runs."""
        self.extensions = 0
        self.changed_imports = 0
        """States set on an imported function or class instead of on an object of it."""
        self.persistent_ids = 0
        self.opcodes = 0

    def imported(self, module: str, name: str) -> None:
        """An import."""
        full = f"{module}.{name}"
        if full in self.imports:
            self.imports[full] += 1
        elif len(self.imports) < 1000 or full in self._allowed:
            self.imports[full] = 1
            if full not in self._allowed:
                self._tell(full)
        else:
            self.others += 1


# What is done about an opcode: put an opaque value on the stack, nothing, what `_ACTS` says, or the same with a length or a line
# as its operand.
_PUSH, _PASS, _FIXED, _COUNTED, _LINE, _UNKNOWN = range(6)
_STOP = 0x2E


def _table() -> list[tuple[int, int]]:
    """Of every byte: what is done, and how far the next opcode or its operand is."""
    table = [(_UNKNOWN, 1)] * 256
    rows: tuple[tuple[int, int, bytes], ...] = (
        (_PUSH, 1, b"N}])\x88\x89\x8f\x97"),
        (_PUSH, 2, b"K"),
        (_PUSH, 3, b"M"),
        (_PUSH, 5, b"J"),
        (_PUSH, 9, b"G"),
        (_PASS, 1, b"\x98"),
        (_PASS, 2, b"\x80"),
        (_PASS, 9, b"\x95"),
        (_FIXED, 1, b"(.012QRabdelostu\x81\x85\x86\x87\x90\x91\x92\x93\x94"),
        (_FIXED, 2, b"hq\x82"),
        (_FIXED, 3, b"\x83"),
        (_FIXED, 5, b"jr\x84"),
        (_COUNTED, 2, b"UC\x8a\x8c"),
        (_COUNTED, 5, b"TXB\x8b"),
        (_COUNTED, 9, b"\x8d\x8e\x96"),
        (_LINE, 1, b"FILPSVgpci"),
    )
    for form, size, codes in rows:
        for code in codes:
            table[code] = (form, size)
    return table


_OPERANDS = _table()
_TEXTS = frozenset(b"UTX\x8c\x8d")


def read_pickle(source: Source, found: Found) -> Value:
    """Go through one pickle up to its end; returns its value.

    Raises:
        MalformedError: it is none, or broken.
        OverLimitError: it needs more than it may.
    """
    return _Machine(source, found).run()


class _Machine:
    def __init__(self, source: Source, found: Found) -> None:
        self._source = source
        self._found = found
        self._memo = Memo()
        self._stack: list[Value] = []
        self._marks: list[int] = []

    def run(self) -> Value:
        opcodes = 0
        source, stack = self._source, self._stack
        table, acts = _OPERANDS, _ACTS
        data, at = source.data, source.at
        end = len(data) - _LONGEST_FIXED
        try:
            while True:
                if at > end:
                    source.at = at
                    source.more(_LONGEST_FIXED)
                    data, at = source.data, source.at
                    end = len(data) - _LONGEST_FIXED
                    if at >= len(data):
                        raise MalformedError("it has no end")
                    self._refuse_depth()
                code = data[at]
                form, size = table[code]
                opcodes += 1
                if form == _PUSH:
                    at += size
                    stack.append(None)
                    continue
                if form == _PASS:
                    at += size
                    continue
                start = at + 1
                source.at = at = at + size
                if form == _FIXED:
                    if at > len(data):
                        raise MalformedError("it ends in the middle of an opcode")
                    if code == _STOP:
                        return self._pop()
                    acts[code](self, int.from_bytes(data[start:at], "little") if size > 1 else 0)
                    continue
                if form == _COUNTED:
                    if at > len(data):
                        raise MalformedError("it ends in the middle of an opcode")
                    stack.append(self._counted(code, int.from_bytes(data[start:at], "little")))
                elif form == _LINE:
                    acts[code](self, source.line())
                else:
                    raise MalformedError(f"0x{code:02x} is no opcode")
                data, at = source.data, source.at
                end = len(data) - _LONGEST_FIXED
        finally:
            self._found.opcodes += opcodes

    def _refuse_depth(self) -> None:
        """Asked once for each piece that is read, which is often enough for a bound on memory."""
        if len(self._stack) > MAX_STACK or len(self._marks) > MAX_STACK:
            raise OverLimitError("its stack is deeper than that of any model")

    def _counted(self, code: int, length: int) -> Value:
        """A value with its length in front: a text that may be a name is kept."""
        source = self._source
        if code in b"T\x8b" and length >= 1 << 31:
            raise MalformedError("a length below zero")
        if code in _TEXTS and length <= MAX_TEXT:
            return source.take(length).decode("utf-8", "replace")
        if code == 0x8A and length == len(_TORCH_MAGIC):
            return TORCH if source.take(length) == _TORCH_MAGIC else None
        source.skip(length)
        return None

    # ---- stack

    def _floor(self) -> int:
        return self._marks[-1] if self._marks else 0

    def _pop(self) -> Value:
        if len(self._stack) <= self._floor():
            raise MalformedError("it takes from an empty stack")
        return self._stack.pop()

    def _drop(self, count: int) -> None:
        if len(self._stack) - count < self._floor():
            raise MalformedError("it takes from an empty stack")
        del self._stack[len(self._stack) - count :]

    def _to_mark(self) -> list[Value]:
        if not self._marks:
            raise MalformedError("it goes back to a mark that is not there")
        start = self._marks.pop()
        taken = self._stack[start:]
        del self._stack[start:]
        return taken

    def _top(self) -> Value:
        if len(self._stack) <= self._floor():
            raise MalformedError("it takes from an empty stack")
        return self._stack[-1]

    def _push(self, value: Value) -> None:
        self._stack.append(value)

    # ---- what opcodes do

    def mark(self, _: object) -> None:
        self._marks.append(len(self._stack))

    def pop(self, _: object) -> None:
        if self._marks and len(self._stack) == self._marks[-1]:
            self._marks.pop()
        else:
            self._pop()

    def pop_mark(self, _: object) -> None:
        self._to_mark()

    def dup(self, _: object) -> None:
        self._push(self._top())

    def collect(self, _: object) -> None:
        """Make one value of all since the mark."""
        self._to_mark()
        self._push(None)

    def add_all(self, _: object) -> None:
        """Put all since the mark into what stands before it."""
        self._to_mark()
        self._target()

    def append(self, _: object) -> None:
        self._drop(1)
        self._target()

    def set_item(self, _: object) -> None:
        self._drop(2)
        self._target()

    def _target(self) -> None:
        if isinstance(self._top(), tuple):
            self._found.changed_imports += 1

    def tuple1(self, _: object, size: int = 1) -> None:
        self._drop(size)
        self._push(None)

    def tuple2(self, _: object) -> None:
        self.tuple1(_, 2)

    def tuple3(self, _: object) -> None:
        self.tuple1(_, 3)

    def opaque(self, _: object) -> None:
        """A number written as a line."""
        self._push(None)

    def quoted(self, argument: bytes) -> None:
        """STRING."""
        self.text(argument.strip(b"'\""))

    def text(self, plain: bytes) -> None:
        """UNICODE. Escapes may hide a name, so that only plain texts are kept."""
        known = len(plain) <= MAX_TEXT and b"\\" not in plain
        self._push(plain.decode("utf-8", "replace") if known else None)

    def persistent_line(self, _: object) -> None:
        self._found.persistent_ids += 1
        self._push(None)

    def persistent(self, _: object) -> None:
        self._drop(1)
        self.persistent_line(None)

    def global_(self, argument: bytes) -> None:
        self._push(self._named(argument))

    def inst(self, argument: bytes) -> None:
        self._to_mark()
        self._named(argument)
        self._push(None)

    def _named(self, module: bytes) -> _Import:
        name = self._source.line()
        if max(len(module), len(name)) > MAX_TEXT:
            raise MalformedError("the name of an import is longer than names are")
        pair = (module.decode("utf-8", "replace"), name.decode("utf-8", "replace"))
        self._found.imported(*pair)
        return pair

    def stack_global(self, _: object) -> None:
        name, module = self._pop(), self._pop()
        if isinstance(name, str) and isinstance(module, str):
            self._found.imported(module, name)
            self._push((module, name))
        else:
            self._found.unresolved += 1
            self._push(None)

    def extension(self, _: object) -> None:
        self._found.extensions += 1
        self._push(None)

    def reduce(self, _: object) -> None:
        """REDUCE and NEWOBJ: call what stands below its arguments."""
        self._pop()
        self._call(self._pop())

    def new_with_names(self, _: object) -> None:
        self._drop(2)
        self._call(self._pop())

    def obj(self, _: object) -> None:
        taken = self._to_mark()
        if not taken:
            raise MalformedError("it takes from an empty stack")
        self._call(taken[0])

    def _call(self, what: Value) -> None:
        if not isinstance(what, tuple):
            self._found.unresolved += 1
        self._push(None)

    def build(self, _: object) -> None:
        self._drop(1)
        self._target()

    def put_line(self, argument: bytes) -> None:
        self._memo.put(_index(argument), self._top())

    def put(self, argument: int) -> None:
        self._memo.put(argument, self._top())

    def memoize(self, _: object) -> None:
        self._memo.append(self._top())

    def get_line(self, argument: bytes) -> None:
        self._push(self._memo.get(_index(argument)))

    def get(self, argument: int) -> None:
        self._push(self._memo.get(argument))


def _index(line: bytes) -> int:
    if not line.isdigit() or len(line) > 20:
        raise MalformedError("a place in the memo that is no number")
    return int(line)


_ACTS: dict[int, Callable[..., None]] = {
    0x46: _Machine.opaque,
    0x49: _Machine.opaque,
    0x4C: _Machine.opaque,
    0x28: _Machine.mark,
    0x30: _Machine.pop,
    0x31: _Machine.pop_mark,
    0x32: _Machine.dup,
    0x51: _Machine.persistent,
    0x50: _Machine.persistent_line,
    0x52: _Machine.reduce,
    0x53: _Machine.quoted,
    0x56: _Machine.text,
    0x61: _Machine.append,
    0x62: _Machine.build,
    0x63: _Machine.global_,
    0x64: _Machine.collect,
    0x65: _Machine.add_all,
    0x67: _Machine.get_line,
    0x68: _Machine.get,
    0x69: _Machine.inst,
    0x6A: _Machine.get,
    0x6C: _Machine.collect,
    0x6F: _Machine.obj,
    0x70: _Machine.put_line,
    0x71: _Machine.put,
    0x72: _Machine.put,
    0x73: _Machine.set_item,
    0x74: _Machine.collect,
    0x75: _Machine.add_all,
    0x81: _Machine.reduce,
    0x82: _Machine.extension,
    0x83: _Machine.extension,
    0x84: _Machine.extension,
    0x85: _Machine.tuple1,
    0x86: _Machine.tuple2,
    0x87: _Machine.tuple3,
    0x90: _Machine.add_all,
    0x91: _Machine.collect,
    0x92: _Machine.new_with_names,
    0x93: _Machine.stack_global,
    0x94: _Machine.memoize,
}
