"""The arguments that ask for the same judgement again, as the run record keeps them."""

from __future__ import annotations

from audit.config.overrides import Overrides
from audit.redact import redacted


def judging_arguments(overrides: Overrides, file: str) -> tuple[str, ...]:
    """Everything of the command line that decides what a rule answers about an object.

    Which paths, cluster and rules are meant is left out: whoever repeats a test names those of that test, and of several
    contexts the one.

    Args:
        overrides: the command line.
        file: the configuration file that was used; empty means none, which has to be asked for, because a later run
            may find one.
    """
    words = ["--config", file] if file else ["--no-config"]
    if overrides.kubeconfig is not None:
        words += ["--kubeconfig", overrides.kubeconfig]
    if overrides.register is not None:
        words += ["--register", overrides.register]
    if overrides.require_signed is not None:
        words += ["--require-signed", overrides.require_signed]
    if overrides.as_of is not None:
        words += ["--as-of", overrides.as_of]
    if overrides.in_cluster:
        words.append("--in-cluster")
    for option, values in (
        ("--context", overrides.contexts),
        ("--policy", overrides.policy),
        ("--include", overrides.include),
        ("--exclude", overrides.exclude),
        ("--registry", overrides.registries),
    ):
        words += [word for value in values for word in (option, value)]
    if overrides.gitignore is False:
        words.append("--no-gitignore")
    if overrides.engine is not None:
        words += ["--engine", f"rego={overrides.engine}"]
    return tuple(redacted(words))
