// `reverse` as WebNN specifies it: unsigned axes, no axis twice, all axes by default.

import { reverse as reverseArray } from "./index.js";

/** WebNN's data types, by Retrograde's names. */
const TYPES = {
  float32: "f32", float16: "f16", int32: "i32", uint32: "u32", int64: "i64", uint64: "u64",
  int8: "i8", uint8: "u8", int4: "i4", uint4: "u4",
};

/** As WebIDL converts `[EnforceRange] unsigned long`. */
function unsignedLong(value, at) {
  const number = Math.trunc(Number(value));
  if (!(number >= 0 && number <= 0xffffffff)) {
    throw new TypeError(`Reverse: axes[${at}] is ${value}, outside [0, 4294967295]`);
  }
  return number;
}

/**
 * Reverses `{dataType, shape, data}` along `axes`. As in WebNN, an invalid operand is a TypeError
 * whose message begins with the label, if there is one.
 */
export function reverse(input, { axes, label } = {}) {
  try {
    const { dataType, shape, data } = input;
    const dtype = TYPES[dataType];
    if (!dtype) {
      const names = Object.keys(TYPES).join(", ");
      throw new TypeError(`Reverse: dataType is ${dataType}, expected one of ${names}`);
    }
    const list = axes === undefined ? undefined : Array.from(axes, unsignedLong);
    const last = shape.length - 1;
    const beyond = list?.findIndex((axis) => axis > last) ?? -1;
    if (beyond >= 0) {
      throw new TypeError(`Reverse: axes[${beyond}] is ${list[beyond]}, outside [0, ${last}]`);
    }
    const options = { axes: list, duplicates: "error", dtype };
    return { dataType, shape: Array.from(shape), data: reverseArray(data, shape, options) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new TypeError(label ? `[${label}] ${message}` : message);
  }
}
