// SPDX-License-Identifier: Apache-2.0
// One class at a time: how much of it is found, and how well its scores tell it from the rest.
import * as Plot from "@observablehq/plot";
import { h, name, s, short, visible } from "./dom.js";
import { figure, fitting, plot } from "./figure.js";
import { count, fixed } from "./numbers.js";

export const DRAWN = 40; // classes in a chart: more could not be read

const COLOURS = 8;
const SYMBOLS = ["circle", "diamond2", "square2", "triangle2", "cross", "star", "asterisk"];
const LETTERS = ["\u25cf", "\u25c6", "\u25a0", "\u25b2", "\u271a", "\u2605", "\u2731"];
const DASHES = ["none", "7 3", "2 3", "9 3 2 3", "12 4", "4 4", "1 2"];
const round = (c, list) => list[Math.floor(c / COLOURS) % list.length];

/** Eight colours, and beyond them other symbols, letters and dashes. */
export const classColour = (c) => `var(--c${c % COLOURS})`;
export const classSymbol = (c) => round(c, SYMBOLS);

export function classMark(set, c) {
  return [h("span", { "aria-hidden": "true", style: { color: classColour(c) } }, `${round(c, LETTERS)}\u00a0`), name(set.class_names[c], 24)];
}

/** A short piece of a line, for a legend. */
export function lineMark(colour, { dash = "none", width = 2 } = {}) {
  return s("svg", { class: "stroke", "aria-hidden": "true", width: 22, height: 12, viewBox: "0 0 22 12" }, s("line", { x1: 0, x2: 22, y1: 6, y2: 6, stroke: colour, "stroke-width": width, "stroke-dasharray": dash }));
}

/** Marks with their words, below a chart. */
export const keys = (entries) => h("span", { class: "keys" }, entries.map(({ mark, text }) => h("span", { class: "key" }, mark, text)));

/**
 * The share of each class that was found, with its interval; of many classes those that are found least.
 * rows: { title, n, recall, low, high } as fractions, low null without an interval
 */
export function recallChart(rows, { file, counted, width = 560, note = "" }) {
  const cut = rows.length > DRAWN;
  const shown = (cut ? [...rows].sort((a, b) => a.recall - b.recall).slice(0, DRAWN) : rows).map((row, i) => ({
    ...row, i, recall: 100 * row.recall, low: row.low === null ? null : 100 * Math.max(0, row.low), high: row.high === null ? null : 100 * Math.min(1, row.high),
  }));
  const longest = Math.max(6, ...shown.map((row) => short(row.title, 20).length));
  const interval = (row) => (row.low === null ? "" : `\n95 % interval ${fixed(row.low, 2)} to ${fixed(row.high, 2)} %`);
  const chart = plot({
    width,
    height: 58 + 24 * shown.length,
    marginLeft: Math.min(150, fitting(width) / 3, 14 + 7 * longest),
    marginBottom: 40,
    x: { domain: [0, 100], label: "recall (%)", labelAnchor: "center", labelArrow: "none", grid: true, ticks: 5 },
    y: { type: "band", domain: shown.map((row) => row.i), tickFormat: (i) => short(shown[i].title, 20), label: null, tickSize: 0 },
    marks: [
      Plot.ruleY(shown.filter((row) => row.low !== null), { y: "i", x1: "low", x2: "high", stroke: "var(--dot)", strokeWidth: 2, ariaLabel: () => "interval" }),
      Plot.dot(shown, { y: "i", x: "recall", r: 4.5, fill: "var(--accent)", ariaLabel: () => "recall", title: (d) => `${visible(d.title)}: ${fixed(d.recall, 2)} % of ${counted(d.n)}${interval(d)}`, tip: true }),
    ],
  });
  return figure({
    title: cut ? `Recall of the ${DRAWN} classes that are found least` : "Recall of each class",
    chart,
    marks: shown.length,
    file,
    words: `Share of the samples of each class that is predicted as it: ${shown.map((row) => `${visible(row.title)} ${fixed(row.recall, 2)} %`).join("; ")}.`,
    caption: `A dot is the share of the samples of a class that were predicted as it, the line its 95 % interval.${note}`,
  });
}

