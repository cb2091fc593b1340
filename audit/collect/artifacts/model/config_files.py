"""The JSON files beside weights: whose model it is, which code of its own it wants to run, which files it is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from audit.collect.artifacts.sbom.decoding import utf8
from audit.collect.artifacts.sbom.json_document import parse_json
from audit.collect.artifacts.sbom.problems import FormatError, short
from audit.collect.artifacts.signatures.beside import in_folder

CONFIGS = ("config.json", "adapter_config.json", "model_index.json")
"""Any of them makes a folder that of a model, in this order."""
_SIGNS = (
    *("architectures", "model_type", "auto_map", "transformers_version", "_name_or_path", "torch_dtype"),
    *("peft_type", "base_model_name_or_path", "_class_name", "_diffusers_version"),
    *("asset_label", "asset_id", "sensitivity_level"),
)
_WITH_CODE = (
    *("config.json", "tokenizer_config.json", "processor_config.json", "preprocessor_config.json"),
    *("feature_extractor_config.json", "image_processor_config.json", "video_preprocessor_config.json"),
    *("generation_config.json", "adapter_config.json", "model_index.json"),
)
_MAX_BYTES = 8 << 20
_LISTED = 50


def read_config(path: Path) -> dict[str, Any]:
    """A small JSON file.

    Raises:
        FormatError: it can't be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError:
        raise FormatError("unreadable", "it can't be read") from None
    if len(data) > _MAX_BYTES:
        raise FormatError("too_large", f"it is larger than {_MAX_BYTES} bytes")
    return parse_json(utf8(data)[0])


def looks_like_config(name: str, head: str) -> bool:
    """Whether the beginning of a file is that of one of `CONFIGS`."""
    if name not in CONFIGS or not head.lstrip("\ufeff \t\r\n").startswith("{"):
        return False
    return any(f'"{sign}"' in head for sign in _SIGNS) and '"apiVersion"' not in head


def config_facts(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Facts of the configuration, and ``config.json`` itself; empty when it is not there or can't be read."""
    path = in_folder(folder, CONFIGS[0])
    if path is None:
        return {"status": "absent", "reason": "there is no config.json", **_named({})}, {}
    try:
        config = read_config(path)
    except FormatError as error:
        return {"status": "malformed", "reason": error.message, **_named({})}, {}
    return {"status": "read", "reason": "", **_named(config)}, config


def _named(config: Mapping[str, Any]) -> dict[str, Any]:
    architectures = config.get("architectures")
    kind = config.get("model_type")
    return {
        "model_type": short(kind) if isinstance(kind, str) else "",
        "architectures": [short(one) for one in architectures[:20] if isinstance(one, str)]
        if isinstance(architectures, list)
        else [],
    }


def code_facts(folder: Path) -> dict[str, Any]:
    """Code that the model brings along: classes that its files name, and from where they come.

    ``status`` is ``read``, or ``unknown`` when a file that may name some can't be read.
    """
    named: list[dict[str, Any]] = []
    unread: list[dict[str, str]] = []
    for name in _WITH_CODE:
        path = in_folder(folder, name)
        if path is None:
            continue
        try:
            config = read_config(path)
        except FormatError as error:
            unread.append({"name": name, "reason": error.message})
            continue
        for key in ("auto_map", "custom_pipelines"):
            named += [{"file": name, **one} for one in _references(config.get(key))]
    return {
        "status": "unknown" if unread else "read",
        "unread": unread,
        "named": {"count": len(named), "listed": named[:_LISTED]},
        "remote": sum(one["remote"] for one in named),
    }


def _references(value: Any) -> Iterator[dict[str, Any]]:
    """``{"AutoModel": "modeling.Model"}``; ``owner/name--modeling.Model`` lies in another place altogether."""
    if isinstance(value, str):
        yield {"reference": short(value), "remote": "--" in value}
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _references(one) if isinstance(one, str | list) else ()


def shard_facts(folder: Path) -> dict[str, Any]:
    """Whether all files that an index of weights names are there.

    ``status`` is ``none`` without an index, ``complete``, ``incomplete``, or ``malformed``.
    """
    indexes = [path for one in sorted(folder.glob("*.index.json")) if (path := in_folder(folder, one.name))]
    missing: list[str] = []
    outside: list[str] = []
    for index in indexes[:_LISTED]:
        try:
            weights = read_config(index).get("weight_map")
        except FormatError as error:
            return _shards("malformed", f"{index.name}: {error.message}")
        if not isinstance(weights, dict) or not all(isinstance(one, str) for one in weights.values()):
            return _shards("malformed", f"{index.name}: weight_map maps names to files")
        for name in sorted(set(weights.values())):
            parts = PurePosixPath(name)
            if parts.is_absolute() or ".." in parts.parts or "\\" in name or "\0" in name or not name:
                outside.append(short(name))
            elif not (folder / name).is_file():
                missing.append(short(name))
    status = "none" if not indexes else "incomplete" if missing or outside else "complete"
    return _shards(status, "", missing=missing, outside=outside)


def _shards(
    status: str, reason: str, *, missing: list[str] | None = None, outside: list[str] | None = None
) -> dict[str, Any]:
    return {
        "status": status,
        "reason": reason,
        "missing": {"count": len(missing or ()), "listed": (missing or [])[:_LISTED]},
        "outside": {"count": len(outside or ()), "listed": (outside or [])[:_LISTED]},
    }
