"""Cover, method, members and provenance: what the result rests on."""

from __future__ import annotations

import msgspec

from audit.model.finding import Outcome
from audit.model.result import AssessmentResult
from audit.report.nouns import counted, objects_looked_at
from audit.report.numbers import count, share
from audit.report.text import visible
from audit.report.texts import Texts
from audit.report.view_parts import Piece, Row, minute, with_digests
from audit.report.view_words import profile_word

SHOWN_INPUTS = 300


class MemberRow(msgspec.Struct, frozen=True):
    """One registered member of the fleet."""

    name: str
    kind: str
    reached: bool
    subjects: str
    paths: str
    ratios: tuple[str, ...]
    """Strict ratio alone, per framework in the order of the scores."""


class DigestRow(msgspec.Struct, frozen=True):
    """One thing and its full digest, in two halves so that it may wrap."""

    what: str
    content: str
    digest: tuple[str, str]


class InputRow(msgspec.Struct, frozen=True):
    """One file read."""

    path: str
    cluster: str
    documents: int
    size: str
    digest: tuple[str, str]


def cover(result: AssessmentResult, texts: Texts) -> tuple[Row, ...]:
    """Scope, editions, digests, how to check."""
    record = result.record
    reached = sum(1 for cluster in record.clusters if cluster.reached)
    scope = texts.ngettext(
        "{n} cluster registered, {reached} reached",
        "{n} clusters registered, {reached} reached",
        len(record.clusters),
    ).format(n=count(len(record.clusters)), reached=count(reached))
    editions = ". ".join(
        texts.gettext("{title} {edition}, {n} controls").format(
            title=visible(score.title), edition=visible(score.edition, 80), n=score.catalog_total
        )
        for score in result.scores
    )
    profiles = ", ".join(dict.fromkeys(profile_word(score.profile, texts) for score in result.scores))
    return (
        Row(
            texts.gettext("Scope"),
            (
                Piece(
                    texts.gettext("{scope}, {objects} from {files}.").format(
                        scope=scope,
                        objects=objects_looked_at(record.denominator, texts),
                        files=counted(record.denominator.files, "file", texts),
                    )
                    + " "
                ),
                *with_digests(texts.gettext("Scope sha256 {digest}"), digest=record.scope_sha256),
            ),
        ),
        Row(
            texts.gettext("Editions"),
            (Piece(f"{editions}. " + texts.gettext("Profile: {profile}").format(profile=profiles)),),
        ),
        Row(
            texts.gettext("Digests"),
            (
                *with_digests(
                    texts.gettext("rules sha256 {rules}, result {result};") + " ",
                    rules=record.rules_sha256,
                    result=record.result_sha256,
                ),
                Piece(texts.gettext("in full"), "#provenance"),
            ),
        ),
        Row(
            texts.gettext("Signature"),
            (Piece(texts.gettext("none.") + " "), Piece(texts.gettext("How to check"), "#verify")),
        ),
    )


