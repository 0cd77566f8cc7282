// The library on the page's state: checks, plans, results, and where every element comes from.

import {
  reverse, reverseCall, reverseSegments, reverseSegmentsCall, reverseSequence,
  reverseSequenceCall, reverseSubsequences, reverseSubsequencesCall,
} from "../package/index.js";

/** Elements up to which the origin of each one is computed. */
const TRACED = 1 << 20;

/** The operands and options of a state, as the functions of the package take them. */
export function describeCall(state, dtype) {
  const { policy, align, tail } = state;
  const common = { dtype, policy, align, tail };
  switch (state.op) {
    case "reverse": return [[], { dtype, axes: state.axes }];
    case "sequence":
      return [[state.lengths], { ...common, timeAxis: state.time, batchAxis: state.batch }];
    case "subsequences": return [[state.lengths], { ...common, axis: state.axis }];
    default: return [[state.offsets], { dtype, axis: state.axis }];
  }
}

const CALLS = {
  reverse: reverseCall, sequence: reverseSequenceCall,
  subsequences: reverseSubsequencesCall, segments: reverseSegmentsCall,
};
const RUNS = {
  reverse, sequence: reverseSequence, subsequences: reverseSubsequences, segments: reverseSegments,
};

/** The call of a state on elements of a type. Throws in the words of the library. */
export function callOf(state, dtype = state.dtype) {
  const [operands, options] = describeCall(state, dtype);
  return CALLS[state.op](undefined, state.shape, ...operands, options);
}

/** Runs the state's operator on bytes of a type. */
export function runOn(state, bytes, dtype) {
  const [operands, options] = describeCall(state, dtype);
  return RUNS[state.op](bytes, state.shape, ...operands, options);
}

export function elementCount(shape) {
  return shape.reduce((product, size) => product * size, 1);
}

/**
 * For each element of the result, the position that it came from, or -1 where it became zero: the
 * engine moves the positions themselves. `undefined` for large tensors.
 */
export function origins(state) {
  const count = elementCount(state.shape);
  if (count > TRACED) return undefined;
  const positions = Uint32Array.from({ length: count }, (_, at) => at + 1);
  const moved = runOn(state, positions, "u32");
  return Int32Array.from(moved, (position) => position - 1);
}
