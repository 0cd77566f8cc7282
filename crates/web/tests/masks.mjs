// Tests of masks, tables and the reverse complement of the package in Node, against naive loops.
//
//     node crates/web/tests/masks.mjs PACKAGE

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";

const packageFolder = process.argv[2];
const retrograde = await import(pathToFileURL(resolve(packageFolder, "index.js")).href);
const { reverse, reverseComplement, reverseSegments, reverseSequence, reverseSubsequences } = retrograde;
await retrograde.init();

const counts = {};
function count(what) {
  counts[what] = (counts[what] ?? 0) + 1;
}

let seed = 11;
const random = (below) => {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return Math.floor((seed / 2147483648) * below);
};
const product = (sizes) => sizes.reduce((all, size) => all * size, 1);
const mask = (entries) => Array.from({ length: entries }, () => random(2) === 1);

/** Each lane along an axis with the ranges reversed that `ranges` names, and looked up there. */
function naive(data, shape, axis, ranges, look = (value) => value) {
  const out = data.slice();
  const [inner, size] = [product(shape.slice(axis + 1)), shape[axis]];
  for (let lane = 0; lane < data.length / size; lane++) {
    const first = Math.floor(lane / inner) * inner * size + (lane % inner);
    for (const [start, end] of ranges(lane)) {
      for (let step = start; step < end; step++) {
        out[first + step * inner] = look(data[first + (start + end - 1 - step) * inner]);
      }
    }
  }
  return out;
}

/** The index on one axis of a lane along another. */
function indexOf(lane, shape, axis, batch) {
  let rest = lane;
  for (let at = shape.length - 1; at >= 0; at--) {
    if (at === axis) continue;
    if (at === batch) return rest % shape[at];
    rest = Math.floor(rest / shape[at]);
  }
  throw new RangeError(`no axis ${batch}`);
}

/** Compares a call with what is expected, out of place and in place. */
function agrees(call, data, wanted, what) {
  assert.deepEqual(call(data), wanted, what);
  const same = data.slice();
  assert.equal(call(same, same), same);
  assert.deepEqual(same, wanted, `${what}, in place`);
  count("against a naive loop");
}

/** Every operator on an array with every axis, with masks and with none. */
function operators(data, shape, options, look) {
  for (let axis = 0; axis < shape.length; axis++) {
    const size = shape[axis];
    const what = `${options.dtype} [${shape}] axis ${axis}`;
    const lanes = shape.map((all, at) => (at === axis ? 1 : all));
    const lengths = Array.from({ length: product(lanes) }, () => random(size + 1));
    const cuts = [0, ...Array.from({ length: 4 }, () => random(size + 1)).sort((a, b) => a - b)];
    for (const where of [undefined, "random"]) {
      const some = (entries) => where && mask(entries);
      const has = (entries, at) => entries?.[at] ?? true;
      const chosen = some(4);
      const segments = [0, 1, 2, 3].filter((at) => has(chosen, at)).map((at) => [cuts[at], cuts[at + 1]]);
      agrees((x, out) => reverseSegments(x, shape, cuts, { ...options, axis, where: chosen, out }),
        data, naive(data, shape, axis, () => segments, look), `segments, ${what}`);
      const each = some(lengths.length);
      agrees((x, out) => reverseSubsequences(x, shape, lengths, { ...options, axis, where: each, out }),
        data, naive(data, shape, axis, (lane) => (has(each, lane) ? [[0, lengths[lane]]] : []), look), `lanes, ${what}`);
      for (let batch = 0; batch < shape.length; batch++) {
        if (batch === axis) continue;
        const entries = some(shape[batch]);
        const counted = Array.from({ length: shape[batch] }, () => random(size + 1));
        const range = (end) => (lane) => {
          const at = indexOf(lane, shape, axis, batch);
          return has(entries, at) ? [[0, end(at)]] : [];
        };
        agrees((x, out) => reverseSequence(x, shape, counted, { ...options, timeAxis: axis, batchAxis: batch, where: entries, out }),
          data, naive(data, shape, axis, range((at) => counted[at]), look), `sequence, batch ${batch}, ${what}`);
        agrees((x, out) => reverse(x, shape, { ...options, axes: [axis], where: entries, batchAxis: batch, out }),
          data, naive(data, shape, axis, range(() => size), look), `whole axes, batch ${batch}, ${what}`);
      }
    }
  }
}

