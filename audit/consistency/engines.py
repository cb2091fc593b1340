"""The controllers that make policies act, by the images of Deployments."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from audit.consistency.form import mapping_in, mappings_in

_IMAGES = {
    "kyverno": ("kyverno/kyverno",),
    "kyverno background controller": ("kyverno/background-controller",),
    "kyverno cleanup controller": ("kyverno/cleanup-controller",),
    "kyverno reports controller": ("kyverno/reports-controller",),
    "gatekeeper": ("openpolicyagent/gatekeeper", "gatekeeper/gatekeeper"),
    "istiod": ("istio/pilot",),
    "linkerd policy controller": ("linkerd/policy-controller", "linkerd/controller"),
    "cilium operator": (
        "cilium/operator",
        "cilium/operator-generic",
        "cilium/operator-aws",
        "cilium/operator-azure",
    ),
}
_BY_IMAGE = {image: engine for engine, images in _IMAGES.items() for image in images}
FAMILIES = {
    "kyverno": "kyverno",
    "gatekeeper": "gatekeeper",
    "istiod": "istio",
    "linkerd policy controller": "linkerd",
    "cilium operator": "cilium",
}
"""Engines without which the policies of a family do nothing."""
_SIGNS = tuple(sorted({image.rpartition("/")[2].encode() for image in _BY_IMAGE}))
_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:-([0-9A-Za-z.-]+))?")


class Running(msgspec.Struct, frozen=True, kw_only=True):
    """One controller, as a Deployment declares it."""

    engine: str
    version: str
    """The tag of its image; empty when it has none."""
    stopped: bool
    """It has no replicas."""


def may_be_engine(raw: bytes) -> bool:
    """A quick look that spares most Deployments from being decoded."""
    return any(sign in raw for sign in _SIGNS)


def engines_in(deployment: dict[str, Any]) -> list[Running]:
    """The engines that a Deployment runs."""
    spec = mapping_in(deployment, "spec")
    found: dict[str, Running] = {}
    for container in mappings_in(spec, "template", "spec", "containers"):
        image = container.get("image")
        if not isinstance(image, str):
            continue
        name, version = _parted(image)
        engine = _BY_IMAGE.get("/".join(name.split("/")[-2:]))
        if engine is not None:
            stopped = spec.get("replicas", 1) == 0
            found.setdefault(engine, Running(engine=engine, version=version, stopped=stopped))
    return list(found.values())


def _parted(image: str) -> tuple[str, str]:
    """Name and tag of an image; a digest is no version."""
    name = image.partition("@")[0]
    before, colon, tag = name.rpartition(":")
    return (before, tag) if colon and "/" not in tag else (name, "")


def version_key(version: str) -> tuple[int, int, int, int, str] | None:
    """What versions are ordered by; None for a tag that is none."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return None
    major, minor, patch, before = match.groups()
    # What comes before a release is older than it.
    return int(major), int(minor), int(patch or 0), int(before is None), before or ""
