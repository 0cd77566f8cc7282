import type { TensorData } from "./index.js";

/** WebNN's data types that have elements of a fixed width. */
export type MLOperandDataType =
  | "float32" | "float16" | "int32" | "uint32" | "int64" | "uint64" | "int8" | "uint8"
  | "int4" | "uint4";

/** A tensor as WebNN describes it, with its elements. */
export interface Operand<T extends TensorData = TensorData> {
  dataType: MLOperandDataType;
  shape: readonly number[];
  data: T;
}

/** WebNN's MLReverseOptions. */
export interface ReverseOptions {
  /** Non-negative and distinct. All axes if it is not given, none if it is empty. */
  axes?: readonly number[];
  /** Begins the message of an error. */
  label?: string;
}

/** Reverses a tensor by the rules of WebNN. An invalid operand is a TypeError. */
export function reverse<T extends TensorData>(
  input: Operand<T>, options?: ReverseOptions,
): Operand<T>;
