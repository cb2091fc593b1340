"""What reading model files may cost."""

from __future__ import annotations

from typing import Annotated

import msgspec

Positive = Annotated[int, msgspec.Meta(ge=1)]


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of the readers of models."""

    pickle_seconds: Annotated[float, msgspec.Meta(gt=0)] = 120.0
    """Time on the clock for one file. The limit of processor time is a half of it."""
    pickle_memory_bytes: Positive = 512 << 20
    header_max_bytes: Positive = 32 << 20
    """Of safetensors. The largest models have a tenth of it; what is larger is not judged."""
    max_entries: Positive = 1_000_000
    """Tensors, keys and texts of one GGUF header."""
    max_folder_files: Positive = 100_000
