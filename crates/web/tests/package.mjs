// Tests of the package in Node: the cases of the conformance kit, larger tensors against a naive
// version, WebNN's cases, in-place calls, and errors.
//
//     node crates/web/tests/package.mjs PACKAGE CASES
//
// CASES is the output of `cargo run -p retrograde-truth --example cases`.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const [packageFolder, casesFile] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(resolve(packageFolder, file)).href);
const retrograde = await load("index.js");
const webnn = await load("webnn.js");
const { reverse, reverseSequence, reverseSubsequences, reverseSegments } = retrograde;

const counts = {};
function count(what) {
  counts[what] = (counts[what] ?? 0) + 1;
}

assert.throws(() => reverse(new Uint8Array(1), [1]), /call `await init\(\)`/);
await retrograde.init();
assert.equal(retrograde.instructions(), "simd128");

// The cases of the kit: each is a request of its protocol, and what must come back.
function answer({ operator, attributes, input, axes, lengths, offsets }) {
  const data = Buffer.from(input.data, "hex");
  const integers = (tensor) => ({ data: Buffer.from(tensor.data, "hex"), dtype: tensor.dtype, shape: tensor.shape });
  const options = { dtype: input.dtype, out: undefined };
  const values = (tensor) => {
    if (!/^[iu](8|16|32|64)$/.test(tensor.dtype)) throw new TypeError("axes are not integers");
    if (tensor.shape.length !== 1) throw new TypeError("axes are not a list");
    return numbers(tensor);
  };
  switch (operator) {
    case "Reverse":
      if (attributes.mode === "mask") {
        if (axes.dtype !== "bool" || axes.shape.length !== 1) throw new TypeError("not a mask");
        return reverse(data, input.shape, { ...options, mask: [...Buffer.from(axes.data, "hex")].map((on) => on !== 0) });
      }
      return reverse(data, input.shape, { ...options, axes: values(axes) });
    case "Flip": return reverse(data, input.shape, { ...options, axes: values(axes), duplicates: "error" });
    case "ReverseSequence":
    case "ReverseSequenceAnyAxes":
      return reverseSequence(data, input.shape, integers(lengths), { ...options, timeAxis: attributes.time_axis, batchAxis: attributes.batch_axis });
    case "ReverseSubsequences":
      return reverseSubsequences(data, input.shape, integers(lengths), { ...options, axis: attributes.axis });
    default:
      return reverseSegments(data, input.shape, integers(offsets), { ...options, axis: attributes.axis });
  }
}

function numbers({ dtype, data }) {
  const bytes = Uint8Array.from(Buffer.from(data, "hex"));
  const Class = {
    i8: Int8Array, u8: Uint8Array, i16: Int16Array, u16: Uint16Array, i32: Int32Array,
    u32: Uint32Array, i64: BigInt64Array, u64: BigUint64Array,
  }[dtype];
  return Array.from(new Class(bytes.buffer), Number);
}

/** Rules of one text that the package does not have: it takes any two axes and all types. */
function isOfOneText(request, message) {
  if (request.operator !== "ReverseSequence") return false;
  return /axis|axes|type|int64|i64|opset/i.test(message);
}

const skipped = {};
const isBeyondThePackage = ({ operator, where, table }) => operator === "Orient" || where || table;
for (const line of readFileSync(casesFile, "utf8").trim().split("\n")) {
  const { request, expected } = JSON.parse(line);
  if (request.input.dtype === "string") {
    skipped["strings, which have no bytes"] = (skipped["strings, which have no bytes"] ?? 0) + 1;
    continue;
  }
  if (isBeyondThePackage(request)) {
    skipped["orientations, masks and tables"] = (skipped["orientations, masks and tables"] ?? 0) + 1;
    continue;
  }
  let got;
  let refused;
  try {
    got = answer(request);
  } catch (error) {
    refused = error.message;
  }
  if (expected.value) {
    assert.equal(refused, undefined, `${request.id}: ${refused}`);
    assert.equal(Buffer.from(got).toString("hex"), expected.value.data, request.id);
    count("kit, results");
  } else if (refused === undefined && isOfOneText(request, expected.refused)) {
    const why = "refusals of ONNX's text (axes 0 and 1, its types)";
    skipped[why] = (skipped[why] ?? 0) + 1;
  } else {
    assert.notEqual(refused, undefined, `${request.id} must be refused: ${expected.refused}`);
    count("kit, refusals");
  }
}
assert.ok(counts["kit, results"] > 200 && counts["kit, refusals"] > 20, JSON.stringify(counts));

