"""What ``fleetaudit.yaml`` may say. The published JSON Schema is generated from these structs.

`FileConfig` is the file as written; `Config` is the effective configuration that the wiring gets: defaults, then the
file, then the environment, then the command line, with every path resolved against the folder of the file that names it.
"""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from audit.config.consistency import ConsistencyConfig
from audit.config.fields import (
    DEFAULT_FORMATS,
    FormatName,
    Language,
    Name,
    PathText,
    Section,
    Share,
    Text,
)
from audit.config.fleet import RegisteredCluster, SnapshotsConfig
from audit.config.history import HistoryConfig
from audit.config.judging import EngineConfig, PolicyConfig, RulesConfig
from audit.config.registries import RegistryConfig
from audit.model.acceptance import AllowedGap
from audit.model.expiry import expiry_of
from audit.model.gap import GapKind
from audit.model.rule import Severity

DEFAULT_CLUSTER = "manifests"
IN_CLUSTER = "in-cluster"
DEFAULT_TITLE = "Kubernetes manifests"
DEFAULT_FOLDER = "fleetaudit-report"


class ServerConfig(Section, frozen=True, kw_only=True):
    """How a running cluster is reached. Everything is read, nothing is written."""

    context: Annotated[
        Text | None, Meta(description="Context of the kubeconfig; the current one by default.")
    ] = None
    kubeconfig: Annotated[
        PathText | None, Meta(description="KUBECONFIG or ~/.kube/config by default; relative to this file.")
    ] = None
    in_cluster: Annotated[
        bool, Meta(description="Use the service account of the pod that fleetaudit runs in.")
    ] = False
    secret_metadata: Annotated[
        bool, Meta(description="List Secrets too: names and labels only, values are never read.")
    ] = False


class ClusterConfig(Section, frozen=True, kw_only=True):
    """A cluster the audit expects to find. One that cannot be reached stays in the report as undecided."""

    name: Name
    paths: Annotated[
        tuple[PathText, ...],
        Meta(min_length=1, description="Files, folders or globs with its manifests, relative to this file."),
    ] = ()
    server: Annotated[
        ServerConfig | None, Meta(description="The running cluster itself, instead of paths.")
    ] = None
    snapshot: Annotated[
        PathText | None,
        Meta(description="Folder or address of a snapshot made by `fleetaudit collect`, instead of paths."),
    ] = None
    region: Annotated[str, Meta(max_length=200)] = ""
    labels: Annotated[dict[str, str], Meta(description="Your own labels, shown in the report.")] = (
        msgspec.field(default_factory=dict)
    )
    tier: Annotated[str, Meta(max_length=200, description="For example production.")] = ""
    owner: Annotated[str, Meta(max_length=200, description="Team that owns the cluster.")] = ""


class FilesConfig(Section, frozen=True, kw_only=True):
    """Which files inside folders are read."""

    include: Annotated[
        tuple[Text, ...],
        Meta(description="Patterns in .gitignore syntax; when given, only matching files are read."),
    ] = ()
    gitignore: Annotated[bool, Meta(description="Leave out what .gitignore files leave out.")] = True


class Selector(Section, frozen=True, kw_only=True):
    """Objects by what they are. All keys given must match; * and ? work in namespace and name."""

    kind: Annotated[str, Meta(description="Kind, or group/Kind.")] = ""
    namespace: str = ""
    name: str = ""
    labels: dict[str, str] = msgspec.field(default_factory=dict)


class ScopeExclude(Section, frozen=True, kw_only=True):
    """Something out of scope: either a path or a selector, with the reason that the report prints."""

    reason: Text
    path: Annotated[
        PathText | None,
        Meta(description="Pattern in .gitignore syntax, relative to the folder that is read."),
    ] = None
    selector: Selector | None = None


class ScopeConfig(Section, frozen=True, kw_only=True):
    """What is out of scope. It is printed, and part of the scope digest."""

    exclude: tuple[ScopeExclude, ...] = ()


