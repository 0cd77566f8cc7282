// The form: fields for the arguments that the chosen operator has.

import { axisOf, numbersIn, OPERATORS, PRESETS, refit, TYPES } from "./state.js";

const $ = (id) => document.getElementById(id);
let state;
let changed;

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function field(label, input) {
  return element("label", { class: "field" }, label, input);
}

/** A field for a list of numbers. `fits` adapts other arguments to it. */
function listField(label, key, fits) {
  const input = element("input", {
    id: `field-${key}`, inputmode: "text", spellcheck: "false", "aria-describedby": "error",
    oninput: (event) => {
      state[key] = numbersIn(event.target.value);
      if (fits) refit(state);
      changed({ from: input });
    },
  });
  return field(label, input);
}

function numberField(label, key) {
  return field(label, element("input", {
    id: `field-${key}`, type: "number", style: "--ch:4",
    oninput: (event) => {
      state[key] = event.target.value === "" ? NaN : Number(event.target.value);
      refit(state);
      changed({ from: event.target });
    },
  }));
}

function choiceField(label, key, values) {
  const select = element("select", {
    id: `field-${key}`,
    onchange: (event) => {
      state[key] = event.target.value;
      changed({ from: event.target });
    },
  }, ...values.map((value) => element("option", { value }, value)));
  return field(label, select);
}

/** Buttons for the axes of Reverse, beside the field where they can be typed. */
function axisToggles() {
  return element("div", { class: "field" }, element("span", { id: "toggle-label" }, "Reverse axis"),
    element("div", { class: "toggles", id: "toggles", role: "group", "aria-labelledby": "toggle-label" }));
}

function fillToggles() {
  const box = $("toggles");
  if (!box) return;
  const rank = state.shape.length;
  const on = new Set(state.axes.map((axis) => axisOf(axis, rank)));
  const focused = document.activeElement?.dataset?.axis;
  box.replaceChildren(...state.shape.map((_, axis) => element("button", {
    type: "button", "data-axis": axis, "aria-pressed": on.has(axis), "aria-label": `axis ${axis}`,
    onclick: () => {
      const others = state.axes.filter((one) => axisOf(one, rank) !== axis);
      state.axes = on.has(axis) ? others : [...others, axis].sort((a, b) => a - b);
      changed({});
    },
  }, String(axis))));
  if (focused !== undefined) box.querySelector(`[data-axis="${focused}"]`)?.focus();
}

function build() {
  const common = [listField("Shape", "shape", true), choiceField("Element type", "dtype", TYPES)];
  const padding = [
    choiceField("Length too long", "policy", ["strict", "clamp"]),
    choiceField("Sequences at", "align", ["start", "end"]),
    choiceField("Padding", "tail", ["keep", "zero"]),
  ];
  const own = {
    reverse: () => [axisToggles(), listField("Axes", "axes")],
    sequence: () => [numberField("Time axis", "time"), numberField("Batch axis", "batch"), listField("Lengths", "lengths"), ...padding],
    subsequences: () => [numberField("Axis", "axis"), listField("Lengths", "lengths"), ...padding],
    segments: () => [numberField("Axis", "axis"), listField("Offsets", "offsets")],
  }[state.op]();
  $("controls").replaceChildren(...common, ...own);
  $("controls").dataset.fields = state.op;
}

/** Shows the state in the form. The field that a person types into keeps its text. */
export function showControls(from, fixed) {
  if ($("controls").dataset.fields !== state.op) build();
  fillToggles();
  for (const key of ["shape", "axes", "lengths", "offsets", "time", "batch", "axis", "dtype", "policy", "align", "tail"]) {
    const input = $(`field-${key}`);
    if (!input || input === from) continue;
    const value = Array.isArray(state[key]) ? state[key].join(", ") : String(state[key]);
    if (key === "dtype" && ![...input.options].some((option) => option.value === value)) {
      input.append(element("option", { value }, value));
    }
    input.value = value;
  }
  for (const key of ["shape", "axes", "lengths", "offsets"]) {
    const input = $(`field-${key}`);
    input?.style.setProperty("--ch", Math.min(44, Math.max(7, input.value.length + 1)));
  }
  for (const key of ["shape", "dtype"]) $(`field-${key}`).disabled = fixed;
  for (const button of $("operators").children) {
    const checked = button.dataset.op === state.op;
    button.setAttribute("aria-checked", checked);
    button.tabIndex = checked ? 0 : -1;
  }
  $("about").textContent = OPERATORS[state.op].about;
}

/** Marks the field that an error names. */
export function markField(message) {
  const word = /: (shape|axes|lengths|offsets|time_axis|batch_axis|axis)\b/.exec(message ?? "")?.[1];
  const key = { time_axis: "time", batch_axis: "batch" }[word] ?? word;
  for (const input of $("controls").querySelectorAll("input")) {
    const wrong = message !== undefined && input.id === `field-${key}`;
    if (wrong) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }
}

/** Makes the form. `onChange` is called after each change of the state. */
export function makeControls(theState, onChange) {
  [state, changed] = [theState, onChange];
  const names = Object.keys(OPERATORS);
  const choose = (op) => {
    state.op = op;
    refit(state);
    changed({});
    $("operators").querySelector(`[data-op="${op}"]`).focus();
  };
  $("operators").append(...names.map((op) => element("button", {
    type: "button", role: "radio", "data-op": op, onclick: () => choose(op),
    onkeydown: (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      choose(names[(names.indexOf(op) + step + names.length) % names.length]);
    },
  }, element("b", {}, OPERATORS[op].name), element("span", {}, OPERATORS[op].brief))));
  $("presets").append(...PRESETS.map(([label, preset]) => element("button", {
    type: "button",
    onclick: () => {
      Object.assign(state, structuredClone(preset));
      changed({ preset: true });
    },
  }, label)));
  $("controls").addEventListener("submit", (event) => event.preventDefault());
}
