"""``fleetaudit sbom``: bills of materials, one file at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from audit.cli import options as o
from audit.cli.choices import SEVERITIES
from audit.cli.command import Command, Group, examples

if TYPE_CHECKING:
    from audit.cli.sbom_asking import Judged

EXAMPLES = examples(
    "fleetaudit sbom check image.spdx.json  # the facts, and what the rules say",
    "fleetaudit sbom annotate image.spdx.json --verdicts scorecard.json -o out.json",
)
CHECK_EXAMPLES = examples(
    "fleetaudit sbom check image.spdx.json  # one file",
    "fleetaudit sbom check boms/*.json --fail-on medium  # the gate for a pipeline",
    "fleetaudit sbom check model.cdx.xml --json  # for other programs",
)
ANNOTATE_EXAMPLES = examples(
    "fleetaudit sbom annotate image.spdx.json --verdicts scorecard.json  # to the screen",
    "fleetaudit sbom annotate a.spdx.json --verdicts summary.json -o a.spdx.json  # in place",
)


def check(
    files: Annotated[list[str], o.argument("FILE", "Bills of materials; the format is found by content.")],
    *,
    fail_on: Annotated[
        str | None,
        o.option(
            "--fail-on",
            "SEVERITY",
            f"Fail only on this severity or worse ({', '.join(SEVERITIES)}); on any by default.",
            words=SEVERITIES,
        ),
    ] = None,
    no_deep: Annotated[
        bool, o.option("--no-deep", "", "Leave validation by spdx-tools out; it takes a second.")
    ] = False,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
    as_json: o.AsJson = False,
) -> int:
    """Check bills of materials: valid, sound, complete, licences, subject, age.

    The same facts and rules as in a run, for files alone. Rules that wait for a parameter are not asked.
    """
    from audit.cli.choices import severity_of
    from audit.cli.sbom_asking import ask, code_of
    from audit.cli.sbom_page import plain, print_judged
    from audit.cli.screen import stdout_screen
    from audit.cli.settings import content_configuration, environment
    from audit.model.rule import Severity

    least = Severity(severity_of("--fail-on", fail_on)) if fail_on is not None else Severity.INFO
    effective = content_configuration(config, no_config=no_config)
    judged: list[Judged] = ask(files, effective, deep=not no_deep)
    screen = stdout_screen(color=not environment().no_color)
    if as_json:
        screen.data([plain(one) for one in judged])
    else:
        for one in judged:
            print_judged(screen, one)
    screen.flush()
    return int(code_of(judged, least))


def annotate(
    file: Annotated[str, o.argument("FILE", "An SPDX 2.3 document in any form.")],
    *,
    verdicts: Annotated[
        list[str],
        o.option("--verdicts", "RESULT", "OpenSSF Scorecard or TestGrid result, as JSON; repeatable."),
    ],
    element: Annotated[
        str,
        o.option("--element", "SPDXID", "What the verdicts are about; the document by default."),
    ] = "SPDXRef-DOCUMENT",
    output: Annotated[
        str | None,
        o.option("--output -o", "FILE", "Where to write; standard output by default. May be FILE itself."),
    ] = None,
) -> int:
    """Write verdicts into an SPDX 2.3 document as annotations.

    The result is an SPDX 2.3 document in JSON, checked before it is written. Nothing is overwritten unless --output
    names it. Annotations that are there already are not repeated.
    """
    from audit.cli.sbom_annotating import annotated
    from audit.cli.screen import stderr_screen
    from audit.cli.settings import environment

    number = annotated(file, verdicts, element=element, output=output)
    if output is not None:
        screen = stderr_screen(color=not environment().no_color)
        screen.line(f"{number} annotations written to {output}")
    return 0


def group(mode: Any) -> typer.Typer:
    """The commands, for the command line's own list."""
    made = typer.Typer(
        cls=Group, help="Bills of materials: check one, annotate one.", epilog=EXAMPLES, rich_markup_mode=mode
    )
    made.command("check", cls=Command, epilog=CHECK_EXAMPLES)(check)
    made.command("annotate", cls=Command, epilog=ANNOTATE_EXAMPLES)(annotate)
    return made
