"""A draft to a program: compile it, try it, and put down what it is."""

from __future__ import annotations

import hashlib
from collections import Counter

import msgspec

from audit.library.foreign.adapters import support_modules
from audit.library.foreign.draft import Draft
from audit.library.foreign.module import Graph
from audit.library.foreign.plain import PlainReader
from audit.library.foreign.probe import probe
from audit.library.foreign.settle import Settled, Wanted, adapter_key, settle
from audit.library.foreign.words import DEFAULT_SEVERITY
from audit.library.policy_source import PolicySource
from audit.model.api_resources import built_in_kinds
from audit.model.foreign import ForeignProgram
from audit.model.gap import Gap, Notice
from audit.native.evaluator import Evaluator

SHAPE = "policy_shape"
SEVERITY_ASSUMED = "severity_assumed"
_KINDS = "fleetaudit_kinds"


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a draft."""

    program: ForeignProgram | None
    """None when nothing of it can be asked."""
    gaps: tuple[Gap, ...]
    notices: tuple[Notice, ...]


def finish(
    draft: Draft, source: PolicySource, evaluator: Evaluator, reader: PlainReader | None = None
) -> Finished:
    """Compile and try a draft.

    Args:
        draft: modules, data and the rules to ask.
        source: where it comes from.
        evaluator: a started native engine; its program is replaced.
        reader: writes the adapter of an ``allow`` anew when it means the opposite.
    """
    table = {
        key: {"plural": plural, "namespaced": scoped} for key, (plural, scoped) in built_in_kinds().items()
    }
    data = {**draft.data, _KINDS: table}
    settled = settle(
        evaluator,
        draft.modules,
        draft.wanted,
        support=support_modules(),
        data=data,
        source=source.label,
        scopes=draft.scopes,
    )
    gaps = _without_consequences(draft.gaps, settled.gaps)
    notices = list(draft.notices)
    if not settled.wanted:
        return Finished(program=None, gaps=gaps, notices=tuple(notices))
    graph = Graph(settled.modules)
    probed = probe(evaluator, settled.wanted, graph, draft.shape, decided=bool(source.allow))
    notices += probed.notices
    wanted = [_turned(one, reader) if one.ask.rule.id in probed.inverted else one for one in settled.wanted]
    notices.append(_shape_notice(draft, source, settled))
    if draft.severity_assumed:
        message = f"no severity is given: {DEFAULT_SEVERITY.value} is assumed"
        notices.append(
            Notice(source=source.label, code=SEVERITY_ASSUMED, message=message, count=draft.severity_assumed)
        )
    modules = {part.key: part.text for part in settled.modules}
    program = ForeignProgram(
        source=source.label,
        shape=draft.shape,
        modules=modules | {adapter_key(one.ask): one.adapter for one in wanted} | support_modules(),
        data=data,
        asks=tuple(one.ask for one in wanted),
        inventory=draft.inventory,
        synthetic=draft.synthetic,
        facts=_facts(draft, source, settled, modules),
    )
    return Finished(program=program, gaps=gaps, notices=tuple(notices))


def _turned(one: Wanted, reader: PlainReader | None) -> Wanted:
    """The rule with its ``allow`` read the other way round."""
    if reader is None:
        return one
    package, rule = one.roots[0]
    number = int(one.ask.package.rpartition(".r")[2])
    return msgspec.structs.replace(one, adapter=reader.adapter(number, package, rule, allow="flags"))


def _without_consequences(drafted: list[Gap], settled: tuple[Gap, ...]) -> tuple[Gap, ...]:
    """A file that does not compile is one gap: what it reads and nothing defines is part of that."""
    broken = {gap.source for gap in settled}
    return (*(gap for gap in drafted if gap.source not in broken), *settled)


def _dialects(settled: Settled) -> str:
    counts = Counter(settled.dialects.values())
    return ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))


def _shape_notice(draft: Draft, source: PolicySource, settled: Settled) -> Notice:
    how = "as configured" if source.shape is not None else "found out"
    return Notice(
        source=source.label,
        code=SHAPE,
        message=f"read as {draft.shape.value} ({how}); modules by dialect of Rego: {_dialects(settled)}",
        count=len(settled.wanted),
    )


def _facts(draft: Draft, source: PolicySource, settled: Settled, modules: dict[str, str]) -> dict[str, str]:
    digest = hashlib.sha256()
    for key in sorted(modules):
        digest.update(f"{key} {hashlib.sha256(modules[key].encode()).hexdigest()}\n".encode())
    digest.update(msgspec.json.encode(draft.data, order="sorted"))
    facts = {
        "policies": source.label,
        "shape": draft.shape.value,
        "shape from": "configuration" if source.shape is not None else "detection",
        "modules by dialect": _dialects(settled),
        "policies sha256": digest.hexdigest(),
    }
    if source.origin:
        facts["fetched from"] = source.origin
    return facts
