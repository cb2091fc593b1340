"""One source of foreign policies to programs: read, detect, draft, finish. What is broken costs itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from audit.errors import ContentError
from audit.library.foreign.adapters import ROOT
from audit.library.foreign.data_files import read_data
from audit.library.foreign.detect import PLAIN, Detected, detect
from audit.library.foreign.draft import Draft
from audit.library.foreign.finish import finish
from audit.library.foreign.gatekeeper.documents import WORDS
from audit.library.foreign.gatekeeper.reader import GatekeeperReader
from audit.library.foreign.kubescape import KubescapeReader
from audit.library.foreign.module import module
from audit.library.foreign.plain import NOT_ASKED, PlainReader
from audit.library.foreign.reading import SourceFile, SourceFiles, read_libraries, read_source
from audit.library.foreign.settle import policy_gap
from audit.library.foreign.steps import Path, rego_path
from audit.library.policy_source import PolicySource
from audit.model.api_resources import BUILT_IN_GROUPS, built_in_kinds
from audit.model.foreign import ForeignProgram, Shape
from audit.model.gap import Gap, Notice
from audit.native.evaluator import Evaluator, Problem

_KYVERNO = ("kyverno.io", "ValidatingAdmissionPolicy")
"""What files of the loader of Kyverno policies say; the CLI judges admission policies too."""


class NothingOfThatNameError(ContentError):
    """A package or rule was named and is not there: asking nothing would look like no failure."""


class ForeignLoad(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one source."""

    native: dict[str, str]
    """Label to Rego of the project's own contract, for the native loader."""
    programs: tuple[ForeignProgram, ...]
    gaps: tuple[Gap, ...]
    notices: tuple[Notice, ...]


def load_source(
    source: PolicySource, name: str, evaluator: Evaluator, beside: Sequence[SourceFile] = ()
) -> ForeignLoad:
    """Read one source.

    Args:
        source: with what is known of it.
        name: beginning of its rule ids.
        evaluator: a started native engine; its program is replaced.
        beside: Gatekeeper's files of the user's other sources, see `gatekeeper_files`.

    Raises:
        NothingOfThatNameError: a package or rule was named and does not exist.
        ContentError: the source is not there.
    """
    if not source.path.is_file() and not source.path.is_dir():
        raise ContentError("no such policy file or folder", file=source.label)
    return _Loader(source, name, evaluator, read_source(source, (*WORDS, *_KYVERNO)), beside).load()


def gatekeeper_files(source: PolicySource) -> tuple[SourceFile, ...]:
    """Files of a source that hold objects of Gatekeeper's, for the other sources to see."""
    if source.builtin or source.absent or source.shape not in (None, Shape.GATEKEEPER):
        return ()
    return read_source(source, WORDS).yaml


