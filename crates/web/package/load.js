// Starts the WebAssembly module, once.

import { initSync } from "./retrograde_web.js";

let started = false;
let starting;

/** The bytes of the module beside this file. */
async function ownBytes() {
  const url = new URL("./retrograde_web_bg.wasm", import.meta.url);
  if (url.protocol === "file:" && globalThis.process?.versions?.node) {
    const { readFile } = await import("node:fs/promises");
    return readFile(url);
  }
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`retrograde: ${url} could not be loaded: ${answer.status}`);
  return answer.arrayBuffer();
}

async function start(source) {
  const module = source instanceof WebAssembly.Module
    ? source
    : await WebAssembly.compile(await (source ?? ownBytes()));
  initSync({ module });
  started = true;
}

/** Loads and starts the module. Further calls return the first promise. */
export function init(source) {
  starting ??= start(source).catch((error) => {
    starting = undefined;
    throw error;
  });
  return starting;
}

/** Refuses a call before the module runs. */
export function ensureStarted() {
  if (!started) throw new Error("retrograde: call `await init()` once before this function");
}
