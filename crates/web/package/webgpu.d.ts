/// <reference types="@webgpu/types" />
import type {
  ComplementOptions, DType, Integers, ReverseOptions, SegmentsOptions, SequenceOptions, SubsequencesOptions,
} from "./index.js";

interface BufferOptions {
  /** The element type, by Retrograde's name. */
  dtype: DType;
  /** Where the result goes: a new buffer by default, or the input itself to run in place. */
  out?: GPUBuffer;
  /** Records into this encoder, for the caller to submit. By default the call is submitted. */
  encoder?: GPUCommandEncoder;
}
/** Integers in a buffer of the device, from its first byte on. It has the usage STORAGE. */
interface DeviceIntegers {
  buffer: GPUBuffer;
  dtype: "i8" | "u8" | "i16" | "u16" | "i32" | "u32" | "i64" | "u64";
  /** How many there are; not needed with a shape. */
  length?: number;
  shape?: readonly number[];
}
type On<Options> = Omit<Options, "dtype" | "out"> & BufferOptions;

interface GpuComplementOptions
  extends Omit<On<ComplementOptions>, "lengths" | "offsets" | "strict"> {
  lengths?: Integers | DeviceIntegers;
  offsets?: Integers | DeviceIntegers;
}

/** Reverses whole axes of a tensor in a buffer. Returns the buffer of the result. */
export function reverse(
  device: GPUDevice, buffer: GPUBuffer, shape: readonly number[], options: On<ReverseOptions>,
): GPUBuffer;
/** Reverses the first steps of each sequence. Lengths in a buffer are checked by the device (`check`). */
export function reverseSequence(
  device: GPUDevice, buffer: GPUBuffer, shape: readonly number[], lengths: Integers | DeviceIntegers,
  options: On<SequenceOptions>,
): GPUBuffer;
/** Reverses the first elements of each lane. */
export function reverseSubsequences(
  device: GPUDevice, buffer: GPUBuffer, shape: readonly number[], lengths: Integers | DeviceIntegers,
  options: On<SubsequencesOptions>,
): GPUBuffer;
/** Reverses each segment of an axis. */
export function reverseSegments(
  device: GPUDevice, buffer: GPUBuffer, shape: readonly number[], offsets: Integers | DeviceIntegers,
  options: On<SegmentsOptions>,
): GPUBuffer;
/** Reverses and complements letters of nucleic acids. */
export function reverseComplement(
  device: GPUDevice, buffer: GPUBuffer, shape: readonly number[], options: GpuComplementOptions,
): GPUBuffer;
/**
 * Waits for everything that was submitted, and throws the error of the first invalid length or
 * offset that the device found since the last check. Its call has written nothing.
 */
export function check(device: GPUDevice): Promise<void>;
/** Uploads an array to a new buffer. */
export function upload(device: GPUDevice, array: ArrayBufferView): GPUBuffer;
/** Reads the first bytes of a buffer. */
export function download(
  device: GPUDevice, buffer: GPUBuffer, byteLength?: number,
): Promise<Uint8Array>;
