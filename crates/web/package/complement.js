// Reads of nucleic acids: the call that reverses and complements them.

import {
  completed, reverseCall, reverseSegmentsCall, reverseSubsequencesCall, sizes, typeOf,
} from "./calls.js";
import { Call, complements } from "./retrograde_web.js";

const NAME = "reverseComplement";

export function reverseComplementCall(data, shape, options = {}) {
  const { axis = -1, lengths, offsets, where, rna = false, dtype } = options;
  if (lengths !== undefined && offsets !== undefined) {
    throw new TypeError(`${NAME}: lengths and offsets are both given: omit one of them`);
  }
  const given = { dtype, where, table: complements(Boolean(rna)) };
  if (offsets !== undefined) return reverseSegmentsCall(data, shape, offsets, { ...given, axis });
  if (lengths !== undefined) {
    return reverseSubsequencesCall(data, shape, lengths, { ...given, axis, policy: "strict" });
  }
  if (where === undefined) return reverseCall(data, shape, { ...given, axes: axis });
  return completed(Call.lanes(typeOf(NAME, data, options), sizes(NAME, shape), axis), given);
}
