// From the arguments of a function to a call of the engine.

import { booleansOf, dtypeOf, entriesOf, integersOf } from "./arrays.js";
import { Call } from "./retrograde_web.js";

export function sizes(operator, shape) {
  if (shape === null || typeof shape !== "object" || typeof shape.length !== "number") {
    throw new TypeError(`${operator}: shape is ${shape}, expected a list of sizes`);
  }
  return Float64Array.from(shape, Number);
}

/** The element type: of an array, or as named where there is no array. */
export function typeOf(operator, data, { dtype }) {
  if (data === undefined && dtype === undefined) throw new TypeError(`${operator}: dtype is missing`);
  return dtypeOf(operator, "input", data, dtype);
}

/** A call with the mask and the table that its options have. */
export function completed(call, { where, table }) {
  try {
    if (where !== undefined) {
      const { dtype, bytes, shape } = booleansOf(call.operator(), "where", where);
      call.set_where(dtype, bytes, shape);
    }
    if (table !== undefined) call.set_table(entriesOf(call.operator(), table));
    return call;
  } catch (error) {
    call.free();
    throw error;
  }
}

function axesOf(axes) {
  if (axes === undefined || axes === null) return undefined;
  return Float64Array.from(typeof axes === "number" ? [axes] : axes, Number);
}

export function reverseCall(data, shape, options = {}) {
  const operator = "Reverse";
  const { axes, mask, duplicates = "set", batchAxis = 0 } = options;
  if (duplicates !== "set" && duplicates !== "error") {
    throw new TypeError(`${operator}: duplicates is "${duplicates}", expected "set" or "error"`);
  }
  const on = mask && Uint8Array.from(mask, (one) => (one ? 1 : 0));
  const type = typeOf(operator, data, options);
  const distinct = duplicates === "error";
  const call = Call.reverse(type, sizes(operator, shape), axesOf(axes), on, distinct, batchAxis);
  return completed(call, options);
}

export function reverseSequenceCall(data, shape, lengths, options = {}) {
  const operator = "ReverseSequence";
  const { timeAxis = 0, batchAxis = 1, policy = "strict", align = "start", tail = "keep" } = options;
  const values = integersOf(operator, "lengths", lengths);
  const call = Call.sequence(
    typeOf(operator, data, options), sizes(operator, shape), values.dtype, values.bytes,
    values.shape, timeAxis, batchAxis, policy, align, tail,
  );
  return completed(call, options);
}

export function reverseSubsequencesCall(data, shape, lengths, options = {}) {
  const operator = "ReverseSubsequences";
  const { axis, policy = "clamp", align = "start", tail = "keep" } = options;
  if (axis === undefined) throw new TypeError(`${operator}: axis is missing`);
  const values = integersOf(operator, "lengths", lengths);
  const call = Call.subsequences(
    typeOf(operator, data, options), sizes(operator, shape), values.dtype, values.bytes,
    values.shape, axis, policy, align, tail,
  );
  return completed(call, options);
}

export function reverseSegmentsCall(data, shape, offsets, options = {}) {
  const operator = "ReverseSegments";
  const { axis = 0 } = options;
  const values = integersOf(operator, "offsets", offsets);
  const call = Call.segments(
    typeOf(operator, data, options), sizes(operator, shape), values.dtype, values.bytes,
    values.shape, axis,
  );
  return completed(call, options);
}
