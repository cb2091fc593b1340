"""``fleetaudit init``: a commented configuration to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from audit.cli import options as o
from audit.cli.command import examples

EXAMPLES = examples(
    "fleetaudit init  # in the working folder",
    "fleetaudit init --folder audit/ --paths ../k8s  # elsewhere, for manifests in k8s/",
)


def init(
    *,
    folder: Annotated[str, o.option("--folder", "DIR", "Where the files go.")] = ".",
    paths: Annotated[
        list[str] | None,
        o.option("--paths", "PATH", "Manifests to audit, relative to the folder."),
    ] = None,
) -> int:
    """Write a commented fleetaudit.yaml with example waivers and statements.

    Nothing is overwritten: if one of the files is there already, none is written.
    """
    from audit.cli.screen import stdout_screen
    from audit.cli.settings import environment
    from audit.cli.starter import starter_files
    from audit.errors import UsageError

    place = Path(folder)
    files = starter_files(tuple(paths or (".",)))
    for name in files:
        if (place / name).exists() or (place / name).is_symlink():
            raise UsageError(
                "the file is there already, and nothing is overwritten",
                file=str(place / name),
                suggestion="choose another --folder, or move the file away",
            )
    screen = stdout_screen(color=not environment().no_color)
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            # "x" refuses a file that appeared in the meantime.
            with (place / name).open("x", encoding="utf-8") as stream:
                stream.write(text)
            screen.line("wrote ", str(place / name))
    except OSError as error:
        raise UsageError(f"cannot write: {error.strerror or error}", file=error.filename or folder) from None
    screen.line(
        "Next: ",
        f"fleetaudit run --config {place / 'fleetaudit.yaml'}" if folder != "." else "fleetaudit run",
    )
    screen.flush()
    return 0
