"""Options that several sub-commands share."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from audit.cli.choices import FORMATS, LANGUAGES, PROFILES, REGO_ENGINES, SEVERITIES, SIGNED_MODES

SCOPE = "What is audited"
JUDGE = "How it is judged"
GATES = "When it fails"
OUTPUT = "What is written"


def option(
    names: str,
    metavar: str,
    text: str,
    *,
    panel: str | None = None,
    words: tuple[str, ...] = (),
    least: int | None = None,
    most: int | None = None,
) -> Any:
    """An option without a printed default: where there is one, the text says so in words.

    Args:
        names: ``--long``, or ``--long -s``.
        metavar: name of the value; empty for a switch.
        text: one sentence or two.
        panel: heading in the help on a terminal.
        words: values that completion offers.
        least: smallest number that is taken.
        most: largest number that is taken.
    """

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return typer.Option(
        *names.split(),
        metavar=metavar or None,
        help=text,
        rich_help_panel=panel,
        show_default=False,
        autocompletion=complete if words else None,
        min=least,
        max=most,
    )


def argument(metavar: str, text: str) -> Any:
    """An argument without a printed default."""
    return typer.Argument(metavar=metavar, help=text, show_default=False)


Paths = Annotated[
    list[str] | None,
    argument(
        "PATH",
        "Files, folders or globs with manifests, together one cluster; - reads standard input. Or snapshots, each a cluster. "
        "Without a path, the configuration says what is audited.",
    ),
]
ConfigFile = Annotated[
    str | None,
    option(
        "--config", "FILE", "Configuration; fleetaudit.yaml of the working folder by default.", panel=SCOPE
    ),
]
NoConfig = Annotated[bool, option("--no-config", "", "Use no configuration file.", panel=SCOPE)]
Clusters = Annotated[
    list[str] | None,
    option(
        "--cluster",
        "NAME",
        "Name of the cluster in PATH; without a path, audit only this cluster of the configuration.",
        panel=SCOPE,
    ),
]
Contexts = Annotated[
    list[str] | None,
    option(
        "--context",
        "NAME",
        "Audit the running cluster of this kubeconfig context; give it again for more.",
        panel=SCOPE,
    ),
]
AllContexts = Annotated[
    bool, option("--all-contexts", "", "Audit the running clusters of all kubeconfig contexts.", panel=SCOPE)
]
Kubeconfig = Annotated[
    str | None,
    option("--kubeconfig", "FILE", "KUBECONFIG or ~/.kube/config by default.", panel=SCOPE),
]
InCluster = Annotated[
    bool,
    option(
        "--in-cluster",
        "",
        "Audit the cluster that fleetaudit runs in, with its pod's service account.",
        panel=SCOPE,
    ),
]
Register = Annotated[
    str | None,
    option(
        "--register",
        "FILE",
        "The clusters that are expected; each stays in every denominator. Snapshots are matched by uid and signature.",
        panel=SCOPE,
    ),
]
Include = Annotated[
    list[str] | None,
    option("--include", "GLOB", "Read only matching files of folders (.gitignore syntax).", panel=SCOPE),
]
Exclude = Annotated[
    list[str] | None,
    option(
        "--exclude",
        "GLOB",
        "Leave matching files out of scope (.gitignore syntax); the report lists them.",
        panel=SCOPE,
    ),
]
NoGitignore = Annotated[
    bool, option("--no-gitignore", "", "Also read what .gitignore files leave out.", panel=SCOPE)
]
Policies = Annotated[
    list[str] | None,
    option(
        "--policy",
        "PATH",
        "Folder, file or pinned git address with more policies, or builtin:kyverno, besides the built-in rules.",
        panel=JUDGE,
    ),
]
RequireSigned = Annotated[
    str | None,
    option(
        "--require-signed",
        "MODE",
        "Policies and mappings of your own need an allowed signature: refuse stops without one, mark says so at each rule.",
        panel=JUDGE,
        words=SIGNED_MODES,
    ),
]
Engine = Annotated[
    str | None,
    option(
        "--engine",
        "rego=NAME",
        "What evaluates Rego: rego=embedded (default) or rego=opa-server, an OPA server started for the run.",
        panel=JUDGE,
        words=tuple(REGO_ENGINES),
    ),
]
SelectedRules = Annotated[
    list[str] | None,
    option(
        "--rule",
        "ID",
        "Ask only this rule (id or glob such as rbac/*). Controls of the others stay undecided.",
        panel=JUDGE,
    ),
]
SkippedRules = Annotated[
    list[str] | None,
    option(
        "--skip-rule", "ID", "Do not ask this rule (id or glob). Its controls stay undecided.", panel=JUDGE
    ),
]
ProfileName = Annotated[
    str | None,
    option(
        "--profile",
        "NAME",
        "Controls in the denominator: technical (default) or full; a list of your own in the configuration.",
        panel=JUDGE,
        words=PROFILES,
    ),
]
Registries = Annotated[
    list[str] | None,
    option(
        "--registry",
        "HOST",
        "Ask this registry for signatures, provenance and SBOMs of the images that run; give it again for more. None by default.",
        panel=JUDGE,
    ),
]
AsOf = Annotated[
    str | None,
    option(
        "--as-of",
        "TIME",
        "Judge as at this time with its zone, which is past; the report says so. Not with running clusters.",
        panel=JUDGE,
    ),
]
FailOn = Annotated[
    str | None,
    option(
        "--fail-on",
        "SEVERITY",
        f"Fail on unwaived findings of this severity or worse: {', '.join(SEVERITIES)}.",
        panel=GATES,
        words=SEVERITIES,
    ),
]
MinRatio = Annotated[
    list[str] | None,
    option(
        "--min-ratio",
        "FRAMEWORK=FRACTION",
        "Fail when the strict ratio of a framework is lower.",
        panel=GATES,
    ),
]
MinCoverage = Annotated[
    list[str] | None,
    option(
        "--min-coverage",
        "FRAMEWORK=FRACTION",
        "Fail when the evidence coverage of a framework is lower.",
        panel=GATES,
    ),
]
MinObjects = Annotated[
    int | None,
    option("--min-objects", "N", "Fail when fewer Kubernetes objects are judged.", panel=GATES, least=1),
]
Output = Annotated[
    str | None,
    option(
        "--output -o",
        "DIR",
        "Folder for the reports, fleetaudit-report by default; - prints one format to standard output.",
        panel=OUTPUT,
    ),
]
Formats = Annotated[
    list[str] | None,
    option(
        "--format -f",
        "NAME",
        f"Formats, with commas or repeated: {', '.join(FORMATS)}. Default: html,json.",
        panel=OUTPUT,
        words=FORMATS,
    ),
]
Lang = Annotated[
    str | None,
    option(
        "--lang",
        "LANG",
        f"Language of what people read, HTML, Markdown and the summary: {' or '.join(LANGUAGES)}.",
        panel=OUTPUT,
        words=LANGUAGES,
    ),
]
History = Annotated[
    str | None,
    option(
        "--history",
        "URL",
        "Append the result to this history: an SQLite file, or postgresql://USER@HOST/DATABASE.",
        panel=OUTPUT,
    ),
]
NoHistory = Annotated[
    bool,
    option("--no-history", "", "Append to no history, whatever the configuration says.", panel=OUTPUT),
]
Past = Annotated[
    str | None,
    option("--history", "URL", "The history; FLEETAUDIT_HISTORY or the configuration's own by default."),
]
Fleet = Annotated[str | None, option("--fleet", "TITLE", "Only runs of the fleet with this title.")]
Jobs = Annotated[
    int | None,
    option("--jobs -j", "N", "Cores to use; all by default.", least=1, most=1024),
]
NoCache = Annotated[bool, option("--no-cache", "", "Judge every object anew, and remember no answer.")]
Quiet = Annotated[bool, option("--quiet -q", "", "Print only the gate and completeness lines.")]
Verbose = Annotated[bool, option("--verbose -v", "", "Print every gap, notice and open group, and the log.")]
LogFile = Annotated[str | None, option("--log-file", "FILE", "Append a log of the run to FILE.")]
NoProgress = Annotated[bool, option("--no-progress", "", "Show no progress bar.")]
AsJson = Annotated[bool, option("--json", "", "Print JSON.")]
ResultFile = Annotated[
    str | None,
    option("--result", "FILE", "JSON report to read; report.json of the last output folder by default."),
]
Framework = Annotated[str | None, option("--framework", "ID", "Only this framework, for example lfai.")]
