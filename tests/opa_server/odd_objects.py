"""Objects with fields missing, null, empty, of other types and with strange values: where engines differ, they differ there."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import yaml

from audit.model.subject import derived_key, kind_key
from bench.generate import objects
from tests.shared_data import CHECKOUT

_ODD: tuple[Any, ...] = (
    None,
    "",
    " ",
    "é-🚀-\u2028-\x01",
    "a" * 5000,
    0,
    -1,
    1.5,
    1e-7,
    2**53 + 1,
    10**30,
    True,
    False,
    [],
    [None],
    [[], {}],
    {},
    {"": ""},
    {"name": None},
    ["a", "a"],
    "true",
    "0x10",
    "1e3",
    "100m",
    "9999999999999999999999Gi",
    "-5",
    "sha256:" + "0" * 64,
    "*",
)


def seeds() -> list[dict[str, Any]]:
    """Sound objects of many kinds: those of the benchmarks and of the example fleet."""
    found = list(objects(60))
    for file in sorted((CHECKOUT / "examples" / "fleet").rglob("*.yaml")):
        try:
            documents = list(yaml.safe_load_all(file.read_text(encoding="utf-8")))
        except yaml.YAMLError:
            continue
        found += [
            document
            for document in documents
            if isinstance(document, dict)
            and isinstance(document.get("kind"), str)
            and isinstance(document.get("apiVersion"), str)
            and isinstance(document.get("metadata"), dict)
        ]
    return json.loads(json.dumps(found, default=str))  # type: ignore[no-any-return]  # dates become text


def odd_objects(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """(kind key, JSON): every tenth as it was, the others with up to six changes, now and then under a derived key."""
    rng = random.Random(seed)
    sound = seeds()
    for number in range(count):
        made = copy.deepcopy(rng.choice(sound))
        kind = _kind(made)
        for _ in range(0 if number % 10 == 0 else rng.randint(1, 6)):
            _change(made, rng)
        if kind in {"Namespace"} and rng.random() < 0.5:
            kind = derived_key(kind)
        yield kind, json.dumps(made, sort_keys=rng.random() < 0.9, ensure_ascii=rng.random() < 0.5).encode()
    for kind in ("Namespace", "fleetaudit.dev/Cluster"):
        yield derived_key(kind), json.dumps({"kind": kind, "metadata": {"name": "team-01"}}).encode()


def inventory_of(items: list[tuple[str, bytes]], kinds: frozenset[str]) -> bytes:
    """All objects of the kinds that context rules need, odd ones included."""
    found: dict[str, dict[str, list[Any]]] = {kind: {} for kind in sorted(kinds)}
    for kind, raw in items:
        if kind in found:
            made = json.loads(raw)
            metadata = made.get("metadata")
            namespace = metadata.get("namespace") if isinstance(metadata, dict) else ""
            found[kind].setdefault(namespace if isinstance(namespace, str) else "", []).append(made)
    return json.dumps(found).encode()


def _kind(made: dict[str, Any]) -> str:
    return kind_key(made["apiVersion"].rpartition("/")[0], made["kind"])


def _change(made: Any, rng: random.Random) -> None:
    """Change one place, chosen by walking down a random way."""
    holder = made
    for _ in range(rng.randint(0, 8)):
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        inner = [key for key in keys if isinstance(holder[key], dict | list) and holder[key]]
        if not inner:
            break
        holder = holder[rng.choice(inner)]
    if not holder:
        return
    key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
    what = rng.random()
    if what < 0.4:
        del holder[key]
    elif what < 0.9:
        holder[key] = copy.deepcopy(rng.choice(_ODD))
    elif isinstance(holder, dict):
        holder[rng.choice(("extra", "0", "a.b/c", "é"))] = copy.deepcopy(rng.choice(_ODD))
    else:
        holder.append(copy.deepcopy(holder[key]))
