// Tests of the package in headless Chromium, loaded as modules from a server: arrays, and buffers of
// WebGPU on the software adapter, which must give the bytes that arrays give.
//
//     node crates/web/tests/browser.mjs PLAYWRIGHT PACKAGE

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { basename, extname, join } from "node:path";

import { launch } from "./chromium.mjs";

const [playwrightFolder, packageFolder] = process.argv.slice(2);
const KINDS = { ".js": "text/javascript", ".wasm": "application/wasm" };

const server = createServer(async (request, response) => {
  const name = basename(request.url);
  try {
    const content = name ? await readFile(join(packageFolder, name)) : "<!DOCTYPE html><link rel=icon href=data:,>";
    response.writeHead(200, { "content-type": KINDS[extname(name)] ?? "text/html" }).end(content);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));

const browser = await launch(playwrightFolder);
const page = await browser.newPage();
const complaints = [];
page.on("console", (message) => complaints.push(message.text()));
page.on("pageerror", (error) => complaints.push(error.message));
await page.goto(`http://127.0.0.1:${server.address().port}/`);

const arrays = await page.evaluate(async () => {
  const { init, instructions, reverse } = await import("/index.js");
  await init();
  return [instructions(), [...reverse(Int16Array.of(1, 2, 3, 4), [2, 2], { axes: [1] })]];
});
assert.deepEqual(arrays, ["simd128", [2, 1, 4, 3]]);

/**
 * Runs in the page. Every case out of place, in place, recorded into an encoder, and with lengths or
 * offsets on the device.
 */
async function onBuffers() {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) return { skipped: "Chromium offers no WebGPU adapter here" };
  const device = await adapter.requestDevice();
  const faults = [];
  device.addEventListener("uncapturederror", (event) => faults.push(event.error.message));
  const cpu = await import("/index.js");
  const gpu = await import("/webgpu.js");
  const lengths = (count, size) => Int32Array.from({ length: count }, (_, at) => (at * 7) % (size + 1));
  const cases = [];
  for (const [dtype, width] of [["u8", 1], ["bytes3", 3], ["f16", 2], ["f32", 4], ["i64", 8], ["c128", 16]]) {
    cases.push(["reverse", dtype, width, [301, 67], [], { axes: [1] }]);
    cases.push(["reverse", dtype, width, [13, 50, 7], [], { axes: [0, 2] }]);
    cases.push(["reverseSequence", dtype, width, [40, 9, 5], [lengths(9, 40)], {}]);
    cases.push(["reverseSequence", dtype, width, [9, 40], [lengths(9, 40)], { timeAxis: 1, batchAxis: 0, align: "end", tail: "zero" }]);
    cases.push(["reverseSubsequences", dtype, width, [6, 30, 4], [lengths(24, 30)], { axis: 1 }]);
    cases.push(["reverseSegments", dtype, width, [90, 3], [[0, 11, 11, 64, 90]], {}]);
    cases.push(["reverseSegments", dtype, width, [3, 90], [Uint8Array.of(0, 40, 41)], { axis: 1 }]);
  }
  cases.push(["reverse", "u4", 0.5, [33, 61], [], { axes: [1] }]);
  cases.push(["reverse", "u1", 0.125, [33, 61], [], { axes: [0, 1] }]);
  // Masks and tables, of bytes and of packed elements, some in rows that are swapped in place without.
  const some = (count) => Array.from({ length: count }, (_, at) => at % 3 !== 1);
  const table = Uint8Array.from({ length: 256 }, (_, at) => (at * 7 + 3) & 255);
  for (const more of [{}, { table }]) {
    cases.push(["reverse", "u8", 1, [301, 67], [], { axes: [1], where: some(301), ...more }]);
    cases.push(["reverse", "u8", 1, [3, 8, 40], [], { axes: [1, 2], where: some(3), ...more }]);
    cases.push(["reverseSequence", "u8", 1, [40, 9, 5], [lengths(9, 40)], { where: some(9), ...more }]);
    cases.push(["reverseSubsequences", "u8", 1, [6, 30, 4], [lengths(24, 30)], { axis: 1, where: some(24), ...more }]);
    cases.push(["reverseSegments", "u8", 1, [90, 3], [[0, 11, 11, 64, 90]], { where: some(4), ...more }]);
    cases.push(["reverseSegments", "u8", 1, [90, 3], [[0, 11, 11, 64, 80]], more]);
    cases.push(["reverseComplement", "u8", 1, [9, 64], [], { where: some(9), rna: Boolean(more.table) }]);
  }
  cases.push(["reverse", "f32", 4, [13, 50], [], { axes: [1], where: some(13) }]);
  cases.push(["reverse", "u8", 1, [33, 60], [], { axes: [1], table }]);
  cases.push(["reverse", "u8", 1, [5, 3], [], { axes: [], table }]);
  cases.push(["reverse", "u4", 0.5, [33, 61], [], { axes: [1], table: table.slice(0, 16).map((entry) => entry & 15) }]);
  cases.push(["reverseSequence", "i2", 0.25, [9, 40], [lengths(9, 40)], { timeAxis: 1, batchAxis: 0, table: [2, 0, 3, 1] }]);
  cases.push(["reverseComplement", "u8", 1, [301], [], {}]);
  cases.push(["reverseComplement", "u8", 1, [9, 64], [], { lengths: lengths(9, 64), where: some(9) }]);
  cases.push(["reverseComplement", "u8", 1, [301], [], { offsets: [0, 100, 101, 290] }]);
  // Columns that are transposed to a temporary buffer and back.
  cases.push(["reverseSequence", "u8", 1, [1500, 2804], [lengths(2804, 1500)], { align: "end" }]);
  cases.push(["reverseSequence", "f16", 2, [1500, 1404], [lengths(1404, 1500)], { tail: "zero" }]);
  const integerType = (values) => (values instanceof Int32Array ? "i32" : values instanceof Uint8Array ? "u8" : "i64");
  const onDevice = (values) => {
    const array = Array.isArray(values) ? BigInt64Array.from(values, BigInt) : values;
    return { buffer: gpu.upload(device, array), dtype: integerType(values), length: array.length };
  };
  let count = 0;
  for (const [name, dtype, width, shape, operands, more] of cases) {
    const options = { ...more, dtype };
    const size = Math.ceil(shape.reduce((a, b) => a * b, 1) * width);
    const bytes = new Uint8Array(size);
    for (let at = 0; at < size; at++) bytes[at] = at * 151 + (at >> 7);
    const wanted = cpu[name](bytes, shape, ...operands, options);
    const ways = ["out of place", "in place", "recorded"];
    if (operands.length && !more.where) ways.push("lengths on the device", "lengths on the device, in place");
    for (const way of ways) {
      const input = gpu.upload(device, bytes);
      const encoder = way === "recorded" ? device.createCommandEncoder() : undefined;
      const out = way.endsWith("in place") ? input : undefined;
      const given = way.startsWith("lengths") ? operands.map(onDevice) : operands;
      const result = gpu[name](device, input, shape, ...given, { ...options, out, encoder });
      if (encoder) device.queue.submit([encoder.finish()]);
      const got = await gpu.download(device, result, size);
      const wrong = got.findIndex((byte, at) => byte !== wanted[at]);
      if (wrong >= 0) return { wrong: `${name} ${dtype} [${shape}] ${way}: byte ${wrong} is ${got[wrong]}, expected ${wanted[wrong]}` };
      [input, result].forEach((buffer) => buffer.destroy());
      count += 1;
    }
  }
  await gpu.check(device);
  // Invalid lengths on the device: nothing is written, and the report names the first of them.
  const found = [];
  const reported = async () => {
    try {
      await gpu.check(device);
      found.push("nothing");
    } catch (error) {
      found.push(error.message);
    }
  };
  const rows = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
  const kept = gpu.upload(device, rows);
  const later = { dtype: "u8", timeAxis: 1, batchAxis: 0, out: kept };
  gpu.reverseSequence(device, gpu.upload(device, rows), [2, 4], onDevice(Int32Array.of(4, 2)), { ...later, out: undefined });
  gpu.reverseSequence(device, gpu.upload(device, rows), [2, 4], onDevice(Int32Array.of(4, 5)), later);
  gpu.reverseSequence(device, gpu.upload(device, rows), [2, 4], onDevice(Int32Array.of(-1, 5)), later);
  await reported();
  await reported();
  gpu.reverseSegments(device, gpu.upload(device, rows), [8], onDevice([0, 5, 4]), { dtype: "u8", out: kept });
  await reported();
  const written = [...(await gpu.download(device, kept, 8))].some((byte, at) => byte !== rows[at]);
  gpu.reverseSubsequences(device, gpu.upload(device, rows), [2, 4], onDevice(Uint8Array.of(9, 9)), { dtype: "u8", axis: 1, out: kept });
  await reported();
  const clamped = [...(await gpu.download(device, kept, 8))];
  const refused = [];
  const attempt = (call) => {
    try {
      call();
      refused.push("accepted");
    } catch (error) {
      refused.push(error.message);
    }
  };
  const small = device.createBuffer({ size: 8, usage: GPUBufferUsage.STORAGE });
  const unused = device.createBuffer({ size: 64, usage: GPUBufferUsage.COPY_DST });
  const large = device.createBuffer({ size: 64, usage: GPUBufferUsage.STORAGE });
  attempt(() => gpu.reverse(device, small, [3], { dtype: "f32" }));
  attempt(() => gpu.reverse(device, unused, [3], { dtype: "f32" }));
  attempt(() => gpu.reverse(device, large, [3], { dtype: "f32", axes: [1] }));
  attempt(() => gpu.reverseSequence(device, large, [2, 2], [3, 0], { dtype: "f32" }));
  attempt(() => gpu.reverse(device, large, [5], { dtype: "u4", out: large }));
  attempt(() => gpu.reverse(device, large, [5], {}));
  const few = { buffer: small, dtype: "i32", length: 2 };
  attempt(() => gpu.reverseSequence(device, large, [2, 3], few, { dtype: "f32" }));
  attempt(() => gpu.reverseSequence(device, large, [2, 3], { ...few, length: 3 }, { dtype: "f32" }));
  attempt(() => gpu.reverseSequence(device, large, [2, 2], { ...few, dtype: "f32" }, { dtype: "f32" }));
  attempt(() => gpu.reverseSequence(device, large, [2, 2], { ...few, length: undefined }, { dtype: "f32" }));
  attempt(() => gpu.reverseSequence(device, large, [2, 2], { ...few, buffer: unused }, { dtype: "f32" }));
  attempt(() => gpu.reverseSequence(device, large, [2, 2], { ...few, buffer: large }, { dtype: "f32", out: large }));
  attempt(() => gpu.reverseSequence(device, large, [2, 2], few, { dtype: "f32", where: [true, false] }));
  attempt(() => gpu.reverseComplement(device, large, [2, 2], { dtype: "u8", where: [true] }));
  attempt(() => gpu.reverseComplement(device, large, [2, 2], { dtype: "u8", offsets: few, where: [true] }));
  attempt(() => gpu.reverseComplement(device, large, [2, 2], { dtype: "u8", strict: true }));
  attempt(() => gpu.reverse(device, large, [2], { dtype: "f32", table }));
  // Offsets of reads on the device.
  const cuts = { buffer: gpu.upload(device, Int32Array.of(0, 3, 8)), dtype: "i32", length: 3 };
  const reads = gpu.upload(device, new TextEncoder().encode("AACGTTTG"));
  const complemented = gpu.reverseComplement(device, reads, [8], { dtype: "u8", offsets: cuts });
  const text = new TextDecoder().decode(await gpu.download(device, complemented, 8));
  await gpu.check(device);
  await device.queue.onSubmittedWorkDone();
  return { count, text, refused, found, written, clamped, faults, name: adapter.info?.description || adapter.info?.vendor };
}

