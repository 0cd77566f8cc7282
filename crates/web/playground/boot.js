// Starts the page with the WebAssembly module that is part of it, compressed.

import { startPage } from "./main.js";

const MODULE = "/* MODULE */";

const packed = Uint8Array.from(atob(MODULE), (letter) => letter.charCodeAt(0));
const bytes = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
startPage(new Response(bytes).arrayBuffer());
