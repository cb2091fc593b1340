"""``fleetaudit history``: the runs that a history holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from audit.cli import options as o
from audit.cli.command import examples

EXAMPLES = examples(
    "fleetaudit history --history history.db  # the runs it holds",
    "fleetaudit history verify  # that none of them was changed or taken out",
    "fleetaudit history add out/  # a report that could not be appended",
)
LIST_EXAMPLES = examples(
    "fleetaudit history list --history history.db",
    "fleetaudit history list --last 10 --json  # for other programs",
)
VERIFY_EXAMPLES = examples(
    "fleetaudit history verify --history history.db",
    "fleetaudit history verify --head 011fa127148c  # and that a noted digest is in it",
)
ADD_EXAMPLES = examples(
    "fleetaudit history add out/ --history history.db  # JSON report and population",
    "fleetaudit history add old/report.json  # to the configured history",
)
PRUNE_EXAMPLES = examples(
    "fleetaudit history prune  # as configured",
    "fleetaudit history prune --keep-runs 30 --keep-days 90  # what one of the two wants stays",
)

Last = Annotated[int | None, o.option("--last", "N", "Only the newest N runs.", least=1)]


def list_runs(
    *,
    history: o.Past = None,
    fleet: o.Fleet = None,
    last: Last = None,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
    as_json: o.AsJson = False,
) -> int:
    """List the runs: time, clusters, objects, pairs, gaps, ratios, exit code, digests of scope and result.

    The order is that of the moments the results were judged at; the number is the place in the chain.
    """
    from audit.cli.history_page import HistoryPage
    from audit.cli.past import one_fleet, past
    from audit.cli.screen import stdout_screen
    from audit.cli.settings import environment

    with past(history, config, no_config=no_config) as stored:
        links = stored.links()
        if fleet is not None:
            links = one_fleet(links, fleet)
        links = sorted(links, key=lambda link: (link.run.state_time, link.number))
        page = HistoryPage(links[-last:] if last else links, stored.ratios(measure="strict", part=""))
    screen = stdout_screen(color=not environment().no_color)
    if as_json:
        screen.data(page.plain())
    else:
        page.show(screen)
    screen.flush()
    return 0


def verify_chain(
    *,
    history: o.Past = None,
    head: Annotated[
        str | None,
        o.option("--head", "DIGEST", "A chain digest that was noted elsewhere, or at least 8 digits of one."),
    ] = None,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
    as_json: o.AsJson = False,
) -> int:
    """Recompute every digest of the chain, and name the first run that was changed or is missing.

    Rows, reports and populations are looked through. A history that was cut at its end, or written anew as a whole, holds
    together; --head finds that. The exit code is 1 when the chain doesn't hold.
    """
    import re

    from audit.cli.exits import ExitCode
    from audit.cli.history_page import show_verdict, verdict_plain
    from audit.cli.past import past
    from audit.cli.screen import stdout_screen
    from audit.cli.settings import environment
    from audit.errors import UsageError
    from audit.history.database.verifying import verify

    if head is not None and not re.fullmatch(r"[0-9a-f]{8,64}", head):
        raise UsageError(
            f"--head: {head[:70]!r} is no digest", suggestion="write 8 to 64 of the digits 0 to 9 and a to f"
        )
    with past(history, config, no_config=no_config) as stored:
        verdict = verify(stored, head or "")
    screen = stdout_screen(color=not environment().no_color)
    if as_json:
        screen.data(verdict_plain(verdict))
    else:
        show_verdict(screen, verdict)
    screen.flush()
    return int(ExitCode.GATE_FAILED if verdict.broken else ExitCode.MET)


def add_report(
    result: Annotated[str, o.argument("RESULT", "JSON report of a run, or its folder.")],
    *,
    history: o.Past = None,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
) -> int:
    """Append the report of an earlier run, for example when the database was down. What is there already is not added twice.

    The population file beside the report is appended with it. The run's exit code is taken from what the report says.
    """
    from audit import wiring
    from audit.cli.exits import code_for_outcome
    from audit.cli.keeping import Keeping, held_open, retention_of
    from audit.cli.past import past_address, past_configuration
    from audit.cli.results import load_result
    from audit.cli.screen import stdout_screen
    from audit.cli.settings import environment
    from audit.cli.wording import label

    effective = past_configuration(history, config, no_config=no_config)
    keeping = Keeping(address=past_address(effective), retention=retention_of(effective))
    path = Path(result)
    loaded = load_result(path)
    met = not any(gate.met is False for gate in loaded.gates)
    code = code_for_outcome(complete=loaded.complete, gates_met=met)
    with held_open(path if path.is_dir() else path.parent, loaded) as population:
        link, added = keeping.append(loaded, population, code, wiring.SystemClock().now(), once=True)
    screen = stdout_screen(color=not environment().no_color)
    told = "" if added else ", which was there already"
    screen.line(label("History"), f"run {link.number} in {keeping.address.shown}{told}, chain {link.digest}")
    screen.flush()
    return 0


def prune_runs(
    *,
    history: o.Past = None,
    keep_runs: Annotated[
        int | None, o.option("--keep-runs", "N", "Keep the newest N runs of each fleet whole.", least=1)
    ] = None,
    keep_days: Annotated[
        int | None, o.option("--keep-days", "N", "Keep runs of the last N days whole.", least=1)
    ] = None,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
) -> int:
    """Take findings, reports and populations of old runs out of the history. Their rows, ratios and digests stay.

    So the chain can still be verified and a trend still reaches back. Without options, the configuration says what is
    kept. The newest run of each fleet stays whole.
    """
    from audit import wiring
    from audit.cli.past import past_address, past_configuration
    from audit.cli.screen import stdout_screen
    from audit.cli.settings import environment
    from audit.cli.wording import count
    from audit.errors import UsageError
    from audit.history.database.writing import prune
    from audit.history.model import Retention

    effective = past_configuration(history, config, no_config=no_config)
    retention = Retention(
        keep_runs=keep_runs or effective.history.keep_runs, keep_days=keep_days or effective.history.keep_days
    )
    if retention.keeps_all:
        raise UsageError(
            "nothing says which runs are kept whole",
            suggestion="give --keep-runs or --keep-days, or configure them",
        )
    numbers = prune(past_address(effective), retention, wiring.SystemClock().now())
    screen = stdout_screen(color=not environment().no_color)
    screen.line(f"{count(len(numbers), 'run')} pruned")
    screen.flush()
    return 0


COMMANDS = (
    ("list", list_runs, LIST_EXAMPLES),
    ("verify", verify_chain, VERIFY_EXAMPLES),
    ("add", add_report, ADD_EXAMPLES),
    ("prune", prune_runs, PRUNE_EXAMPLES),
)
