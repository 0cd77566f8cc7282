// The same call in other languages. Each is a text that runs, and a note on what differs.

import { axisOf, lanes } from "./state.js";

const RUST = { c128: "Complex<f64>", f16: "f16" };
const NUMPY = {
  u8: "uint8", i16: "int16", f16: "float16", i32: "int32", f32: "float32", i64: "int64",
  f64: "float64", c128: "complex128", bool: "bool", i8: "int8", u16: "uint16", u32: "uint32",
  u64: "uint64", c64: "complex64",
};
const ONNX = {
  u8: "UINT8", i8: "INT8", i16: "INT16", u16: "UINT16", f16: "FLOAT16", i32: "INT32",
  u32: "UINT32", f32: "FLOAT", i64: "INT64", u64: "UINT64", f64: "DOUBLE", c64: "COMPLEX64",
  c128: "COMPLEX128", u4: "UINT4", bool: "BOOL",
};
const OPENVINO = {
  u8: "u8", i8: "i8", i16: "i16", u16: "u16", f16: "f16", i32: "i32", u32: "u32", f32: "f32",
  i64: "i64", u64: "u64", f64: "f64", u4: "u4", u1: "u1", bool: "boolean",
};
const DIRECTML = {
  u8: ["UINT8", 1], i8: ["INT8", 1], i16: ["INT16", 2], u16: ["UINT16", 2], f16: ["FLOAT16", 2],
  i32: ["INT32", 4], u32: ["UINT32", 4], f32: ["FLOAT32", 4], i64: ["INT64", 8],
  u64: ["UINT64", 8], f64: ["FLOAT64", 8],
};

const list = (values) => values.join(", ");
const product = (shape) => shape.reduce((all, size) => all * size, 1);
const note = (text) => ({ code: "", note: text });

/** Options that differ from their defaults, each written by `write(name, value)`. */
function extras(state, write) {
  const strict = state.op === "sequence" ? "strict" : "clamp";
  const all = [["policy", strict], ["align", "start"], ["tail", "keep"]];
  return all.filter(([name, usual]) => state[name] !== usual).map(([name]) => write(name, state[name]));
}

function rust(state) {
  const { op, shape } = state;
  const kind = RUST[state.dtype] ?? state.dtype;
  const integers = (values) => (values.length ? `&[${values[0]}i64${values.slice(1).map((v) => `, ${v}`).join("")}]` : "&[0i64; 0]");
  const names = { policy: "LengthPolicy", align: "Align", tail: "Tail" };
  const imports = extras(state, (name) => names[name]);
  const upper = (word) => word[0].toUpperCase() + word.slice(1);
  const calls = extras(state, (name, value) => `\n    .${name}(${names[name]}::${upper(value)})`).join("");
  const run = state.tail === "zero" && op !== "reverse" && op !== "segments" ? "to_vec_of" : "to_vec";
  const end = `.${run}(&x, &[${list(shape)}])?;`;
  const operator = {
    reverse: () => ["Reverse", `Reverse::axes([${list(state.axes)}])${end}`],
    sequence: () => ["ReverseSequence", `ReverseSequence::new()\n    .time_axis(${state.time})\n    .batch_axis(${state.batch})${calls}\n    .lengths(${integers(state.lengths)})\n    ${end}`],
    subsequences: () => ["ReverseSubsequences", `ReverseSubsequences::along(${state.axis})${calls}\n    .lengths(${integers(state.lengths)})\n    ${end}`],
    segments: () => ["ReverseSegments", `ReverseSegments::along(${state.axis})\n    .offsets(${integers(state.offsets)})\n    ${end}`],
  }[op]();
  const own = op === "sequence" || op === "subsequences" ? imports : [];
  const used = [...own, operator[0]].sort();
  const use = used.length > 1 ? `{${list(used)}}` : used[0];
  const packed = state.dtype === "u4" || state.dtype === "u1";
  return {
    code: `use retrograde::${use};\n\n// x: a slice of ${product(shape)} elements, in row-major order\nlet y = ${operator[1]}\n`,
    note: packed ? `Packed elements of ${state.dtype} are bytes: make a TensorRef of them and call to_bytes.` : `x may be a &[${kind}], or a slice of any other type.`,
  };
}

/** Where the elements come from, in Python: the file, or as many numbers. */
function pythonInput(state, file) {
  const tuple = (values) => (values.length === 1 ? `(${values[0]},)` : `(${list(values)})`);
  if (!file) return ["", `x = np.arange(${product(state.shape)}).astype(np.${NUMPY[state.dtype]}).reshape${tuple(state.shape)}`];
  const name = JSON.stringify(file.name);
  if (file.kind === "image") return ["from PIL import Image\n", `x = np.asarray(Image.open(${name}).convert("RGBA"))`];
  return ["", `x = np.load(${name})`];
}

