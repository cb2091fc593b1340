"""Where the log goes: to a file with ``--log-file``, to standard error with ``--verbose``, else nowhere."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from audit.cli.safetext import safe
from audit.errors import UsageError

_MOST_CHARACTERS = 4000


class _OneLine(logging.Formatter):
    """UTC times; text from audited files cannot forge a second line."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802  # logging's name
        del datefmt  # one form everywhere
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))

    def format(self, record: logging.LogRecord) -> str:
        return safe(super().format(record), _MOST_CHARACTERS)


@contextmanager
def logging_to(file: str | None, *, verbose: bool) -> Iterator[None]:
    """Attach handlers for the time of a command.

    Raises:
        UsageError: the log file cannot be written.
    """
    handlers: list[logging.Handler] = []
    if file is not None:
        try:
            Path(file).parent.mkdir(parents=True, exist_ok=True)
            handlers.append(logging.FileHandler(file, encoding="utf-8", errors="replace"))
        except OSError as error:
            raise UsageError(
                f"the log file cannot be written: {error.strerror}",
                file=file,
                suggestion="name another --log-file",
            ) from None
        handlers[-1].setLevel(logging.DEBUG)
    if verbose:
        handlers.append(logging.StreamHandler(sys.stderr))
        handlers[-1].setLevel(logging.INFO)
    logger = logging.getLogger("audit")
    before = (logger.level, logger.propagate)
    for handler in handlers:
        handler.setFormatter(_OneLine("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        logger.addHandler(handler)
    if handlers:
        logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        yield
    finally:
        logger.level, logger.propagate = before
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()
