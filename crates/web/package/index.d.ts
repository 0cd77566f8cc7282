/** A typed array, or raw bytes together with the option `dtype`. */
export type TensorData =
  | Int8Array | Uint8Array | Uint8ClampedArray | Int16Array | Uint16Array | Int32Array
  | Uint32Array | BigInt64Array | BigUint64Array | Float32Array | Float64Array
  | DataView | ArrayBuffer;

/** An element type by Retrograde's name: `"f32"`, `"bf16"`, `"u4"`, ... */
export type DType = string;

/** Lengths or offsets: integers of any type. With a shape, it is compared with the expected one. */
export type Integers =
  | readonly (number | bigint)[]
  | Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array
  | BigInt64Array | BigUint64Array
  | { data: Integers; shape?: readonly number[]; dtype?: DType };

/** A mask. With a shape, it is compared with the expected one. */
export type Booleans =
  | readonly boolean[]
  | { data: readonly boolean[]; shape?: readonly number[] }
  | { data: Uint8Array; shape?: readonly number[]; dtype: "bool" };

export interface CommonOptions<T extends TensorData = TensorData> {
  /** The element type, if it is not that of the array: packed types, bf16, complex numbers. */
  dtype?: DType;
  /** Where the result goes: an array of the same size, or the input itself to run in place. */
  out?: T;
  /** One boolean for each sequence, lane, segment or batch entry: those that are false stay. */
  where?: Booleans;
  /**
   * What elements become when they are reversed: 256 entries for u8 and i8, 16 for u4 and i4, 4 for
   * u2 and i2.
   */
  table?: Uint8Array | readonly number[];
}

export interface ReverseOptions<T extends TensorData = TensorData> extends CommonOptions<T> {
  /** The axes to reverse; negative ones count from the end. All of them if there is no mask. */
  axes?: number | readonly number[];
  /** One boolean for each axis, instead of `axes`. */
  mask?: readonly boolean[];
  /** Whether an axis may be named twice. Default: `"set"`, which reverses it once. */
  duplicates?: "set" | "error";
  /** The axis that `where` has the entries of. Default: 0. */
  batchAxis?: number;
}

export interface PaddingOptions {
  /** What a length beyond the axis is. */
  policy?: "strict" | "clamp";
  /** At which end of the axis sequences are. Default: `"start"`. */
  align?: "start" | "end";
  /** What becomes of the elements beyond a length. Default: `"keep"`. */
  tail?: "keep" | "zero";
}

export interface SequenceOptions<T extends TensorData = TensorData>
  extends CommonOptions<T>, PaddingOptions {
  /** The axis that is reversed. Default: 0. */
  timeAxis?: number;
  /** The axis with one length for each index. Default: 1. */
  batchAxis?: number;
}

export interface SubsequencesOptions<T extends TensorData = TensorData>
  extends CommonOptions<T>, PaddingOptions {
  /** The axis that is reversed. */
  axis: number;
}

export interface SegmentsOptions<T extends TensorData = TensorData> extends CommonOptions<T> {
  /** The axis that is cut. Default: 0. */
  axis?: number;
}

export interface ComplementOptions<T extends TensorData = TensorData>
  extends Omit<CommonOptions<T>, "table"> {
  /** The axis of the letters. Default: -1. */
  axis?: number;
  /** How many letters each lane has, as for {@link reverseSubsequences}; none beyond the axis. */
  lengths?: Integers;
  /** Where packed reads begin, as for {@link reverseSegments}. */
  offsets?: Integers;
  /** Whether other bytes than letters are an error, in what is complemented. Default: false. */
  strict?: boolean;
  /** Whether A becomes U. Default: false. */
  rna?: boolean;
}

/**
 * Loads and starts the WebAssembly module, once, before the first call. Without an argument it is
 * the file beside this one.
 */
export function init(
  source?: WebAssembly.Module | BufferSource | PromiseLike<BufferSource>,
): Promise<void>;

