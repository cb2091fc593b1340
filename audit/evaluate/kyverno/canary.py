"""The canary of every run: a policy that looks at each object, and an object that is known to fail.

A row for each object proves that it was looked at; the known failure proves that anything was judged at all.
"""

from __future__ import annotations

from typing import Any

LOOKED_AT = "looked-at"
KNOWN_BAD = "known-bad"


def canary_name(nonce: str) -> str:
    """Name of the canary policy and of the known-bad object of one engine."""
    return f"fleetaudit-canary-{nonce}"


def canary_policy(nonce: str) -> dict[str, Any]:
    """One rule that every object passes, and one that a known-bad object fails."""
    never = {"conditions": {"all": [{"key": "looked", "operator": "Equals", "value": "at"}]}}
    always = {"conditions": {"all": [{"key": "looked", "operator": "Equals", "value": "looked"}]}}
    bad = {"resources": {"kinds": ["*"], "names": [canary_name(nonce)]}}
    return {
        "apiVersion": "kyverno.io/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": canary_name(nonce)},
        "spec": {
            "background": False,  # wildcards are refused otherwise
            "rules": [
                {
                    "name": LOOKED_AT,
                    "match": {"any": [{"resources": {"kinds": ["*"]}}]},
                    "validate": {"message": "looked at", "deny": never},
                },
                {
                    "name": KNOWN_BAD,
                    "match": {"any": [bad]},
                    "validate": {"message": "known to be bad", "deny": always},
                },
            ],
        },
    }


def canary_object(nonce: str, uid: str) -> dict[str, Any]:
    """Of a kind that policies hardly list, in a namespace of its own."""
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {"name": canary_name(nonce), "namespace": "fleetaudit-canary", "uid": uid},
        "revision": 1,
    }