function python(state, file) {
  const type = NUMPY[state.dtype];
  const options = extras(state, (name, value) => `, ${name}="${value}"`).join("");
  const call = {
    reverse: () => `reverse(x, [${list(state.axes)}])`,
    sequence: () => `reverse_sequence(\n    x, [${list(state.lengths)}], time_axis=${state.time}, batch_axis=${state.batch}${options}\n)`,
    subsequences: () => `reverse_subsequences(\n    x, np.array([${list(state.lengths)}]).reshape(${lengthsShape(state).join(", ")}), axis=${state.axis}${options}\n)`,
    segments: () => `reverse_segments(x, [${list(state.offsets)}], axis=${state.axis})`,
  }[state.op]();
  if (!type && !file) return note(`NumPy has no packed type for ${state.dtype}. Files, models and tensors of other libraries have.`);
  const [imports, input] = pythonInput(state, file);
  return {
    code: `import numpy as np\nimport retrograde\n${imports}\n${input}\ny = retrograde.${call}\n`,
    note: "x may be a tensor of NumPy, PyTorch, JAX, TensorFlow, CuPy or any other library with DLPack.",
  };
}

function lengthsShape(state) {
  const axis = axisOf(state.axis, state.shape.length);
  return state.shape.map((size, at) => (at === axis ? 1 : size));
}

function plainOptions(state) {
  return state.align === "start" && state.tail === "keep";
}

function onnx(state) {
  const type = ONNX[state.dtype];
  if (!type) return note(`ONNX has no type for ${state.dtype}.`);
  const rank = state.shape.length;
  if (state.op === "segments" || state.op === "subsequences") {
    return note("ONNX has no such operator. ReverseSequence is the closest: one length for each batch entry.");
  }
  const shape = `[${list(state.shape)}]`;
  const head = "import numpy as np\nfrom onnx import TensorProto, helper, numpy_helper\n\n";
  const x = `x = helper.make_tensor_value_info("x", TensorProto.${type}, ${shape})\n`;
  const y = `y = helper.make_tensor_value_info("y", TensorProto.${type}, ${shape})\n`;
  if (state.op === "reverse") {
    const axes = [...new Set(state.axes.map((axis) => axisOf(axis, rank)))];
    const fill = (value) => `[${list(axes.map(() => value))}]`;
    const constant = (name, values) => `numpy_helper.from_array(np.array(${values}, dtype=np.int64), "${name}")`;
    return {
      code: `${head}${x}${y}constants = [\n    ${constant("starts", fill(-1))},\n    ${constant("ends", fill("-2**63"))},\n    ${constant("axes", `[${list(axes)}]`)},\n    ${constant("steps", fill(-1))},\n]\nnode = helper.make_node("Slice", ["x", "starts", "ends", "axes", "steps"], ["y"])\ngraph = helper.make_graph([node], "reverse", [x], [y], constants)\nmodel = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])\n`,
      note: "ONNX has no Reverse: a Slice with steps of -1 is the same. `retrograde run` runs such a model.",
    };
  }
  const [time, batch] = [axisOf(state.time, rank), axisOf(state.batch, rank)];
  if (time > 1 || batch > 1) return note("In ONNX, time and batch are axes 0 and 1. Transpose the tensor first.");
  if (!plainOptions(state) || state.policy !== "strict") {
    return note("ONNX's ReverseSequence has no such option: sequences begin at step 0, padding stays, and a length beyond the axis is an error.");
  }
  return {
    code: `${head}${x}${y}lengths = numpy_helper.from_array(np.array([${list(state.lengths)}], dtype=np.int64), "lengths")\nnode = helper.make_node(\n    "ReverseSequence", ["x", "lengths"], ["y"], time_axis=${time}, batch_axis=${batch}\n)\ngraph = helper.make_graph([node], "reverse", [x], [y], [lengths])\nmodel = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 10)])\n`,
    note: "Lengths are int64. They may be an input of the model, too.",
  };
}

function openvino(state) {
  const type = OPENVINO[state.dtype];
  if (!type) return note(`OpenVINO has no type for ${state.dtype}.`);
  if (state.op === "segments" || state.op === "subsequences") {
    return note("OpenVINO has no such operator. ReverseSequence is the closest: one length for each batch entry.");
  }
  const head = (more) => `import numpy as np\nimport openvino as ov\nfrom openvino import opset1 as ops\n${more}\nx = ops.parameter([${list(state.shape)}], ov.Type.${type})\n`;
  const end = "model = ov.Model([y], [x])\n";
  if (state.op === "reverse") {
    return {
      code: `${head("from openvino.utils.node_factory import NodeFactory\n")}axes = ops.constant(np.array([${list(state.axes)}], dtype=np.int64))\ny = NodeFactory("opset1").create("Reverse", [x, axes], {"mode": "index"})\n${end}`,
      note: "OpenVINO's Reverse-1 defines the operator: an axis named twice is reversed once.",
    };
  }
  if (!plainOptions(state)) return note("OpenVINO's ReverseSequence has no such option: sequences begin at step 0 and padding stays.");
  return {
    code: `${head("")}lengths = np.array([${list(state.lengths)}], dtype=np.int64)\ny = ops.reverse_sequence(x, lengths, batch_axis=${state.batch}, seq_axis=${state.time})\n${end}`,
    note: "Lengths may be of any integer type, and may be an input of the model.",
  };
}

