"""Places inside pods, named alike in whatever object the pod is described: what a controller made repeats its paths.

The image of a container stands at ``spec.jobTemplate.spec.template.spec.containers[0].image`` of a CronJob, at
``spec.template.spec.containers[0].image`` of the Job it made, and at ``spec.containers[0].image`` of that Job's Pod. To a person
this is one thing to mend.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Path = tuple[str | int, ...]
POD = "pod"
"""First segment of a place inside a pod."""
_INSIDE: Mapping[str, Path] = {"template": (), "spec": ("spec",), "container": ("spec", "containers", 0)}


class PodPaths:
    """Where the pods of each kind stand.

    Args:
        table: `kind_key` to places, in the form of ``rego/pod_templates.yaml``. What holds neither a template nor a part of one in its
            usual shape is left out, so that its places keep their own names.
    """

    def __init__(self, table: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        self._places: dict[str, list[tuple[tuple[str, ...], Path]]] = {}
        for kind, entries in table.items():
            known = [
                (tuple(entry["path"]), _INSIDE[entry["holds"]])
                for entry in entries
                if entry["holds"] in _INSIDE
            ]
            self._places[kind] = sorted(known, key=lambda place: -len(place[0]))

    def named(self, kind_key: str, path: Path) -> Path:
        """The path from ``pod`` on where it leads into one, else the path itself. ``*`` in the table is any one segment."""
        for place, inside in self._places.get(kind_key, ()) if path else ():
            if len(path) >= len(place) and all(
                wanted in ("*", segment) for wanted, segment in zip(place, path, strict=False)
            ):
                return (POD, *inside, *path[len(place) :])
        return path


NO_PODS = PodPaths({})
