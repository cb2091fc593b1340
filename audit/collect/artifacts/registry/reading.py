"""What a registry has of an image, as facts.

Signatures and provenance are judged by what judges those on disk, and bills of materials are read by the reader of files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from audit.collect.artifacts.reading import ArtifactReader, Facts, UnreadError, held
from audit.collect.artifacts.registry.fetching import MAX_SBOM, Fetched, Trouble
from audit.collect.artifacts.signatures.image_layout import Image, image_of, side_layers
from audit.collect.artifacts.signatures.images import ImageJudge


class ImageFacts:
    """Turns what was fetched into facts.

    Args:
        judge: of images.
        sboms: readers of bills of materials.
    """

    def __init__(self, judge: ImageJudge, sboms: Sequence[ArtifactReader]) -> None:
        self._judge = judge
        self._sboms = sboms

    def of(self, fetched: Fetched, written: Sequence[str]) -> tuple[list[Facts], list[Trouble]]:
        """Facts about one image, and what hides others.

        Args:
            fetched: the image.
            written: the ways in which workloads name it.
        """
        name = name_of(fetched)
        facts = list(self._signatures(fetched, name, written))
        troubles = list(fetched.troubles)
        for sbom in fetched.sboms:
            try:
                facts += self._read(f"{name}#{sbom.digest}", sbom.data)
            except UnreadError as error:
                troubles.append(Trouble(code="unsupported_manifest", reason=error.reason, about_sbom=True))
        return facts, troubles

    def _signatures(self, fetched: Fetched, name: str, written: Sequence[str]) -> Iterator[Facts]:
        reference = fetched.reference
        image = image_of({"mediaType": fetched.media_type}, fetched.digest or "", fetched.files, {})
        place = f"{reference.host}/{reference.repository}"
        names = tuple(dict.fromkeys((*written, str(reference), place)))
        image = msgspec.structs.replace(image, digest=fetched.digest, names=names)
        layers = [
            layer
            for manifest in fetched.attached
            for layer in side_layers(manifest, fetched.digest, fetched.files)
        ]
        hiding = (trouble.code for trouble in fetched.troubles if not trouble.about_sbom)
        yield from self._judge.facts(
            image,
            layers,
            fetched.files,
            self._judge.policy_of(names),
            name=name,
            trouble=next(hiding, None),
            origin=_origin(fetched, image),
        )

    def _read(self, name: str, data: bytes) -> Iterator[Facts]:
        artifact = held(name, data, max_bytes=MAX_SBOM)
        reader = next((one for one in self._sboms if one.recognises(artifact)), None)
        if reader is None:
            raise UnreadError("what is attached as a bill of materials is none that is known")
        yield from reader.read(artifact)


def name_of(fetched: Fetched) -> str:
    """The image as its facts are called: by the digest that was judged, where there is one."""
    reference = fetched.reference
    if reference.digest is not None or fetched.digest is None:
        return str(reference)
    return f"{reference}@{fetched.digest}"


def _origin(fetched: Fetched, image: Image) -> dict[str, Any]:
    reference = fetched.reference
    pinned = reference.digest is not None
    notices = []
    if not pinned and fetched.digest is not None:
        notices.append(
            {
                "code": "tag_resolved",
                "message": f"workloads name the tag {reference.tag}; judged is {image.digest}, which the registry has under it now "
                "and which need not be what runs",
                "count": 1,
            }
        )
    if fetched.unknown:
        notices.append(
            {
                "code": "attachment_not_read",
                "message": f"attached and not understood: {', '.join(fetched.unknown[:5])}",
                "count": 1,
            }
        )
    return {
        "registry": {
            "host": reference.host,
            "repository": reference.repository,
            "tag": reference.tag,
            "resolved": "pinned" if pinned else "tag",
        },
        "notices": notices,
    }
