"""Where the authored content is: inside the wheel, or at the top of a checkout. Nobody else knows both places."""

from __future__ import annotations

from pathlib import Path

from audit.errors import ContentError

_PACKAGE = Path(__file__).resolve().parent


def content_dir(name: str) -> Path:
    """Folder of shipped content: ``rego``, ``policies``, ``controls`` or ``reports``.

    A checkout wins over a copy built into the package, so that an editable install shows edits at once.

    Raises:
        ContentError: the installation lacks it.
    """
    for root in (_PACKAGE.parent, _PACKAGE / "_content"):
        folder = root / name
        if folder.is_dir() and (root != _PACKAGE.parent or (root / "pyproject.toml").is_file()):
            return folder
    raise ContentError(
        f"the installation has no {name}/ folder", suggestion="reinstall fleetaudit, or run from a checkout"
    )
