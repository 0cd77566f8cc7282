// The same call on the browser's GPU, compared with the result of the WebAssembly module.

import { callOf, describeCall, runOn } from "./engine.js";
import {
  download, reverse, reverseSegments, reverseSequence, reverseSubsequences, upload,
} from "../package/webgpu.js";

const RUNS = {
  reverse, sequence: reverseSequence, subsequences: reverseSubsequences, segments: reverseSegments,
};

/** More than this is not uploaded for a comparison. */
const MOST = 1 << 26;

let opening;

async function openDevice() {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) throw new Error("this browser offers no WebGPU adapter");
  const device = await adapter.requestDevice();
  device.lost.then(() => { opening = undefined; });
  return { device, name: adapter.info?.description || adapter.info?.vendor || "WebGPU" };
}

/** Runs a state's call on arbitrary bytes, on both, out of place and in place. Says what it saw. */
export async function compareOnDevice(state) {
  opening ??= openDevice().catch((error) => { opening = undefined; throw error; });
  const { device, name } = await opening;
  const call = callOf(state);
  const size = call.byte_length();
  call.free();
  if (size > MOST) throw new Error(`${size} bytes are more than this page uploads`);
  const bytes = Uint8Array.from({ length: size }, (_, at) => (at * 151 + (at >> 8)) & 255);
  const expected = runOn(state, bytes, state.dtype);
  const [operands, options] = describeCall(state, state.dtype);
  const run = RUNS[state.op];
  for (const inPlace of [false, true]) {
    const input = upload(device, bytes);
    const out = inPlace ? input : undefined;
    const result = run(device, input, state.shape, ...operands, { ...options, out });
    const got = await download(device, result, size);
    const wrong = got.findIndex((byte, at) => byte !== expected[at]);
    if (wrong >= 0) throw new Error(`byte ${wrong} is ${got[wrong]} on ${name}, expected ${expected[wrong]}`);
    [input, result].forEach((buffer) => buffer.destroy());
  }
  return `${name}: the same ${size} bytes, out of place and in place`;
}
