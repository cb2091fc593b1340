"""Facts of the files named, and what the rules answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from audit.cli.exits import ExitCode, winner
from audit.collect.artifacts.reading import GROUP, Facts, UnreadError, look_at
from audit.collect.artifacts.sbom.reader import KIND, SbomReader
from audit.collect.artifacts.sbom.settings import SbomSettings
from audit.config.schema import Config
from audit.errors import UsageError
from audit.model.finding import Outcome, PairAnswer
from audit.model.rule import Rule, Severity
from audit.model.subject import kind_key

_KEY = kind_key(GROUP, KIND)


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """One file."""

    label: str
    facts: Facts | None
    unread: str = ""
    """Why there are no facts."""
    answers: tuple[tuple[Rule, PairAnswer], ...] = ()


def ask(files: Sequence[str], config: Config, *, deep: bool) -> list[Judged]:
    """Read every file, and ask every selected rule that is about one bill of materials.

    Raises:
        UsageError: a file is missing, or is none.
        AuditError: the content is wrong, or the engine can't be started.
    """
    reader = SbomReader(SbomSettings(deep=deep))
    read = [_read(reader, label, config.limits.max_file_bytes) for label in files]
    return _answered(read, config)


def _read(reader: SbomReader, label: str, max_bytes: int) -> Judged:
    try:
        if Path(label).is_dir():
            raise UsageError("is a folder", file=label, suggestion="name the files in it")
        artifact = look_at(Path(label), label, max_bytes=max_bytes)
        if not reader.recognises(artifact):
            raise UsageError(
                "is no bill of materials", file=label, suggestion="SPDX 2 and 3 and CycloneDX are recognised"
            )
        return Judged(label=label, facts=next(iter(reader.read(artifact))))
    except UnreadError as error:
        return Judged(label=label, facts=None, unread=error.reason)
    except FileNotFoundError:
        raise UsageError("there is no such file", file=label) from None
    except OSError as error:
        return Judged(label=label, facts=None, unread=error.strerror or "unreadable")


def _answered(read: list[Judged], config: Config) -> list[Judged]:
    from audit.wiring.content import load, selected_rules
    from audit.wiring.engines import embedded_opa
    from audit.wiring.moment import SystemClock, judging

    with embedded_opa(config) as evaluator:
        library = load(config, evaluator, judging(config, SystemClock()).clock.now())
        about = {rule.id: rule for rule in library.rule_set.rules if rule.kinds and rule.matches(_KEY)}
        asked = library.rule_set.eval_rules(frozenset(about) & selected_rules(config, library))
        data = msgspec.json.encode(library.rule_set.data)
        evaluator.load(library.rule_set.modules, data, asked, strict=True).check()
        known = [one for one in read if one.facts is not None]
        objects = [(_KEY, msgspec.json.encode(one.facts.document())) for one in known if one.facts]
        answers = iter(list(evaluator.evaluate(objects)))
        return [
            msgspec.structs.replace(
                one, answers=tuple((about[answer.rule], answer) for answer in next(answers))
            )
            if one.facts is not None
            else one
            for one in read
        ]


def code_of(judged: Sequence[Judged], least: Severity) -> ExitCode:
    """Incomplete when something could not be judged, or nothing was; failed when a rule of that severity or worse is."""
    codes = [ExitCode.MET]
    for one in judged:
        outcomes = [answer.outcome for _, answer in one.answers]
        decided = {Outcome.PASS, Outcome.FAIL} & set(outcomes)
        if one.facts is None or Outcome.ERROR in outcomes or not decided:
            codes.append(ExitCode.INCOMPLETE)
        for rule, answer in one.answers:
            if answer.outcome is Outcome.FAIL and rule.severity.rank <= least.rank:
                codes.append(ExitCode.GATE_FAILED)
    return winner(*codes)
