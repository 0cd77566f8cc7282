"""Adapter for TFLite (LiteRT) on the CPU. Models are written with the schema that the package has.

Axes are constants of type int32, because the operator reads no other; lengths are inputs.
"""

from protocol import Unsupported, from_numpy, serve

TYPES = {
    "f32": "FLOAT32", "f16": "FLOAT16", "i32": "INT32", "u8": "UINT8", "i64": "INT64", "bool": "BOOL",
    "i16": "INT16", "c64": "COMPLEX64", "i8": "INT8", "f64": "FLOAT64", "c128": "COMPLEX128",
    "u64": "UINT64", "u32": "UINT32", "u16": "UINT16",
}  # fmt: skip


def start():
    import flatbuffers
    import numpy as np
    from ai_edge_litert import interpreter as litert
    from ai_edge_litert import schema_py_generated as schema
    from importlib.metadata import version

    def tensor(name, value, buffer):
        made = schema.TensorT()
        made.name, made.shape, made.buffer = name.encode(), list(value.shape), buffer
        made.type = getattr(schema.TensorType, TYPES[value.dtype])
        return made

    def buffer(data=None):
        made = schema.BufferT()
        made.data = None if data is None else np.frombuffer(data, np.uint8)
        return made

    def model(call):
        code, operator, graph = schema.OperatorCodeT(), schema.OperatorT(), schema.SubGraphT()
        buffers = [buffer()]
        graph.tensors = [tensor("x", call.input, 0)]
        if call.operator == "Flip":
            code.builtinCode = schema.BuiltinOperator.REVERSE_V2
            operator.builtinOptionsType = schema.BuiltinOptions.ReverseV2Options
            operator.builtinOptions = schema.ReverseV2OptionsT()
            axes = call.argument.numpy()
            if np.any(axes != axes.astype(np.int32)):
                raise Unsupported("axes are int32")
            buffers.append(buffer(axes.astype(np.int32).tobytes()))
            axes_tensor = tensor("axes", call.argument, 1)
            axes_tensor.type = schema.TensorType.INT32
            graph.tensors.append(axes_tensor)
            graph.inputs = [0]
        else:
            code.builtinCode = schema.BuiltinOperator.REVERSE_SEQUENCE
            operator.builtinOptionsType = schema.BuiltinOptions.ReverseSequenceOptions
            options = operator.builtinOptions = schema.ReverseSequenceOptionsT()
            options.seqDim, options.batchDim = call.attributes["time_axis"], call.attributes["batch_axis"]
            graph.tensors.append(tensor("lengths", call.argument, 0))
            graph.inputs = [0, 1]
        graph.tensors.append(tensor("y", call.input, 0))
        # The versions that the kernels of all types have.
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        code.version = 3 if call.operator == "Flip" else 1
        operator.opcodeIndex, operator.inputs, operator.outputs = 0, [0, 1], [2]
        graph.operators, graph.outputs, graph.name = [operator], [2], b"call"
        whole = schema.ModelT()
        whole.version, whole.operatorCodes, whole.subgraphs, whole.buffers = 3, [code], [graph], buffers
        builder = flatbuffers.Builder(1024)
        builder.Finish(whole.Pack(builder), b"TFL3")
        return bytes(builder.Output())

    def run(call):
        if call.input.dtype not in TYPES or call.argument.dtype not in TYPES:
            raise Unsupported(f"no {call.input.dtype} through this adapter")
        runner = litert.Interpreter(model_content=model(call))
        runner.allocate_tensors()
        values = {"x": call.input, "lengths": call.argument}
        for detail in runner.get_input_details():
            runner.set_tensor(detail["index"], values[detail["name"]].numpy())
        runner.invoke()
        return from_numpy(runner.get_tensor(runner.get_output_details()[0]["index"]), call.input.dtype)

    return version("ai-edge-litert"), run


if __name__ == "__main__":
    install = "pip install ai-edge-litert flatbuffers"
    serve("tflite", ["Flip", "ReverseSequenceAnyAxes"], start, install)
