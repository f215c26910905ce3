// SPDX-License-Identifier: Apache-2.0
// The matrix as a picture, samples ordered by class, with zoom on the classes.
import { h, s, name, short, replace, visible } from "./dom.js";
import { figure } from "./figure.js";
import { sampleName } from "./model.js";
import { few } from "./numbers.js";

const SIZE = 420;
const LEFT = 92;
const TOP = 22;

/** First and last place of every class in the order of the picture. */
function blocksOf(set, portrait) {
  if (!set.labels || set.class_names.length === 0) return [];
  const blocks = set.class_names.map((title, c) => ({ c, title, from: -1, to: -1 }));
  portrait.order.forEach((sample, place) => {
    const block = blocks[set.labels[sample]];
    if (block.from < 0) block.from = place;
    block.to = place + 1;
  });
  return blocks.filter((block) => block.from >= 0);
}

/** Reads values back from the colours of the picture. */
function reader(portrait) {
  const { png, side, colours, low, high } = portrait.picture;
  const levels = new Map(colours.map((colour, i) => [parseInt(colour.slice(1), 16), i]));
  let pixels = null;
  const image = new Image();
  image.onload = () => {
    const canvas = h("canvas", { width: side, height: side });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    pixels = context.getImageData(0, 0, side, side).data;
  };
  image.src = png;
  return (row, column) => {
    if (!pixels) return undefined;
    const at = 4 * (row * side + column);
    if (pixels[at + 3] === 0) return null;
    const level = levels.get((pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2]);
    return level === undefined ? undefined : low + ((high - low) * level) / (colours.length - 1);
  };
}

