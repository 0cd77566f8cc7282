// Retrograde for browsers and Node: the operators on typed arrays.
//
// Each function describes its call (`calls.js`), copies the array into the memory of the
// WebAssembly module, runs the engine there and copies the result back.

import { bytesOf, likeArray } from "./arrays.js";
import {
  reverseCall, reverseSegmentsCall, reverseSequenceCall, reverseSubsequencesCall,
} from "./calls.js";
import { reverseComplementCall } from "./complement.js";
import { ensureStarted } from "./load.js";

export { init } from "./load.js";
export {
  reverseCall, reverseSegmentsCall, reverseSequenceCall, reverseSubsequencesCall,
} from "./calls.js";
export { reverseComplementCall } from "./complement.js";
export { instructions, version, NpyFile } from "./retrograde_web.js";

/** Runs a call on an array: in place, into another array, or into a new one. `strict` is for letters. */
function run(call, data, out, strict = false) {
  const operator = call.operator();
  try {
    const input = bytesOf(operator, "input", data);
    if (strict) call.check_letters(input);
    if (out === undefined) return likeArray(data, call.run(input));
    const output = bytesOf(operator, "out", out);
    if (output.buffer === input.buffer && output.byteOffset === input.byteOffset) {
      call.run_in_place(input);
      return out;
    }
    if (output.byteLength !== input.byteLength) {
      const sizes = `has ${output.byteLength} bytes, expected ${input.byteLength}`;
      throw new RangeError(`${operator}: out ${sizes}`);
    }
    output.set(call.run(input));
    return out;
  } finally {
    call.free();
  }
}

export function reverse(data, shape, options = {}) {
  ensureStarted();
  return run(reverseCall(data, shape, options), data, options.out);
}

export function reverseSequence(data, shape, lengths, options = {}) {
  ensureStarted();
  return run(reverseSequenceCall(data, shape, lengths, options), data, options.out);
}

export function reverseSubsequences(data, shape, lengths, options = {}) {
  ensureStarted();
  return run(reverseSubsequencesCall(data, shape, lengths, options), data, options.out);
}

export function reverseSegments(data, shape, offsets, options = {}) {
  ensureStarted();
  return run(reverseSegmentsCall(data, shape, offsets, options), data, options.out);
}

export function reverseComplement(data, shape, options = {}) {
  ensureStarted();
  const { out, strict = false } = options;
  return run(reverseComplementCall(data, shape, options), data, out, strict);
}