// Larger tensors against a naive version, so that every width fills registers and has remainders.
function naive(data, width, shape, axis, lengthAt) {
  const out = Uint8Array.from(data);
  const inner = shape.slice(axis + 1).reduce((a, b) => a * b, 1);
  const size = shape[axis];
  for (let at = 0; at < data.length / width; at++) {
    const index = Math.floor(at / inner) % size;
    const length = lengthAt(Math.floor(at / (inner * size)), at % inner, inner);
    if (index >= length) continue;
    const from = at + (length - 1 - 2 * index) * inner;
    out.set(data.subarray(from * width, (from + 1) * width), at * width);
  }
  return out;
}

let seed = 7;
const random = (below) => {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return Math.floor((seed / 2147483648) * below);
};
const TYPES = { 1: "u8", 2: "f16", 3: "bytes3", 4: "f32", 6: "bytes6", 8: "i64", 12: "bytes12", 16: "c128", 40: "bytes40" };
for (const width of Object.keys(TYPES).map(Number)) {
  for (const shape of [[1000], [3, 257], [64, 33], [7, 130, 3], [130, 7, 5], [2, 3, 129, 17]]) {
    const elements = shape.reduce((a, b) => a * b, 1);
    const data = Uint8Array.from({ length: elements * width }, () => random(256));
    for (let axis = 0; axis < shape.length; axis++) {
      const dtype = TYPES[width];
      const whole = naive(data, width, shape, axis, () => shape[axis]);
      assert.deepEqual(reverse(data, shape, { dtype, axes: [axis] }), whole);
      const same = Uint8Array.from(data);
      assert.equal(reverse(same, shape, { dtype, axes: [axis], out: same }), same);
      assert.deepEqual(same, whole);
      const lengths = Int32Array.from({ length: elements / shape[axis] }, () => random(shape[axis] + 1));
      const wanted = naive(data, width, shape, axis, (outer, rest, inner) => lengths[outer * inner + rest]);
      assert.deepEqual(reverseSubsequences(data, shape, lengths, { dtype, axis }), wanted);
      const again = Uint8Array.from(data);
      reverseSubsequences(again, shape, lengths, { dtype, axis, out: again });
      assert.deepEqual(again, wanted);
      for (let each = 0; each < 4; each++) count("against a naive version");
    }
  }
}

// Packed elements: several to a byte, so that rows begin inside one.
function getPacked(bytes, bits, at) {
  const [byte, inside] = [(at * bits) >> 3, (at * bits) & 7];
  return (bytes[byte] >> (bits === 1 ? 7 - inside : inside)) & ((1 << bits) - 1);
}
function setPacked(bytes, bits, at, value) {
  const [byte, inside] = [(at * bits) >> 3, (at * bits) & 7];
  bytes[byte] |= value << (bits === 1 ? 7 - inside : inside);
}
for (const [dtype, bits] of [["u4", 4], ["u2", 2], ["u1", 1]]) {
  for (const shape of [[4003], [5, 1031], [130, 7], [6, 257, 3]]) {
    const elements = shape.reduce((a, b) => a * b, 1);
    const data = new Uint8Array(Math.ceil((elements * bits) / 8));
    for (let at = 0; at < elements; at++) setPacked(data, bits, at, random(1 << bits));
    for (let axis = 0; axis < shape.length; axis++) {
      const inner = shape.slice(axis + 1).reduce((a, b) => a * b, 1);
      const lengths = Int32Array.from({ length: elements / shape[axis] }, () => random(shape[axis] + 1));
      const whole = new Uint8Array(data.length);
      const part = new Uint8Array(data.length);
      for (let at = 0; at < elements; at++) {
        const index = Math.floor(at / inner) % shape[axis];
        const length = lengths[Math.floor(at / (inner * shape[axis])) * inner + (at % inner)];
        const from = (size) => at + (size - 1 - 2 * index) * inner;
        setPacked(whole, bits, at, getPacked(data, bits, from(shape[axis])));
        setPacked(part, bits, at, getPacked(data, bits, index < length ? from(length) : at));
      }
      const same = Uint8Array.from(data);
      assert.deepEqual(reverse(data, shape, { dtype, axes: [axis] }), whole, `${dtype} ${shape} ${axis}`);
      assert.deepEqual(reverse(same, shape, { dtype, axes: [axis], out: same }), whole);
      assert.deepEqual(reverseSubsequences(data, shape, lengths, { dtype, axis }), part);
      for (let each = 0; each < 3; each++) count("packed, against a naive version");
    }
  }
}