def method(result: AssessmentResult, texts: Texts) -> tuple[Row, ...]:
    """Population, outcomes, and the proof that nothing was dropped on the way."""
    d = result.record.denominator
    tally = result.tally
    waived = tally.total(Outcome.FAIL, waived=True)
    rows = [
        (
            texts.gettext("Read"),
            texts.gettext(
                "{documents} documents in {files} files = {objects} objects + {other} that are no object + {gaps} in gaps; {excluded} excluded before"
            ).format(
                documents=count(d.documents),
                files=count(d.files),
                objects=count(d.objects),
                other=count(d.not_objects),
                gaps=count(d.in_gaps),
                excluded=count(d.excluded),
            ),
        ),
        (
            texts.gettext("Population"),
            texts.gettext(
                "{objects} and {derived} derived subjects × {rules} rules, no sampling: {due} pairs due, {answered} answered"
            ).format(
                objects=objects_looked_at(d, texts),
                derived=count(d.derived),
                rules=count(d.rules),
                due=count(d.pairs_due),
                answered=count(d.pairs_answered),
            ),
        ),
        (
            texts.gettext("Outcomes"),
            texts.gettext(
                "{passed} pass + {failed} fail ({waived} waived) + {warned} warn + {errors} error + {skipped} skip"
            ).format(
                passed=count(tally.total(Outcome.PASS)),
                failed=count(tally.total(Outcome.FAIL)),
                waived=count(waived),
                warned=count(tally.total(Outcome.WARN)),
                errors=count(tally.total(Outcome.ERROR)),
                skipped=count(tally.total(Outcome.SKIP)),
            ),
        ),
        (
            texts.gettext("Collected"),
            texts.gettext("{start} to {end}").format(
                start=minute(result.record.started), end=minute(result.record.finished)
            )
            if result.record.started and result.record.finished
            else minute(result.record.state_time),
        ),
        (
            texts.gettext("Methods"),
            texts.gettext("examine and test by scan; interview by recorded statement"),
        ),
        (
            texts.gettext("Secrets"),
            texts.gettext(
                "redacted while reading: Secret values, tokens and the like never reach a rule or this report"
            ),
        ),
    ]
    return tuple(Row(term, (Piece(text),)) for term, text in rows)


def members(result: AssessmentResult) -> tuple[MemberRow, ...]:
    """Registered members with their own strict ratios."""
    return tuple(
        MemberRow(
            name=visible(cluster.name),
            kind=visible(cluster.kind),
            reached=cluster.reached,
            subjects=count(cluster.subjects),
            paths=", ".join(visible(path, 120) for path in cluster.paths[:4]),
            ratios=tuple(
                share(score.cluster_strict[cluster.name]) if cluster.name in score.cluster_strict else "–"
                for score in result.scores
            ),
        )
        for cluster in result.record.clusters
    )


def digests(result: AssessmentResult, texts: Texts) -> tuple[DigestRow, ...]:
    """Everything named by digest, in full."""
    record = result.record
    titles = {score.framework: visible(score.title) for score in result.scores}
    rows = [
        (
            texts.gettext("Result"),
            texts.gettext("report.json; wall-clock times stay outside the digest"),
            record.result_sha256,
        ),
        (
            texts.gettext("Rules"),
            texts.ngettext("{n} rule", "{n} rules", len(result.rules)).format(n=len(result.rules)),
            record.rules_sha256,
        ),
    ]
    rows += [
        (texts.gettext("Catalog"), titles.get(name, visible(name)), digest)
        for name, digest in sorted(record.catalogs_sha256.items())
    ]
    rows += [
        (texts.gettext("Mapping"), titles.get(name, visible(name)), digest)
        for name, digest in sorted(record.mappings_sha256.items())
    ]
    rows.append((texts.gettext("Scope"), texts.gettext("what was to be looked at"), record.scope_sha256))
    if record.population_file:
        rows.append(
            (
                texts.gettext("Population"),
                texts.gettext("{file}, {n} pairs").format(
                    file=visible(record.population_file), n=count(record.denominator.pairs_answered)
                ),
                record.population_sha256,
            )
        )
    for engine in record.engines:
        details = "".join(f", {visible(key)} {visible(text)}" for key, text in sorted(engine.details.items()))
        rows.append(
            (
                texts.gettext("Engine {name}").format(name=visible(engine.name)),
                f"{visible(engine.version)}{details}",
                engine.binary_sha256,
            )
        )
    return tuple(DigestRow(what, content, _halves(digest)) for what, content, digest in rows)


def inputs(result: AssessmentResult) -> tuple[InputRow, ...]:
    """The first files read; report.json has all."""
    return tuple(
        InputRow(
            path=visible(item.path),
            cluster=visible(item.cluster),
            documents=item.documents,
            size=count(item.bytes),
            digest=_halves(item.sha256),
        )
        for item in result.record.inputs[:SHOWN_INPUTS]
    )


def _halves(digest: str) -> tuple[str, str]:
    text = visible(digest, 130)
    return text[:32], text[32:]
