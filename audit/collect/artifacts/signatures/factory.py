"""Makes the readers of signatures for one configuration."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

from audit.collect.artifacts.digests import Digests
from audit.collect.artifacts.reading import ArtifactReader
from audit.collect.artifacts.signatures.bundles import BundleReader
from audit.collect.artifacts.signatures.desk import Desk
from audit.collect.artifacts.signatures.detached import DetachedReader
from audit.collect.artifacts.signatures.images import ImageJudge, ImageReader
from audit.collect.artifacts.signatures.required import SignedArtifactReader
from audit.collect.artifacts.signatures.settings import SignatureSettings


def readers(
    policy: SignatureSettings | None, *, base: Path, now: dt.datetime, digests: Digests | None = None
) -> Sequence[ArtifactReader]:
    """The readers, in the order in which they are to be asked.

    Args:
        policy: the configuration; None when it says nothing about signatures.
        base: folder that relative paths of the configuration begin at.
        now: the moment of judging.
        digests: of files, computed once for all readers.
    """
    desk = Desk(policy, base=base, now=now, digests=digests)
    return (BundleReader(desk), DetachedReader(desk), ImageReader(desk), SignedArtifactReader(desk))


def image_judge(policy: SignatureSettings | None, *, base: Path, now: dt.datetime) -> ImageJudge:
    """What says of an image from elsewhere what the readers say of one on disk.

    Args:
        policy: the configuration; None when it says nothing about signatures.
        base: folder that relative paths of the configuration begin at.
        now: the moment of judging.
    """
    return ImageJudge(Desk(policy, base=base, now=now))
