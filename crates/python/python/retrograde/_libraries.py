"""Which library a value belongs to. A library is looked up among the modules that are already loaded: its values
cannot exist without it, and nothing is imported for the others."""

import sys


def is_a(x, module, name):
    """Whether ``x`` is an instance of a class of a library that is loaded."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(x, kind)


def is_on_device(x):
    """Whether ``x`` lends its elements in memory that the CPU cannot access."""
    try:
        # DLPack's numbers of devices whose memory it can access.
        return hasattr(x, "__dlpack_device__") and x.__dlpack_device__()[0] not in (1, 3, 11)
    except BufferError:
        # It has elements in several memories, and lends none.
        return False


def is_arrow(x):
    """Whether ``x`` is an array of Arrow and nothing else; a Series of pandas is one of NumPy too."""
    return is_pyarrow(x) or is_a(x, "polars", "Series") or is_a(x, "nanoarrow", "Array")


def is_pyarrow(x):
    return is_a(x, "pyarrow", "Array") or is_a(x, "pyarrow", "ChunkedArray")


def lends_arrow(x):
    """Whether ``x`` gives its elements as an array of Arrow: Series, columns, tables."""
    return any(hasattr(x, name) for name in ("__arrow_c_array__", "__arrow_c_stream__", "__arrow_array__"))
