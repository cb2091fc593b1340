"""``fleetaudit validate``: load everything people authored, audit nothing, list every error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from audit.cli import options as o
from audit.cli.command import examples

if TYPE_CHECKING:
    from audit.config.schema import Config
    from audit.errors import AuditError
    from audit.library.library import Library

EXAMPLES = examples(
    "fleetaudit validate  # built-in content and fleetaudit.yaml",
    "fleetaudit validate --config fleet.yaml  # another configuration",
    "fleetaudit validate --policy our-rules/  # rules that are not configured yet",
)


def validate(*, config: o.ConfigFile = None, no_config: o.NoConfig = False, policy: o.Policies = None) -> int:
    """Check the configuration, rules, catalogs, mappings, waivers and statements.

    Every error is listed with its place; the exit code is 2 when there is one.
    """
    from audit.cli.exits import ExitCode
    from audit.cli.failures import print_error
    from audit.cli.screen import stderr_screen, stdout_screen
    from audit.cli.settings import configuration, environment
    from audit.config.overrides import Overrides
    from audit.errors import AuditError

    surroundings = environment()
    overrides = Overrides(config=config, no_config=no_config, policy=tuple(policy or ()))
    errors: list[AuditError] = []
    try:
        effective = configuration(overrides, surroundings)
    except AuditError as error:
        errors.append(error)
        # Content can be wrong on its own, and is worth checking even below a broken configuration.
        effective = configuration(Overrides(no_config=True, policy=tuple(policy or ())), surroundings)
    library, found = _load(effective)
    errors += found
    if errors or library is None:
        flat = [part for error in errors for part in (error, *error.others)]
        first = flat[0]
        first.others = tuple(flat[1:])
        print_error(stderr_screen(color=not surroundings.no_color), first)
        return int(ExitCode.USAGE)
    screen = stdout_screen(color=not surroundings.no_color)
    for line in _notes(library):
        screen.line(("note", "yellow"), f"   {line}")
    screen.line(("valid", "bold green"), f"  {_contents(library, effective)}")
    screen.flush()
    return 0


def _load(config: Config) -> tuple[Library | None, list[AuditError]]:
    """Everything authored, and what is wrong with it."""
    from audit import wiring
    from audit.config.check import check_names
    from audit.errors import AuditError, ContentError

    try:
        library = wiring.load_library(config)
    except AuditError as error:
        return None, [error]
    # A broken policy of the user's costs a run one gap; here it is what was asked about.
    errors: list[AuditError] = [
        ContentError(gap.reason, file=gap.source, line=gap.line, suggestion=gap.hint or None)
        for gap in (*library.gaps, *library.kyverno.gaps)
    ]
    errors += check_names(
        config,
        rules=[rule.id for rule in library.rules],
        controls={catalog.id: [control.id for control in catalog.controls] for catalog in library.catalogs},
    )
    return library, errors


def _notes(library: Library) -> Iterator[str]:
    """What is worth knowing of the user's own content, though nothing is wrong with it."""
    for notice in library.notices:
        place = f"{notice.source}:{notice.line}" if notice.line else notice.source
        yield f"{place}: {notice.message}"


def _contents(library: Library, config: Config) -> str:
    from audit.cli.wording import count

    parts = [
        count(len(library.rules), "rule"),
        count(sum(len(catalog.controls) for catalog in library.catalogs), "control"),
        count(len(library.mappings), "mapping"),
        count(len(library.waivers), "waiver"),
        count(len(library.statements), "statement"),
        f"configuration {config.file}" if config.file else "no configuration file",
    ]
    return ", ".join(parts)
