"""What JAX would run on a CUDA device, as far as it can be tested without one: the programs lowered
for it, and the handlers, called with artificial frames. `heavy/test_cuda_jax.py` runs on a device.
"""

import ctypes
import re
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import retrograde.cuda
import retrograde.jax as rj
from retrograde import _engine

HANDLERS = _engine.xla_handlers()


# Programs


def calls(function, *arguments, platforms=("cuda",)):
    """The custom calls of a program for these platforms: names, attributes, types."""
    text = jax.jit(function).trace(*arguments).lower(lowering_platforms=platforms).as_text()
    return re.findall(r"stablehlo\.custom_call @(\w+)\([^)]*\) \{(.*)\} : \((.*)\) -> (\S+)", text), text


X = jax.ShapeDtypeStruct((4, 6, 3), jnp.bfloat16)
LENGTHS = jax.ShapeDtypeStruct((6,), jnp.int32)


def test_flips_are_lowered_to_our_call():
    ((name, attributes, operands, result),), text = calls(lambda x: rj.reverse(x, (0, -1)), X)
    assert name == "retrograde_reverse"
    assert "axes = dense<[0, 2]> : tensor<2xi64>" in attributes
    assert operands == result == "tensor<4x6x3xbf16>"
    # Row-major, and not in place.
    assert attributes.count("dense<[2, 1, 0]> : tensor<3xindex>") == 2 and "aliases" not in attributes
    assert "stablehlo.reverse" not in text


def test_turns_are_lowered_to_one_call():
    ((name, attributes, operands, result),), text = calls(lambda x: rj.rot90(x, 1, (2, 0)), X)
    assert name == "retrograde_rot90" and "stablehlo.transpose" not in text
    for attribute in ("axes = dense<2> : tensor<1xi64>", "first = 2 : i64", "second = 0 : i64"):
        assert attribute in attributes
    assert operands == "tensor<4x6x3xbf16>" and result == "tensor<3x6x4xbf16>"
    assert set(HANDLERS["CUDA"]["retrograde_rot90"]) == {"initialize", "execute"}
    ((name, _, _, result),), _ = calls(lambda x: rj.rot90(x, 2), X)
    assert name == "retrograde_reverse" and result == "tensor<4x6x3xbf16>"


@pytest.mark.parametrize("policy", ["strict", "clamp"])
def test_lengths_of_the_program_go_to_the_handler_of_their_policy(policy):
    suffix = "_strict" if policy == "strict" else ""

    def sequence(x, n):
        return rj.reverse_sequence(x, n, time_axis=2, batch_axis=1, policy=policy)

    ((name, attributes, operands, result),), text = calls(sequence, X, LENGTHS)
    assert name == "retrograde_reverse_sequence" + suffix
    for attribute in ("time_axis = 2 : i64", "batch_axis = 1 : i64", f'policy = "{policy}"'):
        assert attribute in attributes
    assert operands == "tensor<4x6x3xbf16>, tensor<6xi32>" and result == "tensor<4x6x3xbf16>"
    assert "gather" not in text and "aliases" not in attributes

    def subsequences(x, n):
        return rj.reverse_subsequences(x, n, axis=0, policy=policy)

    lanes = jax.ShapeDtypeStruct((6, 3), jnp.uint8)
    ((name, attributes, operands, _),), text = calls(subsequences, X, lanes)
    assert name == "retrograde_reverse_subsequences" + suffix
    assert "axis = 0 : i64" in attributes and f'policy = "{policy}"' in attributes
    assert operands == "tensor<4x6x3xbf16>, tensor<1x6x3xui8>" and "gather" not in text


def test_lengths_that_are_known_were_checked_here():
    """So there is nothing to report, whatever the policy, and XLA may record the call."""
    ((name, attributes, operands, _),), _ = calls(lambda x: rj.reverse_sequence(x, [1, 2, 3, 4, 0, 4]), X)
    assert name == "retrograde_reverse_sequence" and 'policy = "clamp"' in attributes
    assert operands.endswith("tensor<6xui32>")
    with pytest.raises(ValueError, match=r"lengths\[3\] is 5, outside \[0, 4\]"):
        calls(lambda x: rj.reverse_sequence(x, [1, 2, 3, 5, 0, 4]), X)


def test_every_platform_gets_its_own():
    run = (lambda x, n: rj.reverse_sequence(rj.reverse(x), n, policy="clamp"), X, LENGTHS)
    for platform, count in {"cpu": 2, "cuda": 2, "tpu": 0, "rocm": 0}.items():
        found, text = calls(*run, platforms=(platform,))
        assert len(found) == count and ("gather" in text) == (count == 0)
    strict = jax.jit(rj.reverse_sequence)
    found, _ = calls(strict, X, LENGTHS, platforms=("cpu", "cuda"))
    assert {name for name, *_ in found} == {"retrograde_reverse_sequence", "retrograde_reverse_sequence_strict"}