// Masks move whole elements of any width.
for (const Class of [Uint8Array, Int16Array, Float32Array, Float64Array]) {
  for (const shape of [[97], [5, 40], [40, 5], [3, 18, 7]]) {
    const data = Class.from({ length: product(shape) }, () => random(100));
    operators(data, shape, {});
  }
}

// Tables, of bytes.
const table = Uint8Array.from({ length: 256 }, () => random(256));
for (const shape of [[301], [5, 140], [140, 5], [3, 38, 7]]) {
  const data = Uint8Array.from({ length: product(shape) }, () => random(256));
  operators(data, shape, { table }, (value) => table[value]);
}
// A list is a table too, and the elements of a mirror's middle are looked up as well.
assert.deepEqual(reverse(Int8Array.of(1, -1, 3), [3], { table: Array.from({ length: 256 }, (_, at) => 255 - at) }), Int8Array.of(-4, 0, -2));

// Tables of packed elements, which are several to a byte.
const packed = (values, bits) => {
  const bytes = new Uint8Array(Math.ceil((values.length * bits) / 8));
  values.forEach((value, at) => { bytes[(at * bits) >> 3] |= value << ((at * bits) & 7); });
  return bytes;
};
for (const [dtype, bits] of [["u4", 4], ["i4", 4], ["u2", 2], ["i2", 2]]) {
  const entries = Array.from({ length: 1 << bits }, () => random(1 << bits));
  const values = Array.from({ length: 37 * 5 }, () => random(1 << bits));
  const wanted = naive(values, [37, 5], 0, () => [[0, 20], [21, 33]], (value) => entries[value]);
  agrees((x, out) => reverseSegments(x, [37, 5], [0, 20, 21, 33], { dtype, table: entries, where: [true, false, true], out }),
    packed(values, bits), packed(wanted, bits), dtype);
}

// The reverse complement: of letters in either case, in each of its four calls.
const PAIRS = { A: "T", C: "G", G: "C", T: "A", U: "A", R: "Y", Y: "R", S: "S", W: "W", K: "M", M: "K", B: "V", V: "B", D: "H", H: "D", N: "N" };
const complement = (ofA) => (byte) => {
  const letter = String.fromCharCode(byte);
  const pair = letter.toUpperCase() === "A" ? ofA : PAIRS[letter.toUpperCase()] ?? letter;
  return (letter === letter.toUpperCase() ? pair : pair.toLowerCase()).charCodeAt(0);
};
const LETTERS = Buffer.from("ACGTURYSWKMBDHVNacgturyswkmbdhvn-*");
for (const rna of [false, true]) {
  const look = complement(rna ? "U" : "T");
  for (const [shape, axis] of [[[211], 0], [[6, 50], 1], [[50, 6], 0], [[3, 40, 5], -2]]) {
    const data = Uint8Array.from({ length: product(shape) }, () => LETTERS[random(LETTERS.length)]);
    const at = axis < 0 ? axis + shape.length : axis;
    const size = shape[at];
    const lanes = data.length / size;
    const [lengths, lanesHere, reads] = [Array.from({ length: lanes }, () => random(size + 1)), mask(lanes), [0, 7, 7, 30]];
    const complemented = (options) => (x, out) => reverseComplement(x, shape, { rna, axis, ...options, out });
    const what = `rna ${rna} [${shape}]`;
    agrees(complemented({}), data, naive(data, shape, at, () => [[0, size]], look), what);
    agrees(complemented({ where: lanesHere }), data, naive(data, shape, at, (lane) => (lanesHere[lane] ? [[0, size]] : []), look), what);
    agrees(complemented({ lengths }), data, naive(data, shape, at, (lane) => [[0, lengths[lane]]], look), what);
    agrees(complemented({ offsets: reads, where: [true, true, false] }), data, naive(data, shape, at, () => [[0, 7]], look), what);
  }
}
assert.equal(Buffer.from(reverseComplement(Buffer.from("GATTACA-n"), [9])).toString(), "n-TGTAATC");
// The last axis is the default.
assert.deepEqual(reverseComplement(Uint8Array.from(Buffer.from("ACCGAT")), [2, 3]), Uint8Array.from(Buffer.from("GGTATC")));

