// The page: one state, drawn again after every change.

import { init, instructions, version } from "../package/index.js";
import { makeControls, markField, showControls } from "./controls.js";
import { callOf, elementCount, origins } from "./engine.js";
import { compareOnDevice } from "./device.js";
import { openFile, save } from "./files.js";
import { LANGUAGES, snippet } from "./snippets.js";
import { drawCall, drawInput, play, watchPointer } from "./stage.js";
import { fromLink, initialState, OPERATORS, refit, takeShape, toLink } from "./state.js";

const $ = (id) => document.getElementById(id);
const state = initialState();
let language = LANGUAGES[0][0];
let file;

/** The text of an element: of the file, or its position. */
function text(at) {
  return file?.text ? file.text(at) : String(at);
}

function showError(message) {
  $("error").hidden = message === undefined;
  // Setting the same text again would announce it again.
  if ($("error").textContent !== (message ?? "")) $("error").textContent = message ?? "";
  markField(message);
}

function bytes(count) {
  const units = ["bytes", "KB", "MB", "GB"];
  let unit = 0;
  while (count >= 10000 && unit < 3) [count, unit] = [count / 1000, unit + 1];
  return `${Math.round(count).toLocaleString("en")} ${units[unit]}`;
}

/** What the library says about the call: plan, kernel, bytes. */
function showPlan(call) {
  const row = (name, value, tag) => {
    const [term, detail] = [document.createElement("dt"), document.createElement("dd")];
    if (tag === "pre") [term, detail].forEach((one) => one.classList.add("wide"));
    term.textContent = name;
    const inner = document.createElement(tag);
    inner.textContent = value;
    detail.append(inner);
    return [term, detail];
  };
  const rows = [
    row("plan", call.plan(), "pre"),
    row("kernel", call.kernel(), "span"),
    row("on a GPU", call.gpu_kernel(), "span"),
    row("moves", `${bytes(call.bytes_moved() / 2)} read, ${bytes(call.bytes_moved() / 2)} written`, "span"),
  ];
  $("run").replaceChildren(...rows.flat());
}

async function runOnDevice() {
  $("gpu").textContent = "running …";
  try {
    $("gpu").textContent = await compareOnDevice(state);
  } catch (error) {
    $("gpu").textContent = error.message;
  }
}

function showPicture(call) {
  const count = elementCount(state.shape);
  const drawable = count <= 4096 && !isDrawnAsImage();
  $("picture").hidden = !drawable;
  if (!drawable) return;
  const elements = Array.from({ length: count }, (_, at) => text(at)).join("\n");
  $("picture-text").textContent = call.picture(elements, file?.name ?? "x", "text");
  $("save-svg").onclick = () => {
    const again = callOf(state);
    save(new Blob([again.picture(elements, file?.name ?? "x", "svg")], { type: "image/svg+xml" }), "retrograde.svg");
    again.free();
  };
}

function change(kind, number, value) {
  if (kind === "size") {
    state.shape[number] = value;
    refit(state);
    update({ quick: true });
    return;
  }
  const list = kind === "length" ? state.lengths : state.offsets;
  if (list[number] === value) return;
  list[number] = value;
  update({ quick: true });
}

