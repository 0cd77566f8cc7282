// Runs the conformance suite, compiled for WASI, in Node.
//
//     node crates/web/tests/suite.mjs MODULE [ARGUMENT...]

import { readFile } from "node:fs/promises";
import { WASI } from "node:wasi";

const [path, ...given] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: ["retrograde-conformance", ...given], returnOnExit: true });
const module = await WebAssembly.compile(await readFile(path));
const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
process.exitCode = wasi.start(instance);