// The cases of the web-platform tests of `reverse`: names, shapes and axes of
// webnn/conformance_tests and webnn/validation_tests. Expected values are positions of the input.
const VALUES = [
  -30.0561466217041, 99.56941986083984, 88.04620361328125, -91.87507629394531, -23.7972354888916,
  -91.28665161132812, -63.15204620361328, 12.0669527053833, -96.1172866821289,
  -44.77365493774414, -80.08650970458984, -64.43756866455078,
];
const CONFORMANCE = [
  ["float32 2D, default options", [3, 4], undefined, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]],
  ["float32 3D, axes [1, 2]", [3, 2, 2], [1, 2], [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8]],
  ["float32 4D, axes [3, 1]", [3, 2, 1, 2], [3, 1], [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8]],
  ["float32 4D, axes []", [2, 1, 2, 3], [], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
];
for (const [name, shape, axes, order] of CONFORMANCE) {
  const data = Float32Array.from(VALUES);
  const got = webnn.reverse({ dataType: "float32", shape, data }, axes && { axes });
  assert.deepEqual(got, { dataType: "float32", shape, data: Float32Array.from(order, (at) => VALUES[at]) }, name);
  count("WebNN");
}
const VALID = [["float32", [3, 3], undefined], ["int32", [1, 2, 3], [0, 1]]];
for (const [dataType, shape, axes] of VALID) {
  const Class = dataType === "float32" ? Float32Array : Int32Array;
  const data = new Class(shape.reduce((a, b) => a * b, 1));
  const got = webnn.reverse({ dataType, shape, data }, { axes });
  assert.deepEqual([got.dataType, got.shape], [dataType, shape]);
  count("WebNN");
}
const INVALID = [[[3, 3], [3], "outside [0, 1]"], [[1, 2, 3, 4], [2, 2, 3], "axes[1] is 2"], [[3, 3], [-1], "axes[0] is -1"]];
for (const [shape, axes, words] of INVALID) {
  const data = new Float32Array(shape.reduce((a, b) => a * b, 1));
  const call = () => webnn.reverse({ dataType: "float32", shape, data }, { axes, label: "reverse_1" });
  assert.throws(call, (error) => error instanceof TypeError && error.message.startsWith("[reverse_1] ") && error.message.includes(words));
  count("WebNN");
}

// Typed arrays of every class come back as the same class.
const CLASSES = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, Float32Array, Float64Array];
for (const Class of CLASSES) {
  assert.deepEqual(reverse(Class.of(1, 2, 3), [3]), Class.of(3, 2, 1));
  count("classes");
}
for (const Class of [BigInt64Array, BigUint64Array]) {
  assert.deepEqual(reverse(Class.of(1n, 2n), [2]), Class.of(2n, 1n));
  count("classes");
}
const middle = Float64Array.of(9, 1, 2, 3, 9).subarray(1, 4);
reverse(middle, [3], { out: middle });
assert.deepEqual([...new Float64Array(middle.buffer)], [9, 3, 2, 1, 9]);
// Bits that are no ordinary number survive.
const odd = new Float32Array(Uint32Array.of(0x7fa00001, 0x80000000).buffer);
assert.deepEqual(new Uint32Array(reverse(odd, [2]).buffer), Uint32Array.of(0x80000000, 0x7fa00001));