class AllowGap(Section, frozen=True, kw_only=True):
    """A gap tolerated until a date: its controls stay undecided and it stays printed, but exit code 3 is avoided."""

    kind: GapKind
    source: Annotated[Text, Meta(description="Source of the gap as printed; * and ? are wildcards.")]
    reason: Text
    expires: Annotated[
        str,
        Meta(
            description="A date, good through the end of that day in UTC, or a time with its zone.",
            examples=["2026-12-31"],
        ),
    ]

    def to_allowed_gap(self) -> AllowedGap:
        """The model's form.

        Raises:
            ValueError: `expires` is no moment; the loader has refused that already.
        """
        return AllowedGap(
            kind=self.kind.value, source=self.source, reason=self.reason, expires=self.expires_at()
        )

    def expires_at(self) -> dt.datetime:
        """Exclusive end, aware, UTC."""
        return expiry_of(self.expires)


class GatesConfig(Section, frozen=True, kw_only=True):
    """When ``run`` fails with exit code 1. No gate by default."""

    fail_on: Annotated[
        Severity | None, Meta(description="Fail on unwaived findings of this severity or worse.")
    ] = None
    min_ratio: Annotated[
        dict[str, Share], Meta(description="Least strict ratio per framework, for example nist-ai-rmf: 0.7.")
    ] = msgspec.field(default_factory=dict)
    min_coverage: Annotated[dict[str, Share], Meta(description="Least evidence coverage per framework.")] = (
        msgspec.field(default_factory=dict)
    )
    min_objects: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="Least number of Kubernetes objects judged.")
    ] = None


class OutputConfig(Section, frozen=True, kw_only=True):
    """What is written, and where."""

    folder: Annotated[PathText, Meta(description="Relative to this file.")] = DEFAULT_FOLDER
    formats: Annotated[tuple[FormatName, ...], Meta(min_length=1)] = DEFAULT_FORMATS
    lang: Language = "en"


class LimitsConfig(Section, frozen=True, kw_only=True):
    """Bounds on hostile or damaged input. What exceeds them becomes a gap or an error, never a pass."""

    max_file_bytes: Annotated[int, Meta(ge=1024, description="Larger files are not read.")] = 64 * 1024 * 1024
    object_seconds: Annotated[float, Meta(gt=0, le=600, description="Time for all rules on one object.")] = (
        5.0
    )
    cluster_seconds: Annotated[
        float, Meta(gt=0, le=86400, description="Time for reading one running cluster.")
    ] = 600.0
    memory_bytes: Annotated[int, Meta(ge=64 * 1024 * 1024, description="Memory of each engine process.")] = (
        512 * 1024 * 1024
    )


Parameters = dict[str, dict[str, Any]]
CustomProfile = dict[str, tuple[Text, ...]]


class ResultCacheConfig(Section, frozen=True, kw_only=True):
    """Answers of earlier runs, kept by digest of object, rules, engine and surroundings."""

    enabled: Annotated[bool, Meta(description="Whether answers are remembered and used again.")] = True
    max_bytes: Annotated[
        int, Meta(ge=1 << 20, le=1 << 40, description="Size on disk; what was used longest ago is forgotten.")
    ] = 256 << 20


