// Typed arrays as bytes and element types, both ways.

/** The element type of each kind of typed array, by Retrograde's names. */
const DTYPES = {
  Int8Array: "i8", Uint8Array: "u8", Uint8ClampedArray: "u8",
  Int16Array: "i16", Uint16Array: "u16", Int32Array: "i32", Uint32Array: "u32",
  BigInt64Array: "i64", BigUint64Array: "u64",
  Float16Array: "f16", Float32Array: "f32", Float64Array: "f64",
};

/** The name of a typed array's class, also of one that another realm (a frame) made. */
function className(array) {
  return ArrayBuffer.isView(array) ? array[Symbol.toStringTag] ?? "DataView" : undefined;
}

/** The element type of an array: the one that the caller names, or that of its class. */
export function dtypeOf(operator, argument, array, named) {
  const own = DTYPES[className(array)];
  if (named !== undefined) return String(named);
  if (own) return own;
  throw new TypeError(`${operator}: ${argument} is ${describe(array)}, expected a typed array`);
}

function describe(value) {
  if (value === null || value === undefined) return String(value);
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** The bytes of an array or buffer, without a copy. */
export function bytesOf(operator, argument, array) {
  if (ArrayBuffer.isView(array)) {
    return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  }
  if (array instanceof ArrayBuffer) return new Uint8Array(array);
  throw new TypeError(`${operator}: ${argument} is ${describe(array)}, expected a typed array`);
}

/** Bytes at the start of a buffer as an array of the same class as another. */
export function likeArray(array, bytes) {
  if (array instanceof ArrayBuffer) return bytes.buffer;
  if (className(array) === "DataView") return new DataView(bytes.buffer);
  const Class = globalThis[className(array)] ?? array.constructor;
  return new Class(bytes.buffer, 0, bytes.byteLength / Class.BYTES_PER_ELEMENT);
}

/**
 * Lengths or offsets as `{dtype, bytes, shape}`: a typed array of integers, a list of numbers or
 * BigInts, or `{data, shape, dtype}`.
 */
export function integersOf(operator, argument, values) {
  return valuesOf(operator, argument, values, int64);
}

/** A mask as `{dtype, bytes, shape}`: a list of booleans, or `{data, shape, dtype}`. */
export function booleansOf(operator, argument, values) {
  return valuesOf(operator, argument, values, booleans);
}

/** `fromList` makes `{dtype, bytes}` of a list. */
function valuesOf(operator, argument, values, fromList) {
  if (Array.isArray(values)) return fromList(operator, argument, values);
  if (values !== null && typeof values === "object" && "data" in values) {
    const inner = valuesOf(operator, argument, values.data, fromList);
    const dtype = values.dtype ?? inner.dtype;
    return { dtype, bytes: inner.bytes, shape: values.shape && Float64Array.from(values.shape) };
  }
  const dtype = dtypeOf(operator, argument, values);
  return { dtype, bytes: bytesOf(operator, argument, values) };
}

/** A list of numbers as 64-bit integers, each checked. */
function int64(operator, argument, values) {
  const exact = (value, at) => {
    if (typeof value === "bigint" && BigInt.asIntN(64, value) === value) return value;
    if (Number.isSafeInteger(value)) return BigInt(value);
    throw new RangeError(`${operator}: ${argument}[${at}] is ${value}, not a 64-bit integer`);
  };
  return { dtype: "i64", bytes: bytesOf(operator, argument, BigInt64Array.from(values.map(exact))) };
}

/** A list of booleans as bytes. Numbers are none: those of lengths would pass for a mask. */
function booleans(operator, argument, values) {
  const exact = (value, at) => {
    if (typeof value === "boolean") return value ? 1 : 0;
    throw new TypeError(`${operator}: ${argument}[${at}] is ${value}, expected true or false`);
  };
  return { dtype: "bool", bytes: Uint8Array.from(values, exact) };
}

/** The entries of a table, as bytes: a list of numbers, or an array of bytes. */
export function entriesOf(operator, table) {
  if (!Array.isArray(table)) return bytesOf(operator, "table", table);
  const exact = (value, at) => {
    if (Number.isInteger(value) && value >= 0 && value <= 255) return value;
    throw new RangeError(`${operator}: table[${at}] is ${value}, outside the integers in [0, 255]`);
  };
  return Uint8Array.from(table, exact);
}
