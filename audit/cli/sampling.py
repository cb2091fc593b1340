"""The work of ``fleetaudit sample``: which pairs, what was seen, how to repeat the test."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import msgspec

from audit.cli.lookup import fold
from audit.cli.population import draw, read_pairs, verify_digest
from audit.cli.screen import Screen
from audit.cli.wording import count
from audit.config.suggest import did_you_mean
from audit.errors import UsageError
from audit.evaluate.owned import OWNED
from audit.model.assessment import ControlRow
from audit.model.control import Strength
from audit.model.finding import Finding
from audit.model.result import AssessmentResult
from audit.model.subject import SubjectRef
from audit.record.population import PairRow, neutral, original
from audit.report.text import value


class SampledPair(msgspec.Struct, frozen=True, kw_only=True):
    """One drawn pair with its evidence."""

    pair: PairRow
    seen: str
    again: str
    """Command that repeats the test, in the folder the run was started in."""
    reads_input: bool
    """It needs the text that the run had on standard input."""


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """A draw, and everything needed to draw it again."""

    control: str
    framework: str
    strength: str
    rules: tuple[str, ...]
    population: str
    population_sha256: str
    size: int
    """Pairs asked for; fewer are there when the population is smaller."""
    seed: int
    eligible: int
    pairs: tuple[SampledPair, ...]


def draw_sample(
    result: AssessmentResult,
    folder: Path,
    *,
    control: str,
    size: int,
    seed: int,
    outcomes: frozenset[str],
) -> Sample:
    """Draw from the population file beside the result.

    Raises:
        UsageError: no such control, no rule mapped to it, or no population file that belongs to the result.
    """
    row = _control(result, control)
    strength, rules = _rules(result, row)
    if not result.record.population_file:
        raise UsageError("the run kept no population file", suggestion="audit again with --output DIR")
    path = folder / result.record.population_file
    verify_digest(path, result.record.population_sha256)
    eligible = 0

    def chosen() -> Any:
        nonlocal eligible
        for pair in read_pairs(path):
            if pair.rule in rules and pair.outcome in outcomes:
                eligible += 1
                yield pair

    drawn = draw(chosen(), size=size, seed=seed)
    seen = _seen(result, drawn)
    again = _Again(result)
    return Sample(
        control=row.id,
        framework=row.framework,
        strength=strength,
        rules=tuple(sorted(rules)),
        population=str(path),
        population_sha256=result.record.population_sha256,
        size=size,
        seed=seed,
        eligible=eligible,
        pairs=tuple(
            SampledPair(
                pair=pair,
                seen=seen[pair.identity],
                again=again.command(pair),
                reads_input="-" in again.paths(pair),
            )
            for pair in drawn
        ),
    )


def _control(result: AssessmentResult, name: str) -> ControlRow:
    framework, colon, rest = name.partition(":")
    wanted = fold(rest if colon else name)
    rows = [r for r in result.controls if fold(r.id) == wanted and (not colon or r.framework == framework)]
    if len(rows) == 1:
        return rows[0]
    if rows:
        names = " or ".join(f"{row.framework}:{row.id}" for row in rows)
        raise UsageError(f"{name} is in several frameworks", suggestion=f"write {names}")
    raise UsageError(
        f"the result has no control {name}",
        suggestion=did_you_mean(
            name, [row.id for row in result.controls], otherwise="`fleetaudit controls` lists them"
        ),
    )


def _rules(result: AssessmentResult, row: ControlRow) -> tuple[str, frozenset[str]]:
    """The deciding rules; where there is none, the supporting ones, and the sample says so."""
    entries = [e for e in result.mappings if e.framework == row.framework and e.control == row.id]
    for strength in (Strength.DECIDES, Strength.SUPPORTS):
        rules = frozenset(entry.rule for entry in entries if entry.strength is strength)
        if rules:
            return strength.value, rules
    raise UsageError(
        f"no rule is mapped to {row.id}, so there are no pairs to draw",
        suggestion=f"fleetaudit explain '{row.id}' says what the control needs",
    )


def _seen(result: AssessmentResult, drawn: list[PairRow]) -> dict[tuple[str, ...], str]:
    wanted = {pair.identity for pair in drawn}
    texts: dict[tuple[str, ...], list[str]] = {}
    for group in result.group_source.groups():
        for finding in group.members:
            identity = _identity(finding)
            if identity in wanted:
                texts.setdefault(identity, []).append(_value_seen(finding))
    return {
        pair.identity: "; ".join(texts[pair.identity][:5]) if pair.identity in texts else _nothing_wrong(pair)
        for pair in drawn
    }


def _identity(finding: Finding) -> tuple[str, ...]:
    """As `PairRow.identity`, in the form of the population file."""
    subject: SubjectRef = finding.subject
    parts = (
        subject.cluster,
        subject.kind_key,
        subject.namespace,
        subject.name,
        subject.source,
        str(subject.document),
        subject.item,
    )
    return (finding.rule, *map(neutral, parts))


def _value_seen(finding: Finding) -> str:
    violation = finding.violation
    if finding.error:
        return f"{finding.error}: {violation.message}"
    where = violation.path_text or "the object"
    return f"{where} = {'absent' if violation.seen is None else value(violation.seen)}"


def _nothing_wrong(pair: PairRow) -> str:
    digest = f"object sha256 {pair.digest}" if pair.digest else "derived subject"
    if pair.outcome == "pass":
        return f"nothing wrong in {digest}"
    return f"{pair.reason or pair.outcome}; {digest}"


class _Again:
    """Writes the command that repeats a test as the run made it."""

    def __init__(self, result: AssessmentResult) -> None:
        self._arguments = result.record.arguments
        self._servers = {
            cluster.get("name"): cluster.get("server") or {}
            for cluster in result.record.configuration.get("clusters", ())
        }
        self._paths = {cluster.name: cluster.paths for cluster in result.record.clusters}
        # Only these rules are known to look at nothing but the object itself.
        self._alone = {
            state.rule.id for state in result.rules if state.rule.builtin and not state.rule.context
        }

    def paths(self, pair: PairRow) -> tuple[str, ...]:
        """The file is enough where nothing else was looked at; else it takes the whole cluster."""
        source = original(pair.source)
        alone = source and pair.rule in self._alone and pair.reason != OWNED
        return (source,) if alone else self._paths.get(original(pair.cluster), ())

    def command(self, pair: PairRow) -> str:
        """The command line."""
        cluster = original(pair.cluster)
        words = ["fleetaudit", "run", *map(_as_path, self.paths(pair)), *self._judging(cluster)]
        words += ["--cluster", cluster, "--rule", pair.rule, "-o", "-", "--format", "json"]
        return shlex.join(words)

    def _judging(self, cluster: str) -> list[str]:
        """The run's own arguments, with the context of this cluster alone when contexts were named."""
        words = list(self._arguments)
        named = "--context" in words
        while "--context" in words:
            at = words.index("--context")
            del words[at : at + 2]
        context = self._servers.get(cluster, {}).get("context")
        return [*words, "--context", str(context)] if named and context else words


