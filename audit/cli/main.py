"""The command ``fleetaudit``: what sub-commands there are, and what becomes of errors."""

from __future__ import annotations

import gc
import sys
import textwrap
from collections.abc import Sequence
from types import ModuleType
from typing import Annotated, Any

import typer

from audit.cli import (
    check,
    collect,
    consistency,
    controls,
    diff,
    doctor,
    explain,
    history,
    init,
    preflight,
    rbac,
    report,
    rules,
    run,
    sample,
    sbom,
    test,
    trend,
    twins,
    validate,
    what_if,
)
from audit.cli.command import WIDTH, Command, Group, Handler, ListingGroup, examples
from audit.cli.exits import MEANINGS, ExitCode
from audit.cli.screen import Screen
from audit.cli.streams import prepare_streams, settle_stdout

NAME = "fleetaudit"
# Typer brings its own copy of click in newer versions; the root of its usage errors is found from one it exports.
_CLICK_ERROR: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
_DEBUG = "--debug"
_EXAMPLES = "\n".join(
    [
        examples(
            "fleetaudit run k8s/  # audit a folder, write HTML and JSON",
            "fleetaudit check k8s/  # the gate for a pipeline",
            "fleetaudit explain pod/privileged  # why, and how to mend it",
            "fleetaudit COMMAND --help  # options and more examples",
        ),
        "",
        "Exit codes:",
        *(
            textwrap.fill(f"{int(code):>5}  {meaning}", WIDTH, subsequent_indent=" " * 7)
            for code, meaning in MEANINGS.items()
        ),
    ]
)


def application(*, rich_help: bool) -> typer.Typer:
    """The whole command line.

    Args:
        rich_help: panels and colour in help texts, for terminals.
    """
    mode: Any = "rich" if rich_help else None
    app = typer.Typer(
        name=NAME,
        cls=Group,
        help="Audit a large-model Kubernetes fleet: proven denominator, cited controls, no invented percentages.",
        epilog=_EXAMPLES,
        pretty_exceptions_enable=False,
        rich_markup_mode=mode,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )
    app.callback(invoke_without_command=True)(_root)
    commands: tuple[tuple[Handler, ModuleType], ...] = (
        (run.run, run),
        (check.check, check),
        (collect.collect, collect),
        (report.report, report),
        (explain.explain, explain),
        (sample.sample, sample),
        (diff.diff, diff),
        (consistency.consistency, consistency),
        (trend.trend, trend),
        (twins.twins, twins),
        (what_if.what_if, what_if),
        (test.test, test),
        (validate.validate, validate),
        (init.init, init),
        (rbac.rbac, rbac),
        (preflight.preflight, preflight),
        (doctor.doctor, doctor),
    )
    for handler, module in commands:
        app.command(cls=Command, epilog=module.EXAMPLES)(handler)
    for name, module, title in (
        ("rules", rules, "Rules: what is asked, with which parameters."),
        ("controls", controls, "Controls: what decides them, and what does not yet."),
        ("history", history, "History: the runs that were kept, and their chain."),
    ):
        app.add_typer(_group(module, title, mode), name=name)
    app.add_typer(sbom.group(mode), name="sbom")
    return app


def _group(module: ModuleType, title: str, mode: Any) -> typer.Typer:
    """``rules``, ``controls`` and ``history``: alone they list."""
    group = typer.Typer(cls=ListingGroup, help=title, epilog=module.EXAMPLES, rich_markup_mode=mode)
    for name, handler, epilog in module.COMMANDS:
        group.command(name, cls=Command, epilog=epilog)(handler)
    return group


def _root(
    ctx: typer.Context,
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
    debug: Annotated[
        bool, typer.Option(_DEBUG, help="Show a traceback with every error; may stand anywhere.")
    ] = False,
) -> None:
    del debug  # taken out of the arguments by `main`; stands here for the help text
    if version:
        import audit

        typer.echo(f"{NAME} {audit.__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        # A pipeline that calls us without a command has audited nothing, so this is no success.
        typer.echo(ctx.get_help(), err=True)
        raise typer.Exit(int(ExitCode.USAGE))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; nothing raised by design escapes as a traceback."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    given, debug = _take_debug(given)
    prepare_streams()
    # Findings are plain values that refer to nothing that refers back; looking through them for cycles every few
    # hundred objects costs a tenth of the time.
    gc.set_threshold(100_000, 50, 100)
    try:
        command = typer.main.get_command(application(rich_help=sys.stdout.isatty()))
        code = command.main(args=given, prog_name=NAME, standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # Nobody reads any more; what was asked for is done or was said.
        code = int(ExitCode.MET)
    except SystemExit as leaving:
        # Typer itself leaves with 1 when nobody reads its help; completion leaves with a code of its own.
        unread = isinstance(leaving.__context__, BrokenPipeError)
        code = int(ExitCode.MET) if unread else leaving.code
    except KeyboardInterrupt as interrupt:
        code = int(getattr(interrupt, "code", ExitCode.INTERRUPTED))
    except Exception as error:  # noqa: BLE001  # the last line of defence: every error becomes a message and a code
        code = _failed(error, debug=debug)
    settle_stdout()
    return code if isinstance(code, int) else int(ExitCode.MET)


def _take_debug(arguments: list[str]) -> tuple[list[str], bool]:
    """``--debug`` may stand anywhere before ``--``."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    head = [word for word in arguments[:end] if word != _DEBUG]
    return [*head, *arguments[end:]], len(head) < end


def _failed(error: Exception, *, debug: bool) -> int:
    from audit.cli.exits import code_for_error
    from audit.cli.failures import print_error, print_message
    from audit.config.environment import Environment, read_environment
    from audit.errors import AuditError, UsageError

    try:
        surroundings = read_environment()
    except UsageError:
        surroundings = Environment()
    if debug or surroundings.debug:
        import traceback

        traceback.print_exception(error)
    screen = Screen(sys.stderr, color=not surroundings.no_color)
    if isinstance(error, AuditError):
        print_error(screen, error)
        return int(code_for_error(error))
    if isinstance(error, _CLICK_ERROR):
        print_message(screen, error.format_message(), _usage_hint(error))
        return int(ExitCode.USAGE)
    if isinstance(error, typer.Abort):
        return int(ExitCode.INTERRUPTED)
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        print_message(screen, f"{where}{error.strerror}", "--debug shows where")
        return int(ExitCode.USAGE)
    print_message(
        screen,
        f"internal error: {type(error).__name__}: {error}",
        "this is a mistake of ours; --debug shows where, and fleetaudit doctor prints what a report of it needs",
    )
    return int(ExitCode.INCOMPLETE)


def _usage_hint(error: Any) -> str:
    path = getattr(getattr(error, "ctx", None), "command_path", NAME)
    return f"{path} --help shows the options"
