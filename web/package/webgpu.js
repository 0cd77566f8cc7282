// The operators on buffers of WebGPU, on the caller's device.
//
// The engine checks a call and lists its dispatches: the parameters of each kernel as bytes. Here
// they are recorded. Nothing is read back, so a call does not wait for the device.

import {
  reverseCall, reverseSegmentsCall, reverseSequenceCall, reverseSubsequencesCall,
} from "./calls.js";
import { ensureStarted } from "./load.js";
import { kernel_source } from "./retrograde_web.js";

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
    report: device.createBuffer({ label: "retrograde: report", size: 64, usage: STORAGE }),
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

/** Records the steps of a call. */
function record(device, encoder, call, from, to) {
  const kernels = kernelsOf(device);
  const { maxStorageBufferBindingSize, minStorageBufferOffsetAlignment, maxComputeWorkgroupsPerDimension } = device.limits;
  const inPlace = from === to;
  const steps = call.gpu_steps(inPlace, maxStorageBufferBindingSize, minStorageBufferOffsetAlignment, maxComputeWorkgroupsPerDimension);
  if (!steps.length) return;
  const bytes = call.lengths_bytes();
  const lengths = bytes ? filled(device, "lengths", bytes, STORAGE) : kernels.unread;
  let source = from;
  if (inPlace && steps[0].reads_copy) {
    if (!(from.usage & COPY_SRC)) {
      throw new TypeError(`${call.operator()}: in place, elements of this width need the usage COPY_SRC`);
    }
    source = device.createBuffer({ label: "retrograde: copy", size: from.size, usage: STORAGE | COPY_DST });
    encoder.copyBufferToBuffer(from, 0, source, 0, from.size);
  }
  const pass = encoder.beginComputePass({ label: "retrograde" });
  for (const step of steps) {
    const constants = Object.fromEntries(step.constant_names.map((name, at) => [name, step.constant_values[at]]));
    const params = filled(device, "parameters", step.params, UNIFORM);
    const part = (buffer, [start, end]) => ({ buffer, offset: start, size: Math.min(end, buffer.size) - start });
    const input = step.exchanges ? { buffer: kernels.nothing } : part(source, step.reads);
    const resources = [input, part(to, step.writes), { buffer: lengths }, { buffer: kernels.report }, { buffer: params }];
    const entries = resources.map((resource, binding) => ({ binding, resource }));
    pass.setPipeline(pipelineOf(device, kernels, step.entry, constants));
    pass.setBindGroup(0, device.createBindGroup({ layout: kernels.bindings, entries }));
    pass.dispatchWorkgroups(step.grid[0], step.grid[1]);
    step.free();
  }
  pass.end();
}

function run(device, buffer, call, { out, encoder } = {}) {
  try {
    const operator = call.operator();
    const bytes = call.byte_length();
    checkBuffer(operator, "input", buffer, bytes);
    const target = out ?? device.createBuffer({
      label: "retrograde: output", size: Math.max(4, Math.ceil(bytes / 4) * 4),
      usage: STORAGE | COPY_SRC | COPY_DST,
    });
    checkBuffer(operator, "output", target, bytes);
    const own = encoder ?? device.createCommandEncoder({ label: "retrograde" });
    record(device, own, call, buffer, target);
    if (!encoder) device.queue.submit([own.finish()]);
    return target;
  } finally {
    call.free();
  }
}

export function reverse(device, buffer, shape, options = {}) {
  ensureStarted();
  return run(device, buffer, reverseCall(undefined, shape, options), options);
}

export function reverseSequence(device, buffer, shape, lengths, options = {}) {
  ensureStarted();
  return run(device, buffer, reverseSequenceCall(undefined, shape, lengths, options), options);
}

export function reverseSubsequences(device, buffer, shape, lengths, options = {}) {
  ensureStarted();
  return run(device, buffer, reverseSubsequencesCall(undefined, shape, lengths, options), options);
}

export function reverseSegments(device, buffer, shape, offsets, options = {}) {
  ensureStarted();
  return run(device, buffer, reverseSegmentsCall(undefined, shape, offsets, options), options);
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
