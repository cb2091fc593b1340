"""Rows of the findings tables as HTML.

A fleet has tens of thousands of groups, and a template engine takes microseconds for each value it escapes. So these
two row forms are written here: all texts of a row are joined, escaped once by the function the templates use, and
split again; only then are they set between the tags. A text that was not escaped can't get into a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from markupsafe import Markup, escape

from audit.model.finding import FindingGroup
from audit.model.rule import Severity
from audit.report.text import visible
from audit.report.texts import Texts
from audit.report.view_findings import MEMBER_CAP, FixLine, GroupWords, Part, RuleFacts, anchor
from audit.report.view_parts import Piece
from audit.report.view_words import severity_word

_TOGETHER = 50
"""Rows handed to the template at once."""
_SPLIT = "\0"
"""Never in a text: `visible` prints it as an escape."""

ICONS = {"critical": "crit", "high": "high", "medium": "med", "low": "low", "info": "low", "waived": "W"}


def icon(name: str) -> str:
    """An icon by severity, or ``waived``."""
    return f'<svg class="ico" aria-hidden="true"><use href="#i-{ICONS[name]}"/></svg>'


class RowWriter:
    """Writes rows in one language.

    Args:
        words: what groups say.
        texts: language.
        opened: severities whose blocks are shown open.
    """

    def __init__(self, words: GroupWords, texts: Texts, opened: frozenset[Severity]) -> None:
        self._words = words
        self._opened = opened
        self._severities = {
            severity: f'<span class="sev sev--{severity.value}">{icon(severity.value)}{escape(severity_word(severity, texts))}</span>'
            for severity in Severity
        }
        self._texts = {key: str(escape(text)) for key, text in _texts(texts).items()}
        self._page = ""
        self._rules: dict[str, tuple[RuleFacts, str, str, str]] = {}

    def begin(self, page: str) -> None:
        """A new page: links to controls and rules lead to `page` from now on."""
        self._page = page
        self._rules = {}

    def rows(self, part: Part) -> Iterator[Markup]:
        """The rows of a part, some at a time."""
        write = self._block if part.kind == "blocks" else self._line
        errors = part.kind == "errors"
        while rows := "".join(write(group, errors) for group in islice(part.groups, _TOGETHER)):
            yield Markup(rows)  # noqa: S704 - escaped below, see the module's first lines

    def _line(self, group: FindingGroup, errors: bool) -> str:  # noqa: FBT001 - one of two columns
        _, rule, remediation, _ = self._rule(group.rule)
        message = self._words.message(group) if errors else ""
        owner, container, place, within, told, ident, beside = _escaped(
            visible(group.owner),
            visible(group.container),
            self._words.place(group),
            self._words.within(group),
            message,
            visible(group.id, 40),
            self._words.beside(group),
        )
        rule += f' <span class="small">{beside}</span>' if beside else ""
        place += f' <span class="small">{within}</span>' if within else ""
        text = self._texts
        inside = f", {container}" if container else ""
        return (
            f'<tr id="{anchor(group)}" role="row"><td role="cell">{self._severities[group.severity]}</td>'
            f'<th scope="row" role="rowheader" class="long">{ident}{self._waived(group)}</th><td role="cell" class="long">{rule}</td>'
            f'<td role="cell" class="long">{owner}{inside}</td>'
            f'<td role="cell" class="where">{self._where(group, place, ident)}</td>'
            f'<td class="num" role="cell" data-l="{text["findings"]}">{group.total}</td>'
            f'<td role="cell" class="long" data-l="{text["fixword"]}">{told if errors else remediation}</td></tr>\n'
        )

    def _where(self, group: FindingGroup, place: str, ident: str) -> str:
        if group.total < 2:
            return place
        hidden = f", {ident}: {self._texts['places']}"
        return (
            f'<details><summary>{place} <span class="more-n">+{group.total - 1}</span><span class="vh">{hidden}</span>'
            f"</summary>{self._places(group)}</details>"
        )

    def _places(self, group: FindingGroup) -> str:
        members = self._words.members(group)
        if not members:
            return ""
        cells = _escaped(*(cell for member in members for cell in member))
        items = "".join(
            f"<li>{cells[i]} <span>{cells[i + 1]}</span></li>" if cells[i + 1] else f"<li>{cells[i]}</li>"
            for i in range(0, len(cells), 2)
        )
        hidden = group.total - min(len(group.members), MEMBER_CAP)
        note = f'<p class="note">{hidden} {self._texts["hidden"]}</p>' if hidden > 0 else ""
        return f'<ul class="places">{items}</ul>{note}'

    def _block(self, group: FindingGroup, _errors: bool) -> str:  # noqa: FBT001 - same call as `_line`
        facts, rule, remediation, controls = self._rule(group.rule)
        view, text = self._words.group(group, facts), self._texts
        owner, container, place, ident, clusters, within, path, seen, expected, message, said, caveats = (
            _escaped(
                visible(group.owner),
                visible(group.container),
                self._words.place(group),
                visible(group.id, 40),
                view.cluster_names,
                view.within,
                view.path,
                view.seen,
                view.expected,
                view.message,
                view.said,
                view.caveats,
            )
        )
        inside = f", {text['container']} {container}" if container else ""
        opened = " open" if group.severity in self._opened else ""
        told = [
            f"<dt>{text['what']}</dt><dd>{message}</dd>" if message else "",
            f"<dt>{text['within']}</dt><dd>{within}</dd>" if within else "",
            f'<dt>{text["path"]}</dt><dd class="mono">{path}</dd>' if path else "",
            f"<dt>{text['seen']}</dt><dd>{f'<code>{seen}</code>' if seen else text['absent']}</dd>",
            f"<dt>{text['expected']}</dt><dd>{expected}</dd>" if expected else "",
            f"<dt>{text['said']}</dt><dd>{said}</dd>" if said else "",
            f"<dt>{text['caveats']}</dt><dd>{caveats}</dd>" if caveats else "",
            f"<dt>{text['on']}</dt><dd>{clusters}</dd>",
            f"<dt>{text['decides']}</dt><dd>{controls}</dd>",
        ]
        others = self._places(group)
        if others:
            others = f'<details><summary>{text["places"]}: {group.total - 1}<span class="vh">, {ident}</span></summary>{others}</details>'
        return (
            f'<tbody class="g" role="rowgroup"><tr id="{anchor(group)}" role="row"><td role="cell">'
            f'{self._severities[group.severity]}</td><th scope="row" role="rowheader" class="long">{ident}{self._waived(group)}</th>'
            f'<td role="cell" class="long">{rule}</td><td role="cell" class="long">{owner}{inside}</td>'
            f'<td class="num" role="cell" data-l="{text["clusters"]}">{len(group.clusters)}</td>'
            f'<td class="num" role="cell" data-l="{text["findings"]}">{group.total}</td></tr>'
            f'<tr role="row"><td role="cell"></td><td colspan="5" role="cell"><details{opened}><summary>{place}'
            f'<span class="vh">, {ident}: {text["inside"]}</span></summary><div class="detail"><dl>{"".join(told)}</dl>'
            f'<div><p class="fixcap">{text["fix"]}</p>{_fix(view.fix)}<p class="small">{remediation}</p></div></div>'
            f"{others}</details></td></tr></tbody>\n"
        )

    def _waived(self, group: FindingGroup) -> str:
        if not group.waived:
            return ""
        share = "" if group.waived == group.total else f"{group.waived}/{group.total} "
        return f' <span class="tag W">{icon("waived")}{share}{self._texts["waived"]}</span>'

    def _rule(self, rule_id: str) -> tuple[RuleFacts, str, str, str]:
        known = self._rules.get(rule_id)
        if known is None:
            facts = self._words.rule(rule_id, self._page)
            name, href, remediation = _escaped(visible(rule_id), facts.href, facts.remediation)
            link = (
                f'<a class="rule" href="{href}">{name}</a>' if href else f'<span class="rule">{name}</span>'
            )
            controls = ", ".join(_link(piece) for piece in facts.controls) or self._texts["nothing"]
            known = self._rules[rule_id] = (facts, link, remediation, controls)
        return known


def _escaped(*texts: str) -> list[str]:
    return str(escape(_SPLIT.join(texts))).split(_SPLIT)


def _link(piece: Piece) -> str:
    text, href = _escaped(piece.text, piece.href)
    return f'<a href="{href}" class="nw">{text}</a>' if href else text


def _fix(lines: tuple[FixLine, ...]) -> str:
    if not lines:
        return ""
    out = []
    for line, text in zip(lines, _escaped(*(line.text for line in lines)), strict=True):
        tag = "del" if line.sign == "-" else "ins"
        out.append(f"<{tag}>{line.sign}{text}</{tag}>")
    return f'<pre class="diff"><code>{"".join(out)}</code></pre>'


def _texts(texts: Texts) -> dict[str, str]:
    """Words repeated for each group: looked up once."""
    return {
        "absent": texts.gettext("absent"),
        "caveats": texts.gettext("Caveats"),
        "clusters": texts.gettext("clusters"),
        "container": texts.gettext("container"),
        "decides": texts.gettext("Decides"),
        "expected": texts.gettext("Expected"),
        "findings": texts.gettext("findings"),
        "fix": texts.gettext("Smallest fix"),
        "fixword": texts.gettext("fix:"),
        "hidden": texts.gettext("more are not shown here; report.json has them all"),
        "inside": texts.gettext("seen, expected, fix"),
        "nothing": texts.gettext("no control"),
        "on": texts.gettext("On"),
        "path": texts.gettext("Path"),
        "places": texts.gettext("Other places"),
        "said": texts.gettext("Engines"),
        "seen": texts.gettext("Seen"),
        "waived": texts.gettext("waived"),
        "what": texts.gettext("What"),
        "within": texts.gettext("In the file"),
    }
