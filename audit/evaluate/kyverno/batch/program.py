"""The batch child's program: where it is, and which Kyverno is inside."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

from audit.errors import EngineError
from audit.evaluate.kyverno.process import dead_network
from audit.native.binary import PROTOCOL, Hello, Program

PACKAGE = "fleetaudit_kyverno_batch"
OVERRIDE = "FLEETAUDIT_KYVERNO_BATCH"
"""Environment variable with the path of a program to use instead of the installed one."""
TITLE = "the batch child of Kyverno"
_INSTALL = "install the extra fleetaudit[kyverno-batch], or set engine.kyverno.batch to off"


def find_batch() -> Program:
    """The program to use.

    Raises:
        EngineError: there is none.
    """
    override = os.environ.get(OVERRIDE)
    if override:
        path = Path(override)
    else:
        try:
            path = Path(importlib.import_module(PACKAGE).program())
        except ImportError:
            raise EngineError(f"{TITLE} is not installed", suggestion=_INSTALL) from None
    if not path.is_file():
        raise EngineError(f"{TITLE} is not at {path}", suggestion=_INSTALL)
    return Program(path=path, title=TITLE, check=_check, environment=dead_network())


def _check(hello: Hello, path: Path) -> None:
    if hello.protocol != PROTOCOL or not hello.kyverno:
        raise EngineError(
            f"{TITLE} speaks protocol {hello.protocol} with Kyverno {hello.kyverno or 'of no version'}; "
            f"protocol {PROTOCOL} is needed",
            file=str(path),
            suggestion="install the extra of this version of the package",
        )