export function heatmap(set, portrait, index) {
  const n = portrait.order.length;
  const { side, samples_per_pixel: step, low, high, colours } = portrait.picture;
  const blocks = blocksOf(set, portrait);
  const view = { rows: [0, n], columns: [0, n] };
  const valueAt = reader(portrait);
  const clip = `heat-clip-${set.index}-${index}`;
  const image = s("image", { href: portrait.picture.png, preserveAspectRatio: "none", "image-rendering": "pixelated", "clip-path": `url(#${clip})` });
  const marks = s("g", { "aria-hidden": "true" });
  const svg = s(
    "svg",
    { class: "heat", viewBox: `0 0 ${LEFT + SIZE + 2} ${TOP + SIZE + 2}`, width: LEFT + SIZE + 2, tabindex: "0" },
    s("defs", {}, s("clipPath", { id: clip }, s("rect", { x: LEFT, y: TOP, width: SIZE, height: SIZE }))),
    s("rect", { x: LEFT, y: TOP, width: SIZE, height: SIZE, fill: portrait.missing > 0 ? "var(--hole)" : "var(--panel)", stroke: "var(--line)" }),
    image,
    marks
  );
  const readout = h("p", { class: "readout", "aria-live": "off" });
  const rows = selector("rows", "rows");
  const columns = selector("columns", "columns");
  const reset = h("button", { type: "button", onclick: () => show(null, null) }, "whole matrix");

  function selector(title, key) {
    const select = h(
      "select",
      { "aria-label": `zoom: ${title}`, onchange: (event) => show(...(key === "rows" ? [pick(event), columnChoice()] : [rowChoice(), pick(event)])) },
      h("option", { value: "" }, "all classes"),
      blocks.map((block, b) => h("option", { value: b }, short(block.title, 40)))
    );
    return select;
  }
  const pick = (event) => (event.target.value === "" ? null : Number(event.target.value));
  const rowChoice = () => (rows.value === "" ? null : Number(rows.value));
  const columnChoice = () => (columns.value === "" ? null : Number(columns.value));

  function show(row, column) {
    rows.value = row === null ? "" : String(row);
    columns.value = column === null ? "" : String(column);
    view.rows = row === null ? [0, n] : [blocks[row].from, blocks[row].to];
    view.columns = column === null ? [0, n] : [blocks[column].from, blocks[column].to];
    svg.setAttribute("data-zoom", row === null && column === null ? "whole" : `${row ?? "all"} ${column ?? "all"}`);
    draw();
  }
  const across = (place) => LEFT + ((place - view.columns[0]) / (view.columns[1] - view.columns[0])) * SIZE;
  const down = (place) => TOP + ((place - view.rows[0]) / (view.rows[1] - view.rows[0])) * SIZE;

  function draw() {
    const end = side * step;  // the last pixel may reach beyond the last sample
    for (const [key, value] of Object.entries({ x: across(0), y: down(0), width: across(end) - across(0), height: down(end) - down(0) })) {
      image.setAttribute(key, value);
    }
    const lines = [];
    for (const block of blocks) {
      const top = Math.max(down(block.from), TOP);
      const bottom = Math.min(down(block.to), TOP + SIZE);
      if (bottom - top >= 11) {
        lines.push(s("text", { x: LEFT - 6, y: (top + bottom) / 2, dy: "0.32em", "text-anchor": "end", fill: "var(--text)" }, short(block.title, 13)));
      }
      const left = Math.max(across(block.from), LEFT);
      const right = Math.min(across(block.to), LEFT + SIZE);
      const room = Math.floor((right - left) / 7);
      if (right - left >= 26 && room >= Math.min(6, visible(block.title).length)) {
        lines.push(s("text", { x: (left + right) / 2, y: TOP - 6, "text-anchor": "middle", fill: "var(--text)" }, short(block.title, room)));
      }
      if (block.from > view.rows[0] && block.from < view.rows[1]) {
        lines.push(s("line", { x1: LEFT, x2: LEFT + SIZE, y1: top, y2: top, stroke: "#fff", "stroke-opacity": 0.8, "stroke-width": blocks.length > 40 ? 0.3 : 1 }));
      }
      if (block.from > view.columns[0] && block.from < view.columns[1]) {
        lines.push(s("line", { x1: left, x2: left, y1: TOP, y2: TOP + SIZE, stroke: "#fff", "stroke-opacity": 0.8, "stroke-width": blocks.length > 40 ? 0.3 : 1 }));
      }
    }
    replace(marks, lines);
  }

  function placeOf(event) {
    const box = svg.getBoundingClientRect();
    const scale = (LEFT + SIZE + 2) / box.width;
    const x = ((event.clientX - box.left) * scale - LEFT) / SIZE;
    const y = ((event.clientY - box.top) * scale - TOP) / SIZE;
    if (x < 0 || y < 0 || x >= 1 || y >= 1) return null;
    return {
      row: Math.floor(view.rows[0] + y * (view.rows[1] - view.rows[0])),
      column: Math.floor(view.columns[0] + x * (view.columns[1] - view.columns[0])),
    };
  }
  const blockAt = (place) => {
    const found = blocks.findIndex((block) => place >= block.from && place < block.to);
    return found < 0 ? null : found;
  };
  svg.addEventListener("click", (event) => {
    const place = placeOf(event);
    if (!place || blocks.length === 0) return;
    if (svg.getAttribute("data-zoom") === "whole") show(blockAt(place.row), blockAt(place.column));
    else show(null, null);
  });
  svg.addEventListener("keydown", (event) => {
    if (event.key === "Escape") show(null, null);
  });
  svg.addEventListener("pointerleave", () => replace(readout));
  svg.addEventListener("pointermove", (event) => {
    const place = placeOf(event);
    if (!place) return replace(readout);
    const a = portrait.order[place.row];
    const b = portrait.order[place.column];
    const found = valueAt(Math.floor(place.row / step), Math.floor(place.column / step));
    const many = step > 1 ? ` and ${step - 1} beside` : "";
    const beyond = found === low ? "\u2264 " : found === high ? "\u2265 " : "about ";
    const said = found === undefined ? "" : found === null ? ": no value" : `: ${beyond}${few(found, 3)}`;
    const kind = (i) => (set.labels ? [" (", name(set.class_names[set.labels[i]], 20), ")"] : null);
    replace(readout, name(sampleName(set, a), 30), kind(a), many, " \u2013 ", name(sampleName(set, b), 30), kind(b), many, said);
  });

  show(null, null);
  const ramp = h("span", { class: "ramp", style: { backgroundImage: `linear-gradient(to right, ${colours.join(",")})` } });
  const asymmetric = portrait.symmetric === false ? " Not symmetric: the row is compared to the column." : "";
  const missing = portrait.missing > 0 ? " Orange: pairs without a value." : "";
  const order = blocks.length > 0 ? "ordered by class" : "in the order of the file";
  return figure({
    title: `The matrix, samples ${order}`,
    chart: svg,
    file: "matrix",
    marks: blocks.length,
    words: `Picture of the ${n} by ${n} similarities, samples ${order}${blocks.length > 0 ? ": " : ""}${blocks.map((b) => visible(b.title)).slice(0, 30).join(", ")}. Darker is more alike, from ${few(low)} to ${few(high)}.`,
    children: blocks.length > 0 && [
      h("div", { class: "tools" }, h("label", {}, "rows", rows), h("label", {}, "columns", columns), reset),
    ],
    caption: [
      low === high ? `Every value is ${few(low, 3)}. ` : h("span", {}, `${few(low, 3)} `, ramp, ` ${few(high, 3)}. `),
      blocks.length > 0 ? "Inside a class the most typical samples come first. Click a block to look closer, again to go back." : "",
      step > 1 ? ` A pixel is the mean over ${step} \u00d7 ${step} pairs.` : "",
      low === high ? "" : " The 1 % smallest and the 1 % largest take the colours of the ends.",
      asymmetric,
      missing,
      readout,
    ],
  });
}