class FileConfig(Section, frozen=True, kw_only=True):
    """Configuration of fleetaudit. Paths are relative to the file that names them."""

    title: Annotated[Text, Meta(description="Name of the fleet, printed on the report.")] = DEFAULT_TITLE
    clusters: Annotated[
        tuple[ClusterConfig, ...], Meta(description="Register of the clusters the audit expects.")
    ] = ()
    register: Annotated[
        PathText | None,
        Meta(
            description="File that lists the clusters of the fleet with their identities; see snapshots.md."
        ),
    ] = None
    snapshots: SnapshotsConfig = SnapshotsConfig()
    consistency: Annotated[
        ConsistencyConfig | None,
        Meta(description="Compare the policies of all clusters; see consistency.md."),
    ] = None
    paths: Annotated[
        tuple[PathText, ...],
        Meta(
            description=f"Manifests of a single cluster called {DEFAULT_CLUSTER}; not together with clusters."
        ),
    ] = ()
    policy: PolicyConfig = PolicyConfig()
    engine: EngineConfig = EngineConfig()
    rules: RulesConfig = RulesConfig()
    parameters: Annotated[
        Parameters, Meta(description="Parameters of rules by rule id; see `fleetaudit rules show ID`.")
    ] = msgspec.field(default_factory=dict)
    pod_templates: Annotated[
        tuple[PathText, ...],
        Meta(description="Files that say where your custom resources keep pod templates."),
    ] = ()
    mappings: Annotated[
        tuple[PathText, ...], Meta(description="More mapping files, from rules to controls.")
    ] = ()
    twins: Annotated[
        tuple[PathText, ...],
        Meta(description="Files that say which rules of several engines ask the same question."),
    ] = ()
    components: Annotated[
        tuple[PathText, ...],
        Meta(description="Files with profiles of components that need privileges, beside the shipped ones."),
    ] = ()
    waivers: Annotated[tuple[PathText, ...], Meta(description="Files with accepted failures.")] = ()
    as_of: Annotated[
        str | None,
        Meta(
            description="A time with its zone that is past: judge as it was then. Ages and ends count up to it, and "
            "every report says so. Not with running clusters.",
            examples=["2026-12-01T12:00:00Z"],
        ),
    ] = None
    signatures: Annotated[
        PathText | None,
        Meta(description="File that says who may sign what, with which keys and which trusted root."),
    ] = None
    registries: Annotated[
        tuple[RegistryConfig, ...],
        Meta(
            description="Registries that are asked for what is attached to the images that run; none by default. See signatures.md."
        ),
    ] = ()
    statements: Annotated[
        tuple[PathText, ...], Meta(description="Files with statements about controls.")
    ] = ()
    profile: Annotated[
        Literal["technical", "full"] | CustomProfile,
        Meta(description="Controls in the denominator: technical, full, or a list of ids per framework."),
    ] = "technical"
    files: FilesConfig = FilesConfig()
    scope: ScopeConfig = ScopeConfig()
    allow_gaps: Annotated[tuple[AllowGap, ...], Meta(description="Gaps tolerated until a date.")] = ()
    gates: GatesConfig = GatesConfig()
    output: OutputConfig = OutputConfig()
    limits: LimitsConfig = LimitsConfig()
    result_cache: ResultCacheConfig = ResultCacheConfig()
    history: HistoryConfig = HistoryConfig()
    jobs: Annotated[
        Annotated[int, Meta(ge=1, le=1024)] | None, Meta(description="Cores to use; all of them by default.")
    ] = None


class Config(FileConfig, frozen=True, kw_only=True):
    """The effective configuration: everything the wiring needs, paths resolved, nothing else read later."""

    file: str = ""
    """The configuration file used, as the user knows it; empty without one."""
    cache: str = ""
    """Folder of caches; empty means ~/.cache."""
    lines: dict[str, int] = msgspec.field(default_factory=dict)
    """Lines of the file by dotted key, where it names rules and controls; what the command line said is not there."""
    arguments: tuple[str, ...] = ()
    """Command-line arguments that ask for the same judgement again; see `audit.config.arguments`."""
    registered: tuple[str, ...] = ()
    """Clusters that the configuration file registers, whether they are audited now or not."""
    fleet: tuple[RegisteredCluster, ...] = ()
    """What the register lists, as far as it is meant now; each is a member, whether it is reached or not."""
    record: dict[str, Any] = msgspec.field(default_factory=dict)
    """What decided this run, as written, with secrets removed: the run record's `configuration`. Where reports go
    and how many cores work is not in it, so that such choices leave the result's digest alone."""

    def members(self) -> tuple[ClusterConfig, ...]:
        """The registered clusters; a plain list of paths is one cluster called ``manifests``."""
        if self.clusters:
            return self.clusters
        return (ClusterConfig(name=DEFAULT_CLUSTER, paths=self.paths),) if self.paths else ()

    def cluster_names(self) -> frozenset[str]:
        """Names that waivers and statements may use: also of clusters that are not audited this time."""
        audited = (*(cluster.name for cluster in self.members()), *(entry.name for entry in self.fleet))
        return frozenset((*self.registered, *audited))

    def allowed_gaps(self) -> tuple[AllowedGap, ...]:
        """Tolerated gaps in the model's form."""
        return tuple(gap.to_allowed_gap() for gap in self.allow_gaps)
