"""The reader of models: a `ModelFile` for each file, and a `Model` for the folder that holds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from audit.collect.artifacts.model.card import NAME, card_facts
from audit.collect.artifacts.model.config_files import CONFIGS
from audit.collect.artifacts.model.files import file_spec
from audit.collect.artifacts.model.folders import folder_spec
from audit.collect.artifacts.model.places import Places
from audit.collect.artifacts.model.recognition import MODEL_ENDINGS, format_of
from audit.collect.artifacts.model.settings import ModelSettings
from audit.collect.artifacts.reading import Artifact, ArtifactReader, Facts, sha256_of

FILE, FOLDER, CARD = "ModelFile", "Model", "ModelCard"


class ModelReader:
    """Reads model files and the folders that they lie in.

    Args:
        settings: limits.
        digest: SHA-256 of a file, in hexadecimal.
    """

    name = "model"
    kinds = frozenset({FILE, FOLDER, CARD})
    suffixes = MODEL_ENDINGS | {".md"}
    shares = False

    def __init__(self, settings: ModelSettings, digest: Callable[[Path], str] = sha256_of) -> None:
        self._settings = settings
        self._digest = digest
        self._places = Places()

    def recognises(self, artifact: Artifact) -> bool:
        """Whether it is a model file, stands for a model folder, or is the card of one."""
        if artifact.path.is_dir() or not artifact.size:
            return False
        if format_of(artifact.name, artifact.head) is not None:
            return True
        if artifact.name == NAME:
            return self._places.is_model(artifact.path.parent)
        return artifact.name in CONFIGS and self._places.stands_for(artifact.path, artifact.label)

    def read(self, artifact: Artifact) -> Iterator[Facts]:
        """The facts.

        Raises:
            OSError: something can't be read.
        """
        label = artifact.label
        if format_of(artifact.name, artifact.head) is not None:
            spec = file_spec(artifact, self._digest(artifact.path), self._settings)
            yield Facts(kind=FILE, name=label, spec=spec)
        elif artifact.name == NAME:
            yield Facts(
                kind=CARD, name=label, spec={"folder": _folder(label), **card_facts(artifact.path.parent)}
            )
            return
        if self._places.stands_for(artifact.path, label):
            folder = artifact.path.parent
            spec = folder_spec(folder, _folder(label), self._digest, self._settings)
            yield Facts(kind=FOLDER, name=spec["folder"], spec=spec)


def _folder(label: str) -> str:
    """The folder of a file as people know it; a point for the one that paths begin at."""
    return label.rpartition("/")[0] or "."


def readers(settings: ModelSettings, digest: Callable[[Path], str] = sha256_of) -> Sequence[ArtifactReader]:
    """The readers of this folder."""
    return (ModelReader(settings, digest),)