class _Loader:
    def __init__(
        self,
        source: PolicySource,
        name: str,
        evaluator: Evaluator,
        files: SourceFiles,
        beside: Sequence[SourceFile],
    ) -> None:
        self._source = source
        self._name = name
        self._evaluator = evaluator
        self._files = files
        self._beside = beside
        self._programs: list[ForeignProgram] = []
        self._gaps: list[Gap] = list(files.gaps)
        self._notices: list[Notice] = []
        self._decisions: set[str] = set()

    def load(self) -> ForeignLoad:
        source = self._source
        libraries = read_libraries(source)
        self._gaps += libraries.gaps
        library_modules = [module(file.label, file.text) for file in libraries.rego]
        parsed = self._evaluator.inspect({file.label: file.text for file in self._files.rego})
        detected = detect(source, self._files.rego, library_modules, parsed.packages)
        broken = bool(parsed.problems)
        self._check_namespaces(detected, broken=broken)
        self._check_kinds()
        for part in detected.reserved:
            reason = f"packages below {ROOT} are fleetaudit's own"
            self._gaps.append(policy_gap(part.file, reason, line=part.outline.package_line or None))
        for shape in PLAIN:
            if shape in detected.packages:
                self._plain(shape, detected, detected.packages[shape])
        self._check_rules(broken=broken)
        if detected.folders:
            self._folders(detected)
        gatekeeper = [file for file in self._files.yaml if WORDS[0] in file.text]
        if gatekeeper and source.shape in (None, Shape.GATEKEEPER):
            self._gatekeeper(gatekeeper)
        self._loose(detected, templates=bool(gatekeeper))
        native = {part.key: part.text for part in detected.native}
        self._unclaimed(parsed.problems, native)
        said = any(notice.code != NOT_ASKED for notice in self._notices)
        if not (native or self._programs or self._gaps or said or self._holds_kyverno()):
            line = parsed.packages[0].line if parsed.packages else None
            self._gaps.append(policy_gap(source.label, self._why_nothing(), line=line))
        return ForeignLoad(
            native=native,
            programs=tuple(self._programs),
            gaps=tuple(self._gaps),
            notices=tuple(self._notices),
        )

    def _check_namespaces(self, detected: Detected, *, broken: bool) -> None:
        """A namespace that was named and is not there: an error, unless a broken file may hide it."""
        known = {rego_path(part.package) for part in (*detected.shared, *detected.native)}
        for wanted in self._source.namespaces:
            if wanted not in known and not broken:
                listed = ", ".join(sorted(known)[:10])
                raise NothingOfThatNameError(
                    f"no policy here has the package {wanted}",
                    file=self._source.label,
                    key="namespaces",
                    suggestion=f"there are {listed}" if listed else None,
                )

    def _check_kinds(self) -> None:
        """A kind that was named and cannot exist: nothing would ever be asked about it."""
        known = built_in_kinds()
        for key in self._source.kinds:
            group, _, kind = key.rpartition("/")
            if "*" not in key and group in BUILT_IN_GROUPS and key not in known:
                same = sorted(name for name in known if name.rpartition("/")[2].lower() == kind.lower())
                raise NothingOfThatNameError(
                    f"Kubernetes has no kind {key}",
                    file=self._source.label,
                    key="kinds",
                    suggestion=f"did you mean {' or '.join(same)}?" if same else None,
                )

    def _check_rules(self, *, broken: bool) -> None:
        missing = [rule for rule in self._source.rules if rule not in self._decisions]
        if missing and not broken:
            raise NothingOfThatNameError(
                f"no package that is asked defines the rule {missing[0]}",
                file=self._source.label,
                key="rules",
            )

    def _plain(self, shape: Shape, detected: Detected, packages: Sequence[Path]) -> None:
        source = self._source
        draft = Draft(shape=shape, modules=list(detected.shared), synthetic=shape is Shape.ADMISSION)
        if not self._data(draft):
            return
        reader = PlainReader(source, self._name, draft, detected.annotations)
        chosen = [p for p in packages if not source.namespaces or rego_path(p) in source.namespaces]
        self._decisions |= reader.read(chosen)
        self._finish(draft, reader)

    def _folders(self, detected: Detected) -> None:
        draft = Draft(shape=Shape.LIST, modules=list(detected.shared))
        if self._data(draft):
            KubescapeReader(self._source, self._name, draft).read(detected.folders)
            self._finish(draft)

    def _gatekeeper(self, files: Sequence[SourceFile]) -> None:
        draft = Draft(shape=Shape.GATEKEEPER)
        GatekeeperReader(self._source, self._name, draft, self._evaluator).read(files, self._beside)
        self._finish(draft)

    def _finish(self, draft: Draft, reader: PlainReader | None = None) -> None:
        done = finish(draft, self._source, self._evaluator, reader)
        self._gaps += done.gaps
        self._notices += done.notices
        if done.program is not None:
            self._programs.append(done.program)

    def _data(self, draft: Draft) -> bool:
        try:
            draft.data = read_data(self._source.data)
        except ContentError as error:
            self._gaps.append(policy_gap(error.file or self._source.label, error.message, line=error.line))
            return False
        return True

    def _loose(self, detected: Detected, *, templates: bool) -> None:
        for part in detected.template_sources:
            if templates:
                message = (
                    "is the Rego of a Gatekeeper template: the ConstraintTemplate is asked, not this file"
                )
                self._notices.append(Notice(source=part.file, code="template_source", message=message))
            else:
                reason = "is the Rego of a Gatekeeper template, and no ConstraintTemplate is here"
                self._gaps.append(policy_gap(part.file, reason, line=part.outline.package_line or None))

    def _unclaimed(self, problems: Sequence[Problem], native: Mapping[str, str]) -> None:
        """Broken files that no program and no native rule has room for."""
        said = {gap.source for gap in self._gaps}
        for problem in problems:
            if problem.file not in said and problem.file not in native:
                said.add(problem.file)
                self._gaps.append(policy_gap(problem.file, problem.message, line=problem.line or None))

    def _holds_kyverno(self) -> bool:
        """Kyverno policies are another loader's; a source of them is not empty."""
        return any(word in file.text for file in self._files.yaml for word in _KYVERNO)

    def _why_nothing(self) -> str:
        if not self._files.rego:
            return "holds no .rego file and no ConstraintTemplate"
        shape = self._source.shape
        first = self._files.rego[0].label
        if shape is not None:
            return f"{first} and the other files have no rule that is asked of policies of the shape {shape.value}"
        return (
            f"{first} has no rule that is asked: no deny, warn or violation, no allow over input.request, "
            "and no METADATA of a rule of fleetaudit's own"
        )
