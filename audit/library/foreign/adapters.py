"""Adapter modules: a foreign rule put into the project's contract, ``applies`` and ``violations``.

The policy itself is not touched. Its adapter asks it with the input it expects and turns the answer into violations.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path

from audit.library.foreign.steps import rego_path

ROOT = "fleetaudit_foreign"
_SUPPORT = Path(__file__).parent / "support"


@functools.cache
def support_modules() -> dict[str, str]:
    """What adapters import, by label."""
    return {
        f"{ROOT}/{path.name}": path.read_text(encoding="utf-8") for path in sorted(_SUPPORT.glob("*.rego"))
    }


def package_of(number: int) -> str:
    """Package of the adapter with this number in its program."""
    return f"{ROOT}.rules.r{number}"


def adapter(
    package: str,
    said: Sequence[str],
    *,
    reading: str,
    given: str = "",
    applies: str = "true",
    exception: str | None = None,
    silent: bool = False,
) -> str:
    """Rego of one adapter.

    Args:
        package: its own package.
        said: steps of the decision below ``data``.
        reading: function of the ``said`` module that reads the answer, its further arguments after a comma.
        given: term that replaces the input; empty keeps the bare object.
        applies: expression that says whether the policy is meant for the object.
        exception: suffix that conftest's ``exception`` lists for the rule; None when the package has no exceptions.
        silent: no answer at all means nothing is wrong.
    """
    name, _, further = reading.partition(",")
    arguments = f"answer, {further}" if further else "answer"
    lines = [
        f"package {package}",
        "",
        *(f"import data.{ROOT}.{part}" for part in ("admission", "gatekeeper", "objects", "said", "whole")),
        "",
        f"applies := {applies}" if applies == "true" else f"applies := asked if asked := {applies}",
        "",
        *(["default answer := []", ""] if silent else ()),
        f"answer := found if found := {rego_path(('data', *said))}"
        + (f" with input as {given}" if given else ""),
        "",
    ]
    if exception is not None:
        where = rego_path(("data", *said[:-1], "exception"))
        lines += [
            "default excepted := false",
            "",
            f"excepted if {where}[_][_] == {quoted(exception)}",
            "",
            f"violations := said.{name}({arguments}) if not excepted",
            "",
            f"violations := said.accepted(said.{name}({arguments}), {quoted(rego_path((*said[:-1], 'exception')))}) if {{",
            "\texcepted",
            "}",
        ]
    else:
        lines.append(f"violations := said.{name}({arguments})")
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """A Rego string."""
    return json.dumps(text)
