"""``fleetaudit controls``: the frameworks, what decides each control, and what does not yet."""

from __future__ import annotations

from typing import Annotated

from audit.cli import options as o
from audit.cli.command import examples

EXAMPLES = examples(
    "fleetaudit controls  # counts, and every control",
    "fleetaudit controls list --framework lfai",
    "fleetaudit controls show 'MEASURE 2.6'",
)
LIST_EXAMPLES = examples(
    "fleetaudit controls list  # evidence kinds, checks and rules",
    "fleetaudit controls list --framework nist-ai-rmf --json",
)
SHOW_EXAMPLES = examples(
    "fleetaudit controls show 'MEASURE 2.6'  # checks and mapped rules",
    "fleetaudit controls show lfai:LFAI-SCC-02 --json  # framework named",
)


def list_controls(
    *,
    framework: o.Framework = None,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
    as_json: o.AsJson = False,
) -> int:
    """List the controls: evidence kind, checks built and planned, rules that decide."""
    from audit.cli.control_page import framework_facts, print_framework
    from audit.cli.screen import stdout_screen
    from audit.cli.settings import content_library, environment
    from audit.config.suggest import did_you_mean
    from audit.errors import UsageError

    library = content_library(config, no_config=no_config)
    known = [catalog.id for catalog in library.catalogs]
    if framework is not None and framework not in known:
        raise UsageError(
            f"no framework is called {framework}",
            suggestion=did_you_mean(framework, known, otherwise=f"known: {', '.join(known)}"),
        )
    chosen = [catalog for catalog in library.catalogs if framework in (None, catalog.id)]
    screen = stdout_screen(color=not environment().no_color)
    if as_json:
        screen.data({"frameworks": [framework_facts(catalog, library) for catalog in chosen]})
    else:
        for catalog in chosen:
            print_framework(screen, catalog, library)
    screen.flush()
    return 0


def show_control(
    control_id: Annotated[
        str, o.argument("ID", "Control id, for example 'MEASURE 2.6' or lfai:LFAI-SCC-02.")
    ],
    *,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
    as_json: o.AsJson = False,
) -> int:
    """Show one control: text, checks and their state, mapped rules with their reasons."""
    from audit.cli.control_page import control_facts, print_control
    from audit.cli.lookup import require_control
    from audit.cli.screen import stdout_screen
    from audit.cli.settings import content_library, environment

    library = content_library(config, no_config=no_config)
    found = require_control(library.catalogs, control_id)
    screen = stdout_screen(color=not environment().no_color)
    if as_json:
        screen.data(control_facts(found.framework, found.control, library))
    else:
        print_control(screen, found.framework, found.control, library)
    screen.flush()
    return 0


COMMANDS = (("list", list_controls, LIST_EXAMPLES), ("show", show_control, SHOW_EXAMPLES))
