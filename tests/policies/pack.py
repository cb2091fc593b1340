"""The shipped Kyverno policies as their folders hold them, and what ``kyverno test`` says of them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

CHECKOUT = Path(__file__).resolve().parent.parent.parent
FOLDER = CHECKOUT / "policies"
_AUTOGEN = re.compile(r"^autogen-(cronjob-)?")


class Policy(NamedTuple):
    """One folder."""

    folder: Path

    @property
    def title(self) -> str:
        return f"{self.folder.parent.name}/{self.folder.name}"

    @property
    def document(self) -> dict[str, Any]:
        return yaml.safe_load((self.folder / f"{self.folder.name}.yaml").read_text(encoding="utf-8"))

    @property
    def is_cel(self) -> bool:
        return self.folder.name.endswith("-cel")

    @property
    def annotations(self) -> dict[str, str]:
        return self.document["metadata"]["annotations"]

    @property
    def test(self) -> dict[str, Any]:
        return yaml.safe_load((self.folder / "kyverno-test.yaml").read_text(encoding="utf-8"))

    def objects(self) -> Iterator[dict[str, Any]]:
        """Everything that its test judges."""
        for name in self.test["resources"]:
            yield from yaml.safe_load_all((self.folder / name).read_text(encoding="utf-8"))

    def expected(self) -> dict[tuple[str, str], str]:
        """(kind, name) to the result that its test expects."""
        return {
            (entry["kind"], name.rpartition("/")[2]): entry["result"]
            for entry in self.test["results"]
            for name in entry["resources"]
        }


def policies() -> list[Policy]:
    return [Policy(folder) for folder in sorted(FOLDER.glob("*/*")) if folder.is_dir()]


class Row(NamedTuple):
    """One row that ``kyverno test`` printed."""

    policy: str
    rule: str
    kind: str
    name: str
    passed: bool
    reason: str
    message: str


def rows_of(cli: str, folders: Iterable[Path]) -> list[Row]:
    """Run the tests of some folders, in one call."""
    command = [cli, "test", *map(str, folders), "--remove-color", "--detailed-results", "-o", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    return [row for array in _arrays(done.stdout) for row in map(_row, array)]


def _arrays(text: str) -> Iterator[list[dict[str, str]]]:
    """The arrays between the CLI's other lines."""
    decoder = json.JSONDecoder()
    for match in re.finditer(r"^\[$", text, re.MULTILINE):
        yield decoder.raw_decode(text, match.start())[0]


def _row(data: dict[str, str]) -> Row:
    *_, kind, _namespace, name = data["RESOURCE"].split("/")
    return Row(
        policy=data["POLICY"],
        rule=_AUTOGEN.sub("", data["RULE"]),
        kind=kind,
        name=name,
        passed=data["RESULT"] == "Pass",
        reason=data["REASON"],
        message=data.get("Message", ""),
    )


def problems(policy: Policy, rows: Iterable[Row]) -> list[str]:
    """What is wrong with the rows of one policy: a row that is not there is as wrong as one that differs.

    The CLI calls a row passed when its rule was never asked, and prints none at all for a policy that it refuses.
    """
    document = policy.document
    own = [row for row in rows if row.policy == document["metadata"]["name"]]
    rules = {rule["name"] for rule in document["spec"].get("rules", [])} or {""}
    found = [f"{row.kind} {row.name}: {row.reason}: {row.message}" for row in own if not row.passed]
    found += [f"{row.kind} {row.name}: {row.reason}" for row in own if row.passed and row.reason != "Ok"]
    for (kind, name), result in policy.expected().items():
        answered = {row.rule for row in own if (row.kind, row.name) == (kind, name)}
        found += [f"{kind} {name}: no row for {result} {rule}".rstrip() for rule in rules - answered]
    return found
