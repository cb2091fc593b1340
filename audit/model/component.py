"""Named components of a platform, and exactly which privileges each of them needs."""

from __future__ import annotations

import datetime as dt

import msgspec

Scalar = str | int | bool | None


class ComponentImage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An image that the component is made of."""

    repository: str
    """Without tag and digest, as manifests write it: ``nvcr.io/nvidia/k8s-device-plugin``."""
    digests: tuple[str, ...] = ()
    """``sha256:...``; empty means any digest, but one there must be."""


class ComponentNeed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing that a rule finds wrong, and that the component can't do without."""

    rule: str
    values: tuple[Scalar, ...]
    """What may be found: paths of the host, capabilities, true for a switch, null for a setting that is left unset."""
    containers: tuple[str, ...] = ()
    """In which containers; empty where the pod as a whole is meant."""
    fields: tuple[str, ...] = ()
    """Last fields of the places meant, for the switches of a pod as a whole: ``hostPID``."""
    why: str


class ComponentProfile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A reviewed profile as people write it. Using what it names is a pass, anything more fails as ever."""

    id: str
    version: int
    title: str
    source: str
    """Where the needs were read, with the version of it."""
    reviewed: dt.date
    reviewer: str
    kinds: tuple[str, ...]
    namespaces: tuple[str, ...]
    images: tuple[ComponentImage, ...]
    needs: tuple[ComponentNeed, ...]
    commands: tuple[tuple[str, ...], ...] = ()
    """What its containers run where that is not the image's own program: command and arguments, to which only flags may be added.
    An image that can do everything on the node would else be a shell for everybody."""


class Component(ComponentProfile, frozen=True, kw_only=True):
    """A profile and where it is written."""

    file: str = ""
    line: int | None = None

    @property
    def label(self) -> str:
        """Id and version, as population and report name it."""
        return f"{self.id}@{self.version}"
