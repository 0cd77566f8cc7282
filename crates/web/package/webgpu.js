// The operators on buffers of WebGPU, on the caller's device.
//
// The engine checks a call and lists its dispatches: the parameters of each kernel as bytes. Here
// they are recorded. Nothing is read back, so a call does not wait for the device; what the device
// finds wrong with lengths that it alone can read is in a report, for `check` to read.

import {
  reverseCall, reverseSegmentsCall, reverseSequenceCall, reverseSubsequencesCall,
} from "./calls.js";
import { reverseComplementCall } from "./complement.js";
import { ensureStarted } from "./load.js";
import { clear_report, kernel_source, reported_call } from "./retrograde_web.js";

// The constants of GPUBufferUsage, which Node does not have.
const MAP_READ = 0x1;
const COPY_SRC = 0x4;
const COPY_DST = 0x8;
const UNIFORM = 0x40;
const STORAGE = 0x80;

/** What is made once for each device. */
const devices = new WeakMap();

function kernelsOf(device) {
  const known = devices.get(device);
  if (known) return known;
  const types = ["read-only-storage", "storage", "read-only-storage", "storage", "uniform"];
  const entries = types.map((type, binding) => ({ binding, visibility: 4, buffer: { type } }));
  const bindings = device.createBindGroupLayout({ label: "retrograde", entries });
  const made = {
    bindings,
    layout: device.createPipelineLayout({ label: "retrograde", bindGroupLayouts: [bindings] }),
    module: device.createShaderModule({ label: "retrograde", code: kernel_source() }),
    pipelines: new Map(),
    // Bound where a kernel has nothing to read or write.
    nothing: device.createBuffer({ label: "retrograde: nothing", size: 16, usage: STORAGE }),
    report: filled(device, "report", bytesOfWords(clear_report()), STORAGE | COPY_SRC | COPY_DST),
    // Calls since the last check whose lengths the device checks, by number: what describes them.
    calls: new Map(),
    next: 0,
    unread: device.createBuffer({ label: "retrograde: nothing", size: 16, usage: STORAGE }),
  };
  devices.set(device, made);
  return made;
}

/** The pipeline of a kernel, made when it is first needed. */
function pipelineOf(device, kernels, entryPoint, constants) {
  const key = `${entryPoint} ${JSON.stringify(constants)}`;
  let pipeline = kernels.pipelines.get(key);
  if (!pipeline) {
    const compute = { module: kernels.module, entryPoint, constants };
    pipeline = device.createComputePipeline({ label: entryPoint, layout: kernels.layout, compute });
    kernels.pipelines.set(key, pipeline);
  }
  return pipeline;
}

/** A buffer that begins with these bytes. */
function filled(device, label, bytes, usage) {
  const size = Math.max(16, Math.ceil(bytes.byteLength / 4) * 4);
  const buffer = device.createBuffer({ label: `retrograde: ${label}`, size, usage, mappedAtCreation: true });
  new Uint8Array(buffer.getMappedRange()).set(bytes);
  buffer.unmap();
  return buffer;
}

