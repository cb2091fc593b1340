"""The Kyverno CLI on this machine: where it is, which version, and what that version can do."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import tempfile
from pathlib import Path

import msgspec

from audit.errors import EngineError
from audit.evaluate.kyverno.capabilities import OLDEST, Capabilities, capabilities_of
from audit.evaluate.kyverno.log_lines import failure_reason
from audit.evaluate.kyverno.process import Limits, ToolRunner
from audit.model.run import EngineVersion

ENVIRONMENT = "FLEETAUDIT_KYVERNO"
NAMES = ("kyverno", "kubectl-kyverno")
_VERSION = re.compile(r"^Version:\s*v?(\d+)\.(\d+)\.(\d+)(\S*)", re.MULTILINE)
_INSTALL = "install the Kyverno CLI 1.19 (https://kyverno.io/docs/kyverno-cli/install/) or point FLEETAUDIT_KYVERNO at it"
_PROBE_SECONDS = 60.0


class KyvernoCli(msgspec.Struct, frozen=True, kw_only=True):
    """One executable, probed."""

    path: str
    version: str
    capabilities: Capabilities
    sha256: str

    def engine_version(self) -> EngineVersion:
        """For the run record."""
        details = {"interface": "command line"}
        if self.capabilities.assumed:
            details["capabilities"] = "as of {}.{}, the newest version known".format(*self.capabilities.minor)
        return EngineVersion(name="kyverno", version=self.version, binary_sha256=self.sha256, details=details)


def find_kyverno(path: str | None = None) -> KyvernoCli:
    """The CLI to use.

    Args:
        path: given by the user; else the environment variable ``FLEETAUDIT_KYVERNO``, else ``kyverno`` and
            ``kubectl-kyverno`` on PATH, in that order.

    Raises:
        EngineError: none is there, it does not start, or it is older than 1.14.
    """
    found = _locate(path)
    about = Path(found).stat()
    return _probed(found, about.st_mtime_ns, about.st_size)


@functools.lru_cache(maxsize=8)
def _probed(found: str, changed: int, size: int) -> KyvernoCli:
    """Probe an executable once: its digest alone costs as much as a small run. A changed file is probed again."""
    del changed, size
    with tempfile.TemporaryDirectory(prefix="fleetaudit-kyverno-") as folder:
        runner = ToolRunner()
        result = runner.run(
            [found, "version"], Path(folder), Limits(seconds=_PROBE_SECONDS, memory_bytes=1 << 30)
        )
        text = result.stdout_text(4096)
    match = _VERSION.search(text)
    if result.problem or match is None:
        said = failure_reason(result) if result.problem else "it prints no version"
        raise EngineError(f"{found} is no Kyverno CLI that can be used: {said}", suggestion=_INSTALL)
    version = (int(match[1]), int(match[2]), int(match[3]))
    capabilities = capabilities_of(version)
    if capabilities is None:
        raise EngineError(
            "the Kyverno CLI {} is version {}.{}.{}; at least {}.{} is needed".format(
                found, *version, *OLDEST
            ),
            suggestion=_INSTALL,
        )
    return KyvernoCli(
        path=found,
        version="{}.{}.{}".format(*version) + match[4],
        capabilities=capabilities,
        sha256=_digest(found),
    )


def _locate(path: str | None) -> str:
    wanted = path or os.environ.get(ENVIRONMENT)
    if wanted:
        found = shutil.which(wanted)
        if found is None:
            raise EngineError(f"there is no executable {wanted}", suggestion=_INSTALL)
        return str(Path(found).resolve())
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return str(Path(found).resolve())
    raise EngineError(
        "the Kyverno CLI is not installed, so Kyverno policies can't be judged", suggestion=_INSTALL
    )


def _digest(path: str) -> str:
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
