"""Registers the operators with PyTorch's dispatcher: schemas, kernels, fake kernels and ``vmap`` rules.

Of the native library (:mod:`._torch_native`), which has schemas, kernels and gradients, only the latter two.
"""

import re

import torch
from torch.autograd.graph import increment_version

from . import _engine, _torch_gradients, _torch_native

#: Outputs of at least this many bytes are allocated by the engine, which reuses large pages, as for NumPy arrays. The
#: system allocator returns much of that to the operating system, and asks for it again in the next call.
LARGE = 2 << 20


class Operator:
    """An operator with its three variants, registered with PyTorch.

    ``parameters`` are the schema's parameters between the input and the output. ``more`` are the last arguments of the
    engine's function: those that the schema does not have, or the defaults of those that it has. ``engine`` is the
    name of that function. ``order`` is the memory order of new outputs.
    """

    def __init__(self, name, parameters, batched, more=(), engine=None, order=torch.preserve_format):
        self.name, self.library = name, _library
        self.batched, self.order = batched, order
        self.arity, self.more = parameters.count(",") + 1, more
        # PyTorch omits arguments from a kernel's call that have their default.
        self.required = self.arity - parameters.count("=")
        if not IS_NATIVE:
            self._define(parameters)
        ops = torch.ops.retrograde
        self.new = getattr(ops, name).default
        self.in_place = getattr(ops, f"{name}_").default
        self.out = getattr(ops, f"{name}_out").default
        self.engine = getattr(_engine, engine or name)
        if not IS_NATIVE:
            for key in ("CPU", "CUDA"):
                self._register_kernels(key, self._new, self._in_place, self._out)
        self._register_fakes()
        torch.library.register_vmap(f"retrograde::{name}", self._new_batched, lib=_library)

    def _define(self, parameters):
        name, every = self.name, re.sub(r'="\w+"', "", parameters)
        _library.define(f"{name}(Tensor x, {parameters}) -> Tensor", tags=_TAGS)
        _library.define(f"{name}_(Tensor(a!) x, {parameters}) -> ()", tags=_TAGS)
        _library.define(f"{name}_out(Tensor x, {every}, Tensor(a!) out) -> ()", tags=_TAGS)

    def complete(self, arguments):
        """The arguments of the engine's function for the arguments of a schema."""
        return (*arguments, *self.more[len(arguments) - self.required :])

    def _register_kernels(self, key, new, in_place, out):
        _library.impl(self.name, new, key)
        _library.impl(f"{self.name}_", in_place, key)
        _library.impl(f"{self.name}_out", out, key)

    # Kernels never receive lazy conjugates or negatives: PyTorch or the caller materialises them first.

    def _new(self, x, *arguments):
        _torch_gradients.check_forward_mode(self.name, x)
        out = self._like(x) if x.nbytes < LARGE else large(x, self.order)
        self.engine(bits(x), *self.complete(arguments), bits(out), True)
        return out

    def _like(self, x):
        return torch.empty_like(x, memory_format=self.order)

    def _in_place(self, x, *arguments):
        self._write(x, arguments, x)

    def _out(self, x, *arguments):
        *arguments, out = arguments
        self._write(x, arguments, out)

    def _write(self, x, arguments, out):
        alone = _torch_gradients.writes_alone
        if alone:
            _torch_gradients.before_write(self.name, x, out)
        self.engine(bits(x), *self.complete(arguments), bits(out))
        if alone:
            increment_version(out)

    def _register_fakes(self):
        fake = torch.library.register_fake
        fake(f"retrograde::{self.name}", self._new_fake, lib=_library)
        if IS_NATIVE:
            return
        fake(f"retrograde::{self.name}_", self._fake, lib=_library)
        fake(f"retrograde::{self.name}_out", self._fake, lib=_library)

    def _new_fake(self, x, *arguments):
        return self._like(x)

    def _fake(self, x, *arguments):
        return None

    def _new_batched(self, info, dims, x, *arguments):
        return self.batched(info.batch_size, dims, x, *arguments)


def bits(x):
    """The same elements, viewed as a dtype that DLPack supports."""
    if x.dtype in _STAND_INS:
        return x.view(_STAND_INS[x.dtype])
    # Older releases export only tensors that do not require grad.
    return x if _DESCRIBES or not x.requires_grad else x.detach()


def like_in_rows(x):
    """An uninitialised tensor, contiguous whatever the strides of ``x`` are."""
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def large(x, order=torch.preserve_format):
    """Allocates a large output. Uses the engine's memory if the layout matches ``torch.empty_like``."""
    in_rows = order is torch.contiguous_format
    if (in_rows or x.is_contiguous()) and x.is_cpu and x.dtype in _KEPT:
        return torch.from_dlpack(_engine.empty_like(bits(x), in_rows))
    return torch.empty_like(x, memory_format=order)


def large_in_rows(x):
    return large(x, torch.contiguous_format)


# Rules for ``vmap``, which adds one axis.


