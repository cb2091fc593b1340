"""What a pickle may import: names that rebuild tensors, arrays and plain containers, and can do nothing else.

A list of what is allowed, because lists of what is forbidden are passed by again and again. Runs in the limited process, so it
needs nothing but the standard library.
"""

from __future__ import annotations

_TORCH_TYPES = ("Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool")
_TORCH_STORAGES = (*_TORCH_TYPES, "ComplexFloat", "ComplexDouble", "QInt8", "QUInt8", "QInt32", "QUInt4x2")
_TORCH_DTYPES = (
    *("float32", "float64", "float16", "bfloat16", "complex64", "complex128"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "qint8", "quint8", "qint32"),
)
_TORCH_REBUILD = (
    "_rebuild_tensor",
    "_rebuild_tensor_v2",
    "_rebuild_tensor_v3",
    "_rebuild_parameter",
    "_rebuild_parameter_with_state",
    "_rebuild_qtensor",
    "_rebuild_sparse_tensor",
    "_rebuild_nested_tensor",
    "_rebuild_meta_tensor_no_storage",
)
_NUMPY = {
    "numpy": ("dtype", "ndarray"),
    "numpy.core.multiarray": ("_reconstruct", "scalar"),
    "numpy._core.multiarray": ("_reconstruct", "scalar"),
    "numpy.core.numeric": ("_frombuffer",),
    "numpy._core.numeric": ("_frombuffer",),
}
_PLAIN = {
    "collections": ("OrderedDict", "Counter", "deque"),
    "_codecs": ("encode",),
    "datetime": ("date", "datetime", "time", "timedelta", "timezone"),
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
}
_BUILTINS = (
    *("set", "frozenset", "list", "dict", "tuple", "bytearray", "bytes", "str", "int", "float", "bool"),
    *("complex", "range", "slice", "object", "NoneType"),
)
_OLD_BUILTINS = (*_BUILTINS, "xrange", "long", "unicode")


def _names() -> frozenset[str]:
    by_module: dict[str, tuple[str, ...]] = {
        **_NUMPY,
        **_PLAIN,
        "builtins": _BUILTINS,
        "__builtin__": _OLD_BUILTINS,
        "torch": (
            *(f"{kind}Storage" for kind in _TORCH_STORAGES),
            *(f"{kind}Tensor" for kind in _TORCH_TYPES),
            *_TORCH_DTYPES,
            *("Size", "Tensor", "device"),
        ),
        "torch.cuda": tuple(f"{kind}{what}" for kind in _TORCH_TYPES for what in ("Storage", "Tensor")),
        "torch._utils": _TORCH_REBUILD,
        "torch._tensor": ("_rebuild_from_type_v2",),
        "torch.serialization": ("_get_layout",),
        "torch.storage": ("TypedStorage", "UntypedStorage"),
        "torch.nn.parameter": ("Parameter", "Buffer"),
    }
    return frozenset(f"{module}.{name}" for module, names in by_module.items() for name in names)


ALLOWED = _names()
"""``module.name``, as pickles write it."""
