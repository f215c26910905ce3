// SPDX-License-Identifier: Apache-2.0
// The error by the number of training samples: would more help?
import * as Plot from "@observablehq/plot";
import { keys, lineMark } from "./classes.js";
import { h, short, visible } from "./dom.js";
import { around, figure, plot } from "./figure.js";
import { count, few, fixed, tickText } from "./numbers.js";

const NAMED = 5; // methods with a colour and intervals; the others are drawn faint
const DODGE = 4; // pixels between the intervals at one size

/** A row for each method and size that is finished. */
function rowsOf(set) {
  return set.compared.map((method, m) => ({
    method: method.method,
    m,
    points: set.sizes
      .map((size) => ({ samples: size.samples, ...size.methods.find((one) => one.method === method.method) }))
      .filter((point) => Number.isFinite(point.mean_error))
      .map((point) => ({ ...point, mean: 100 * point.mean_error, low: point.low === null ? null : 100 * Math.max(0, point.low), high: point.high === null ? null : 100 * Math.min(1, point.high) })),
  }));
}

const lineColour = (k) => `var(--c${k})`;

export function learningCurve(doc, set, width) {
  const lines = rowsOf(set).filter((one) => one.points.length > 0);
  const named = lines.slice(0, NAMED);
  const faint = lines.slice(NAMED);
  const flat = (some) => some.flatMap((one) => one.points.map((point) => ({ ...one, ...point })));
  const sizes = set.sizes.map((size) => size.samples);
  const wide = Math.max(...sizes) / Math.min(...sizes) >= 3;
  const ends = flat(lines).flatMap((point) => [point.mean, ...(point.m < NAMED ? [point.low, point.high] : [])]);
  const shift = (k) => DODGE * (k - (named.length - 1) / 2);
  const tip = (d) => `${visible(d.method)}, ${few(d.samples)} training samples\nerror ${fixed(d.mean, 2)} %${d.low === null ? "" : `, 95 % interval ${fixed(d.low, 2)} to ${fixed(d.high, 2)} %`}`;
  const chart = plot({
    width, height: 320, marginLeft: 46, marginBottom: 40, insetLeft: 14, insetRight: 14,
    x: { type: wide ? "log" : "linear", domain: [Math.min(...sizes), Math.max(...sizes)], ticks: sizes, tickFormat: tickText(5, sizes), label: "training samples", labelAnchor: "center", labelArrow: "none" },
    y: { label: "error (%)", grid: true, ticks: 6, nice: true, zero: Math.min(...ends.filter(Number.isFinite)) < 20, domain: around(ends, { unit: 5, low: 0, high: 100 }) },
    marks: [
      Plot.line(flat(faint), { x: "samples", y: "mean", z: "m", stroke: "var(--dot)", strokeOpacity: 0.6, strokeWidth: 1, ariaLabel: () => "other" }),
      Plot.dot(flat(faint), { x: "samples", y: "mean", r: 2, fill: "var(--dot)", ariaLabel: () => "other-point", title: tip, tip: true }),
      named.map((one, k) => [
        Plot.ruleX(one.points.filter((point) => point.low !== null), { x: "samples", y1: "low", y2: "high", stroke: lineColour(k), strokeWidth: 1.5, strokeOpacity: 0.8, dx: shift(k), ariaLabel: () => "interval" }),
        Plot.line(one.points, { x: "samples", y: "mean", stroke: lineColour(k), strokeWidth: k === 0 ? 2.5 : 1.5, dx: shift(k), ariaLabel: () => "curve" }),
        Plot.dot(flat([one]), { x: "samples", y: "mean", r: 3.5, fill: lineColour(k), dx: shift(k), ariaLabel: () => "size", title: tip, tip: true }),
      ]),
    ],
  });
  const entries = () => named.map((one, k) => ({ mark: lineMark(lineColour(k), { width: k === 0 ? 3 : 2 }), text: short(one.method, 24) }));
  return figure({
    title: "Error by the number of training samples",
    chart,
    marks: flat(lines).length,
    file: "learning-curve",
    legend: entries,
    words: `Error by the number of training samples. ${lines.map((one) => `${visible(one.method)}: ${one.points.map((point) => `${few(point.samples)} ${fixed(point.mean, 2)} %`).join(", ")}`).join("; ")}.`,
    caption: [
      keys(entries()),
      `Upright lines: 95 % intervals, set apart so that each can be seen.${faint.length > 0 ? ` Grey: ${count(faint.length, "other method")}, without intervals.` : ""} `,
      h("span", { class: "finding" }, visible(set.sizes_note ?? "")),
    ],
  });
}
