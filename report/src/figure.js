// SPDX-License-Identifier: Apache-2.0
// A chart with its title, its words for those who cannot see it, and its download.
import * as Plot from "@observablehq/plot";
import { h, s } from "./dom.js";
import { alike } from "./numbers.js";

const FONT = "12px system-ui, -apple-system, 'Segoe UI', 'Noto Sans', sans-serif";

/** A chart is drawn for the screen it first meets: scaled down, its words could not be read on a phone. */
export const fitting = (width) => Math.min(width, Math.max(280, document.documentElement.clientWidth - 52));

/** Plot puts a style element into each chart, which the policy of the page forbids: ours has the same rules. */
export function plot(options) {
  const chart = Plot.plot({ className: "plot", style: {}, ...options, width: fitting(options.width) });
  chart.querySelectorAll("style").forEach((style) => style.remove());
  return chart;
}

/** The domain of an axis around values that are all the same, where the library would have none; else its own choice. */
export function around(values, { unit = null, low = -Infinity, high = Infinity } = {}) {
  const known = values.filter(Number.isFinite);
  const [least, most] = known.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
  if (known.length > 0 && !alike(least, most)) return undefined;
  const middle = known.length > 0 ? most : 0;
  const step = unit ?? (0.1 * Math.abs(middle) || 1);
  return [Math.max(Math.min(low, middle), middle - step), Math.min(Math.max(high, middle), middle + step)];
}

export function save(fileName, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = h("a", { href: url, download: fileName });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** The box of the chart with all of its words: on the page they may stand out, in a file they would be cut. */
function wholeBox(svg) {
  const { x, y, width, height } = svg.viewBox.baseVal;
  const outer = svg.getBoundingClientRect();
  const unit = outer.width > 0 ? width / outer.width : 0;
  let [left, top, right, bottom] = [x, y, x + width, y + height];
  for (const text of svg.querySelectorAll("text")) {
    if (text.closest('[aria-label="tip"]')) continue;
    const inner = text.getBoundingClientRect();
    left = Math.min(left, x + (inner.left - outer.left) * unit - 2);
    right = Math.max(right, x + (inner.right - outer.left) * unit + 2);
    top = Math.min(top, y + (inner.top - outer.top) * unit - 2);
    bottom = Math.max(bottom, y + (inner.bottom - outer.top) * unit + 2);
  }
  return { x: Math.floor(left), y: Math.floor(top), width: Math.ceil(right) - Math.floor(left), height: Math.ceil(bottom) - Math.floor(top) };
}

/** Rows of marks and words below the chart; they make the box higher. */
function drawLegend(copy, box, legend) {
  let [x, y] = [box.x + 8, box.y + box.height + 4];
  for (const { mark, text } of legend) {
    const wide = 34 + 7.2 * text.length;
    if (x > box.x + 8 && x + wide > box.x + box.width) [x, y] = [box.x + 8, y + 20];
    mark.setAttribute("x", x);
    mark.setAttribute("y", y);
    copy.append(mark, s("text", { x: x + 17, y: y + 6, dy: "0.35em", fill: "var(--text)" }, text));
    x += wide;
  }
  if (legend.length > 0) box.height = y + 20 - box.y;
}

/** The colours for paper, whatever the page has at the moment. */
function lightColours() {
  const root = document.documentElement;
  const theme = root.dataset.theme;
  root.dataset.theme = "light";
  const computed = getComputedStyle(root);
  const names = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).find((rule) => rule.selectorText === ":root").style;
  const colours = new Map([...names].filter((key) => key.startsWith("--")).map((key) => [key, computed.getPropertyValue(key).trim()]));
  if (theme === undefined) delete root.dataset.theme;
  else root.dataset.theme = theme;
  return colours;
}

/** The chart as a file of its own: light, with its legend, fonts named. */
export function svgText(svg, legend = []) {
  const copy = svg.cloneNode(true);
  const box = wholeBox(svg);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.querySelectorAll('[aria-label="tip"]').forEach((tip) => tip.remove());
  const colours = lightColours();
  const colour = (key) => colours.get(key);
  drawLegend(copy, box, legend);
  copy.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height}`);
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", box.height);
  copy.prepend(
    s("style", {}, `svg{font:${FONT};color:${colour("--text")}}text{white-space:pre}`),
    s("rect", { x: box.x, y: box.y, width: box.width, height: box.height, fill: colour("--page") })
  );
  const text = new XMLSerializer().serializeToString(copy);
  return text.replace(/var\((--[a-z0-9-]+)\)/g, (whole, key) => colour(key) || whole);
}

/** `legend`: gives marks (elements) and their words, for the file; on the page it stands elsewhere. */
export function figure({ title, chart, words, caption, file, marks, children = [], legend = () => [] }) {
  const svg = chart.tagName === "svg" ? chart : chart.querySelector("svg");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", words);
  return h(
    "figure",
    { "data-chart": file, "data-marks": marks },
    h("p", { class: "title" }, title),
    h(
      "button",
      {
        class: "plain",
        type: "button",
        title: `Save this chart as ${file}.svg`,
        onclick: () => save(`${file}.svg`, "image/svg+xml", svgText(svg, legend())),
      },
      "svg \u2193"
    ),
    children,
    chart,
    caption ? h("figcaption", {}, caption) : null
  );
}
