// Starts headless Chromium, with WebGPU on the software adapter.

import { createRequire } from "node:module";
import { resolve } from "node:path";

/** `playwrightFolder` is the folder of playwright-core. */
export function launch(playwrightFolder) {
  const { chromium } = createRequire(import.meta.url)(resolve(playwrightFolder));
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    args: [
      "--no-sandbox", "--disable-gpu-sandbox", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--enable-unsafe-webgpu",
      "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan",
    ],
  });
}