function canvasIn(side) {
  const blocks = $(side).querySelector(".blocks");
  let canvas = blocks.querySelector("canvas");
  if (!canvas) {
    canvas = document.createElement("canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `the image ${side} the call`);
    blocks.replaceChildren(canvas);
  }
  return canvas;
}

/** Whether pixels are drawn instead of cells: of images, and of arrays that are one and too large for cells. */
function isDrawnAsImage() {
  return file?.kind === "image" || (file?.drawInput !== undefined && elementCount(state.shape) > 4096);
}

/** Draws the stage, and says how much moves. */
function showStage(animated) {
  if (isDrawnAsImage()) {
    file.drawInput(canvasIn("before"));
    file.drawResult(state, canvasIn("after"));
    $("after").classList.remove("stale");
    $("summary").textContent = `${file.name}: ${file.about}`;
    return;
  }
  const from = origins(state);
  if (!from) {
    $("summary").textContent = `${elementCount(state.shape).toLocaleString("en")} elements: too many to draw, ready to save`;
    document.querySelectorAll(".blocks").forEach((blocks) => blocks.replaceChildren());
    return;
  }
  drawCall(state, from, text, change, animated);
  const moved = from.reduce((sum, origin, at) => sum + (origin !== at), 0);
  const zeros = from.reduce((sum, origin) => sum + (origin < 0), 0);
  const zeroed = zeros ? `, ${zeros} become zero` : "";
  $("summary").textContent = `${moved - zeros} of ${from.length} elements move${zeroed}`;
}

function showCode() {
  const { code, note } = snippet(language, state, file);
  $("code").textContent = code;
  $("code").parentElement.hidden = code === "";
  $("copy").disabled = code === "";
  $("code-note").textContent = note;
  for (const tab of $("tabs").children) {
    const selected = tab.dataset.language === language;
    tab.setAttribute("aria-selected", selected);
    tab.tabIndex = selected ? 0 : -1;
  }
}

function showHint() {
  const draggable = state.op === "reverse" ? "Drag the corner of the grid to change the shape." : state.op === "segments"
    ? "Drag the orange marks to move the offsets, or focus one and press the arrow keys."
    : "Drag the orange marks to change the lengths, or focus one and press the arrow keys.";
  const isShown = file === undefined || (state.op !== "reverse" && file.kind === "npy");
  $("hint").textContent = isShown ? draggable : "";
}

/** Draws everything again. */
function update({ from, quick, preset } = {}) {
  if (preset) closeFile();
  showControls(from, file !== undefined);
  $("stage").classList.toggle("fixed", file !== undefined);
  $("copied").textContent = "";
  $("gpu").textContent = "";
  let call;
  try {
    call = callOf(state, file?.dtype ?? state.dtype);
    call.check();
    showError(undefined);
    showPlan(call);
    showPicture(call);
    showStage(!quick);
    $("save-file").hidden = file === undefined;
  } catch (error) {
    showError(error.message);
    $("summary").textContent = "";
    $("run").replaceChildren();
    $("picture").hidden = true;
    $("save-file").hidden = true;
    $("after").classList.add("stale");
    const drawable = state.shape.every((size) => Number.isInteger(size) && size >= 0) && elementCount(state.shape) <= 1 << 20;
    if (drawable && !isDrawnAsImage()) drawInput(state, text, change);
  } finally {
    call?.free();
  }
  showCode();
  showHint();
  history.replaceState(null, "", toLink(state));
}

function closeFile() {
  file = undefined;
  $("file").value = "";
  $("file-name").textContent = "";
  $("close-file").hidden = true;
}

async function take(chosen) {
  let opened;
  try {
    opened = await openFile(chosen);
  } catch (error) {
    // What was there stays, and can still be saved.
    const kept = file ? `; ${file.name} stays` : "";
    $("file-name").textContent = `${chosen.name}: ${error.message ?? error}${kept}`;
    return;
  }
  file = opened;
  state.dtype = file.dtype;
  const refused = takeShape(state, file.shape);
  const instead = refused ? `; ${refused} does not fit this shape here, so it is ${OPERATORS.reverse.name}` : "";
  $("file-name").textContent = `${file.name}: ${file.about}${instead}`;
  $("close-file").hidden = false;
  update();
  $("stage").scrollIntoView({ block: "nearest" });
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages from a file may have no clipboard.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  $("copied").textContent = `${what} copied`;
}

function makeTabs() {
  const names = LANGUAGES.map(([name]) => name);
  const choose = (name) => {
    language = name;
    showCode();
    $("tabs").querySelector(`[data-language="${name}"]`).focus();
  };
  for (const name of names) {
    const tab = document.createElement("button");
    Object.assign(tab, { type: "button", textContent: name, onclick: () => choose(name) });
    tab.dataset.language = name;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", "code-panel");
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) choose(names[(names.indexOf(name) + step + names.length) % names.length]);
    });
    $("tabs").append(tab);
  }
}

function makeDrop() {
  const drop = $("drop");
  $("file").addEventListener("change", (event) => event.target.files[0] && take(event.target.files[0]));
  for (const name of ["dragenter", "dragover"]) {
    document.addEventListener(name, (event) => {
      if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  document.addEventListener("dragleave", (event) => event.relatedTarget ?? drop.classList.remove("over"));
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  });
  $("save-file").addEventListener("click", async () => save(await file.result(state), file.savedAs));
  $("close-file").addEventListener("click", () => {
    closeFile();
    state.dtype = "f32";
    takeShape(state, [4, 6]);
    update();
  });
}

/** Starts the page with the module that it carries. */
export async function startPage(module) {
  await init(module);
  $("version").textContent = version();
  $("isa").textContent = instructions();
  makeControls(state, update);
  makeTabs();
  makeDrop();
  watchPointer();
  $("play").addEventListener("click", play);
  $("run-gpu").addEventListener("click", runOnDevice);
  $("copy").addEventListener("click", () => copy($("code").textContent, language));
  $("copy-link").addEventListener("click", () => copy(location.href, "Link"));
  addEventListener("hashchange", () => {
    Object.assign(state, fromLink(location.hash));
    update();
  });
  update();
  document.body.dataset.ready = "true";
}
