"""``fleetaudit diff``: what happened between two results."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from audit.cli import options as o
from audit.cli.choices import SEVERITIES
from audit.cli.command import examples

if TYPE_CHECKING:
    from audit.compare.results import PairKey, Side
    from audit.model.result import AssessmentResult

EXAMPLES = examples(
    "fleetaudit diff last-week/ out/  # two folders that runs wrote to",
    "fleetaudit diff base/ out/ --fail-on-new high  # in a pull request",
    "fleetaudit diff base/ out/ --format markdown > comment.md",
    "fleetaudit diff --since last --format md --history history.db  # the nightly digest",
    "fleetaudit diff out/ --since 2026-11-01  # a report with the run that was newest then",
)
FORMATS = ("console", "markdown", "md", "json")


def diff(
    before: Annotated[
        str | None,
        o.argument("BEFORE", "JSON report of the older run, or its folder. With --since there is none."),
    ] = None,
    after: Annotated[
        str | None,
        o.argument(
            "AFTER",
            "JSON report of the newer run, or its folder. With --since, the newest stored run by default.",
        ),
    ] = None,
    *,
    since: Annotated[
        str | None,
        o.option(
            "--since",
            "RUN",
            "Compare with a run of the history: last, its number, or a date, which means the newest run before that day.",
        ),
    ] = None,
    history: o.Past = None,
    fleet: o.Fleet = None,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
    format_name: Annotated[
        str,
        o.option(
            "--format", "NAME", "One of console, markdown (or md), json; console by default.", words=FORMATS
        ),
    ] = "console",
    fail_on_new: Annotated[
        str | None,
        o.option(
            "--fail-on-new",
            "SEVERITY",
            "Exit 1 when a group of this severity or worse opened.",
            words=SEVERITIES,
        ),
    ] = None,
) -> int:
    """Compare two results: new, regressed, fixed, removed, waived, unchanged, and lost evidence.

    A group that vanished is fixed only when the same pairs were judged again without it. When its objects can't be seen any more it is lost
    evidence, and the exit code is 3. Ratios are compared only when both results speak of the same scope and rules. The
    population files beside the reports prove it; they must be of the same runs.
    """
    from audit.cli.choices import one_of
    from audit.cli.diff_page import DiffPage
    from audit.cli.exits import ExitCode, code_for_outcome, winner
    from audit.cli.results import load_result
    from audit.cli.screen import stdout_screen
    from audit.cli.settings import environment
    from audit.compare.model import Change
    from audit.compare.results import compare, interesting_pairs, worse_than
    from audit.model.rule import Severity

    chosen = one_of("--format", format_name, FORMATS)
    floor = Severity(one_of("--fail-on-new", fail_on_new, SEVERITIES)) if fail_on_new else None
    with ExitStack() as stack:
        if since is None:
            older, newer, runs = *_two(before, after, history=history, fleet=fleet), ""
        else:
            from audit.cli.since import fetched

            asked = _one(before, after)
            older, newer, runs = stack.enter_context(
                fetched(since, asked, history=history, fleet=fleet, config=config, no_config=no_config)
            )
        old, new = load_result(older), load_result(newer)
        wanted = interesting_pairs(old, new)
        found = compare(_side(old, older, wanted), _side(new, newer, wanted))
    page = DiffPage(found, runs)
    screen = stdout_screen(color=not environment().no_color)
    if chosen == "json":
        screen.data(page.plain())
    elif chosen in {"markdown", "md"}:
        page.markdown(screen)
    else:
        page.show(screen)
    screen.flush()
    gate = floor is None or not worse_than(found, floor)
    return int(winner(code_for_outcome(complete=not found.of(Change.LOST), gates_met=gate), ExitCode.MET))


def _two(
    before: str | None, after: str | None, *, history: str | None, fleet: str | None
) -> tuple[Path, Path]:
    from audit.errors import UsageError

    if history is not None or fleet is not None:
        raise UsageError(
            "without --since no history is read",
            suggestion="add --since last, or leave --history and --fleet out",
        )
    if before is None or after is None:
        raise UsageError(
            "two results are compared, and fewer are named",
            suggestion="name an older and a newer one, or compare with a history: --since last",
        )
    return Path(before), Path(after)


def _one(before: str | None, after: str | None) -> str | None:
    """With ``--since`` the older result comes out of the history; a path is the newer one."""
    from audit.errors import UsageError

    if before is not None and after is not None:
        raise UsageError(
            "with --since the older result comes out of the history, and two are named",
            suggestion="name only the newer one, or leave --since out",
        )
    return before


def _side(result: AssessmentResult, path: Path, wanted: frozenset[PairKey]) -> Side:
    """A result and what its population says of the wanted pairs.

    Raises:
        UsageError: the population file is not that of this result, or it is damaged.
    """
    from audit.cli.population import read_pairs, verify_digest
    from audit.compare.results import PairKey, Side, worst_outcomes
    from audit.model.finding import Outcome
    from audit.record.population import original

    folder = path if path.is_dir() else path.parent
    file = folder / result.record.population_file
    if not (result.record.population_file and file.is_file()):
        return Side(result, None)
    verify_digest(file, result.record.population_sha256)
    rows = (
        (
            PairKey(
                original(row.rule),
                original(row.cluster),
                original(row.kind),
                original(row.namespace),
                original(row.name),
            ),
            Outcome(row.outcome),
        )
        for row in read_pairs(file)
    )
    return Side(result, worst_outcomes(rows, wanted))
