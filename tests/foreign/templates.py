"""ConstraintTemplates and Constraints written out for tests."""

from __future__ import annotations

import textwrap
from typing import Any

import yaml

LABELS_V0 = """\
package k8srequiredlabels

violation[{"msg": msg, "details": {"missing": missing}}] {
  provided := {label | input.review.object.metadata.labels[label]}
  required := {label | label := input.parameters.labels[_]}
  missing := required - provided
  count(missing) > 0
  msg := sprintf("missing: %v", [missing])
}
"""
_NO_PARAMETERS: dict[str, Any] = {}
LABELS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "labels": {"type": "array", "items": {"type": "string"}, "default": ["owner"]},
        "mode": {"type": "string", "enum": ["strict", "loose"]},
    },
}


def template(
    kind: str = "K8sRequiredLabels",
    rego: str = LABELS_V0,
    *,
    libs: tuple[str, ...] = (),
    version: str = "",
    schema: dict[str, Any] | None = LABELS_SCHEMA,
    annotations: dict[str, str] | None = None,
    legacy_form: bool = False,
    name: str = "",
) -> str:
    """YAML of one template, its Rego in a block as people write it."""
    lines = [
        "apiVersion: templates.gatekeeper.sh/v1",
        "kind: ConstraintTemplate",
        "metadata:",
        f"  name: {name or kind.lower()}",
    ]
    if annotations:
        lines.append("  annotations:")
        lines += [
            f"    {key}: {yaml.safe_dump(value, default_style=chr(34)).strip()}"
            for key, value in annotations.items()
        ]
    lines += ["spec:", "  crd:", "    spec:", "      names:", f"        kind: {kind}"]
    if schema is not None:
        lines += ["      validation:", "        openAPIV3Schema:"]
        lines.append(textwrap.indent(yaml.safe_dump(schema), " " * 10).rstrip())
    lines += ["  targets:", "    - target: admission.k8s.gatekeeper.sh"]
    depth = 6
    if not legacy_form:
        lines += ["      code:", "        - engine: Rego", "          source:"]
        depth = 12
        if version:
            lines.append(f"{' ' * depth}version: {version}")
    lines.append(f"{' ' * depth}rego: |")
    lines.append(textwrap.indent(rego, " " * (depth + 2)).rstrip())
    if libs:
        lines.append(f"{' ' * depth}libs:")
        for lib in libs:
            lines.append(f"{' ' * depth}  - |")
            lines.append(textwrap.indent(lib, " " * (depth + 4)).rstrip())
    return "\n".join(lines) + "\n"


def constraint(
    name: str = "all",
    kind: str = "K8sRequiredLabels",
    *,
    match: dict[str, Any] | None = None,
    parameters: dict[str, Any] | None = _NO_PARAMETERS,
    **spec: Any,
) -> str:
    """YAML of one constraint; `parameters` None leaves them out."""
    content = dict(spec)
    if match is not None:
        content["match"] = match
    if parameters is not None:
        content["parameters"] = parameters
    return yaml.safe_dump(
        {
            "apiVersion": "constraints.gatekeeper.sh/v1beta1",
            "kind": kind,
            "metadata": {"name": name},
            "spec": content,
        }
    )
