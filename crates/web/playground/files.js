// Files that a person drops: .npy arrays and images, their elements as text, and the result to save.

import { NpyFile } from "../package/index.js";
import { runOn } from "./engine.js";
import { isImage } from "./state.js";

/** What is left of a large image on the page. The file that is saved has all of it. */
const PREVIEW = 460;

function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return exponent ? sign * 2 ** (exponent - 15) * (1 + fraction / 1024) : sign * 2 ** -24 * fraction;
}

const short = (number) => String(Math.abs(number) >= 1e5 ? Number(number.toPrecision(5)) : Number(number.toPrecision(6)));

/** How to read an element of each type from a DataView. */
const READ = {
  bool: (v, at) => (v.getUint8(at) ? "true" : "false"),
  u8: (v, at) => v.getUint8(at), i8: (v, at) => v.getInt8(at),
  u16: (v, at, l) => v.getUint16(at, l), i16: (v, at, l) => v.getInt16(at, l),
  u32: (v, at, l) => v.getUint32(at, l), i32: (v, at, l) => v.getInt32(at, l),
  u64: (v, at, l) => v.getBigUint64(at, l), i64: (v, at, l) => v.getBigInt64(at, l),
  f16: (v, at, l) => short(half(v.getUint16(at, l))),
  f32: (v, at, l) => short(v.getFloat32(at, l)), f64: (v, at, l) => short(v.getFloat64(at, l)),
};

/** The text of elements: numbers, strings of characters, and bytes of everything else. */
function textOf(bytes, count, dtype, descr, bigEndian) {
  const width = count ? bytes.byteLength / count : 1;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = READ[dtype];
  if (read) return (at) => String(read(view, at * width, !bigEndian));
  if (/^[<>|=]?U/.test(descr)) {
    return (at) => {
      const points = [];
      for (let byte = at * width; byte < (at + 1) * width; byte += 4) points.push(view.getUint32(byte, !bigEndian));
      return String.fromCodePoint(...points.filter((point) => point > 0 && point < 0x110000));
    };
  }
  if (/^[<>|=]?S/.test(descr)) {
    return (at) => new TextDecoder().decode(bytes.slice(at * width, (at + 1) * width)).replace(/\0+$/, "");
  }
  return (at) => [...bytes.slice(at * width, (at + 1) * width)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Draws pixels, as large as there is room on the page. */
function drawPixels(pixels, [height, width], target) {
  [target.width, target.height] = [width, height];
  target.style.width = `${Math.min(PREVIEW, width)}px`;
  target.getContext("2d").putImageData(new ImageData(pixels, width, height), 0, 0);
}

/** How to draw an array that has the shape of an image and elements that are brightnesses; nothing for others. */
function pixelsOf(bytes, shape, dtype, bigEndian) {
  const read = READ[dtype];
  if (!isImage(shape) || !["u8", "u16", "f16", "f32", "f64"].includes(dtype)) return {};
  const count = shape.reduce((product, size) => product * size, 1);
  const numbers = (data) => {
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    const width = data.byteLength / count;
    return Float64Array.from({ length: count }, (_, at) => Number(read(view, at * width, !bigEndian)));
  };
  // Floats from 0 to 1, bytes, or whatever lies between the least and the largest.
  let [low, high] = [0, dtype === "u8" ? 255 : 1];
  if (dtype !== "u8") {
    for (const number of numbers(bytes)) if (Number.isFinite(number)) [low, high] = [Math.min(low, number), Math.max(high, number)];
  }
  const draw = (data, target) => {
    const found = numbers(data);
    const channels = shape[2] ?? 1;
    const bright = (at) => ((found[at] - low) / (high - low)) * 255;
    const pixels = new Uint8ClampedArray(shape[0] * shape[1] * 4);
    for (let pixel = 0; pixel < shape[0] * shape[1]; pixel++) {
      for (let part = 0; part < 4; part++) {
        const own = part === 3 ? channels === 4 : true;
        pixels[4 * pixel + part] = own ? bright(pixel * channels + (channels < 3 ? 0 : part)) : 255;
      }
    }
    drawPixels(pixels, shape, target);
  };
  return {
    drawInput: (target) => draw(bytes, target),
    drawResult: (state, target) => draw(runOn(state, bytes, dtype), target),
  };
}

async function openNpy(file) {
  const npy = NpyFile.parse(new Uint8Array(await file.arrayBuffer()));
  const [bytes, shape, dtype] = [npy.data(), Array.from(npy.shape()), npy.dtype()];
  const count = shape.reduce((product, size) => product * size, 1);
  return {
    name: file.name, kind: "npy", shape, dtype, about: `${npy.descr()} [${shape.join(", ")}]`,
    text: textOf(bytes, count, dtype, npy.descr(), npy.big_endian()),
    ...pixelsOf(bytes, shape, dtype, npy.big_endian()),
    result(state) {
      const data = runOn(state, bytes, dtype);
      return new Blob([npy.with_data(data)], { type: "application/octet-stream" });
    },
    savedAs: file.name.replace(/(\.npy)?$/i, ".reversed.npy"),
  };
}

async function openImage(file) {
  const bitmap = await createImageBitmap(file);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  const shape = [canvas.height, canvas.width, 4];
  const draw = (pixels, target) => drawPixels(pixels, shape, target);
  return {
    name: file.name, kind: "image", shape, dtype: "u8",
    about: `u8 [${shape.join(", ")}]: rows, columns, and red, green, blue, alpha`,
    drawInput: (target) => draw(data, target),
    drawResult: (state, target) => draw(runOn(state, data, "u8"), target),
    result(state) {
      const made = document.createElement("canvas");
      draw(runOn(state, data, "u8"), made);
      return new Promise((done) => made.toBlob(done, "image/png"));
    },
    savedAs: file.name.replace(/(\.\w+)?$/, ".reversed.png"),
  };
}

/** Opens a file. Throws in the words of the library, or of the browser for images. */
export async function openFile(file) {
  if (file.type.startsWith("image/")) return openImage(file);
  return openNpy(file);
}

export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