def _as_path(path: str) -> str:
    return f"./{path}" if path.startswith("-") and path != "-" else path


def sample_facts(drawn: Sample) -> dict[str, Any]:
    """The sample as plain data."""
    facts: dict[str, Any] = msgspec.to_builtins(drawn)
    facts["method"] = "smallest sha256 over the seed and the pair's identity, parted by tabs"
    facts["pairs"] = [
        {
            **msgspec.to_builtins(each.pair),
            "seen": each.seen,
            "again": each.again,
            "reads_input": each.reads_input,
        }
        for each in drawn.pairs
    ]
    return facts


def print_sample(screen: Screen, drawn: Sample) -> None:
    """Where the sample comes from, then each pair in three lines."""
    screen.line(
        (f"{drawn.control}", "bold"),
        f"  {drawn.framework}: pairs of {count(len(drawn.rules), 'rule')}",
        f" that {'decide' if drawn.strength == 'decides' else 'only support'} it",
    )
    screen.line(f"Population  {drawn.population}, sha256 as in the run record")
    screen.line(
        f"Drawn       {len(drawn.pairs)} of {count(drawn.eligible, 'pair')}, seed {drawn.seed}: smallest sha256 over "
        "seed and identity"
    )
    if drawn.size > drawn.eligible:
        screen.line(f"            {drawn.size} were asked for: this is every pair there is")
    screen.line("Repeat      in the folder where the run was started, with the command below each pair")
    for number, each in enumerate(drawn.pairs, start=1):
        pair = each.pair
        where = pair.source or "declared in no file"
        if pair.source and pair.document not in {"", "0"}:
            where += f", document {pair.document}{f', {pair.item}' if pair.item else ''}"
        screen.line("")
        screen.line(
            f"{number:>4}  ", (pair.outcome.ljust(5), "bold"), f"  {pair.rule}  {pair.cluster}  {pair.title}"
        )
        screen.line(f"      at    {where}")
        screen.line(f"      seen  {each.seen}")
        # Half a command is no command.
        screen.line(f"      again {each.again}", limit=len(each.again) + 20)
        if each.reads_input:
            screen.line("            with the same text on standard input")
