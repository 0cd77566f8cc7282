// Which elements are drawn and where: the last two axes are a grid, the others make blocks of them.

import { axisOf, laneAxis } from "./state.js";

/** More indices than this along an axis are left out in the middle. */
const MOST_COLUMNS = 16;
const MOST_ROWS = 10;
const MOST_BLOCKS = 4;

/** The indices of an axis that are drawn; `null` stands for those that are not. */
function windowOf(size, most) {
  if (size <= most) return Array.from({ length: size }, (_, at) => at);
  const half = Math.floor((most - 1) / 2);
  const first = Array.from({ length: most - 1 - half }, (_, at) => at);
  const last = Array.from({ length: half }, (_, at) => size - half + at);
  return [...first, null, ...last];
}

/** The axes that are the rows and columns of a grid. Lanes always run along one of them. */
export function gridAxes(state) {
  const rank = state.shape.length;
  const lane = laneAxis(state);
  const columns = rank - 1;
  if (lane >= 0 && lane < rank - 2) return { rows: lane, columns };
  return { rows: rank - 2, columns };
}

function strides(shape) {
  const steps = new Array(shape.length).fill(1);
  for (let axis = shape.length - 2; axis >= 0; axis--) steps[axis] = steps[axis + 1] * shape[axis + 1];
  return steps;
}

/**
 * The grids of a tensor: `{axes, rows, columns, blocks}`, each block with its leading index and the
 * flat position of each of its cells (`null` where elements are left out).
 */
export function gridsOf(state) {
  const { shape } = state;
  const rank = shape.length;
  const axes = gridAxes(state);
  const steps = strides(shape);
  const rows = axes.rows >= 0 ? windowOf(shape[axes.rows], MOST_ROWS) : [0];
  const columns = rank > 0 ? windowOf(shape[axes.columns], MOST_COLUMNS) : [0];
  const leading = shape.map((_, axis) => axis).filter((a) => a !== axes.rows && a !== axes.columns);
  const count = leading.reduce((product, axis) => product * shape[axis], 1);
  const blocks = windowOf(count, MOST_BLOCKS).map((number) => {
    if (number === null) return null;
    const lead = {};
    let rest = number;
    for (const axis of [...leading].reverse()) {
      lead[axis] = rest % shape[axis];
      rest = Math.floor(rest / shape[axis]);
    }
    const base = leading.reduce((sum, axis) => sum + lead[axis] * steps[axis], 0);
    const at = (row, column) =>
      row === null || column === null ? null
        : base + (axes.rows >= 0 ? row * steps[axes.rows] : 0) + (rank > 0 ? column * steps[axes.columns] : 0);
    const cells = rows.map((row) => columns.map((column) => at(row, column)));
    return { lead, cells };
  });
  return { axes, rows, columns, blocks };
}

/** `[1, :, :]` for the block of a leading index. */
export function captionOf(state, axes, lead) {
  const part = (_, axis) => (axis === axes.rows || axis === axes.columns ? ":" : lead[axis]);
  return `[${state.shape.map(part).join(", ")}]`;
}

/** The index along an axis of the element at a flat position. */
export function indexAlong(shape, position, axis) {
  const step = shape.slice(axis + 1).reduce((product, size) => product * size, 1);
  return Math.floor(position / step) % shape[axis];
}

/**
 * The lengths that can be dragged in a block: `{number, at, across}`: which length, the row or
 * column it belongs to (`null` for all of them), and whether its lane runs along the columns.
 */
export function lanesOf(state, grids, lead) {
  const { shape, op } = state;
  const lane = laneAxis(state);
  const across = lane === grids.axes.columns;
  const other = across ? grids.axes.rows : grids.axes.columns;
  const indices = across ? grids.rows : grids.columns;
  if (lane < 0) return [];
  if (op === "sequence") {
    const batch = axisOf(state.batch, shape.length);
    if (batch !== other) return batch < 0 ? [] : [{ number: lead[batch], at: null, across }];
    return indices.flatMap((index, at) => (index === null ? [] : [{ number: index, at, across }]));
  }
  const lanesShape = shape.map((size, axis) => (axis === lane ? 1 : size));
  const steps = strides(lanesShape);
  const base = Object.entries(lead).reduce((sum, [axis, at]) => sum + at * steps[axis], 0);
  if (other < 0) return [{ number: base, at: null, across }];
  return indices.flatMap((index, at) =>
    index === null ? [] : [{ number: base + index * steps[other], at, across }]);
}
