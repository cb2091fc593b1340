"""What the history holds of a run, as plain rows. Text is as `audit.harmless.reversibly_escaped` makes it; JSON has its own escapes."""

from __future__ import annotations

import msgspec

from audit.compare.denominators import Basis
from audit.model.assessment import Fraction


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """One run. Everything here stays for ever and is part of the chain; it is small."""

    title: str
    """Name of the fleet: runs of one name follow each other."""
    state_time: str
    """ISO 8601 UTC: the moment the result was judged at."""
    started: str
    finished: str
    fleetaudit: str
    """Version that judged."""
    exit_code: int
    complete: bool
    clusters: int
    """Registered."""
    reached: int
    objects: int
    """Kubernetes objects in scope."""
    rules: int
    pairs_due: int
    pairs_answered: int
    gaps: int
    open_critical: int
    """Open finding groups of this severity."""
    open_high: int
    open_medium: int
    open_low: int
    open_info: int
    waived_groups: int
    error_groups: int
    scope_sha256: str
    rules_sha256: str
    catalogs_sha256: str
    mappings_sha256: str
    profile_sha256: str
    """These five are the basis that ratios are compared over."""
    result_sha256: str
    """Of the result; the sealed report is kept under this digest."""
    population_sha256: str
    """Of the population, uncompressed, which is kept under this digest; empty when there was none."""
    ratios_sha256: str
    """Over the rows of ratios."""
    details_sha256: str
    """Over the rows that pruning removes: clusters' ratios, controls, finding groups, the run record."""

    @property
    def basis(self) -> Basis:
        """What the ratios were counted over."""
        return Basis(
            scope=self.scope_sha256,
            rules=self.rules_sha256,
            catalogs=self.catalogs_sha256,
            mappings=self.mappings_sha256,
            profile=self.profile_sha256,
        )

    @property
    def open_groups(self) -> int:
        """Open finding groups of any severity."""
        return self.open_critical + self.open_high + self.open_medium + self.open_low + self.open_info


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """A run in its place: the chain's own columns, and the run."""

    number: int
    """1 for the first run of the database, then without a hole."""
    previous: str
    """Digest of the link before; empty for the first."""
    appended_at: str
    """ISO 8601 UTC."""
    run: RunRow
    digest: str
    """sha256 over all of the above; see `audit.history.chain`."""
    pruned_at: str = ""
    """When the details went; empty while they are there. Outside the digest."""


class Ratio(msgspec.Struct, frozen=True, kw_only=True):
    """One fraction of a run."""

    framework: str
    title: str
    """Of the framework."""
    profile: str
    part: str
    """Function, cluster, or empty for the whole framework."""
    measure: str
    """``strict``, ``high``, ``with_waivers``, ``coverage``, ``technical_only``, ``attested`` or ``classic``."""
    numerator: int
    denominator: int

    @property
    def fraction(self) -> Fraction:
        """As the model has it."""
        return Fraction(numerator=self.numerator, denominator=self.denominator)


class ControlState(msgspec.Struct, frozen=True, kw_only=True):
    """The status of a control on the fleet."""

    framework: str
    control: str
    status: str
    reason: str
    in_profile: bool
    held_back: int
    """Clusters whose status is the fleet's."""


class GroupState(msgspec.Struct, frozen=True, kw_only=True):
    """A finding group."""

    id: str
    rule: str
    severity: str
    status: str
    """``open``, ``waived``, ``warn`` or ``error``."""
    owner: str
    container: str
    path: str
    clusters: str
    """Names as a JSON list."""
    total: int
    waived: int


class Details(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of a run that pruning removes."""

    cluster_ratios: tuple[Ratio, ...]
    controls: tuple[ControlState, ...]
    groups: tuple[GroupState, ...]
    record: str
    """The run record without its inputs, as canonical JSON; the inputs are in the sealed report."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A run as it is to be appended."""

    run: RunRow
    ratios: tuple[Ratio, ...]
    details: Details


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """How long details are kept: while one of the two still wants them. Both None keeps everything."""

    keep_runs: int | None = None
    """The newest runs of each fleet."""
    keep_days: int | None = None
    """Runs judged in the last days."""

    @property
    def keeps_all(self) -> bool:
        """Nothing is ever pruned."""
        return self == type(self)()