const result = await page.evaluate(onBuffers);
await browser.close();
server.close();
assert.deepEqual(complaints, []);
if (result.skipped) {
  console.log(`skipped: WebGPU: ${result.skipped}`);
} else {
  assert.equal(result.wrong, undefined);
  assert.deepEqual(result.faults, []);
  const words = [
    "Reverse: the input buffer has 8 bytes, the tensor 12",
    "Reverse: the input buffer needs the usage STORAGE",
    "Reverse: axes[0] is 1, outside [-1, 0]",
    "ReverseSequence: lengths[0] is 3, outside [0, 2]",
    "Reverse: in place, elements of this width need the usage COPY_SRC",
    "Reverse: dtype is missing",
    "ReverseSequence: 2 lengths given, expected 3",
    "ReverseSequence: the buffer of lengths has 8 bytes, expected a multiple of 4 and at least 12",
    "ReverseSequence: lengths: dtype is f32, expected an integer type",
    "ReverseSequence: lengths: length is undefined, expected a number of integers",
    "ReverseSequence: the buffer of lengths needs the usage STORAGE",
    "ReverseSequence: lengths and the output are in one buffer",
    "ReverseSequence: where is given and lengths are on the device, expected them on the host",
    "ReverseSubsequences: where has shape [1], expected [2, 1], one for each lane",
    "reverseComplement: where is given and offsets are on the device, expected them on the host",
    "reverseComplement: strict is given and the letters are on the device, expected an array",
    "Reverse: a table of 256 entries is for elements of one byte (u8, i8), got f32",
  ];
  words.forEach((start, at) => assert.ok(result.refused[at].startsWith(start), `${result.refused[at]} is not: ${start}`));
  assert.deepEqual(result.found, [
    "ReverseSequence: lengths[1] is 5, outside [0, 4]",
    "nothing",
    "ReverseSegments: offsets[2] is 4, outside [5, 8]",
    "nothing",
  ]);
  assert.equal(result.text, "GTTCAAAC");
  assert.equal(result.written, false);
  assert.deepEqual(result.clamped, [4, 3, 2, 1, 8, 7, 6, 5]);
  console.log(`${result.count} calls on buffers gave the bytes of arrays, ${words.length} were refused, 2 found invalid by the device (${result.name})`);
}
console.log("the package passed in Chromium");
