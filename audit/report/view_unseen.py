"""What was not looked at: always there, and says so when it is nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import msgspec

from audit.model.finding import Outcome
from audit.model.gap import Gap
from audit.model.result import AssessmentResult
from audit.report.nouns import counted
from audit.report.numbers import count
from audit.report.text import tail, visible
from audit.report.texts import Texts
from audit.report.view_parts import Anchors, Piece, control_pieces, minute
from audit.report.view_words import gap_word

SHOWN_SOURCES = 2
SHOWN_ENTRIES = 8
SHOWN_GAPS = 500
"""Rows of the full tables; the rest is in report.json, and the table says so."""
OUT_OF_SCOPE = frozenset({"excluded", "gitignored", "not_included"})
"""Notices about files that the owner left out."""
_COUNTED_AS_EXCLUDED = frozenset({"version_control", "own_output", "configuration"})
_NOT_READ = frozenset({*_COUNTED_AS_EXCLUDED, "other_type", "already_read", "part_of_layout"})
"""Notices about files that are none to read."""
_PAST = "judged_as_of"
_NOT_SIGNED = "content_not_signed"
_SAID_ELSEWHERE = frozenset({_PAST, _NOT_SIGNED, "content_shipped"})
"""Notices with a line of their own, or only to be looked up."""
_OF_EVIDENCE = frozenset(
    {
        *("set_aside", "vex_author_unlisted", "unsupported_system", "totals_differ", "lines_before"),
        "time_stated",
        *("no_id", "no_timestamp", "no_author"),
        *("tag_resolved", "attachment_not_read", "registry_not_listed", "image_unnamed"),
    }
)
"""Notices of the readers of evidence: what they read counts for less than it says."""
_OF_CLUSTERS = frozenset(
    {
        *("list_restarted", "version_unknown", "identity_unknown", "server_unverified"),
        *("snapshot_unchecked", "snapshot_from_future"),
    }
)
"""Notices about running clusters and snapshots: how sure it is that this is what was to be looked at."""


class Entry(msgspec.Struct, frozen=True):
    """One line of the box."""

    title: str
    pieces: tuple[Piece, ...]


class GapView(msgspec.Struct, frozen=True):
    """One gap in the full table."""

    kind: str
    cluster: str
    place: str
    reason: str
    hides: str
    hint: str
    allowed: bool


class NoticeView(msgspec.Struct, frozen=True):
    """One notice in the full table."""

    code: str
    place: str
    message: str


class LeftOutView(msgspec.Struct, frozen=True):
    """What the owner left out of scope for one reason, in one place."""

    reason: str
    number: str
    place: str
    message: str


class Unseen(msgspec.Struct, frozen=True):
    """The box, and the tables behind it."""

    nothing: str
    """Said when nothing was missed, with the numbers; empty otherwise."""
    entries: tuple[Entry, ...]
    more: int
    gaps: tuple[GapView, ...]
    gaps_total: int
    left_out: tuple[LeftOutView, ...]
    left_out_total: str
    notices: tuple[NoticeView, ...]
    notices_total: int


def unseen(result: AssessmentResult, anchors: Anchors, texts: Texts) -> Unseen:
    """Gaps by kind with the controls they leave undecided, then what was left out on purpose."""
    missed = [
        *_gap_entries(result, anchors, texts),
        *_not_asked(result, texts),
        *_without_verdict(result, texts),
    ]
    entries = [*_earlier(result, texts), *_unsigned(result, texts), *missed, *_on_purpose(result, texts)]
    left_out = tuple(_left_out(result, texts))
    others = [item for item in result.notices if item.code not in OUT_OF_SCOPE]
    return Unseen(
        nothing="" if missed else _nothing(result, texts),
        entries=tuple(entries[:SHOWN_ENTRIES]),
        more=max(0, len(entries) - SHOWN_ENTRIES),
        gaps=tuple(_gap(item, texts) for item in result.gaps[:SHOWN_GAPS]),
        gaps_total=len(result.gaps),
        left_out=left_out[:SHOWN_GAPS],
        left_out_total=_left_out_total(result, texts),
        notices=tuple(
            NoticeView(
                code=visible(item.code),
                place=_place(item.source, item.line, item.document),
                message=visible(item.message),
            )
            for item in others[:SHOWN_GAPS]
        ),
        notices_total=len(others),
    )


def _earlier(result: AssessmentResult, texts: Texts) -> Iterator[Entry]:
    """First of all: it changes what every age and every end means."""
    if any(item.code == _PAST for item in result.notices):
        told = texts.gettext("{moment}; ages, and the ends of waivers and statements, count up to then")
        text = told.format(moment=minute(result.record.state_time))
        yield Entry(texts.gettext("Judged as at an earlier time"), (Piece(text, "#notices"),))


def _unsigned(result: AssessmentResult, texts: Texts) -> Iterator[Entry]:
    if told := not_vouched(result, texts):
        yield Entry(texts.gettext("Policies that nobody vouches for"), (Piece(told, "#notices"),))


def not_vouched(result: AssessmentResult, texts: Texts) -> str:
    """How many rules, of how many sources, nobody vouches for who may; empty when there are none, or nobody asked."""
    sources = sum(item.code == _NOT_SIGNED for item in result.notices)
    if not sources:
        return ""
    rules = sum(state.signature not in ("", "verified") for state in result.rules)
    return texts.gettext("{rules} of {sources} without an allowed signature").format(
        rules=counted(rules, "rule", texts), sources=counted(sources, "source", texts)
    )


def _nothing(result: AssessmentResult, texts: Texts) -> str:
    d = result.record.denominator
    return texts.gettext(
        "Nothing: every one of {files}, {clusters} and {rules} asked for was looked at, and {answered} of {pairs} answered."
    ).format(
        files=counted(d.files, "file", texts),
        clusters=counted(len(result.record.clusters), "cluster", texts),
        rules=counted(d.rules, "rule", texts),
        answered=count(d.pairs_answered),
        pairs=counted(d.pairs_due, "pair", texts),
    )


def _gap_entries(result: AssessmentResult, anchors: Anchors, texts: Texts) -> list[Entry]:
    together: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, item in enumerate(result.gaps):
        together[gap_word(item.kind, texts), item.hint].append(index)
    entries = []
    for (word, hint), indexes in together.items():
        sources = [result.gaps[index].source for index in indexes]
        text = ", ".join(tail(source, 64) for source in sources[:SHOWN_SOURCES])
        if len(sources) > SHOWN_SOURCES:
            text += " " + texts.gettext("and {n} more").format(n=count(len(sources) - SHOWN_SOURCES))
        pieces = [
            Piece(text, "#gaps"),
            Piece(f": {visible(result.gaps[indexes[0]].reason, 160).rstrip('.')}."),
        ]
        if hint:
            pieces.append(
                Piece(" " + texts.gettext("To close it: {hint}.").format(hint=visible(hint).rstrip(".")))
            )
        if all(result.gaps[index].allowed for index in indexes):
            pieces.append(Piece(" " + texts.gettext("Tolerated by allow_gaps.")))
        pieces += _undecided(result, set(indexes), anchors, texts)
        title = f"{word}, {count(len(indexes))}" if len(indexes) > 1 else word
        entries.append(Entry(title, tuple(pieces)))
    return entries


def _undecided(result: AssessmentResult, indexes: set[int], anchors: Anchors, texts: Texts) -> list[Piece]:
    rows = [row for row in result.controls if row.fleet.in_profile and indexes.intersection(row.fleet.gaps)]
    if not rows:
        return []
    pieces = [Piece(" " + texts.gettext("Undecided:") + " ")]
    for number, row in enumerate(rows[:4]):
        if number:
            pieces.append(Piece(", "))
        pieces += control_pieces(row.framework, [row.id], anchors)
    if len(rows) > 4:
        pieces.append(Piece(" " + texts.gettext("and {n} more").format(n=len(rows) - 4)))
    return pieces


def _not_asked(result: AssessmentResult, texts: Texts) -> list[Entry]:
    """Clusters and rules that were there to be looked at, and were not."""
    entries = []
    unreached = [cluster.name for cluster in result.record.clusters if not cluster.reached]
    if unreached:
        entries.append(
            Entry(
                texts.gettext("Not reached"),
                (Piece(", ".join(visible(n) for n in unreached[:12]), "#members"),),
            )
        )
    deselected = [state.rule.id for state in result.rules if not state.selected]
    if deselected:
        text = texts.ngettext("{n} rule: {names}", "{n} rules: {names}", len(deselected)).format(
            n=len(deselected), names=", ".join(visible(name) for name in deselected[:6])
        )
        entries.append(Entry(texts.gettext("Deselected"), (Piece(text, "#rules"),)))
    return entries


def _without_verdict(result: AssessmentResult, texts: Texts) -> Iterator[Entry]:
    """Pairs that were asked and could not be decided, whatever the reason: an error is no answer."""
    errors = result.tally.total(Outcome.ERROR)
    if errors:
        text = texts.ngettext("{n} pair could not be decided", "{n} pairs could not be decided", errors)
        yield Entry(texts.gettext("Without a verdict"), (Piece(text.format(n=count(errors)), "#findings"),))


def _on_purpose(result: AssessmentResult, texts: Texts) -> list[Entry]:
    """What is outside: of the profile, of the scope, of the question."""
    entries = []
    outside = Counter(row.framework for row in result.controls if not row.fleet.in_profile)
    titles = {score.framework: score.title for score in result.scores}
    if outside:
        text = ", ".join(
            texts.gettext("{n} of {framework}").format(
                n=n, framework=visible(titles.get(framework, framework))
            )
            for framework, n in outside.items()
        )
        entries.append(
            Entry(
                texts.gettext("Outside the profile"),
                (Piece(texts.gettext("Controls:") + f" {text}", "#matrix"),),
            )
        )
    if total := _left_out_total(result, texts):
        entries.append(Entry(texts.gettext("Left out of scope"), (Piece(total, "#left-out"),)))
    passed, read, evidence, clusters = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for item in result.notices:
        if item.code in _OF_EVIDENCE:
            evidence[item.code] += item.count
        elif item.code in _OF_CLUSTERS:
            clusters[item.code] += item.count
        elif item.code not in OUT_OF_SCOPE | _SAID_ELSEWHERE:
            (passed if item.code in _NOT_READ else read)[item.code] += item.count
    for title, codes in (
        (texts.gettext("Evidence with reservations"), evidence),
        (texts.gettext("Clusters with reservations"), clusters),
        (texts.gettext("Passed over, no manifest"), passed),
        (texts.gettext("Read, but no object"), read),
    ):
        if codes:
            entries.append(Entry(title, (Piece(_listed(codes, texts), "#notices"),)))
    return entries


def _listed(codes: Counter[str], texts: Texts) -> str:
    words = {
        "other_type": texts.gettext("of another type"),
        "version_control": texts.gettext("of version control or dependencies"),
        "own_output": texts.gettext("written by fleetaudit"),
        "configuration": texts.gettext("configuration of this audit"),
        "already_read": texts.gettext("reached twice"),
        "not_a_mapping": texts.gettext("no mapping"),
        "not_an_object": texts.gettext("no Kubernetes object"),
        "list_item_not_object": texts.gettext("no object in a list"),
        "part_of_kustomization": texts.gettext("taken in by a kustomization"),
        "content_signed": texts.gettext("signed by allowed signers"),
        "signature_in_annotations": texts.gettext("with a signature in annotations, which is not looked at"),
        "part_of_layout": texts.gettext("part of an image layout"),
        "empty_file": texts.gettext("empty"),
        "set_aside": texts.gettext("set aside by whoever made the file"),
        "vex_author_unlisted": texts.gettext("VEX statements by authors that are not listed"),
        "unsupported_system": texts.gettext("of an operating system without support"),
        "totals_differ": texts.gettext("with totals that contradict the rows"),
        "time_stated": texts.gettext("dated by the configuration"),
        "lines_before": texts.gettext("with other lines before the results"),
        "no_id": texts.gettext("VEX without an id"),
        "no_timestamp": texts.gettext("VEX without a time"),
        "no_author": texts.gettext("VEX without an author"),
        "tag_resolved": texts.gettext("on an image by its tag, which need not be what runs"),
        "attachment_not_read": texts.gettext("on an image with attachments that are not understood"),
        "registry_not_listed": texts.gettext("images of registries that are not listed"),
        "image_unnamed": texts.gettext("names of images that can't be read"),
        "list_restarted": texts.gettext("with a list that is not of one moment"),
        "version_unknown": texts.gettext("of a version that is not known"),
        "identity_unknown": texts.gettext("of an identity that is not known"),
        "server_unverified": texts.gettext("whose certificate was not checked"),
        "snapshot_unchecked": texts.gettext("on a snapshot whose maker was not checked"),
        "snapshot_from_future": texts.gettext("on a snapshot dated after this audit"),
    }
    return ", ".join(
        f"{count(number)} {words.get(code) or visible(code)}" for code, number in sorted(codes.items())[:10]
    )


def _left_out_total(result: AssessmentResult, texts: Texts) -> str:
    """``3 files ignored by .gitignore, 2 objects by a selector``; empty when nothing was left out."""
    files: Counter[str] = Counter()
    passed = 0
    for item in result.notices:
        if item.code in OUT_OF_SCOPE:
            files[item.code] += item.count
        elif item.code in _COUNTED_AS_EXCLUDED:
            passed += item.count
    words = {
        "excluded": texts.gettext("{files} by --exclude or scope.exclude"),
        "gitignored": texts.gettext("{files} by .gitignore"),
        "not_included": texts.gettext("{files} that --include does not name"),
    }
    parts = [
        words[code].format(files=counted(number, "file", texts)) for code, number in sorted(files.items())
    ]
    objects = result.record.denominator.excluded - files.total() - passed
    if objects > 0:
        told = texts.gettext("{objects} by a selector of scope.exclude")
        parts.append(told.format(objects=counted(objects, "object", texts)))
    return ", ".join(parts)


def _left_out(result: AssessmentResult, texts: Texts) -> Iterator[LeftOutView]:
    reasons = {
        "excluded": texts.gettext("excluded"),
        "gitignored": texts.gettext("ignored by .gitignore"),
        "not_included": texts.gettext("not included"),
    }
    for item in result.notices:
        if item.code in OUT_OF_SCOPE:
            yield LeftOutView(
                reason=reasons[item.code],
                number=count(item.count),
                place=_place(item.source, item.line),
                message=visible(item.message),
            )


def _gap(item: Gap, texts: Texts) -> GapView:
    return GapView(
        kind=gap_word(item.kind, texts),
        cluster=visible(item.cluster),
        place=_place(item.source, item.line),
        reason=visible(item.reason),
        hides=texts.gettext("unknown kinds")
        if item.kinds is None
        else ", ".join(visible(kind) for kind in item.kinds[:8]),
        hint=visible(item.hint),
        allowed=item.allowed,
    )


def _place(source: str, line: int | None, document: int = 0) -> str:
    if line is not None:
        return f"{visible(source)}:{line}"
    return f"{visible(source)} #{document}" if document else visible(source)
