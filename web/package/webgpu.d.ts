/// <reference types="@webgpu/types" />
import type {
  DType, Integers, ReverseOptions, SegmentsOptions, SequenceOptions, SubsequencesOptions,
} from "./index.js";

interface BufferOptions {
  /** The element type, by Retrograde's name. */
  dtype: DType;
  /** Where the result goes: a new buffer by default, or the input itself to run in place. */
  out?: GPUBuffer;
  /** Records into this encoder, for the caller to submit. By default the call is submitted. */
  encoder?: GPUCommandEncoder;
}
type On<Options> = Omit<Options, "dtype" | "out"> & BufferOptions;

/** Reverses whole axes of a tensor in a buffer. Returns the buffer of the result. */
export function reverse(
  device: GPUDevice, buffer: GPUBuffer, shape: readonly number[], options: On<ReverseOptions>,
): GPUBuffer;
/** Reverses the first steps of each sequence. Lengths are in host memory. */
export function reverseSequence(
  device: GPUDevice, buffer: GPUBuffer, shape: readonly number[], lengths: Integers,
  options: On<SequenceOptions>,
): GPUBuffer;
/** Reverses the first elements of each lane. Lengths are in host memory. */
export function reverseSubsequences(
  device: GPUDevice, buffer: GPUBuffer, shape: readonly number[], lengths: Integers,
  options: On<SubsequencesOptions>,
): GPUBuffer;
/** Reverses each segment of an axis. Offsets are in host memory. */
export function reverseSegments(
  device: GPUDevice, buffer: GPUBuffer, shape: readonly number[], offsets: Integers,
  options: On<SegmentsOptions>,
): GPUBuffer;
/** Uploads an array to a new buffer. */
export function upload(device: GPUDevice, array: ArrayBufferView): GPUBuffer;
/** Reads the first bytes of a buffer. */
export function download(
  device: GPUDevice, buffer: GPUBuffer, byteLength?: number,
): Promise<Uint8Array>;
