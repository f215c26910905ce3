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

/** The chart as a file of its own: colours of the page as they are now, fonts named. */
export function svgText(svg) {
  const copy = svg.cloneNode(true);
  const box = svg.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", box.height);
  copy.querySelectorAll('[aria-label="tip"]').forEach((tip) => tip.remove());
  const computed = getComputedStyle(document.documentElement);
  const colour = (key) => computed.getPropertyValue(key).trim();
  copy.prepend(
    s("style", {}, `svg{font:${FONT};color:${colour("--text")}}text{white-space:pre}`),
    s("rect", { x: box.x, y: box.y, width: box.width, height: box.height, fill: colour("--page") })
  );
  const text = new XMLSerializer().serializeToString(copy);
  return text.replace(/var\((--[a-z0-9-]+)\)/g, (whole, key) => colour(key) || whole);
}

export function figure({ title, chart, words, caption, file, marks, children = [] }) {
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
        onclick: () => save(`${file}.svg`, "image/svg+xml", svgText(svg)),
      },
      "svg \u2193"
    ),
    children,
    chart,
    caption ? h("figcaption", {}, caption) : null
  );
}