function directml(state) {
  const [type, width] = DIRECTML[state.dtype] ?? [];
  const { shape, op } = state;
  const rank = shape.length;
  if (!type) return note(`DirectML's operator does not take ${state.dtype}.`);
  if (op === "segments") return note("DirectML has no such operator: its lengths are one for each lane.");
  if (!plainOptions(state)) return note("DirectML's operator has no such option: sequences begin at step 0 and padding stays.");
  if (shape.includes(0)) return note("DirectML allows no size of 0.");
  const axes = op === "reverse" ? [...new Set(state.axes.map((one) => axisOf(one, rank)))] : [];
  if (op === "reverse" && axes.length !== 1) {
    return note("DirectML reverses one axis at a time: run the operator once for each axis, with lengths of the whole axis.");
  }
  const axis = op === "reverse" ? axes[0] : axisOf(op === "sequence" ? state.time : state.axis, rank);
  const batch = op === "sequence" ? axisOf(state.batch, rank) : -1;
  const lengths = shape.map((size, at) => (at === axis ? 1 : size));
  const values = op === "reverse" ? [shape[axis]] : state.lengths;
  const steps = lengths.map((_, at) => (at === batch ? 1 : 0));
  const broadcast = op !== "subsequences";
  const bytes = (count, each) => Math.ceil((count * each) / 4) * 4;
  const code = `UINT sizes[] = {${list(shape)}};
UINT lengthSizes[] = {${list(lengths)}};
${broadcast ? `UINT lengthStrides[] = {${list(steps)}};\n` : ""}uint32_t lengthValues[] = {${list(values)}};

DML_BUFFER_TENSOR_DESC tensor = {DML_TENSOR_DATA_TYPE_${type}, DML_TENSOR_FLAG_NONE, ${rank},
                                 sizes, nullptr, ${bytes(product(shape), width)}, 0};
DML_BUFFER_TENSOR_DESC lengths = {DML_TENSOR_DATA_TYPE_UINT32, DML_TENSOR_FLAG_NONE, ${rank},
                                  lengthSizes, ${broadcast ? "lengthStrides" : "nullptr"}, ${bytes(values.length, 4)}, 0};
DML_TENSOR_DESC tensorDesc = {DML_TENSOR_TYPE_BUFFER, &tensor};
DML_TENSOR_DESC lengthsDesc = {DML_TENSOR_TYPE_BUFFER, &lengths};
DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC reverse = {&tensorDesc, &lengthsDesc, &tensorDesc, ${axis}};
DML_OPERATOR_DESC desc = {DML_OPERATOR_REVERSE_SUBSEQUENCES, &reverse};
`;
  return {
    code,
    note: broadcast ? "Strides of 0 give every lane of a sequence the same length." : "DirectML clamps lengths beyond the axis.",
  };
}

function javascript(state) {
  const arrays = { u8: "Uint8Array", i16: "Int16Array", f16: "Float16Array", i32: "Int32Array", f32: "Float32Array", i64: "BigInt64Array", f64: "Float64Array" };
  const array = arrays[state.dtype] ?? "Uint8Array";
  const shape = `[${list(state.shape)}]`;
  const named = arrays[state.dtype] ? [] : [`dtype: "${state.dtype}"`];
  const write = (pairs) => { const all = [...pairs, ...named]; return all.length ? `, { ${list(all)} }` : ""; };
  const options = extras(state, (name, value) => `${name}: "${value}"`);
  const [name, call] = {
    reverse: () => ["reverse", `reverse(x, ${shape}${write([`axes: [${list(state.axes)}]`])})`],
    sequence: () => ["reverseSequence", `reverseSequence(x, ${shape}, [${list(state.lengths)}]${write([`timeAxis: ${state.time}`, `batchAxis: ${state.batch}`, ...options])})`],
    subsequences: () => ["reverseSubsequences", `reverseSubsequences(x, ${shape}, [${list(state.lengths)}]${write([`axis: ${state.axis}`, ...options])})`],
    segments: () => ["reverseSegments", `reverseSegments(x, ${shape}, [${list(state.offsets)}]${write([`axis: ${state.axis}`])})`],
  }[state.op]();
  return {
    code: `import { init, ${name} } from "@retrograde/web";\n\nawait init();\n// x: ${/^[IA]/.test(array) ? "an" : "a"} ${array} of ${product(state.shape)} elements, in row-major order\nconst y = ${call};\n`,
    note: "With out: x it runs in place.",
  };
}

export const LANGUAGES = [
  ["Python", python], ["Rust", rust], ["JavaScript", javascript], ["ONNX", onnx],
  ["OpenVINO", openvino], ["DirectML", directml],
];

/** The text and the note of a language. A call without a valid shape has no text. */
export function snippet(language, state, file) {
  const valid = state.shape.every((size) => Number.isInteger(size) && size >= 0);
  if (!valid || lanes(state) > 4096) return note("Give valid arguments first.");
  return LANGUAGES.find(([name]) => name === language)[1](state, file);
}
