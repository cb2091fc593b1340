"""``fleetaudit check``: the gate for a pipeline or a commit hook."""

from __future__ import annotations

from audit.cli import options as o
from audit.cli.command import examples

EXAMPLES = examples(
    "fleetaudit check k8s/  # fails on open findings of high or worse",
    "fleetaudit check k8s/ --fail-on medium  # stricter",
    "fleetaudit check k8s/ --min-objects 20  # and on an empty checkout",
    "fleetaudit check k8s/ -o out --format sarif  # keeps a report as well",
)


def check(
    paths: o.Paths = None,
    *,
    config: o.ConfigFile = None,
    no_config: o.NoConfig = False,
    cluster: o.Clusters = None,
    include: o.Include = None,
    exclude: o.Exclude = None,
    no_gitignore: o.NoGitignore = False,
    policy: o.Policies = None,
    rule: o.SelectedRules = None,
    skip_rule: o.SkippedRules = None,
    profile: o.ProfileName = None,
    fail_on: o.FailOn = None,
    min_ratio: o.MinRatio = None,
    min_coverage: o.MinCoverage = None,
    min_objects: o.MinObjects = None,
    output: o.Output = None,
    formats: o.Formats = None,
    lang: o.Lang = None,
    jobs: o.Jobs = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
    log_file: o.LogFile = None,
    no_progress: o.NoProgress = False,
) -> int:
    """Audit manifests and fail on findings.

    Like run, with a gate on severity (high, unless --fail-on or the configuration says otherwise), short output, and
    no report unless --output is given.
    """
    from audit.cli.execution import Manner, execute
    from audit.cli.settings import run_overrides
    from audit.errors import UsageError
    from audit.model.rule import Severity

    if formats and output is None:
        raise UsageError(
            "--format needs --output: check keeps no report by itself", suggestion="add --output DIR"
        )
    overrides = run_overrides(
        paths=paths,
        config=config,
        no_config=no_config,
        clusters=cluster,
        include=include,
        exclude=exclude,
        no_gitignore=no_gitignore,
        policy=policy,
        rules=rule,
        skip_rules=skip_rule,
        profile=profile,
        fail_on=fail_on,
        min_ratio=min_ratio,
        min_coverage=min_coverage,
        min_objects=min_objects,
        output=output,
        formats=formats,
        lang=lang,
        jobs=jobs,
    )
    manner = Manner(
        quiet=quiet,
        verbose=verbose,
        short=not verbose,
        progress=not no_progress,
        log_file=log_file,
        reports=output is not None,
        gate=Severity.HIGH,
    )
    return execute(overrides, manner)
