"""Kinds of values that the configuration has in many places."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

# `$` alone would let a line end pass behind the last character.
Text = Annotated[str, Meta(min_length=1, max_length=500)]
PathText = Annotated[str, Meta(min_length=1, max_length=4096, pattern=r"^[^\x00-\x1f]+$(?!\n)")]
Name = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._:@/-]{0,127}$(?!\n)",
        description="Letters, digits and . _ : @ / - and spaces; starts with a letter or digit.",
    ),
]
Share = Annotated[float, Meta(ge=0, le=1, description="A fraction from 0 to 1.")]
FormatName = Literal[
    "html", "json", "sarif", "junit", "markdown", "csv", "prometheus", "policy-reports", "openreports"
]
Language = Literal["en", "zh-CN"]
DEFAULT_FORMATS: tuple[FormatName, ...] = ("html", "json")


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Unknown keys are refused everywhere: a typing error must not silently change an audit."""
