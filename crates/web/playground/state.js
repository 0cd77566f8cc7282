// What the page shows: the arguments of one call, its link, and what follows from a change.

export const OPERATORS = {
  reverse: {
    name: "Reverse", brief: "whole axes",
    about: "Every axis that is named runs backwards. Naming none copies the tensor.",
  },
  sequence: {
    name: "ReverseSequence", brief: "a length per sequence",
    about: "A batch of padded sequences. The first lengths[b] steps of sequence b are reversed along the time axis; the padding behind them stays.",
  },
  subsequences: {
    name: "ReverseSubsequences", brief: "a length per lane",
    about: "Each lane along the axis has a length of its own, and that many of its elements are reversed.",
  },
  segments: {
    name: "ReverseSegments", brief: "sequences packed in a row",
    about: "Sequences lie one behind the other along an axis, without padding. Offsets say where each begins, and each is reversed where it lies.",
  },
};

export const TYPES = ["u8", "i16", "f16", "i32", "f32", "i64", "f64", "c128", "u4", "u1"];

const DEFAULTS = {
  op: "sequence", shape: [3, 8], dtype: "f32", axes: [1], time: 1, batch: 0, axis: 1,
  lengths: [8, 4, 6], offsets: [0, 3, 5, 8], policy: "strict", align: "start", tail: "keep",
};

export const PRESETS = [
  ["Mirror", { op: "reverse", shape: [4, 6], axes: [1], dtype: "u8" }],
  ["Half turn", { op: "reverse", shape: [4, 6], axes: [0, 1], dtype: "f32" }],
  ["Padded batch", { ...DEFAULTS }],
  ["Left-padded tokens", { ...DEFAULTS, lengths: [5, 8, 3], align: "end", dtype: "i64" }],
  ["A length per column", { op: "subsequences", shape: [5, 6], axis: 0, lengths: [5, 4, 3, 2, 1, 0], policy: "clamp" }],
  ["Packed sequences", { op: "segments", shape: [12], axis: 0, offsets: [0, 4, 6, 11], dtype: "i32" }],
  ["A length too long", { ...DEFAULTS, lengths: [8, 9, 6] }],
].map(([label, change]) => [label, { ...DEFAULTS, ...change }]);

export function initialState() {
  return { ...structuredClone(DEFAULTS), ...fromLink(location.hash) };
}

const LISTS = ["shape", "axes", "lengths", "offsets"];
const NUMBERS = ["time", "batch", "axis"];

/** The numbers of a list that a person typed. What is not a number becomes NaN, for the library. */
export function numbersIn(text) {
  const parts = text.split(/[\s,;×x\[\]()]+/).filter((part) => part !== "");
  return parts.map(Number);
}

/** The arguments that a link carries, those that the operator has. */
export function toLink(state) {
  const used = {
    reverse: ["axes"],
    sequence: ["time", "batch", "lengths", "policy", "align", "tail"],
    subsequences: ["axis", "lengths", "policy", "align", "tail"],
    segments: ["axis", "offsets"],
  }[state.op];
  const pairs = ["op", "shape", "dtype", ...used].map((key) => `${key}=${[state[key]].join()}`);
  return `#${pairs.join("&")}`;
}

export function fromLink(hash) {
  const found = {};
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    if (LISTS.includes(key)) found[key] = numbersIn(value).slice(0, 4096);
    else if (NUMBERS.includes(key)) found[key] = Number(value);
    else if (key === "op" && Object.hasOwn(OPERATORS, value)) found.op = value;
    else if (["dtype", "policy", "align", "tail"].includes(key)) found[key] = value;
  }
  return found;
}

/** An axis counted from the start, or -1 if the tensor does not have it. */
export function axisOf(axis, rank) {
  const from = axis < 0 ? axis + rank : axis;
  return Number.isInteger(from) && from >= 0 && from < rank ? from : -1;
}

/** The axis that lanes run along, for the operators that have one. */
export function laneAxis(state) {
  const rank = state.shape.length;
  if (state.op === "sequence") return axisOf(state.time, rank);
  if (state.op === "reverse") return -1;
  return axisOf(state.axis, rank);
}

/** How many lengths the call takes. */
export function lanes(state) {
  const { op, shape } = state;
  if (op === "sequence") return shape[axisOf(state.batch, shape.length)] ?? 0;
  if (op !== "subsequences") return 0;
  const axis = laneAxis(state);
  return shape.reduce((product, size, at) => (at === axis ? product : product * size), 1);
}

/** Whether rows and columns of a shape are those of an image, perhaps with 1, 3 or 4 channels. */
export function isImage(shape) {
  const [rows, columns, channels] = shape;
  const sides = Math.min(rows, columns) >= 16;
  return sides && (shape.length === 2 || (shape.length === 3 && [1, 3, 4].includes(channels)));
}

/** The most lengths that the page shows and keeps. */
export const MOST_LANES = 4096;

/**
 * Takes a shape, and fits the arguments of the operator to it: axes that do not exist become usual ones. An
 * operator that the shape does not allow becomes Reverse; returns its name then.
 */
export function takeShape(state, shape) {
  state.shape = [...shape];
  const rank = shape.length;
  // Of an image, the columns and no channel.
  const usual = rank === 3 && [1, 3, 4].includes(shape[2]) ? 1 : Math.max(0, rank - 1);
  const exists = (axis) => axisOf(axis, rank) >= 0;
  if (!state.axes.length || !state.axes.every(exists)) state.axes = rank ? [usual] : [];
  if (!exists(state.axis)) state.axis = usual;
  const [time, batch] = [axisOf(state.time, rank), axisOf(state.batch, rank)];
  if (time < 0 || batch < 0 || time === batch) [state.time, state.batch] = [1, 0];
  const { op } = state;
  const possible = { reverse: true, sequence: rank > 1, subsequences: rank > 0, segments: rank > 0 }[op];
  if (!possible || lanes(state) > MOST_LANES) state.op = "reverse";
  refit(state);
  return state.op === op ? undefined : OPERATORS[op].name;
}

const isSize = (value) => Number.isInteger(value) && value >= 0 && value <= 1e6;

/** Gives lengths and offsets that fit a changed shape, axis or operator. Typed ones are kept. */
export function refit(state) {
  const axis = laneAxis(state);
  const size = axis < 0 ? 0 : state.shape[axis];
  if (!state.shape.every(isSize)) return state;
  const count = lanes(state);
  if (count > 0 && count <= MOST_LANES) {
    const fresh = (at) => Math.max(0, size - ((at * 3) % (size + 1)));
    const own = (at) => state.lengths[at] ?? fresh(at);
    state.lengths = Array.from({ length: count }, (_, at) => Math.min(own(at), size));
  }
  if (state.op === "segments" && axis >= 0) {
    const kept = state.offsets.filter((offset) => offset <= size);
    state.offsets = kept.length > 1 ? kept : [0, Math.ceil(size / 2), size];
  }
  return state;
}
