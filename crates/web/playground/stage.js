// Draws the grids before and after, with handles for lengths and offsets, and moves the elements.

import { captionOf, gridsOf, indexAlong, lanesOf } from "./grid.js";
import { laneAxis } from "./state.js";

const HEIGHT = 36;
const GAP = 5;
const DURATION = 650;

const $ = (id) => document.getElementById(id);

function node(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** How far along the movement an element is, from 0 to 1: its colour. */
function shade(state, position, count) {
  const lane = laneAxis(state);
  if (lane < 0) return count > 1 ? position / (count - 1) : 0;
  const size = state.shape[lane];
  return size > 1 ? indexAlong(state.shape, position, lane) / (size - 1) : 0;
}

/** Cells by the flat position of the element that they show, one map for each side. */
const shown = { before: new Map(), after: new Map() };
let last;

/**
 * Draws one side. `elementAt` says which element of the input is at a position (-1: zero),
 * `stays` whether it is one that does not move.
 */
function drawSide(side, state, grids, elementAt, stays, text, handles) {
  const blocks = $(side).querySelector(".blocks");
  // A length may have a handle in each block: the same one of them is focused again.
  const focused = [...blocks.querySelectorAll(".handle")].indexOf(document.activeElement);
  const resizing = document.activeElement?.classList.contains("grip");
  blocks.replaceChildren();
  shown[side].clear();
  const count = state.shape.reduce((product, size) => product * size, 1);
  const widest = last.widest;
  const pitch = { x: widest + GAP, y: HEIGHT + GAP };
  const lines = [];
  for (const block of grids.blocks) {
    if (block === null) {
      blocks.append(node("div", "axis", "⋮"));
      continue;
    }
    const made = node("div", "block");
    if (Object.keys(block.lead).length) {
      const caption = captionOf(state, grids.axes, block.lead);
      made.append(node("div", "caption", caption));
      lines.push(`${caption}:`);
    }
    const cells = node("div", "cells");
    cells.style.width = `${grids.columns.length * pitch.x - GAP}px`;
    cells.style.height = `${grids.rows.length * pitch.y - GAP}px`;
    block.cells.forEach((row, y) => {
      const words = [];
      row.forEach((position, x) => {
        const cell = node("div", "cell");
        cell.setAttribute("aria-hidden", "true");
        cell.style.cssText = `left:${x * pitch.x}px;top:${y * pitch.y}px;width:${widest}px;height:${HEIGHT}px`;
        if (position === null) {
          cell.classList.add("gap");
          cell.textContent = "…";
        } else {
          const element = elementAt(position);
          cell.textContent = element < 0 ? "0" : text(element);
          if (stays(position)) cell.classList.add("still");
          else cell.style.setProperty("--t", shade(state, Math.max(element, 0), count).toFixed(3));
          cell.dataset.element = element;
          shown[side].set(position, cell);
        }
        words.push(cell.textContent);
        cells.append(cell);
      });
      lines.push(words.join(" "));
    });
    if (handles) addHandles(cells, state, grids, block, pitch);
    if (handles && block === grids.blocks[0]) addGrip(cells, state, grids, pitch);
    made.append(cells);
    blocks.append(made);
  }
  if (!grids.blocks.length || !grids.rows.length || !grids.columns.length) {
    blocks.replaceChildren(node("p", "quiet", "no elements"));
  }
  $(`${side}-text`).textContent = `${side}: ${lines.join("; ")}`;
  if (resizing && handles) blocks.querySelector(".grip")?.focus();
  if (focused >= 0) blocks.querySelectorAll(".handle")[focused]?.focus();
}

/** A slider on the edge between two elements. */
function handle(kind, number, across, value, low, high, label, place) {
  const made = node("div", `handle ${across ? "across" : "down"}`);
  made.tabIndex = 0;
  made.dataset.handle = `${kind}-${number}`;
  const say = {
    role: "slider", "aria-label": label, "aria-valuemin": low, "aria-valuemax": high,
    "aria-valuenow": value, "aria-orientation": across ? "horizontal" : "vertical",
  };
  Object.entries(say).forEach(([name, text]) => made.setAttribute(name, text));
  made.title = `${label}: ${value}`;
  made.style.cssText = place;
  made.addEventListener("pointerdown", (event) => grab(event, kind, number, across));
  made.addEventListener("keydown", (event) => {
    const back = state() === "end" ? 1 : -1;
    const step = {
      ArrowLeft: back, ArrowUp: back, ArrowRight: -back, ArrowDown: -back,
      PageUp: 5, PageDown: -5, Home: -Infinity, End: Infinity,
    }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const now = Number(made.getAttribute("aria-valuenow"));
    last.change(kind, number, Math.min(high, Math.max(low, now + step)));
  });
  function state() {
    return kind === "length" ? last.state.align : "start";
  }
  return made;
}

function addHandles(cells, state, grids, block, pitch) {
  const axis = laneAxis(state);
  if (axis < 0 || grids.rows.includes(null) || grids.columns.includes(null)) return;
  const size = state.shape[axis];
  const edge = (at, across) => at * (across ? pitch.x : pitch.y) - GAP / 2 - 11;
  const place = (at, across, index) => {
    const along = `${across ? "left" : "top"}:${edge(at, across)}px;`;
    const rows = across ? ["top", "height", pitch.y, HEIGHT] : ["left", "width", pitch.x, pitch.x - GAP];
    if (index === null) return `${along}${rows[0]}:0;${rows[1]}:100%`;
    return `${along}${rows[0]}:${index * rows[2]}px;${rows[1]}:${rows[3]}px`;
  };
  if (state.op === "segments") {
    const across = axis === grids.axes.columns;
    state.offsets.forEach((offset, number) => {
      if (number === 0 || !(offset >= 0 && offset <= size)) return;
      const low = state.offsets[number - 1];
      const high = Math.min(size, state.offsets[number + 1] ?? size);
      const label = `Offset ${number}, the end of segment ${number - 1}`;
      cells.append(handle("offset", number, across, offset, low, high, label, place(offset, across, null)));
    });
    return;
  }
  for (const { number, at, across } of lanesOf(state, grids, block.lead)) {
    const length = state.lengths[number];
    if (length === undefined || Number.isNaN(length)) continue;
    const drawn = Math.min(size, Math.max(0, length));
    const where = state.align === "end" ? size - drawn : drawn;
    const label = `Length of ${state.op === "sequence" ? "sequence" : "lane"} ${number}`;
    cells.append(handle("length", number, across, length, 0, size, label, place(where, across, at)));
  }
}

/** The corner of the first grid, which changes the sizes of its two axes. */
function addGrip(cells, state, grids, pitch) {
  if (grids.rows.includes(null) || grids.columns.includes(null) || !state.shape.length) return;
  const { rows, columns } = grids.axes;
  const grip = node("button", "grip");
  grip.type = "button";
  const named = rows >= 0 ? `axes ${rows} and ${columns}` : `axis ${columns}`;
  grip.setAttribute("aria-label", `Size of ${named}: drag, or press the arrow keys`);
  grip.title = "Drag to change the shape";
  const resize = (axis, size, most) => {
    const value = Math.min(most, Math.max(1, size));
    if (axis >= 0 && last.state.shape[axis] !== value) last.change("size", axis, value);
  };
  grip.addEventListener("keydown", (event) => {
    const { shape } = last.state;
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") resize(columns, shape[columns] + step, 16);
    else resize(rows, shape[rows] + step, 10);
  });
  grip.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    const box = cells.getBoundingClientRect();
    grip.focus();
    follow((now) => {
      resize(columns, Math.round((now.clientX - box.left) / pitch.x), 16);
      resize(rows, Math.round((now.clientY - box.top) / pitch.y), 10);
    });
  });
  cells.append(grip);
}

