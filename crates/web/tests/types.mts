// Compiled, never run: the types of the package accept these calls, and refuse those that are marked.

import { init, NpyFile, reverse, reverseComplement, reverseSegments, reverseSequence, reverseSubsequences, reverseSequenceCall } from "@retrograde/web";
import { reverse as webnnReverse } from "@retrograde/web/webnn";
import { check, reverse as gpuReverse, reverseComplement as gpuComplement, reverseSequence as gpuSequence } from "@retrograde/web/webgpu";

await init();
const x: Float32Array = reverse(new Float32Array(6), [2, 3], { axes: [1], duplicates: "error" });
reverse(x, [6], { out: x });
const y: BigInt64Array = reverseSequence(new BigInt64Array(4), [2, 2], [1, 2n], { policy: "clamp" });
reverseSubsequences(y, [2, 2], { data: Uint32Array.of(1, 2), shape: [1, 2] }, { axis: 0 });
reverseSegments(new Uint8Array(3), [6], Int32Array.of(0, 3), { axis: 0, dtype: "u4" });
reverse(x, [2, 3], { axes: 1, where: [true, false], batchAxis: 0 });
reverseSegments(new Uint8Array(3), [6], [0, 6], { dtype: "u4", table: [3, 2, 1, 0], where: { data: new Uint8Array(1), dtype: "bool" } });
const reads: Uint8Array = reverseComplement(new Uint8Array(6), [2, 3], { lengths: [3, 1], strict: true, rna: true });
const plan: string = reverseSequenceCall(undefined, [2, 2], [1, 2], { dtype: "f32" }).plan();
const shape: Float64Array = NpyFile.parse(new Uint8Array(128)).shape();
const { data } = webnnReverse({ dataType: "float32", shape: [4], data: x }, { axes: [0] });
const typed: Float32Array = data;

declare const device: GPUDevice;
declare const buffer: GPUBuffer;
const out: GPUBuffer = gpuReverse(device, buffer, [6], { dtype: "f32", axes: 0 });
gpuSequence(device, buffer, [2, 3], { buffer: out, dtype: "i32", length: 3 }, { dtype: "f32" });
gpuComplement(device, buffer, [6], { dtype: "u8", offsets: { buffer: out, dtype: "i32", length: 3 } });
await check(device);
console.log(plan, reads, shape, typed, out);

// @ts-expect-error: there is no such policy
reverseSequence(y, [2, 2], [1, 2], { policy: "loose" });
// @ts-expect-error: the axis is required
reverseSubsequences(y, [2, 2], [1, 2], {});
// @ts-expect-error: a list is not a typed array
reverse([1, 2, 3], [3]);
// @ts-expect-error: a buffer needs an element type
gpuReverse(device, buffer, [6], { axes: 0 });
// @ts-expect-error: lengths are integers
gpuSequence(device, buffer, [2, 3], { buffer: out, dtype: "f32", length: 3 }, { dtype: "f32" });
// @ts-expect-error: a mask has booleans
reverse(x, [6], { where: [1, 0] });
// @ts-expect-error: the complement has its own table
reverseComplement(reads, [6], { table: [3, 2, 1, 0] });
// @ts-expect-error: letters on a device are not looked at
gpuComplement(device, buffer, [6], { dtype: "u8", strict: true });