def test_transformations_are_calls_too():
    x, n = jax.ShapeDtypeStruct((4, 6), jnp.float32), LENGTHS

    def loss(x, n):
        return (rj.reverse_sequence(x, n) ** 2).sum()

    found, text = calls(jax.grad(loss), x, n)
    assert [name for name, *_ in found] == ["retrograde_reverse_sequence_strict"] * 2 and "gather" not in text
    many = (jax.ShapeDtypeStruct((5, 4, 6), jnp.float32), jax.ShapeDtypeStruct((5, 6), jnp.int32))
    ((_, _, operands, _),), _ = calls(jax.vmap(rj.reverse_sequence), *many)
    assert operands == "tensor<4x30xf32>, tensor<30xi32>"
    found, text = calls(lambda x: jax.lax.scan(lambda c, row: (c, rj.reverse(row)), 0, x), x)
    assert [name for name, *_ in found] == ["retrograde_reverse"] and "stablehlo.while" in text


def test_export_for_a_device_that_is_not_here():
    names = ("retrograde_reverse", "retrograde_reverse_sequence_strict")
    allowed = [export.DisabledSafetyCheck.custom_call(name) for name in names]
    program = jax.jit(lambda x, n: rj.reverse(rj.reverse_sequence(x, n)))
    exported = export.export(program, platforms=["cuda"], disabled_checks=allowed)(X, LENGTHS)
    assert exported.platforms == ("cuda",) and all(f"@{name}" in exported.mlir_module() for name in names)
    with pytest.raises(ValueError, match="retrograde_reverse"):
        export.export(program, platforms=["cuda"])(X, LENGTHS)


def test_nothing_to_tell_without_a_device():
    x = jnp.arange(4.0)
    retrograde.cuda.check(rj.reverse(x))
    _engine.xla_check(0)
    _engine.xla_check(1000)
    with pytest.raises(TypeError, match="x is traced"):
        jax.jit(lambda x: retrograde.cuda.check(x))(x)


# Handlers, as XLA calls them. The structures are those of xla/ffi/api/c_api.h.


class Extension(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("next", c_void_p)]


