"""Policies, mappings and the like from outside the package: whether somebody who may vouches for each file."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from audit.collect.artifacts.reading import sha256_of
from audit.collect.artifacts.signatures.beside import is_signature
from audit.collect.artifacts.signatures.desk import Desk
from audit.collect.artifacts.signatures.folder_index import holds_only_signatures
from audit.collect.artifacts.signatures.verdicts import Status
from audit.collect.artifacts.signatures.vouching import Member, Vouched, Vouching, worst
from audit.config.schema import Config
from audit.errors import AuditError, CollectionError, ConfigError, ContentError
from audit.library.policy_source import PolicySource
from audit.model.gap import Notice
from audit.model.rule import Rule
from audit.wiring.evidence import settings_in

_READ = frozenset({".rego", ".yaml", ".yml", ".json"})
"""Endings of all that any loader opens."""
_SHOWN = 3
_WORDS = {
    Status.UNSIGNED: "unsigned",
    Status.WRONG_IDENTITY: "wrong identity",
    Status.INVALID: "invalid",
    Status.COULD_NOT_CHECK: "could not be checked",
    Status.VERIFIED: "verified",
}


class ContentSource(msgspec.Struct, kw_only=True):
    """A file or folder as the user named it, with the verdict on each file that is read of it."""

    label: str
    policies: bool
    """Rules come from it; else a mapping, twins, profiles of components or pod templates."""
    paths: dict[Path, str] = {}
    """Every file that was asked about, with its digest."""
    files: list[Vouched] = []

    @property
    def status(self) -> Status:
        """The worst of its files'."""
        return worst(self.files)

    @property
    def bad(self) -> list[Vouched]:
        """Files that nobody who may vouches for."""
        return [one for one in self.files if not one.good]

    def is_of(self, rule: Rule) -> bool:
        """Whether a rule comes from it."""
        return not rule.builtin and (
            rule.file == self.label or rule.file.startswith(f"{self.label.rstrip('/')}/")
        )