// Errors are the library's, and leave the array as it was.
const ERRORS = [
  [() => reverse(new Uint8Array(6), [2, 3], { axes: [2] }), "Reverse: axes[0] is 2, outside [-2, 1]"],
  [() => reverse(new Uint8Array(6), [2, 4]), "Reverse: input: shape [2, 4] of u8 takes 8 bytes but the array has 6"],
  [() => reverse(new Uint8Array(6), [2, 1.5]), "Reverse: shape[1] is 1.5"],
  [() => reverse(new Uint8Array(6), [2, -1]), "Reverse: shape[1] is -1, outside the integers in [0, 9007199254740991]"],
  [() => reverse(new Uint8Array(6), [2, NaN]), "Reverse: shape[1] is NaN"],
  [() => reverse(new Uint8Array(6), [2, 1e300]), "Reverse: shape[1] is 1"],
  [() => reverse(new Uint8Array(6), [2 ** 40, 2 ** 40]), "needs more than"],
  [() => reverse(new Uint8Array(6), [2, 3], { axes: [0, 0.5] }), "Reverse: axes[1] is 0.5, not an integer"],
  [() => reverse(new Uint8Array(6), [2, 3], { axes: [Infinity] }), "Reverse: axes[0] is inf, not an integer"],
  [() => reverse(new Uint8Array(6), [2, 3], { axes: [1], mask: [true, true] }), "axes and mask are given"],
  [() => reverse(new Uint8Array(6), [2, 3], { mask: [true] }), "Reverse: "],
  [() => reverse(new Uint8Array(6), [2, 3], { axes: [0, -2], duplicates: "error" }), "Reverse: axes[1] is -2"],
  [() => reverse([1, 2], [2]), "Reverse: input is Array, expected a typed array"],
  [() => reverse(new Uint8Array(2), [2], { dtype: "f12" }), "f12"],
  [() => reverseSequence(new Uint8Array(6), [3, 2], [4, 1]), "ReverseSequence: lengths[0] is 4, outside [0, 3]"],
  [() => reverseSequence(new Uint8Array(6), [3, 2], [0.5, 1]), "ReverseSequence: lengths[0] is 0.5, not a 64-bit integer"],
  [() => reverseSequence(new Uint8Array(6), [3, 2], [1, 1], { align: "middle" }), 'align is "middle", expected "start" or "end"'],
  [() => reverseSubsequences(new Uint8Array(6), [3, 2], [-1, 1], { axis: 0 }), "is -1"],
  [() => reverseSubsequences(new Uint8Array(6), [3, 2], [1], { axis: 0 }), "ReverseSubsequences"],
  [() => reverseSegments(new Uint8Array(6), [6], [0, 4, 3]), "ReverseSegments: offsets[2] is 3, outside [4, 6]"],
  [() => reverse(new Uint8Array(6), [6], { out: new Uint8Array(5) }), "Reverse: out has 5 bytes, expected 6"],
];
for (const [call, words] of ERRORS) {
  assert.throws(call, (error) => error.message.includes(words) || assert.fail(`${error.message} lacks: ${words}`));
  count("errors");
}
const kept = Uint8Array.of(1, 2, 3, 4);
assert.throws(() => reverseSequence(kept, [2, 2], [2, 3], { out: kept }));
assert.deepEqual(kept, Uint8Array.of(1, 2, 3, 4));

// Plans, kernels, pictures, and files.
const call = retrograde.reverseSequenceCall(undefined, [3, 8], [8, 4, 6], { dtype: "f32", timeAxis: 1, batchAxis: 0 });
assert.match(call.plan(), /^reverse the start of each lane: 24 units of 4 B each/);
assert.match(call.kernel(), /^[a-z -]+: /);
assert.equal(call.bytes_moved(), 192);
const elements = Array.from({ length: 24 }, (_, at) => at).join("\n");
assert.match(call.picture(elements, "x", "text"), /^ReverseSequence {2}x {2}time axis 1, batch axis 0/);
assert.match(call.picture(elements, "x", "svg"), /^<svg/);
assert.throws(() => call.picture("0", "x", "text"), /picture: no element \d+, there are 1/);
assert.throws(() => call.picture(elements, "x", "png"), /format is "png"/);
call.free();
const lanes = retrograde.reverseSubsequencesCall(undefined, [2, 3], [2, 3], { dtype: "u8", axis: 1 });
const drawn = lanes.picture("a\nb\nc\nd\ne\nf", "x", "text");
assert.ok(drawn.includes("b a c") && drawn.includes("f e d"), drawn);
lanes.free();
const header = "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 2), }".padEnd(117) + "\n";
const npy = Uint8Array.from([...Buffer.from("\x93NUMPY\x01\x00", "latin1"), header.length, 0, ...Buffer.from(header), 1, 0, 2, 0, 3, 0, 4, 0]);
const file = retrograde.NpyFile.parse(npy);
assert.deepEqual([...file.shape()], [2, 2]);
assert.deepEqual([...file.data()], [1, 0, 3, 0, 2, 0, 4, 0]);
const written = retrograde.NpyFile.parse(file.with_data(file.data()));
assert.deepEqual([...written.data()], [...file.data()]);
assert.throws(() => retrograde.NpyFile.parse(npy.subarray(0, 60)), /cut short/);

for (const [what, number] of Object.entries(counts)) console.log(`${String(number).padStart(6)}  ${what}`);
for (const [what, number] of Object.entries(skipped)) console.log(`${String(number).padStart(6)}  skipped: ${what}`);
console.log("the package passed");
