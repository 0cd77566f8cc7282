// Tests of the playground in headless Chromium: typing, dragging, keys, copying, dropped files, the
// link, reduced motion, narrow windows. Any message on the console fails.
//
//     node crates/web/tests/playground.mjs PLAYWRIGHT PAGE [SCREENSHOTS]
//
// PLAYWRIGHT is the folder of playwright-core. The page is opened from its file, as a person does.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { launch } from "./chromium.mjs";

const [playwrightFolder, pageFile, screenshots] = process.argv.slice(2);
const address = pathToFileURL(resolve(pageFile)).href;
const browser = await launch(playwrightFolder);

/** A page that fails the test if it says anything on the console, or asks for an address. */
async function open(hash = "", options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 1000 }, ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => complaints.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(file|data|blob):/.test(request.url())) complaints.push(`request: ${request.url()}`);
  });
  await page.goto(address + hash);
  await page.waitForSelector("body[data-ready]", { timeout: 60_000 });
  return { page, async close() {
    assert.deepEqual(complaints, []);
    await context.close();
  } };
}

/** A test on one page. */
const on = (hash, test, options) => async () => {
  const { page, close } = await open(hash, options);
  await test(page);
  await close();
};

/** Drags the middle of an element by so many pixels. */
async function drag(page, selector, right, down) {
  const box = await page.locator(selector).boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + right, y + down, { steps: 8 });
  await page.mouse.up();
}

const texts = (page, side) => page.$$eval(`#${side} .cell`, (cells) => cells.map((cell) => cell.textContent));
const value = (page, id) => page.$eval(`#${id}`, (input) => input.value);
const text = (page, id) => page.$eval(`#${id}`, (found) => found.textContent);
const iota = (count) => Array.from({ length: count }, (_, at) => String(at));