class SignedContent:
    """The verdicts on all content from outside the package.

    Args:
        config: whether signatures are asked for, whose, and which files there are.
        policies: the policy sources, fetched.
        now: the moment of judging.

    Raises:
        ConfigError: signatures are asked for, and nobody is named who may sign.
        ContentError: the file about signers is wrong; or refused: a file is unsigned, wrongly signed, or by somebody else.
        CollectionError: refused, and all that is wrong is that signatures could not be checked.
    """

    def __init__(self, config: Config, policies: Sequence[PolicySource], now: dt.datetime) -> None:
        self.sources: list[ContentSource] = []
        if config.policy.require_signed is None:
            return
        named = config.policy.signers or config.signatures
        if named is None:
            raise ConfigError(
                "policies must be signed, and nobody is named who may sign them",
                file=config.file or None,
                key="policy.require_signed",
                suggestion="name the file with the signers under policy.signers or signatures",
            )
        self._named = named
        self._desk = Desk(settings_in(Path(named)), base=Path(named).parent, now=now)
        for policy in policies:
            if not policy.builtin and not policy.absent:
                self._take(policy.label, [(policy.path, policy.label), *_beside(policy)], policies=True)
        for path in (*config.mappings, *config.twins, *config.components, *config.pod_templates):
            self._take(path, [(Path(path), path)], policies=False)
        if config.policy.require_signed == "refuse":
            self._refuse()

    def still_the_same(self) -> None:
        """What was loaded must be what was checked.

        Raises:
            ContentError: a file has changed in between.
        """
        for source in self.sources:
            for path, digest in source.paths.items():
                if digest and sha256_of(path) != digest:
                    raise ContentError("it changed while it was read", file=str(path))

    def of_rules(self, rules: Iterable[Rule]) -> Mapping[str, str]:
        """What the signatures of a rule's source are worth, for the rules from outside the package."""
        policies = [source for source in self.sources if source.policies]
        return {
            rule.id: worst_status.value
            for rule in rules
            if (worst_status := _status_of(rule, policies)) is not None
        }

    def notices(self, rules: Sequence[Rule]) -> Iterator[Notice]:
        """What a reader of the report must know of it."""
        if not self.sources:
            return
        for source in self.sources:
            number = sum(source.is_of(rule) for rule in rules) if source.policies else 0
            yield _notice(source, number)
            for file in source.files:
                if file.annotations:
                    keys = ", ".join(file.annotations[:_SHOWN])
                    message = f"it carries a signature in its annotations ({keys}), which is not looked at and counts for nothing"
                    yield Notice(source=file.label, code="signature_in_annotations", message=message)
        shipped = sum(rule.builtin for rule in rules)
        message = (
            f"{shipped} rules and the catalogs and mappings that ship with the package are covered by the record of its wheel, "
            "which is compared when it is installed, and not by these signatures"
        )
        yield Notice(source="fleetaudit", code="content_shipped", message=message, count=shipped)

    def _take(self, label: str, places: Sequence[tuple[Path, str]], *, policies: bool) -> None:
        source = ContentSource(label=label, policies=policies, paths={}, files=[])
        for path, name in places:
            vouching = Vouching(self._desk, path if path.is_dir() else path.parent)
            for member in _members(path, name):
                found = vouching.of(member)
                source.files.append(found)
                source.paths[member.path] = found.sha256
            source.files += vouching.missing(name)
        self.sources.append(source)

    def _refuse(self) -> None:
        bad = [file for source in self.sources for file in source.bad]
        if not bad:
            return
        # What is wrong is the content's fault; what nobody can check is the surroundings'.
        kind: type[AuditError] = (
            CollectionError if all(one.status is Status.COULD_NOT_CHECK for one in bad) else ContentError
        )
        errors = [
            kind(
                f"{_WORDS[one.status]}: {one.message}",
                file=one.label,
                suggestion=f"policies must be signed by whom {self._named} names" if number == 0 else None,
            )
            for number, one in enumerate(bad)
        ]
        errors[0].others = tuple(errors[1:])
        raise errors[0]


def _status_of(rule: Rule, sources: Sequence[ContentSource]) -> Status | None:
    """A rule of no known source is one that nobody vouches for."""
    if rule.builtin or not sources:
        return None
    mine = [source for source in sources if source.is_of(rule)]
    return worst([file for source in mine for file in source.files])


def _notice(source: ContentSource, rules: int) -> Notice:
    said = f"{rules} {'rule rests' if rules == 1 else 'rules rest'} on it; " if source.policies else ""
    if source.status is Status.VERIFIED:
        names = sorted({name for file in source.files for name in file.signers})
        message = f"{said}{_files(len(source.files))} signed by {', '.join(names)}"
        return Notice(source=source.label, code="content_signed", message=message, count=len(source.files))
    bad = source.bad
    listed = "; ".join(f"{one.label}: {_WORDS[one.status]}, {one.message}" for one in bad[:_SHOWN])
    more = f"; and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
    message = (
        f"{said}without an allowed signature: {listed}{more}" if bad else f"{said}it holds no file to sign"
    )
    return Notice(source=source.label, code="content_not_signed", message=message, count=max(rules, 1))


def _files(number: int) -> str:
    return "1 file is" if number == 1 else f"{number} files are"


def _beside(policy: PolicySource) -> list[tuple[Path, str]]:
    return [(path, str(path)) for path in (*policy.libraries, *policy.data)]


def _members(path: Path, label: str) -> Iterator[Member]:
    """Every file that a loader may open; tests of policies decide nothing, and hidden folders are not looked into."""
    if path.is_file():
        yield Member(path, label)
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(folder) / name
            if file.suffix not in _READ or name.endswith("_test.rego"):
                continue
            # A policy called X.sigstore.json would be loaded like any other.
            if not (is_signature(name) and holds_only_signatures(file)):
                yield Member(file, f"{label.rstrip('/')}/{file.relative_to(path).as_posix()}")
