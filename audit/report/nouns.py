"""Counted things: the number with its noun, in one language."""

from __future__ import annotations

from audit.model.run import Denominator
from audit.report.numbers import count
from audit.report.texts import Texts


def objects_looked_at(denominator: Denominator, texts: Texts) -> str:
    """``679 objects``, or ``120 of 679 objects`` when a run was stopped before it had judged all."""
    objects = counted(denominator.objects, "object", texts)
    if denominator.objects_judged == denominator.objects:
        return objects
    return texts.gettext("{judged} of {objects}").format(
        judged=count(denominator.objects_judged), objects=objects
    )


def counted(number: int, noun: str, texts: Texts) -> str:
    """``1 file``, ``2,000 files``.

    Raises:
        KeyError: a noun that is not listed here.
    """
    forms = {
        "object": texts.ngettext("{n} object", "{n} objects", number),
        "file": texts.ngettext("{n} file", "{n} files", number),
        "rule": texts.ngettext("{n} rule", "{n} rules", number),
        "pair": texts.ngettext("{n} pair", "{n} pairs", number),
        "cluster": texts.ngettext("{n} cluster", "{n} clusters", number),
        "source": texts.ngettext("{n} source", "{n} sources", number),
        "gap": texts.ngettext("{n} gap", "{n} gaps", number),
        "control": texts.ngettext("{n} control", "{n} controls", number),
        "group": texts.ngettext("{n} group", "{n} groups", number),
        "open group": texts.ngettext("{n} open group", "{n} open groups", number),
        "more open group": texts.ngettext("{n} more open group", "{n} more open groups", number),
    }
    return forms[noun].format(n=count(number))