function bytesOfWords(words) {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

/** How many calls a report remembers; the error of an older one does not name its operator. */
const REMEMBERED = 4096;

/** Lengths or offsets in a buffer: `{buffer, dtype, length}` or `{buffer, dtype, shape}`. */
function isOnDevice(values) {
  return values !== null && typeof values === "object" && "buffer" in values && !ArrayBuffer.isView(values);
}

/** The bytes of so many integers of a type. */
function integerBytes(operator, argument, dtype, count) {
  const bits = /^[iu](8|16|32|64)$/.exec(dtype)?.[1];
  if (!bits) throw new TypeError(`${operator}: ${argument}: dtype is ${dtype}, expected an integer type such as "i32"`);
  if (!Number.isSafeInteger(count) || count < 0) {
    throw new RangeError(`${operator}: ${argument}: length is ${count}, expected a number of integers, or a shape`);
  }
  return (Number(bits) / 8) * count;
}

/** What the engine plans with: integers of the same type and shape, of which it reads no value. */
function standIn(operator, argument, { buffer, dtype, length, shape }) {
  const count = shape ? Array.from(shape).reduce((product, size) => product * size, 1) : length;
  const bytes = integerBytes(operator, argument, dtype, count);
  if (!(buffer?.usage & STORAGE)) {
    throw new TypeError(`${operator}: the buffer of ${argument} needs the usage STORAGE`);
  }
  if (buffer.size % 4 || buffer.size < bytes) {
    throw new RangeError(`${operator}: the buffer of ${argument} has ${buffer.size} bytes, expected a multiple of 4 and at least ${bytes}`);
  }
  return { data: new Uint8Array(bytes), dtype, shape };
}

function checkBuffer(operator, name, buffer, bytes) {
  if (!(buffer?.usage & STORAGE)) {
    throw new TypeError(`${operator}: the ${name} buffer needs the usage STORAGE`);
  }
  if (buffer.size % 4) {
    throw new RangeError(`${operator}: the ${name} buffer has ${buffer.size} bytes: create it with a multiple of 4`);
  }
  if (buffer.size < bytes) {
    throw new RangeError(`${operator}: the ${name} buffer has ${buffer.size} bytes, the tensor ${bytes}`);
  }
}

/** A temporary buffer. */
function temporary(device, size, usage) {
  return device.createBuffer({ label: "retrograde: copy", size: Math.max(16, Math.ceil(size / 4) * 4), usage });
}

/** Records the steps of a call; `given` is the buffer of its lengths, if they are on the device. */
function record(device, encoder, call, from, to, given, describe) {
  const kernels = kernelsOf(device);
  const { maxStorageBufferBindingSize, minStorageBufferOffsetAlignment, maxComputeWorkgroupsPerDimension } = device.limits;
  const inPlace = from === to;
  const number = given ? kernels.next : undefined;
  const steps = call.gpu_steps(inPlace, number, maxStorageBufferBindingSize, minStorageBufferOffsetAlignment, maxComputeWorkgroupsPerDimension);
  if (!steps.length) return;
  if (given) remember(kernels, describe);
  const bytes = given ? undefined : call.lengths_bytes();
  const lengths = given ?? (bytes ? filled(device, "lengths", bytes, STORAGE) : kernels.unread);
  let source = from;
  if (inPlace && steps[0].reads_copy) {
    if (!(from.usage & COPY_SRC)) {
      throw new TypeError(`${call.operator()}: in place, elements of this width need the usage COPY_SRC`);
    }
    source = temporary(device, from.size, STORAGE | COPY_DST);
    encoder.copyBufferToBuffer(from, 0, source, 0, from.size);
  }
  const between = steps[0].temporary && temporary(device, steps[0].temporary, STORAGE);
  const pass = encoder.beginComputePass({ label: "retrograde" });
  for (const step of steps) {
    const constants = Object.fromEntries(step.constant_names.map((name, at) => [name, step.constant_values[at]]));
    const params = filled(device, "parameters", step.params, UNIFORM);
    const part = (buffer, [start, end], otherwise) =>
      end === undefined ? { buffer: otherwise } : { buffer, offset: start, size: Math.min(end, buffer.size) - start };
    const resources = [
      part(step.from_temporary ? between : source, step.reads, kernels.unread),
      part(step.to_temporary ? between : to, step.writes, kernels.nothing),
      { buffer: lengths }, { buffer: kernels.report }, { buffer: params },
    ];
    const entries = resources.map((resource, binding) => ({ binding, resource }));
    pass.setPipeline(pipelineOf(device, kernels, step.entry, constants));
    pass.setBindGroup(0, device.createBindGroup({ layout: kernels.bindings, entries }));
    pass.dispatchWorkgroups(step.grid[0], step.grid[1]);
    step.free();
  }
  pass.end();
}

/** Remembers how to describe a call, until its report is read. */
function remember(kernels, describe) {
  kernels.calls.set(kernels.next, describe);
  kernels.calls.delete(kernels.next - REMEMBERED);
  kernels.next += 1;
}

/**
 * Checks a call and records it. `make` makes a call of the engine from lengths or offsets, which
 * may be in a buffer of the device.
 */
function run(device, buffer, values, argument, operator, make, { out, encoder, where } = {}) {
  ensureStarted();
  const onDevice = isOnDevice(values);
  if (onDevice && where !== undefined) {
    // A mask becomes a part of them on the host.
    throw new TypeError(`${operator}: where is given and ${argument} are on the device, expected them on the host`);
  }
  const describe = () => make(onDevice ? standIn(operator, argument, values) : values);
  const call = describe();
  try {
    const bytes = call.byte_length();
    checkBuffer(operator, "input", buffer, bytes);
    const target = out ?? device.createBuffer({
      label: "retrograde: output",
      size: Math.max(16, Math.ceil(bytes / 4) * 4),
      usage: STORAGE | COPY_SRC | COPY_DST,
    });
    checkBuffer(operator, "output", target, bytes);
    if (onDevice && values.buffer === target) {
      throw new TypeError(`${operator}: ${argument} and the output are in one buffer`);
    }
    const own = encoder ?? device.createCommandEncoder({ label: "retrograde" });
    record(device, own, call, buffer, target, onDevice ? values.buffer : undefined, describe);
    if (!encoder) device.queue.submit([own.finish()]);
    return target;
  } finally {
    call.free();
  }
}

export function reverse(device, buffer, shape, options = {}) {
  const make = () => reverseCall(undefined, shape, options);
  return run(device, buffer, undefined, "axes", "Reverse", make, options);
}

export function reverseSequence(device, buffer, shape, lengths, options = {}) {
  const make = (values) => reverseSequenceCall(undefined, shape, values, options);
  return run(device, buffer, lengths, "lengths", "ReverseSequence", make, options);
}

export function reverseSubsequences(device, buffer, shape, lengths, options = {}) {
  const make = (values) => reverseSubsequencesCall(undefined, shape, values, options);
  return run(device, buffer, lengths, "lengths", "ReverseSubsequences", make, options);
}

export function reverseSegments(device, buffer, shape, offsets, options = {}) {
  const make = (values) => reverseSegmentsCall(undefined, shape, values, options);
  return run(device, buffer, offsets, "offsets", "ReverseSegments", make, options);
}

export function reverseComplement(device, buffer, shape, options = {}) {
  const { lengths, offsets, strict = false } = options;
  const operator = "reverseComplement";
  if (strict) throw new TypeError(`${operator}: strict is given and the letters are on the device, expected an array`);
  const argument = offsets === undefined ? "lengths" : "offsets";
  const make = (values) => reverseComplementCall(undefined, shape, { ...options, [argument]: values });
  return run(device, buffer, offsets ?? lengths, argument, operator, make, options);
}

/**
 * Waits for everything that was submitted, and throws the error of the first invalid length that the
 * device found since the last check.
 */
export async function check(device) {
  ensureStarted();
  const kernels = kernelsOf(device);
  const bytes = await download(device, kernels.report, 64);
  const words = new Uint32Array(bytes.buffer, 0, 16);
  const number = reported_call(words);
  if (number === undefined) {
    kernels.calls.clear();
    return;
  }
  const describe = kernels.calls.get(number);
  kernels.calls.clear();
  device.queue.writeBuffer(kernels.report, 0, clear_report());
  if (!describe) throw new RangeError(`call ${number} had an invalid length or offset`);
  const call = describe();
  try {
    throw new RangeError(call.reported_error(words));
  } finally {
    call.free();
  }
}

/** Uploads an array to a new buffer. */
export function upload(device, array) {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  return filled(device, "upload", bytes, STORAGE | COPY_SRC | COPY_DST);
}

/** Reads the first bytes of a buffer, when everything that was submitted before is done. */
export async function download(device, buffer, byteLength = buffer.size) {
  const size = Math.ceil(byteLength / 4) * 4;
  const readable = device.createBuffer({ label: "retrograde: download", size: Math.max(4, size), usage: MAP_READ | COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, readable, 0, size);
  device.queue.submit([encoder.finish()]);
  await readable.mapAsync(1);
  const bytes = new Uint8Array(readable.getMappedRange().slice(0, byteLength));
  readable.destroy();
  return bytes;
}