const TESTS = {
  "shows a padded batch at first": on("", async (page) => {
    assert.deepEqual(await texts(page, "before"), iota(24));
    const rows = [[7, 6, 5, 4, 3, 2, 1, 0], [11, 10, 9, 8, 12, 13, 14, 15], [21, 20, 19, 18, 17, 16, 22, 23]];
    assert.deepEqual(await texts(page, "after"), rows.flat().map(String));
    assert.match(await text(page, "run"), /reverse the start of each lane: 24 units of 4 B each/);
    assert.match(await text(page, "run"), /kernel/);
    assert.equal(await text(page, "isa"), "simd128");
  }),

  "a length follows the pointer": on("", async (page) => {
    await drag(page, '[data-handle="length-1"]', 86, 0);
    assert.equal(await value(page, "field-lengths"), "8, 6, 6");
    const after = await texts(page, "after");
    assert.deepEqual(after.slice(8, 16), ["13", "12", "11", "10", "9", "8", "14", "15"]);
  }),

  "a length follows the keys": on("", async (page) => {
    await page.locator('[data-handle="length-2"]').focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    assert.equal(await value(page, "field-lengths"), "8, 4, 4");
    const focused = await page.evaluate(() => document.activeElement.dataset.handle);
    assert.equal(focused, "length-2", "the handle keeps the focus");
    await page.keyboard.press("Home");
    assert.equal(await value(page, "field-lengths"), "8, 4, 0");
    assert.equal(await page.locator('[data-handle="length-2"]').getAttribute("aria-valuenow"), "0");
  }),

  "the shape can be dragged, and changed with the keys": on("", async (page) => {
    await drag(page, ".grip", -86, 41);
    assert.equal(await value(page, "field-shape"), "4, 6");
    assert.match(await value(page, "field-lengths"), /^6, 4, 6, \d$/);
    await page.locator(".grip").focus();
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowRight");
    assert.equal(await value(page, "field-shape"), "3, 7");
    assert.equal(await page.evaluate(() => document.activeElement.className), "grip");
  }),

  "offsets can be dragged, and stay in order": on("#op=segments&shape=12&axis=0&offsets=0,4,6,11&dtype=i32", async (page) => {
    assert.deepEqual(await texts(page, "after"), "3 2 1 0 5 4 10 9 8 7 6 11".split(" "));
    await drag(page, '[data-handle="offset-1"]', 900, 0);
    assert.equal(await value(page, "field-offsets"), "0, 6, 6, 11");
  }),

  "typing errs in the words of the library": on("", async (page) => {
    await page.fill("#field-lengths", "8, 9, 6");
    assert.equal(await text(page, "error"), "ReverseSequence: lengths[1] is 9, outside [0, 8]");
    assert.equal(await page.locator("#field-lengths").getAttribute("aria-invalid"), "true");
    assert.equal(await value(page, "field-lengths"), "8, 9, 6", "what was typed stays");
    await page.selectOption("#field-policy", "clamp");
    assert.equal(await page.locator("#error").isHidden(), true);
    await page.fill("#field-shape", "2, many");
    assert.match(await text(page, "error"), /shape\[1\] is NaN/);
    await page.fill("#field-shape", "2, 5");
    assert.equal((await texts(page, "after")).length, 10);
  }),

  "axes can be switched on and off": on("#op=reverse&shape=2,3&axes=1&dtype=u8", async (page) => {
    assert.deepEqual(await texts(page, "after"), "2 1 0 5 4 3".split(" "));
    await page.click('[data-axis="0"]');
    assert.deepEqual(await texts(page, "after"), "5 4 3 2 1 0".split(" "));
    assert.equal(await value(page, "field-axes"), "0, 1");
    await page.fill("#field-axes", "-1");
    assert.equal(await page.locator('[data-axis="1"]').getAttribute("aria-pressed"), "true");
    await page.fill("#field-axes", "5");
    assert.equal(await text(page, "error"), "Reverse: axes[0] is 5, outside [-2, 1] for a tensor of rank 2");
  }),

  "operators can be chosen with the keys": on("", async (page) => {
    await page.locator('[data-op="sequence"]').focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.locator('[data-op="subsequences"]').getAttribute("aria-checked"), "true");
    assert.match(await text(page, "code"), /reverse_subsequences/);
  }),

  "every operator draws three axes, with a handle for each length": on("", async (page) => {
    for (const [hash, handles] of [
      ["#op=sequence&shape=4,2,3&time=0&batch=1&lengths=4,2", 2],
      ["#op=subsequences&shape=2,3,4&axis=0&lengths=2,2,2,2,1,1,1,1,0,0,0,0", 12],
      ["#op=subsequences&shape=2,3,4&axis=2&lengths=4,3,2,1,0,4", 6],
      ["#op=segments&shape=2,6&axis=1&offsets=0,2,6", 2],
      ["#op=reverse&shape=2,2,2&axes=0,2", 0],
    ]) {
      await page.evaluate((to) => { location.hash = to; }, hash);
      await page.waitForFunction((to) => location.hash.startsWith(to.split("&")[0]), hash);
      assert.equal(await page.locator("#error").isHidden(), true, hash);
      assert.equal(await page.locator(".handle").count(), handles, hash);
    }
  }),

  "code can be copied in every language": on("", async (page) => {
    const words = { Python: "retrograde.reverse_sequence(", Rust: "ReverseSequence::new()\n    .time_axis(1)\n    .batch_axis(0)", JavaScript: "reverseSequence(x, [3, 8]", ONNX: '"ReverseSequence"', OpenVINO: "ops.reverse_sequence(", DirectML: "DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC" };
    for (const [language, word] of Object.entries(words)) {
      await page.click(`[data-language="${language}"]`);
      await page.click("#copy");
      await page.waitForFunction((name) => document.getElementById("copied").textContent === `${name} copied`, language);
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      assert.ok(copied.includes(word), `${language}: ${copied}`);
      assert.equal(copied, await text(page, "code"));
    }
    await page.click("#copy-link");
    await page.waitForFunction(() => document.getElementById("copied").textContent === "Link copied");
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(link, /#op=sequence&shape=3,8&dtype=f32&time=1&batch=0&lengths=8,4,6/);
  }, { permissions: ["clipboard-read", "clipboard-write"] }),

  async "WebGPU gives the same bytes"() {
    const states = [
      "#op=reverse&shape=3,5&axes=1&dtype=f32", "#op=reverse&shape=3,5&axes=0,1&dtype=u8",
      "#op=reverse&shape=7,9&axes=1&dtype=u4", "#op=reverse&shape=7,9&axes=1&dtype=u1",
      "#op=sequence&shape=3,8&dtype=f16&time=1&batch=0&lengths=8,4,6",
      "#op=sequence&shape=5,3,7&dtype=i64&time=0&batch=1&lengths=5,2,0&tail=zero",
      "#op=sequence&shape=3,9&dtype=u8&time=1&batch=0&lengths=9,4,6&align=end",
      "#op=subsequences&shape=5,6&dtype=c128&axis=0&lengths=5,4,3,2,1,0",
      "#op=segments&shape=40,3&dtype=i16&axis=0&offsets=0,7,7,30", "#op=reverse&shape=0,4&axes=1",
    ];
    for (const hash of states) {
      const { page, close } = await open(hash);
      if (!(await page.evaluate(async () => (await navigator.gpu?.requestAdapter()) != null))) {
        console.log("skipped WebGPU: Chromium offers no adapter here");
        return close();
      }
      await page.click("#run-gpu");
      await page.waitForFunction(() => !/^(running|$)/.test(document.getElementById("gpu").textContent), null, { timeout: 120_000 });
      assert.match(await text(page, "gpu"), /the same \d+ bytes, out of place and in place$/, hash);
      await close();
    }
  },

  async "a link keeps the state"() {
    const first = await open();
    await first.page.fill("#field-lengths", "1, 2, 3");
    await first.page.selectOption("#field-align", "end");
    const hash = await first.page.evaluate(() => location.hash);
    await first.close();
    const { page, close } = await open(hash);
    assert.equal(await value(page, "field-lengths"), "1, 2, 3");
    assert.equal(await value(page, "field-align"), "end");
    assert.deepEqual((await texts(page, "after")).slice(16), "16 17 18 19 20 23 22 21".split(" "));
    await close();
  },

  "a .npy file is reversed and saved": on("", async (page) => {
    const data = Buffer.from(Float32Array.of(0.5, 1.5, -2, 1e10, 5, 6).buffer);
    await drop(page, "x.npy", "", npy("<f4", [2, 3], data));
    await page.waitForFunction(() => document.getElementById("file-name").textContent.includes("x.npy: <f4 [2, 3]"));
    assert.deepEqual(await texts(page, "after"), ["-2", "1.5", "0.5", "6", "5", "10000000000"]);
    const [saved] = await Promise.all([page.waitForEvent("download"), page.click("#save-file")]);
    assert.equal(saved.suggestedFilename(), "x.reversed.npy");
    const bytes = readFileSync(await saved.path());
    assert.deepEqual([...new Float32Array(Uint8Array.from(bytes.subarray(-24)).buffer)], [-2, 1.5, 0.5, 6, 5, 1e10]);
    assert.match(await text(page, "code"), /^x = np.load\("x.npy"\)$/m);
    await drop(page, "bad.npy", "", Buffer.from("not an array"));
    await page.waitForFunction(() => document.getElementById("file-name").textContent.startsWith("bad.npy: not a .npy file"));
    // What was there stays, and can be saved again.
    assert.match(await text(page, "file-name"), /; x.npy stays$/);
    const [again] = await Promise.all([page.waitForEvent("download"), page.click("#save-file")]);
    assert.deepEqual(readFileSync(await again.path()), bytes);
  }),

  "without a file, one that is not supported leaves nothing to save": on("", async (page) => {
    await drop(page, "notes.txt", "text/plain", Buffer.from("not an array"));
    await page.waitForFunction(() => document.getElementById("file-name").textContent.startsWith("notes.txt: not a .npy file"));
    assert.equal(await page.locator("#save-file").isVisible(), false);
    assert.equal((await texts(page, "after")).length, 24);
  }),

  "a file keeps the operator, and its arguments as far as they fit": on("#op=segments&shape=12&axis=0&offsets=0,4,6,11", async (page) => {
    await drop(page, "rows.npy", "", npy("<i2", [8, 2], Buffer.from(Int16Array.from({ length: 16 }, (_, at) => at).buffer)));
    await page.waitForFunction(() => document.getElementById("file-name").textContent.includes("rows.npy"));
    assert.equal(await page.locator('[data-op="segments"]').getAttribute("aria-checked"), "true");
    assert.equal(await value(page, "field-offsets"), "0, 4, 6");
    assert.deepEqual(await texts(page, "after"), "6 7 4 5 2 3 0 1 10 11 8 9 12 13 14 15".split(" "));
    assert.equal(await page.locator("#error").isHidden(), true);
    await page.click('[data-op="sequence"]');
    await drop(page, "line.npy", "", npy("<i2", [3], Buffer.from(Int16Array.of(1, 2, 3).buffer)));
    await page.waitForFunction(() => document.getElementById("file-name").textContent.includes("line.npy"));
    assert.match(await text(page, "file-name"), /ReverseSequence does not fit this shape here, so it is Reverse$/);
    assert.deepEqual(await texts(page, "after"), ["3", "2", "1"]);
  }),

  "an array of floats that is an image is drawn as one": on("#op=reverse&shape=4,6&axes=1", async (page) => {
    const [height, width] = [40, 60];
    const data = Float32Array.from({ length: height * width * 3 }, (_, at) => (at % 3 === 0 ? (Math.floor(at / 3) % width) / (width - 1) : 0));
    await drop(page, "red.npy", "", npy("<f4", [height, width, 3], Buffer.from(data.buffer)));
    await page.waitForSelector("#after canvas");
    assert.equal(await value(page, "field-axes"), "1", "no channel");
    const row = (side) => page.$eval(`#${side} canvas`, (canvas) => [...canvas.getContext("2d").getImageData(0, 20, 60, 1).data]);
    const [before, after] = [await row("before"), await row("after")];
    assert.deepEqual(before.slice(0, 4), [0, 0, 0, 255]);
    assert.deepEqual(after.slice(0, 4), [255, 0, 0, 255]);
    assert.deepEqual(after.slice(-4), before.slice(0, 4));
  }),

  "an image is mirrored": on("", async (page) => {
    const png = await page.evaluate(() => {
      const canvas = Object.assign(document.createElement("canvas"), { width: 4, height: 2 });
      const context = canvas.getContext("2d");
      context.fillStyle = "#ff0000";
      context.fillRect(0, 0, 1, 2);
      return canvas.toDataURL("image/png").split(",")[1];
    });
    await drop(page, "red.png", "image/png", Buffer.from(png, "base64"));
    await page.waitForSelector("#after canvas");
    const row = await page.$eval("#after canvas", (canvas) => [...canvas.getContext("2d").getImageData(0, 0, 4, 1).data]);
    assert.deepEqual(row, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 255]);
    const [saved] = await Promise.all([page.waitForEvent("download"), page.click("#save-file")]);
    assert.equal(saved.suggestedFilename(), "red.reversed.png");
    await page.click("#close-file");
    assert.equal((await texts(page, "after")).length, 24);
  }),

  async "elements move, unless motion is to be reduced"() {
    for (const [reducedMotion, moves] of [["no-preference", true], ["reduce", false]]) {
      const { page, close } = await open("", { reducedMotion });
      const running = await page.evaluate(() => {
        document.getElementById("play").click();
        return document.getAnimations().length;
      });
      assert.equal(running > 0, moves, reducedMotion);
      await close();
    }
  },

  "the page has names and roles for a screen reader": on("", async (page) => {
    const nameless = await page.$$eval("button, input, select, [role=slider]", (all) => all.filter((one) => {
      const label = one.closest("label")?.textContent ?? (one.id && document.querySelector(`label[for="${one.id}"]`)?.textContent);
      return !(one.getAttribute("aria-label") || one.textContent.trim() || label?.trim());
    }).map((one) => one.outerHTML));
    assert.deepEqual(nameless, []);
    assert.match(await text(page, "after-text"), /^after: 7 6 5 4 3 2 1 0; 11 10 9 8 12/);
    assert.equal(await page.$eval("#error", (error) => error.getAttribute("role")), "alert");
    assert.match(await text(page, "summary"), /^\d+ of 24 elements move$/);
  }),

  "the page fits a narrow window": on("", async (page) => {
    const [inner, scroll] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
    assert.ok(scroll <= inner, `${scroll} > ${inner}`);
  }, { viewport: { width: 390, height: 800 } }),
};

