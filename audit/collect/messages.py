"""What parsers say of broken input, without what they quote of it: a quoted value may be a secret."""

from __future__ import annotations

import re


def without_values(message: str) -> str:
    """A decoder's message without the values it quotes: one of them may be a secret."""
    message = re.sub(r"`[^`]*`", "`...`", message)
    message = re.sub(r"(anchor|alias|tag) '[^']*'", r"\1 '...'", message)
    return re.sub(r"(invalid map key: ).*", r"\1...", message, flags=re.DOTALL)
