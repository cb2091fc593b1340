"""The comparison: each policy on each cluster, beside the baseline or beside the other clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from audit.consistency.beside import Beside, differences
from audit.consistency.book import ClusterNotes, PolicyBook, PolicyKey, Sighting
from audit.consistency.engine_rows import engine_rows
from audit.consistency.expectation import ClusterTraits, Expectation
from audit.consistency.kinds import BINDINGS, DEPLOYMENT, POLICIES, family_of, namespace_of
from audit.model.consistency import (
    ClusterPolicies,
    ConsistencyState,
    DistributionClaim,
    EngineRow,
    EngineState,
    IgnoredPolicies,
    PolicyCell,
    PolicyConsistency,
    PolicyRow,
    UnseenKinds,
)
from audit.model.gap import Gap
from audit.model.subject import EVERY_KIND

State = ConsistencyState
_DOWN = (EngineState.MISSING, EngineState.STOPPED, EngineState.OLDER)
_SHOWN_CHANGES = 20


def compare(
    book: PolicyBook, clusters: Sequence[ClusterTraits], expectation: Expectation
) -> PolicyConsistency:
    """Compare all that was noted.

    Args:
        book: notes of every cluster, and of the baseline if there is one.
        clusters: every registered cluster, in the order of the report; one without notes was not reached.
        expectation: what is expected where, and what is not compared.
    """
    return _Comparison(book, clusters, expectation).made()


class _Comparison:
    def __init__(self, book: PolicyBook, clusters: Sequence[ClusterTraits], expectation: Expectation) -> None:
        self._book = book
        self._traits = clusters
        self._notes = [book.cluster(one.name) for one in clusters]
        self._expectation = expectation
        self._baseline = book.baseline
        self._baseline_kinds = (
            frozenset(key.key for key in book.baseline.policies) if book.baseline else frozenset()
        )
        self._unexplained = 0

    def made(self) -> PolicyConsistency:
        policies, ignored, built_in = self._policies()
        rows = [row for policy in policies if (row := self._row(policy)) is not None]
        engines = engine_rows(self._notes, self._baseline)
        self._unexplained += sum(
            1
            for row in engines
            for cell in row.cells
            if cell.state is EngineState.UNKNOWN and not self._allowed(cell.cluster)
        )
        rows.sort(key=_worst_first)
        return PolicyConsistency(
            baseline=self._expectation.baseline,
            clusters=self._sums(rows, engines),
            rows=tuple(rows),
            engines=engines,
            claims=self._claims(rows),
            ignored=ignored,
            unseen=self._unseen(),
            built_in=built_in,
            gaps=self._unexplained,
        )

    def _unseen(self) -> tuple[UnseenKinds, ...]:
        """Kinds that were not seen, alike ones together."""
        alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for notes in self._notes:
            kinds: dict[str, list[str]] = {}
            for key in POLICIES:
                hidden = notes.hidden(key)
                if hidden:
                    reason = hidden.kind.value if isinstance(hidden, Gap) else hidden
                    kinds.setdefault(reason, []).append(key)
            for reason, found in kinds.items():
                named = (EVERY_KIND,) if len(found) == len(POLICIES) else tuple(found)
                alike.setdefault((reason, named), []).append(notes.name)
        return tuple(
            UnseenKinds(reason=reason, kinds=kinds, clusters=tuple(clusters))
            for (reason, kinds), clusters in alike.items()
        )

    def _policies(self) -> tuple[list[PolicyKey], tuple[IgnoredPolicies, ...], int]:
        """What is compared, in order; what the configuration leaves out; and how much the servers make themselves."""
        found: set[PolicyKey] = set(self._baseline.policies) if self._baseline else set()
        built_in: set[PolicyKey] = set()
        for notes in self._notes:
            found |= notes.left_out
            for policy, sighting in notes.policies.items():
                # Server versions differ in what roles they make. Who is bound to one is a person's doing all the same.
                (built_in if sighting.built_in and policy.key not in BINDINGS else found).add(policy)
        built_in -= found
        found |= {_in_place(policy) for policy in self._expectation.named()}
        counts: Counter[int] = Counter()
        compared: list[PolicyKey] = []
        for policy in sorted(found):
            index = next(
                (
                    number
                    for number, one in enumerate(self._expectation.ignored)
                    if one.policies.means(policy)
                ),
                None,
            )
            if index is None:
                compared.append(policy)
            else:
                counts[index] += 1
        ignored = tuple(
            IgnoredPolicies(what=str(one.policies), reason=one.reason, count=counts[number])
            for number, one in enumerate(self._expectation.ignored)
        )
        return compared, ignored, len(built_in)

    def _row(self, policy: PolicyKey) -> PolicyRow | None:
        due = self._expectation.due_on(policy, self._traits)
        reference = self._baseline.policies.get(policy) if self._baseline else None
        judged_by_baseline = self._baseline is not None and policy.key in self._baseline_kinds
        if self._built_in(policy):
            judged_by_baseline = judged_by_baseline and reference is not None
        side = _Side(self, policy, reference if judged_by_baseline else None)
        cells: list[PolicyCell] = []
        states: Counter[State] = Counter()
        for notes in self._notes:
            cell = self._cell(notes, policy, side, due, judged_by_baseline=judged_by_baseline)
            states[cell.state] += 1
            cells.append(cell)
        if states[State.NOT_DUE] + states[State.LEFT_OUT] == len(cells) and reference is None:
            return None
        rest = State.NOT_DUE if states[State.NOT_DUE] > states[State.SAME] else State.SAME
        self._unexplained += sum(
            1
            for notes, cell in zip(self._notes, cells, strict=True)
            if cell.state is State.NOT_COMPARABLE and not _is_allowed(notes.hidden(policy.key))
        )
        group, _, kind = policy.key.rpartition("/")
        return PolicyRow(
            family=family_of(policy.key),
            group=group,
            kind=kind,
            namespace=policy.namespace,
            name=policy.name,
            against="baseline" if judged_by_baseline else "clusters",
            cells=tuple(cell for cell in cells if cell.state is not rest),
            rest=rest,
            rest_clusters=states[rest],
        )

    def _built_in(self, policy: PolicyKey) -> bool:
        return any(
            sighting.built_in for notes in self._notes if (sighting := notes.policies.get(policy)) is not None
        )

    def _cell(
        self,
        notes: ClusterNotes,
        policy: PolicyKey,
        side: _Side,
        due: frozenset[str] | None,
        *,
        judged_by_baseline: bool,
    ) -> PolicyCell:
        def cell(state: State, reason: str = "") -> PolicyCell:
            return PolicyCell(cluster=notes.name, state=state, reason=reason)

        sighting = notes.policies.get(policy)
        if due is not None:
            expected = notes.name in due
        else:
            expected = side.reference is not None if judged_by_baseline else side.expected
        if policy in notes.left_out and sighting is None:
            return cell(State.LEFT_OUT)
        if sighting is None:
            hidden = notes.hidden(policy.key)
            if hidden:
                return cell(State.NOT_COMPARABLE, hidden.kind.value if isinstance(hidden, Gap) else hidden)
            if not expected:
                return cell(State.NOT_DUE)
            return cell(State.MISSING if notes.served(policy.key) else State.NOT_SERVED)
        if sighting.doubt == "ambiguous":
            return cell(State.NOT_COMPARABLE, sighting.doubt)
        if judged_by_baseline and side.reference is not None and side.reference.doubt == "ambiguous":
            return cell(State.NOT_COMPARABLE, "baseline")
        if not expected and not sighting.built_in:
            if judged_by_baseline and self._baseline is not None and self._baseline.hidden(policy.key):
                return cell(State.NOT_COMPARABLE, "baseline")
            return cell(State.EXTRA)
        return side.cell(notes.name, sighting)

    def _allowed(self, cluster: str) -> bool:
        return _is_allowed(self._book.cluster(cluster).hidden(DEPLOYMENT))

    def _sums(self, rows: Iterable[PolicyRow], engines: Iterable[EngineRow]) -> tuple[ClusterPolicies, ...]:
        same: Counter[str] = Counter()
        differing: Counter[str] = Counter()
        unknown: Counter[str] = Counter()
        for row in rows:
            special = {cell.cluster: cell.state for cell in row.cells}
            for notes in self._notes:
                state = special.get(notes.name, row.rest)
                same[notes.name] += state is State.SAME
                differing[notes.name] += state.differs
                unknown[notes.name] += state is State.NOT_COMPARABLE
        down = Counter(cell.cluster for row in engines for cell in row.cells if cell.state in _DOWN)
        unsure = {cell.cluster for row in engines for cell in row.cells if cell.state is EngineState.UNKNOWN}
        unsure |= {notes.name for notes in self._notes if notes.hidden(DEPLOYMENT)}
        return tuple(
            ClusterPolicies(
                cluster=notes.name,
                kind=traits.kind,
                reached=notes.reached,
                same=same[notes.name],
                differing=differing[notes.name],
                not_comparable=unknown[notes.name],
                role_bindings=notes.role_bindings(),
                engines=down[notes.name] or (None if notes.name in unsure else 0),
                collected_at=notes.collected_at,
            )
            for notes, traits in zip(self._notes, self._traits, strict=True)
        )

    def _claims(self, rows: Sequence[PolicyRow]) -> tuple[DistributionClaim, ...]:
        by_policy = {PolicyKey(_key(row), row.namespace, row.name): row for row in rows}
        members = {notes.name for notes in self._notes}
        found: dict[DistributionClaim, None] = {}
        for notes in self._notes:
            for stated in notes.claims:
                row = by_policy.get(PolicyKey(stated.key, stated.namespace, stated.name))
                shows = row.state_on(stated.cluster) if row and stated.cluster in members else None
                kind = stated.key.rpartition("/")[2]
                where = f"{stated.namespace}/" if stated.namespace else ""
                claim = DistributionClaim(
                    source=stated.source,
                    hub=notes.name,
                    stated_by=stated.stated_by,
                    cluster=stated.cluster,
                    policy=f"{kind} {where}{stated.name}",
                    says=stated.says,
                    shows=shows,
                    agrees=_agrees(stated.says, shows),
                )
                found.setdefault(claim)
        order = {False: 0, None: 1, True: 2}
        return tuple(
            sorted(found, key=lambda one: (order[one.agrees], one.cluster, one.policy, one.stated_by))
        )


class _Side:
    """What one policy is compared with: the baseline's form, or all forms that clusters have."""

    def __init__(self, comparison: _Comparison, policy: PolicyKey, reference: Sighting | None) -> None:
        self._variants = comparison._book.variants  # noqa: SLF001  # a part of it
        self._key = policy.key
        self.reference = reference
        notes = comparison._notes  # noqa: SLF001
        seen = [
            (one, sighting)
            for one in notes
            if (sighting := one.policies.get(policy)) is not None and sighting.doubt != "ambiguous"
        ]
        digests = Counter(sighting.digest for _, sighting in seen)
        self._cells: dict[str, PolicyCell] = {}
        held = [reference.digest] if reference is not None else sorted(digests)
        self._beside = Beside([self._variants[digest] for digest in held])
        if reference is not None:
            self.expected = True
            self._best: str | None = reference.digest
            self._usual = reference.digest
            return
        comparable = len(seen) + sum(
            1
            for one in notes
            if policy not in one.policies and policy not in one.left_out and not one.hidden(policy.key)
        )
        built_in = any(sighting.built_in for _, sighting in seen)
        self.expected = bool(seen) and 2 * len(seen) >= comparable and not built_in
        self._best = self._most_common(digests)
        self._usual = self._best or min(digests, key=lambda one: (-digests[one], one), default="")

    def cell(self, cluster: str, sighting: Sighting) -> PolicyCell:
        """One cluster's form beside the others."""
        digest = sighting.digest
        if digest not in self._cells:
            self._cells[digest] = self._compared(digest)
        cell = msgspec.structs.replace(self._cells[digest], cluster=cluster)
        doubtful = sighting.doubt or (self.reference.doubt if self.reference else "")
        if cell.state is State.SAME and doubtful:
            return PolicyCell(cluster=cluster, state=State.NOT_COMPARABLE, reason=doubtful)
        return cell

    def _compared(self, digest: str) -> PolicyCell:
        here = self._variants[digest]
        changes = self._beside.changes(here)
        kinds = {change.kind for change in changes}
        if "weakened" in kinds:
            state = State.WEAKENED
        elif "widened" in kinds:
            state = State.WIDENED
        elif digest == self._best:
            return PolicyCell(cluster="", state=State.SAME)
        else:
            state = State.OTHER_VERSION
            changes += differences(self._variants[self._usual].form, here.form)
        return PolicyCell(
            cluster="",
            state=state,
            changes=changes[:_SHOWN_CHANGES],
            more=max(0, len(changes) - _SHOWN_CHANGES),
        )

    def _most_common(self, digests: Counter[str]) -> str | None:
        """The form that counts as the same where nobody said which one is right.

        The one that most clusters have; of several alike in that, the one that is neither weaker nor wider than another.
        Where that leaves more than one, none is.
        """
        most = max(digests.values(), default=0)
        common = [digest for digest, number in digests.items() if number == most]
        if len(common) > 1:
            common = [
                digest
                for digest in common
                if all(
                    change.kind not in ("weakened", "widened")
                    for change in self._beside.changes(self._variants[digest])
                )
            ]
        return common[0] if len(common) == 1 else None


def _key(row: PolicyRow) -> str:
    return f"{row.group}/{row.kind}" if row.group else row.kind


def _in_place(policy: PolicyKey) -> PolicyKey:
    return policy._replace(namespace=namespace_of(policy.key, policy.namespace))


def _is_allowed(hidden: Gap | str) -> bool:
    return isinstance(hidden, Gap) and hidden.allowed


def _agrees(says: str, shows: State | None) -> bool | None:
    """Whether the member shows what the hub says of it. Nobody knows where either says nothing."""
    if says == "unknown" or shows in (None, State.NOT_COMPARABLE, State.LEFT_OUT):
        return None
    there = shows in (State.SAME, State.EXTRA)
    return there if says == "applied" else not there


_ORDER = {state: number for number, state in enumerate(State)}


def _worst_first(row: PolicyRow) -> tuple[int, int, int, str, str, str, str]:
    differing = [cell.state for cell in row.cells if cell.state.differs]
    worst = min((_ORDER[state] for state in differing), default=len(_ORDER))
    unknown = sum(1 for cell in row.cells if cell.state is State.NOT_COMPARABLE)
    return (worst, -len(differing), -unknown, row.family, row.kind, row.namespace, row.name)
