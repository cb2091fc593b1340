"""Small pieces that several sections share: linked words, anchors, digests, dates."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable

import msgspec

from audit.model.assessment import ControlRow
from audit.model.rule import Rule
from audit.report.text import visible


class Piece(msgspec.Struct, frozen=True):
    """A run of text, perhaps bold, perhaps a link, perhaps of equal widths."""

    text: str
    href: str = ""
    bold: bool = False
    mono: bool = False


class Row(msgspec.Struct, frozen=True):
    """A term and what is said of it."""

    term: str
    pieces: tuple[Piece, ...]


def with_digests(text: str, **digests: str) -> tuple[Piece, ...]:
    """The text with each ``{name}`` replaced by that digest, cut short and set apart from the words."""
    parts = re.split(r"\{([a-z_]+)\}", text)
    return tuple(
        Piece(short(digests[part]), mono=True) if index % 2 else Piece(part)
        for index, part in enumerate(parts)
        if part
    )


class Anchors:
    """Names inside the page. Ids come from data files, so two may look alike once made safe: they get numbers."""

    def __init__(self, controls: Iterable[ControlRow], rules: Iterable[Rule]) -> None:
        self._used: set[str] = set()
        self._controls = {(row.framework, row.id): self._new("c", row.id) for row in controls}
        self._rules = {rule.id: self._new("r", rule.id) for rule in rules}

    def control(self, framework: str, control: str) -> str:
        """Anchor of a control's row; empty when there is none."""
        return self._controls.get((framework, control), "")

    def rule(self, rule: str) -> str:
        """Anchor of a rule's row; empty when there is none."""
        return self._rules.get(rule, "")

    def _new(self, prefix: str, name: str) -> str:
        base = f"{prefix}-{slug(name)}"
        anchor, number = base, 2
        while anchor in self._used:
            anchor, number = f"{base}-{number}", number + 1
        self._used.add(anchor)
        return anchor


def slug(name: str) -> str:
    """Lower-case letters, digits and hyphens only."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80]


def control_pieces(
    framework: str, controls: Iterable[str], anchors: Anchors, cap: int = 8
) -> tuple[Piece, ...]:
    """Controls as links, at most `cap`, then how many more."""
    listed = list(controls)
    pieces = [Piece(visible(name), _href(anchors.control(framework, name))) for name in listed[:cap]]
    if len(listed) > cap:
        pieces.append(Piece(f"+{len(listed) - cap}"))
    return tuple(pieces)


def _href(anchor: str) -> str:
    return f"#{anchor}" if anchor else ""


def short(digest: str) -> str:
    """First eight digits and an ellipsis."""
    return f"{visible(digest[:8])}…" if digest else ""


def day(moment: dt.datetime | dt.date) -> str:
    """ISO date; a moment that ends a day in UTC is shown as that day."""
    if isinstance(moment, dt.datetime):
        last = moment.astimezone(dt.UTC) - dt.timedelta(microseconds=1)
        midnight = moment.astimezone(dt.UTC).time() == dt.time(0)
        return last.date().isoformat() if midnight else f"{moment.astimezone(dt.UTC):%Y-%m-%d %H:%MZ}"
    return moment.isoformat()


def moment(text: str) -> dt.datetime | None:
    """An ISO 8601 time of the record; None when it is empty or no time."""
    try:
        parsed = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=dt.UTC)


def minute(text: str) -> str:
    """``2026-12-31 02:10Z``; what was given when it is no time."""
    parsed = moment(text)
    return f"{parsed.astimezone(dt.UTC):%Y-%m-%d %H:%MZ}" if parsed else visible(text, 40)
