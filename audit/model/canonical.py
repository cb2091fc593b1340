"""One JSON form for everything that is digested or stored: equal content, equal bytes."""

from __future__ import annotations

from typing import Any

import msgspec

_encoder = msgspec.json.Encoder(order="deterministic")


def canonical_json(content: object) -> bytes:
    """Compact JSON with a fixed order of keys. Text that is no Unicode (odd file names) is kept as escapes."""
    try:
        return _encoder.encode(content)
    except UnicodeEncodeError:
        # A file name that is not UTF-8 reaches Python with lone surrogates, which JSON can't hold.
        return _encoder.encode(_mended(msgspec.to_builtins(content)))


def _mended(node: Any) -> Any:
    if isinstance(node, str):
        return node.encode("utf-8", "backslashreplace").decode()
    if isinstance(node, list | tuple):
        return [_mended(item) for item in node]
    if isinstance(node, dict):
        return {_mended(key): _mended(item) for key, item in node.items()}
    return node