/** Calls `move` with the pointer's events until it is released. */
function follow(move) {
  const stop = () => {
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", stop);
    removeEventListener("pointercancel", stop);
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", stop);
  addEventListener("pointercancel", stop);
}

/** Moves a length or an offset with the pointer. */
function grab(event, kind, number, across) {
  event.preventDefault();
  const box = event.currentTarget.parentElement.getBoundingClientRect();
  event.currentTarget.focus();
  const size = last.state.shape[laneAxis(last.state)];
  const pitch = across ? last.widest + GAP : HEIGHT + GAP;
  const move = (now) => {
    const distance = across ? now.clientX - box.left : now.clientY - box.top;
    let at = Math.min(size, Math.max(0, Math.round(distance / pitch)));
    if (kind === "length" && last.state.align === "end") at = size - at;
    if (kind === "offset") {
      const { offsets } = last.state;
      at = Math.min(offsets[number + 1] ?? size, Math.max(offsets[number - 1], at));
    }
    last.change(kind, number, at);
  };
  follow(move);
}

/** Points the arrow down where the panels do not fit side by side. */
function placeArrow() {
  const arrow = document.querySelector(".arrow");
  arrow.classList.remove("down");
  const wrapped = $("after").offsetTop > $("before").offsetTop + 4;
  arrow.classList.toggle("down", wrapped);
  arrow.textContent = wrapped ? "↓" : "→";
}

/** Draws the input alone: while arguments are invalid there is no result. */
export function drawInput(state, text, change) {
  const grids = gridsOf(state);
  remember(state, grids, text, change, null);
  drawSide("before", state, grids, (at) => at, () => false, text, true);
  $("after").classList.add("stale");
  placeArrow();
}

/** Draws both sides. `from` has the origin of each element of the result. */
export function drawCall(state, from, text, change, animated) {
  const grids = gridsOf(state);
  remember(state, grids, text, change, from);
  const moved = new Set();
  from.forEach((origin, at) => {
    if (origin !== at) moved.add(at);
  });
  drawSide("before", state, grids, (at) => at, (at) => !moved.has(at) && from[at] === at && !inside(state, at), text, true);
  drawSide("after", state, grids, (at) => from[at], (at) => from[at] < 0 || (from[at] === at && !inside(state, at)), text, false);
  $("after").classList.remove("stale");
  placeArrow();
  if (animated) play();
}

/** Whether a position is part of what is reversed, also where it is its own mirror image. */
function inside(state, at) {
  const axis = laneAxis(state);
  if (axis < 0) return state.axes.length > 0;
  const index = indexAlong(state.shape, at, axis);
  if (state.op === "segments") return index < state.offsets.at(-1);
  const length = state.lengths[laneNumber(state, at, axis)];
  const size = state.shape[axis];
  return state.align === "end" ? index >= size - length : index < length;
}

function laneNumber(state, at, axis) {
  const { shape } = state;
  if (state.op === "sequence") {
    const batch = state.batch < 0 ? state.batch + shape.length : state.batch;
    return indexAlong(shape, at, batch);
  }
  const inner = shape.slice(axis + 1).reduce((product, size) => product * size, 1);
  return Math.floor(at / (inner * shape[axis])) * inner + (at % inner);
}

function remember(state, grids, text, change, from) {
  let letters = 2;
  for (const block of grids.blocks) {
    for (const row of block?.cells ?? []) {
      for (const at of row) if (at !== null) letters = Math.max(letters, text(at).length);
    }
  }
  const { rows, columns } = grids.axes;
  const named = [rows >= 0 ? `axis ${rows} ↓` : "", columns >= 0 ? `axis ${columns} →` : ""];
  document.querySelectorAll("h3 .axes").forEach((span) => {
    span.textContent = named.filter((name) => name).join("  ");
  });
  last = { state, change, from, widest: Math.max(grids.columns.length > 8 ? 32 : 38, Math.min(letters, 14) * 9 + 14) };
}

/** Moves each element from its place before to its place after. */
export function play() {
  if (!last?.from || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const [at, cell] of shown.after) {
    const origin = shown.before.get(last.from[at]);
    if (!origin) continue;
    const [to, source] = [cell.getBoundingClientRect(), origin.getBoundingClientRect()];
    const delta = `translate(${source.x - to.x}px, ${source.y - to.y}px)`;
    cell.style.zIndex = last.from[at] === at ? 1 : 2;
    cell.animate([{ transform: delta }, { transform: "none" }], {
      duration: DURATION, easing: "cubic-bezier(.3,.7,.2,1)", fill: "backwards",
    });
  }
}

/** Lights an element on both sides while the pointer is on it. */
export function watchPointer() {
  const light = (event) => {
    document.querySelectorAll(".lit").forEach((cell) => cell.classList.remove("lit"));
    const element = event.target.closest?.(".cell")?.dataset.element;
    if (event.type === "pointerleave" || element === undefined || element < 0) return;
    document.querySelectorAll(`.cell[data-element="${element}"]`).forEach((cell) => cell.classList.add("lit"));
  };
  $("panels").addEventListener("pointerover", light);
  $("panels").addEventListener("pointerleave", light);
}