/** Reverses whole axes. Returns a new array, or `out`. */
export function reverse<T extends TensorData>(
  data: T, shape: readonly number[], options?: ReverseOptions<T>,
): T;

/** Reverses the first `lengths[b]` steps of each sequence `b` of a batch. */
export function reverseSequence<T extends TensorData>(
  data: T, shape: readonly number[], lengths: Integers, options?: SequenceOptions<T>,
): T;

/** Reverses the first elements of each lane along an axis, each lane by its own length. */
export function reverseSubsequences<T extends TensorData>(
  data: T, shape: readonly number[], lengths: Integers, options: SubsequencesOptions<T>,
): T;

/** Reverses each segment of an axis. Segment `i` is `offsets[i]..offsets[i + 1]`. */
export function reverseSegments<T extends TensorData>(
  data: T, shape: readonly number[], offsets: Integers, options?: SegmentsOptions<T>,
): T;

/**
 * Reverses letters of nucleic acids and complements them: DNA, RNA and those of IUPAC, in either case,
 * one in each byte. Other bytes move as they are.
 */
export function reverseComplement<T extends TensorData>(
  data: T, shape: readonly number[], options?: ComplementOptions<T>,
): T;

/** A call that was described but not run. `free()` returns its memory. */
export interface Call {
  /** The operator's name. */
  operator(): string;
  /** Checks all operands, the values of lengths too. Throws if one is invalid. */
  check(): void;
  /** The plan in words. */
  plan(): string;
  /** The kernel that would run, and what it does. */
  kernel(): string;
  /** The bytes that are read and written, together. */
  bytes_moved(): number;
  /** Runs on the bytes of a tensor. */
  run(input: Uint8Array): Uint8Array;
  /** Runs on the bytes of a tensor, in place. */
  run_in_place(data: Uint8Array): void;
  /** A picture of a call without a mask and a table. `elements` are texts, one a line, in row-major order. */
  picture(elements: string, what: string, format: "text" | "svg" | "html"): string;
  free(): void;
}

/** Describes a call. `data` gives the element type, and may be undefined if `dtype` is given. */
export function reverseCall(
  data: TensorData | undefined, shape: readonly number[], options?: ReverseOptions,
): Call;
/** Describes a call, as {@link reverseCall}. */
export function reverseSequenceCall(
  data: TensorData | undefined, shape: readonly number[], lengths: Integers,
  options?: SequenceOptions,
): Call;
/** Describes a call, as {@link reverseCall}. */
export function reverseSubsequencesCall(
  data: TensorData | undefined, shape: readonly number[], lengths: Integers,
  options: SubsequencesOptions,
): Call;
/** Describes a call, as {@link reverseCall}. */
export function reverseSegmentsCall(
  data: TensorData | undefined, shape: readonly number[], offsets: Integers,
  options?: SegmentsOptions,
): Call;

/** Describes a call, as {@link reverseCall}. `strict` is not looked at. */
export function reverseComplementCall(
  data: TensorData | undefined, shape: readonly number[], options?: ComplementOptions,
): Call;

/** The content of a `.npy` file. */
export class NpyFile {
  private constructor();
  /** Reads a whole file. */
  static parse(bytes: Uint8Array): NpyFile;
  /** The element type, by Retrograde's name. */
  dtype(): DType;
  /** The element type as the file spells it, such as `<f4`. */
  descr(): string;
  /** Whether elements are big-endian. */
  big_endian(): boolean;
  /** The sizes of the axes. */
  shape(): Float64Array;
  /** The elements as bytes, in row-major order. */
  data(): Uint8Array;
  /** A file of the same type and shape with other elements, in row-major order. */
  with_data(data: Uint8Array): Uint8Array;
  free(): void;
}

/** The instruction set that the module was compiled for. */
export function instructions(): string;
/** The version of the package. */
export function version(): string;
