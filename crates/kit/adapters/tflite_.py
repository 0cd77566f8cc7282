"""Adapter for TFLite (LiteRT) on the CPU. Models are converted by TensorFlow, one for each shape."""

from protocol import Unsupported, WIDTHS, from_numpy, serve


def start():
    import os

    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import tensorflow as tf
    from ai_edge_litert import interpreter as litert
    from importlib.metadata import version

    models = {}

    def model(call):
        axes = call.attributes
        one = (call.operator, call.input.dtype, tuple(call.input.shape), call.argument.dtype)
        one += (tuple(call.argument.shape), tuple(sorted(axes.items())))
        if call.operator == "Flip":
            one += (call.argument.data,)
        if one in models:
            return models[one]
        kind = tf.dtypes.as_dtype(call.input.numpy().dtype)
        signature = [tf.TensorSpec(call.input.shape, kind)]
        if call.operator == "Flip":
            constant = call.argument.numpy().astype("int32")
            function = lambda x: tf.raw_ops.ReverseV2(tensor=x, axis=constant)
        else:
            lengths = tf.dtypes.as_dtype(call.argument.numpy().dtype)
            signature.append(tf.TensorSpec(call.argument.shape, lengths))
            function = lambda x, n: tf.raw_ops.ReverseSequence(
                input=x, seq_lengths=n, seq_dim=axes["time_axis"], batch_dim=axes["batch_axis"]
            )
        # What TensorFlow or the converter refuses says nothing about the interpreter.
        try:
            concrete = tf.function(function, input_signature=signature).get_concrete_function()
            models[one] = tf.lite.TFLiteConverter.from_concrete_functions([concrete]).convert()
        except Exception as error:
            text = " ".join(str(error).split())[:120]
            raise Unsupported(f"not converted: {text}") from error
        return models[one]

    def run(call):
        name = call.input.dtype
        if name == "string" or WIDTHS[name] < 8 or name.startswith("f8"):
            raise Unsupported(f"no {name} through this adapter")
        runner = litert.Interpreter(model_content=model(call))
        runner.allocate_tensors()
        inputs = runner.get_input_details()
        values = [call.input.numpy()]
        if call.operator != "Flip":
            values.append(call.argument.numpy())
        if len(inputs) != len(values):
            raise Unsupported("the converter removed an input")
        for detail, value in zip(sorted(inputs, key=lambda one: one["name"]), ordered(inputs, values)):
            runner.set_tensor(detail["index"], value)
        runner.invoke()
        return from_numpy(runner.get_tensor(runner.get_output_details()[0]["index"]), name)

    return version("ai-edge-litert"), run


def ordered(inputs, values):
    """The values in the order of the sorted names of the inputs."""
    order = sorted(range(len(inputs)), key=lambda at: inputs[at]["name"])
    return [values[at] for at in order]


if __name__ == "__main__":
    install = "pip install ai-edge-litert tensorflow-cpu"
    serve("tflite", ["Flip", "ReverseSequenceAnyAxes"], start, install)
