// Opens every page of the book in headless Chromium: each link and image must lead to a file in it, and each fragment
// to an element. Links to other sites are only counted.
//
//     node scripts/parts/release/book.mjs PLAYWRIGHT FOLDER

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { launch } from "../../../crates/web/tests/chromium.mjs";

const [playwright, folder] = process.argv.slice(2);
const pages = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".html"));
const browser = await launch(playwright);
const tab = await browser.newPage();
const wrong = [];
tab.on("pageerror", (error) => wrong.push(`${tab.url()}: ${error.message}`));

const found = new Map();
for (const name of pages) {
  const url = pathToFileURL(join(folder, name)).href;
  await tab.goto(url);
  found.set(url, await tab.evaluate(async () => {
    const images = [...document.images];
    await Promise.allSettled(images.map((image) => image.decode()));
    return {
      ids: [...document.querySelectorAll("[id], a[name]")].map((element) => element.id || element.name),
      links: [...document.links].map((link) => link.href),
      broken: images.filter((image) => !image.naturalWidth).map((image) => image.src),
      images: images.length,
    };
  }));
}

let links = 0;
let images = 0;
const outside = new Set();
for (const [url, page] of found) {
  images += page.images;
  wrong.push(...page.broken.map((image) => `${url}: no image ${image}`));
  for (const link of page.links) {
    if (!link.startsWith("file:")) {
      outside.add(link);
      continue;
    }
    links += 1;
    const [target, fragment] = link.split("#");
    const path = fileURLToPath(target);
    if (!existsSync(path)) wrong.push(`${url}: ${link} leads nowhere`);
    else if (statSync(path).isDirectory()) wrong.push(`${url}: ${link} is a folder`);
    // That of the playground is its state.
    else if (fragment && !path.endsWith("playground/index.html") && found.has(target) && !found.get(target).ids.includes(decodeURIComponent(fragment)))
      wrong.push(`${url}: ${link} has no such heading`);
  }
}
await browser.close();
for (const line of wrong) console.error(line);
if (wrong.length || !links || !images) process.exit(1);
console.log(`${pages.length} pages opened in Chromium: ${links} links and ${images} images lead somewhere, ${outside.size} addresses elsewhere not tried`);