/** The recall of a compared method: the mean over the partitions. */
export function methodRecall(set, method) {
  const rows = method.recall.map((one, c) => one && { title: set.class_names[c], n: set.class_sizes[c], recall: one.mean, low: one.low, high: one.high }).filter(Boolean);
  if (rows.length === 0) return null;
  return recallChart(rows, { file: `recall-${method.index}`, counted: (n) => count(n, "sample"), width: 340, note: method.finished.length > 1 ? " Mean over the test parts." : "" });
}

/** A line for each class, one against the rest; the mean of more than two stands out. */
function curveChart(set, method, { title, file, x, y, key, area, areaTitle, diagonal }) {
  const { grid, classes, left_out: leftOut } = method.details.curves;
  const several = classes.length > 1;
  const titleOf = (one) => (one.class < 0 ? "mean of all" : set.class_names[one.class]);
  const style = (one) =>
    one.class < 0 ? ["currentColor", { width: 3 }] : several ? [classColour(one.class), { dash: round(one.class, DASHES), width: 1.4 }] : ["var(--accent)", { width: 2.5 }];
  const chart = plot({
    width: 340, height: 300, marginLeft: 46, marginBottom: 40,
    x: { domain: [0, 1], label: x, labelAnchor: "center", labelArrow: "none", ticks: 5 },
    y: { domain: [0, 1], label: y, grid: true, ticks: 5 },
    marks: [
      diagonal ? Plot.line([[0, 0], [1, 1]], { stroke: "var(--line)", strokeDasharray: "4 3", strokeWidth: 1.5 }) : null,
      [...classes].reverse().map((one) => {
        const [stroke, { dash = "none", width }] = style(one);
        return Plot.line(one[key].map((v, g) => [grid[g], v]), { stroke, strokeWidth: width, strokeDasharray: dash, ariaLabel: () => "curve", title: () => visible(titleOf(one)) });
      }),
    ],
  });
  const entries = () => classes.map((one) => ({ mark: lineMark(...style(one)), text: `${short(titleOf(one), 20)} ${fixed(one[area], 3)}` }));
  return figure({
    title,
    chart,
    marks: classes.length,
    file: `${file}-${method.index}`,
    legend: () => (several ? entries() : []),
    words: `${title}. ${areaTitle}: ${classes.map((one) => `${visible(titleOf(one))} ${fixed(one[area], 3)}`).join("; ")}.`,
    caption: [
      several ? keys(entries()) : null,
      several ? `Each class against the rest; ${areaTitle.toLowerCase()} behind each name. ` : ["Class ", name(titleOf(classes[0]), 30), set.class_names.length === 2 ? [" against ", name(set.class_names[1 - classes[0].class], 30)] : " against the rest", `; ${areaTitle.toLowerCase()} ${fixed(classes[0][area], 3)}. `],
      method.finished.length > 1 ? "Mean over the test parts." : null,
      diagonal ? " Dashed: guessing." : null,
      leftOut > 0 ? ` ${count(leftOut, "class", "classes")} told apart best ${leftOut === 1 ? "is" : "are"} left out of the chart, not of the mean.` : null,
    ],
  });
}

export function roc(set, method) {
  if (!method.details.curves) return null;
  return curveChart(set, method, { title: "ROC curve", file: "roc", x: "false-positive rate", y: "true-positive rate", key: "tpr", area: "auc", areaTitle: "Area under the curve", diagonal: true });
}

export function precisionRecall(set, method) {
  if (!method.details.curves) return null;
  return curveChart(set, method, { title: "Precision and recall", file: "precision-recall", x: "recall", y: "precision", key: "precision", area: "average_precision", areaTitle: "Average precision", diagonal: false });
}