// `strict` takes letters and nothing else, and looks only at what is complemented.
for (let byte = 0; byte < 256; byte++) {
  const call = () => reverseComplement(Uint8Array.of(65, byte), [2], { strict: true });
  if (PAIRS[String.fromCharCode(byte).toUpperCase()]) call();
  else assert.throws(call, { message: /^reverseComplement: input\[1\] is .* \(\d+\), expected one of ACGTURYSWKMBDHVN, in either case$/ });
  count("bytes that are letters or not");
}
const padded = Uint8Array.from(Buffer.from("GA-CAT-A"));
const dashes = (options) => () => reverseComplement(padded, [2, 4], { strict: true, ...options });
assert.equal(Buffer.from(dashes({ lengths: [2, 2] })()).toString(), "TC-CAT-A");
assert.throws(dashes({ lengths: [4, 2] }), { message: "reverseComplement: input[0, 2] is '-' (45), expected one of ACGTURYSWKMBDHVN, in either case" });
assert.throws(dashes({ lengths: [4, 4], where: [false, true] }), { message: /input\[1, 2\] is '-'/ });
assert.throws(dashes({ axis: 0, offsets: [0, 2] }), { message: /input\[0, 2\] is '-'/ });
dashes({ axis: 0, offsets: [0, 2], where: [false] })();

// A mask may have a shape, and lengths of what stays are not looked at.
const rows = Uint8Array.of(1, 2, 3, 4, 5, 6);
const shaped = { data: [false, true], shape: [2, 1] };
assert.deepEqual(reverseSubsequences(rows, [2, 3], [9, 2], { axis: 1, policy: "strict", where: [false, true] }), Uint8Array.of(1, 2, 3, 5, 4, 6));
assert.deepEqual(reverseSubsequences(rows, [2, 3], [3, 2], { axis: 1, where: shaped }), Uint8Array.of(1, 2, 3, 5, 4, 6));
const bytes = { data: Uint8Array.of(0, 1), dtype: "bool" };
assert.deepEqual(reverse(rows, [2, 3], { axes: 1, where: bytes }), Uint8Array.of(1, 2, 3, 6, 5, 4));
// Axes that are neighbours move as one.
assert.deepEqual(reverse(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), [2, 2, 2], { axes: [1, 2], where: [true, false] }), Uint8Array.of(4, 3, 2, 1, 5, 6, 7, 8));

