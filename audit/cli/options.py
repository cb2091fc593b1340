"""Options that several sub-commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from audit.cli.choices import FORMATS, LANGUAGES, PROFILES, SEVERITIES


def _completing(*words: str) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


SCOPE = "What is audited"
JUDGE = "How it is judged"
GATES = "When it fails"
OUTPUT = "What is written"

Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH",
        help="Files, folders or globs with manifests; - reads standard input. Together they are one cluster. "
        "Without a path, the configuration says what is audited.",
        show_default=False,
    ),
]
ConfigFile = Annotated[
    str | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Configuration; fleetaudit.yaml of the working folder by default.",
        rich_help_panel=SCOPE,
        show_default=False,
    ),
]
NoConfig = Annotated[
    bool, typer.Option("--no-config", help="Use no configuration file.", rich_help_panel=SCOPE)
]
Clusters = Annotated[
    list[str] | None,
    typer.Option(
        "--cluster",
        metavar="NAME",
        help="Name of the cluster in PATH; without a path, audit only this cluster of the configuration.",
        rich_help_panel=SCOPE,
        show_default=False,
    ),
]
Include = Annotated[
    list[str] | None,
    typer.Option(
        "--include",
        metavar="GLOB",
        help="Read only matching files of folders (.gitignore syntax).",
        rich_help_panel=SCOPE,
        show_default=False,
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        metavar="GLOB",
        help="Leave matching files out of scope (.gitignore syntax); the report lists them.",
        rich_help_panel=SCOPE,
        show_default=False,
    ),
]
NoGitignore = Annotated[
    bool,
    typer.Option("--no-gitignore", help="Also read what .gitignore files leave out.", rich_help_panel=SCOPE),
]
Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        metavar="PATH",
        help="Folder, file or pinned git address with more policies, besides the built-in rules.",
        rich_help_panel=JUDGE,
        show_default=False,
    ),
]
SelectedRules = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        metavar="ID",
        help="Ask only this rule (id or glob such as rbac/*). Controls of the others stay undecided.",
        rich_help_panel=JUDGE,
        show_default=False,
    ),
]
SkippedRules = Annotated[
    list[str] | None,
    typer.Option(
        "--skip-rule",
        metavar="ID",
        help="Do not ask this rule (id or glob). Its controls stay undecided.",
        rich_help_panel=JUDGE,
        show_default=False,
    ),
]
ProfileName = Annotated[
    str | None,
    typer.Option(
        "--profile",
        metavar="NAME",
        help="Controls in the denominator: technical (default) or full; a list of your own in the configuration.",
        rich_help_panel=JUDGE,
        show_default=False,
        autocompletion=_completing(*PROFILES),
    ),
]
FailOn = Annotated[
    str | None,
    typer.Option(
        "--fail-on",
        metavar="SEVERITY",
        help=f"Fail on unwaived findings of this severity or worse: {', '.join(SEVERITIES)}.",
        rich_help_panel=GATES,
        show_default=False,
        autocompletion=_completing(*SEVERITIES),
    ),
]
MinRatio = Annotated[
    list[str] | None,
    typer.Option(
        "--min-ratio",
        metavar="FRAMEWORK=FRACTION",
        help="Fail when the strict ratio of a framework is lower.",
        rich_help_panel=GATES,
        show_default=False,
    ),
]
MinCoverage = Annotated[
    list[str] | None,
    typer.Option(
        "--min-coverage",
        metavar="FRAMEWORK=FRACTION",
        help="Fail when the evidence coverage of a framework is lower.",
        rich_help_panel=GATES,
        show_default=False,
    ),
]
MinObjects = Annotated[
    int | None,
    typer.Option(
        "--min-objects",
        metavar="N",
        min=1,
        help="Fail when fewer Kubernetes objects are judged.",
        rich_help_panel=GATES,
        show_default=False,
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Folder for the reports, fleetaudit-report by default; - prints one format to standard output.",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]
Formats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        "-f",
        metavar="NAME",
        help=f"Formats, with commas or repeated: {', '.join(FORMATS)}. Default: html,json.",
        rich_help_panel=OUTPUT,
        show_default=False,
        autocompletion=_completing(*FORMATS),
    ),
]
Lang = Annotated[
    str | None,
    typer.Option(
        "--lang",
        metavar="LANG",
        help=f"Language of the reports: {' or '.join(LANGUAGES)}.",
        rich_help_panel=OUTPUT,
        show_default=False,
        autocompletion=_completing(*LANGUAGES),
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", metavar="N", min=1, max=1024, help="Cores to use; all by default.", show_default=False
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the gate and completeness lines.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print every gap, notice and open group.")]
LogFile = Annotated[
    str | None,
    typer.Option("--log-file", metavar="FILE", help="Append a log of the run to FILE.", show_default=False),
]
NoProgress = Annotated[bool, typer.Option("--no-progress", help="Show no progress bar.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ResultFile = Annotated[
    str | None,
    typer.Option(
        "--result",
        metavar="FILE",
        help="JSON report to read; report.json of the last output folder by default.",
        show_default=False,
    ),
]
Framework = Annotated[
    str | None,
    typer.Option(
        "--framework", metavar="ID", help="Only this framework, for example lfai.", show_default=False
    ),
]