def _reverse_batched(size, dims, x, axes):
    return _axes_batched("reverse", dims[0], x, axes)


def _flip_batched(size, dims, x, axes):
    return _axes_batched("flip", dims[0], x, axes)


def _axes_batched(name, at, x, axes):
    rank = x.dim() - 1
    return OPERATORS[name].new(x, [_shifted(axis % rank, at) for axis in axes]), at


def _sequence_batched(size, dims, x, lengths, time_axis, batch_axis, *rules):
    run = OPERATORS["reverse_sequence"].new
    at, lengths_at = dims[:2]
    rank = x.dim() - (at is not None)
    time_axis, batch_axis = time_axis % rank, batch_axis % rank
    if lengths_at is None:
        return run(x, lengths, _shifted(time_axis, at), _shifted(batch_axis, at), *rules), at
    # Every sequence of every batch has its own length, so merge the two batch axes.
    lengths = lengths.movedim(lengths_at, 0)
    if at is None:
        x = x.unsqueeze(batch_axis).expand(*x.shape[:batch_axis], size, *x.shape[batch_axis:])
    else:
        x = x.movedim(at, batch_axis)
    # Inserting an axis shifted the time axis if it came later; merging the two restores its position.
    out = run(x.flatten(batch_axis, batch_axis + 1), lengths.flatten(), time_axis, batch_axis, *rules)
    return out.unflatten(batch_axis, (size, -1 if out.numel() else x.shape[batch_axis + 1])), batch_axis


def _subsequences_batched(size, dims, x, lengths, axis, *rules):
    at, lengths_at = dims[:2]
    rank = x.dim() - (at is not None)
    axis = axis % rank
    x = x.expand(size, *x.shape) if at is None else x.movedim(at, 0)
    lengths = lengths.expand(size, *lengths.shape) if lengths_at is None else lengths.movedim(lengths_at, 0)
    return OPERATORS["reverse_subsequences"].new(x, lengths, axis + 1, *rules), 0


def _segments_batched(size, dims, x, offsets, axis):
    run = OPERATORS["reverse_segments"].new
    at, offsets_at = dims[:2]
    axis = axis % (x.dim() - (at is not None))
    if offsets_at is None:
        return run(x, offsets, _shifted(axis, at)), at
    # Every tensor is cut in its own way, and elements behind the last offset stay: one call each.
    xs = [x] * size if at is None else x.unbind(at)
    if size == 0:
        return torch.empty_like(x) if at is not None else x.new_empty((0, *x.shape)), at or 0
    return torch.stack([run(*pair, axis) for pair in zip(xs, offsets.unbind(offsets_at), strict=True)]), 0


def _shifted(axis, at):
    """The position of an axis after another axis was inserted at ``at``."""
    return axis + (axis >= at)


def _named(*names):
    return {getattr(torch, name) for name in names if hasattr(torch, name)}


#: Dtypes with several elements per byte.
PACKED = _named("bits1x8", "bits2x4", "bits4x2", "quint4x2", "quint2x4")
#: Dtypes that DLPack does not support, and a supported dtype of the same width for each.
_STAND_INS = {
    getattr(torch, name): stand_in
    for name, stand_in in [("bits8", torch.uint8), ("bits16", torch.int16), ("bcomplex32", torch.int32)]
    if hasattr(torch, name)
}
#: Dtypes that survive a round trip through DLPack. Sub-byte dtypes do not.
_KEPT = _named(
    *("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128"),
)

#: Whether the engine reads tensors through C (DLPack 1.3).
_DESCRIBES = hasattr(torch.Tensor, "__dlpack_c_exchange_api__")

#: Where sequences are, and what happens to padding. Calls without them are still valid, except those of the out
#: variants: a schema cannot have a default before ``out``.
_PADDING = 'str align="start", str tail="keep"'
_TAGS = (torch.Tag.pt2_compliant_tag,)
#: Whether the native library has defined the operators.
IS_NATIVE = _torch_native.library is not None
_library = torch.library.Library("retrograde", "FRAGMENT" if IS_NATIVE else "DEF")
OPERATORS = {
    operator.name: operator
    for operator in (
        # The engine's function also takes a mask, and whether duplicates are errors.
        Operator("reverse", "int[] axes", _reverse_batched, more=(None, "set")),
        # The same into a contiguous output, for NumPy's functions.
        Operator(
            "flip",
            "int[] axes",
            _flip_batched,
            more=(None, "set"),
            engine="reverse",
            order=torch.contiguous_format,
        ),
        Operator(
            "reverse_sequence",
            f"Tensor lengths, int time_axis, int batch_axis, str policy, {_PADDING}",
            _sequence_batched,
            more=("start", "keep"),
        ),
        Operator(
            "reverse_subsequences",
            f"Tensor lengths, int axis, str policy, {_PADDING}",
            _subsequences_batched,
            more=("start", "keep"),
        ),
        Operator("reverse_segments", "Tensor offsets, int axis", _segments_batched),
    )
}