/** An .npy file. */
function npy(descr, shape, data) {
  const header = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape.join(", ")},), }`.padEnd(117) + "\n";
  return Buffer.concat([Buffer.from("\x93NUMPY\x01\x00", "latin1"), Buffer.from([header.length, 0]), Buffer.from(header), data]);
}

/** Drops a file on the page. */
async function drop(page, name, type, bytes) {
  const transfer = await page.evaluateHandle(([fileName, fileType, base64]) => {
    const transferred = new DataTransfer();
    const content = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    transferred.items.add(new File([content], fileName, { type: fileType }));
    return transferred;
  }, [name, type, bytes.toString("base64")]);
  await page.dispatchEvent("#drop", "drop", { dataTransfer: transfer });
}

async function takeScreenshots() {
  mkdirSync(screenshots, { recursive: true });
  for (const [name, hash, colorScheme, viewport] of [
    ["sequence", "", "light", { width: 1180, height: 980 }],
    ["segments", "#op=segments&shape=2,12&axis=1&offsets=0,4,6,11&dtype=u4", "dark", { width: 1180, height: 980 }],
    ["error", "#op=sequence&shape=3,8&dtype=f32&time=1&batch=0&lengths=8,9,6", "light", { width: 1180, height: 700 }],
    ["reverse", "#op=reverse&shape=2,3,4&axes=0,2&dtype=u8", "light", { width: 1180, height: 980 }],
    ["columns", "#op=subsequences&shape=5,6&axis=0&lengths=5,4,3,2,1,0&policy=clamp", "light", { width: 1180, height: 980 }],
    ["narrow", "", "light", { width: 390, height: 1400 }],
  ]) {
    const { page, close } = await open(hash, { colorScheme, viewport, reducedMotion: "reduce" });
    await page.screenshot({ path: resolve(screenshots, `playground-${name}.png`) });
    await close();
  }
}

let failed = 0;
for (const [name, test] of Object.entries(TESTS)) {
  try {
    await test();
    console.log(`passed  ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
if (screenshots) await takeScreenshots();
await browser.close();
console.log(failed ? `${failed} of ${Object.keys(TESTS).length} tests failed` : `all ${Object.keys(TESTS).length} tests of the playground passed`);
process.exit(failed ? 1 : 0);