// What is refused, in the words of the engine, and leaves the array as it was.
const letters = Uint8Array.from(Buffer.from("GATTACAT"));
const ERRORS = [
  [() => reverseSequence(letters, [4, 2], [4, 1], { where: [true] }), "ReverseSequence: where has shape [1], expected [2], one for each sequence"],
  [() => reverseSubsequences(letters, [2, 4], [4, 1], { axis: 1, where: { ...shaped, shape: [1, 2] } }), "ReverseSubsequences: where has shape [1, 2], expected [2, 1], one for each lane"],
  [() => reverseSegments(letters, [8], [0, 4, 8], { where: [true, false, true] }), "ReverseSegments: where has shape [3], expected [2], one for each segment"],
  [() => reverse(letters, [2, 4], { axes: 1, where: [true] }), "Reverse: where has shape [1], expected [2], one for each batch entry"],
  [() => reverse(letters, [2, 4], { axes: 1, where: Uint8Array.of(1, 0) }), "Reverse: where has type u8, expected bool"],
  [() => reverse(letters, [2, 4], { axes: 1, where: [true, 0] }), "Reverse: where[1] is 0, expected true or false"],
  [() => reverse(letters, [2, 4], { axes: 1, where: null }), "Reverse: where is null, expected a typed array"],
  [() => reverse(letters, [2, 4], { axes: 1, where: [true, false, true, true], batchAxis: 1 }), "Reverse: batch_axis is 1, which is reversed itself"],
  [() => reverse(letters, [2, 4], { axes: 1, where: [true, false], batchAxis: 2 }), "Reverse: batch_axis is 2, outside [-2, 1]"],
  [() => reverse(letters, [2, 2, 2], { axes: [0, 2], where: [true, false], batchAxis: 1 }), "Reverse: with where, the axes that are reversed must be neighbours in memory"],
  [() => reverseSequence(letters, [4, 2], [4, 1], { tail: "zero", where: [true, true] }), "ReverseSequence: where keeps what it does not reverse, tail=zero does not"],
  [() => reverseSegments(letters, [8], [0, 9, 8], { where: [true, false] }), "ReverseSegments: offsets[1] is 9, outside [0, 8]"],
  [() => reverse(letters, [8], { table: [3, 2, 1] }), "Reverse: a table has 3 entries, expected 256 (bytes), 16 (4-bit elements) or 4 (2-bit elements)"],
  [() => reverse(letters, [8], { table: [3, 2, 1, 4], dtype: "u2" }), "Reverse: table[3] is 4, outside [0, 3]"],
  [() => reverse(letters, [8], { table: [3, 2, 1, 256], dtype: "u2" }), "Reverse: table[3] is 256, outside the integers in [0, 255]"],
  [() => reverse(letters, [8], { table: "dna" }), "Reverse: table is String, expected a typed array"],
  [() => reverse(letters, [8], { table: [3, 2, 1, 0] }), "Reverse: a table of 4 entries is for elements of 2 bits (u2, i2), got u8: view them as such"],
  [() => reverse(Float32Array.of(1), [1], { table }), "Reverse: a table of 256 entries is for elements of one byte (u8, i8), got f32"],
  [() => reverseComplement(Uint16Array.of(65), [1]), "Reverse: a table of 256 entries is for elements of one byte (u8, i8), got u16"],
  [() => reverseComplement(letters, [8], { lengths: [8], offsets: [0, 8] }), "reverseComplement: lengths and offsets are both given: omit one of them"],
  [() => reverseComplement(letters, [2, 4], { lengths: [5, 4] }), "ReverseSubsequences: lengths[0, 0] is 5, outside [0, 4]"],
  [() => reverseComplement(letters, [2, 4], { axis: 2 }), "Reverse: axes[0] is 2, outside [-2, 1]"],
  [() => reverseComplement(letters, [2, 4], { axis: 2, where: [true] }), "ReverseSubsequences: axis is 2, outside [-2, 1]"],
  [() => reverseComplement(letters, [2, 4], { where: [true] }), "ReverseSubsequences: where has shape [1], expected [2, 1], one for each lane"],
  [() => reverseComplement(letters, [9], { strict: true }), "Reverse: input: shape [9] of u8 takes 9 bytes but the array has 8"],
];
for (const [call, words] of ERRORS) {
  assert.throws(call, (error) => error.message.startsWith(words) || assert.fail(`${error.message} is not: ${words}`));
  count("errors");
}
assert.throws(() => reverseComplement(padded, [8], { strict: true, out: padded }));
assert.equal(Buffer.from(padded).toString(), "GA-CAT-A");

// A described call has its mask and its table, but no picture.
const described = retrograde.reverseComplementCall(undefined, [2, 4], { dtype: "u8", where: [true, false] });
assert.equal(Buffer.from(described.run(letters)).toString(), "AATCACAT");
assert.throws(() => described.picture("", "x", "text"), /picture: a call with where or a table has none/);
described.free();

for (const [what, number] of Object.entries(counts)) console.log(`${String(number).padStart(6)}  ${what}`);
console.log("masks, tables and the reverse complement passed");