class Version(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extension", c_void_p), ("major", c_int), ("minor", c_int)]


class Metadata(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("version", Version), ("traits", c_uint32), ("state", c_int64)]


class MetadataExtension(ctypes.Structure):
    _fields_ = [("base", Extension), ("metadata", POINTER(Metadata))]


class ErrorArguments(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extension", c_void_p), ("message", c_char_p), ("code", c_int)]


class StreamArguments(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extension", c_void_p), ("context", c_void_p), ("stream", c_void_p)]


class DeviceArguments(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extension", c_void_p), ("context", c_void_p), ("ordinal", ctypes.c_int32)]


FUNCTIONS = """Error_Create Error_GetMessage Error_Destroy Handler_Register Stream_Get Type_Register
ExecutionContext_Get State_Set State_Get DeviceMemory_Allocate DeviceMemory_Free ThreadPool_Schedule
ThreadPool_NumThreads Future_Create Future_SetAvailable Future_SetError RunId_Get DeviceOrdinal_Get""".split()


class Api(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extension", c_void_p), ("version", Version), ("internal", c_void_p)]
    _fields_ += [(name, c_void_p) for name in FUNCTIONS]


class Buffer(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extension", c_void_p), ("dtype", c_int), ("data", c_void_p)]
    _fields_ += [("rank", c_int64), ("dims", POINTER(c_int64))]


class Operands(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extension", c_void_p), ("count", c_int64)]
    _fields_ += [("kinds", POINTER(c_int)), ("values", POINTER(c_void_p))]


class Text(ctypes.Structure):
    _fields_ = [("start", c_char_p), ("len", c_size_t)]


class Array(ctypes.Structure):
    _fields_ = [("dtype", c_int), ("len", c_size_t), ("data", c_void_p)]


class Attributes(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extension", c_void_p), ("count", c_int64), ("kinds", POINTER(c_int))]
    _fields_ += [("names", POINTER(POINTER(Text))), ("values", POINTER(c_void_p))]


class Frame(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extension", c_void_p), ("api", POINTER(Api)), ("context", c_void_p)]
    _fields_ += [("stage", c_int), ("arguments", Operands), ("results", Operands), ("attributes", Attributes)]
    _fields_ += [("future", c_void_p)]


INITIALIZE, EXECUTE = 2, 3
CONTEXT, ERROR, REFUSED = 0x1234, 0x5678, 0x9ABC


def handler(platform, name, stage="execute"):
    capsule = HANDLERS[platform][name]
    capsule = capsule[stage] if isinstance(capsule, dict) else capsule
    address = ctypes.pythonapi.PyCapsule_GetPointer
    address.restype, address.argtypes = c_void_p, (ctypes.py_object, c_char_p)
    return ctypes.CFUNCTYPE(c_void_p, POINTER(Frame))(address(capsule, b"xla._CUSTOM_CALL_TARGET"))


class Caller:
    """A mock of XLA: a function table that records its calls, and a reversal of three integers."""

    def __init__(self, ordinal=1000, refuses=False):
        self.asked, self.ordinal, self.refuses = [], ordinal, refuses
        self.api = Api(size=ctypes.sizeof(Api))
        self.kept = []
        for name, kind in [("Error_Create", ErrorArguments), ("Stream_Get", StreamArguments)] + [
            ("DeviceOrdinal_Get", DeviceArguments)
        ]:
            function = ctypes.CFUNCTYPE(c_void_p, POINTER(kind))(getattr(self, name))
            self.kept.append(function)
            setattr(self.api, name, ctypes.cast(function, c_void_p))
        self.x = np.array([1, 2, 3], np.int32)
        self.out = np.zeros(3, np.int32)

    def Error_Create(self, arguments):
        self.asked.append(("Error_Create", arguments[0].code, arguments[0].message.decode()))
        return ERROR

    def Stream_Get(self, arguments):
        self.asked.append(("Stream_Get", arguments[0].context))
        arguments[0].stream = 0
        return None

    def DeviceOrdinal_Get(self, arguments):
        assert arguments[0].size == 28
        self.asked.append(("DeviceOrdinal_Get", arguments[0].context))
        arguments[0].ordinal = self.ordinal
        return REFUSED if self.refuses else None

    def call(self, handler, stage=EXECUTE):
        dims = (c_int64 * 1)(3)

        def operands(array):
            buffer = Buffer(48, None, 4, array.ctypes.data, 1, dims)
            values = (c_void_p * 1)(ctypes.addressof(buffer))
            self.kept += [buffer, values]
            return Operands(40, None, 1, (c_int * 1)(1), values)

        axes = (c_int64 * 1)(0)
        array = Array(5, 1, ctypes.addressof(axes))
        names = (POINTER(Text) * 1)(ctypes.pointer(Text(b"axes", 4)))
        attributes = Attributes(48, None, 1, (c_int * 1)(1), names, (c_void_p * 1)(ctypes.addressof(array)))
        frame = Frame(ctypes.sizeof(Frame), None, ctypes.pointer(self.api), CONTEXT, stage)
        frame.arguments, frame.results, frame.attributes = operands(self.x), operands(self.out), attributes
        return handler(ctypes.byref(frame))


def metadata(handler):
    asked = Metadata(size=ctypes.sizeof(Metadata), traits=77)
    extension = MetadataExtension(Extension(24, 1, None), ctypes.pointer(asked))
    frame = Frame(size=ctypes.sizeof(Frame), extension=ctypes.addressof(extension))
    assert handler(ctypes.byref(frame)) is None
    return (asked.version.major, asked.version.minor), asked.traits


def test_what_the_handlers_say_of_themselves():
    assert set(HANDLERS) == {"cpu", "CUDA"} and set(HANDLERS["cpu"]) < set(HANDLERS["CUDA"])
    for name in HANDLERS["cpu"]:
        assert metadata(handler("cpu", name)) == ((0, 1), 0)
    for name, stages in HANDLERS["CUDA"].items():
        assert set(stages) == {"initialize", "execute"}
        # Handlers that report invalid lengths must not be recorded into a command buffer.
        assert metadata(handler("CUDA", name)) == ((0, 1), 0 if name.endswith("_strict") else 1)


def test_a_frame_made_here_is_taken_for_one_of_xla():
    caller = Caller()
    assert caller.call(handler("cpu", "retrograde_reverse")) is None
    assert caller.out.tolist() == [3, 2, 1] and caller.asked == []


@pytest.mark.parametrize("stage", ["initialize", "execute"])
def test_a_device_that_is_not_there(stage):
    """The handler queries the device from XLA, and reports that it is not available."""
    caller = Caller(ordinal=1000)
    run = handler("CUDA", "retrograde_reverse", stage)
    assert caller.call(run, INITIALIZE if stage == "initialize" else EXECUTE) == ERROR
    asked, (_, code, text) = caller.asked
    assert asked == ("DeviceOrdinal_Get", CONTEXT)
    assert code == 13 and re.search("driver|device", text)
    assert caller.out.tolist() == [0, 0, 0]


def test_what_xla_refuses_is_handed_back():
    caller = Caller(refuses=True)
    assert caller.call(handler("CUDA", "retrograde_reverse")) == REFUSED
    assert caller.asked == [("DeviceOrdinal_Get", CONTEXT)]


def test_a_table_that_ends_too_early():
    caller = Caller()
    caller.api.size = Api.DeviceOrdinal_Get.offset
    assert caller.call(handler("CUDA", "retrograde_reverse")) == ERROR
    (asked,) = caller.asked
    assert asked[0] == "Error_Create" and "XLA_FFI_DeviceOrdinal_Get: this jaxlib is too old" in asked[2]


def test_a_negative_device():
    caller = Caller(ordinal=-1)
    assert caller.call(handler("CUDA", "retrograde_reverse")) == ERROR
    assert "the device is -1" in caller.asked[-1][2]
