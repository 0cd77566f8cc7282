// From the arguments of a function to a call of the engine.

import { dtypeOf, integersOf } from "./arrays.js";
import { Call } from "./retrograde_web.js";

function sizes(operator, shape) {
  if (shape === null || typeof shape !== "object" || typeof shape.length !== "number") {
    throw new TypeError(`${operator}: shape is ${shape}, expected a list of sizes`);
  }
  return Float64Array.from(shape, Number);
}

/** The element type: of an array, or as named where there is no array. */
function typeOf(operator, data, { dtype }) {
  if (data === undefined && dtype === undefined) throw new TypeError(`${operator}: dtype is missing`);
  return dtypeOf(operator, "input", data, dtype);
}

function axesOf(axes) {
  if (axes === undefined || axes === null) return undefined;
  return Float64Array.from(typeof axes === "number" ? [axes] : axes, Number);
}

export function reverseCall(data, shape, options = {}) {
  const operator = "Reverse";
  const { axes, mask, duplicates = "set" } = options;
  if (duplicates !== "set" && duplicates !== "error") {
    throw new TypeError(`${operator}: duplicates is "${duplicates}", expected "set" or "error"`);
  }
  const on = mask && Uint8Array.from(mask, (one) => (one ? 1 : 0));
  const type = typeOf(operator, data, options);
  return Call.reverse(type, sizes(operator, shape), axesOf(axes), on, duplicates === "error");
}

export function reverseSequenceCall(data, shape, lengths, options = {}) {
  const operator = "ReverseSequence";
  const { timeAxis = 0, batchAxis = 1, policy = "strict", align = "start", tail = "keep" } = options;
  const values = integersOf(operator, "lengths", lengths);
  return Call.sequence(
    typeOf(operator, data, options), sizes(operator, shape), values.dtype, values.bytes,
    values.shape, timeAxis, batchAxis, policy, align, tail,
  );
}

export function reverseSubsequencesCall(data, shape, lengths, options = {}) {
  const operator = "ReverseSubsequences";
  const { axis, policy = "clamp", align = "start", tail = "keep" } = options;
  if (axis === undefined) throw new TypeError(`${operator}: axis is missing`);
  const values = integersOf(operator, "lengths", lengths);
  return Call.subsequences(
    typeOf(operator, data, options), sizes(operator, shape), values.dtype, values.bytes,
    values.shape, axis, policy, align, tail,
  );
}

export function reverseSegmentsCall(data, shape, offsets, options = {}) {
  const operator = "ReverseSegments";
  const { axis = 0 } = options;
  const values = integersOf(operator, "offsets", offsets);
  return Call.segments(
    typeOf(operator, data, options), sizes(operator, shape), values.dtype, values.bytes,
    values.shape, axis,
  );
}
