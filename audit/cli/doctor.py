"""``fleetaudit doctor``: what this machine has, and what is lost without the rest."""

from __future__ import annotations

from audit.cli import options as o
from audit.cli.command import examples

EXAMPLES = examples(
    "fleetaudit doctor  # a table",
    "fleetaudit doctor --json  # for a bug report",
)


def doctor(*, as_json: o.AsJson = False) -> int:
    """Look at the engine, the machine and optional tools.

    The exit code is 3 when something is missing without which nothing can be audited.
    """
    import msgspec

    from audit.cli.examination import examine
    from audit.cli.exits import ExitCode
    from audit.cli.screen import stdout_screen
    from audit.cli.settings import environment

    surroundings = environment()
    found = examine(surroundings)
    broken = [item for item in found if item.essential and not item.present]
    screen = stdout_screen(color=not surroundings.no_color)
    if as_json:
        screen.data([msgspec.to_builtins(item) for item in found])
    else:
        for item in found:
            mark = (
                ("ok     ", "green") if item.present else ("absent ", "red" if item.essential else "yellow")
            )
            screen.line(mark, item.name.ljust(14), "  ", item.detail)
            if item.without and not item.present:
                screen.line(" " * 25, f"without it: {item.without}")
        screen.line("")
        screen.line(
            "No connection is opened: audits of local input use no network, no update check, no usage report."
        )
    screen.flush()
    return int(ExitCode.INCOMPLETE if broken else ExitCode.MET)
