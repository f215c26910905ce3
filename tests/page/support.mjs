// SPDX-License-Identifier: Apache-2.0
// Data, stores and documents for the tests of the page, and what its charts show.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder, kith } from "./browser.mjs";

export const HOSTILE = "</script><img src=x onerror=alert(1)>";
export const CLASSES = ["plain", HOSTILE, "\u202eright to left"];
export const METHODS = ["knn", "nearest-mean", "svm-clip"];
export const N = 45;

/** Three clusters on a line, with noise that needs no random numbers. */
export function writeData(name, spread) {
  const at = Array.from({ length: N }, (_, i) => 3 * (i % 3) + spread * Math.sin(7.3 * i * i + i));
  const ids = at.map((_, i) => (i === 4 ? `four "&<b>${HOSTILE}` : `s${i}`));
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const rows = at.map((a, i) => [quoted(ids[i]), ...at.map((b) => Math.exp(-Math.abs(a - b)) - 0.05 * Math.cos(3 * a * b))].join(","));
  writeFileSync(join(folder, `${name}.csv`), [["", ...ids.map(quoted)].join(","), ...rows].join("\n") + "\n");
  writeFileSync(join(folder, `${name}.tsv`), ids.map((id, i) => `${quoted(id)}\t${quoted(CLASSES[i % 3])}\n`).join(""));
}

/** An evaluation of the data by three methods, by default over five partitions. */
export function evaluate(data, store, ...more) {
  const repeats = more.includes("--repeats") ? [] : ["--repeats", 5];
  const protocol = more.includes("--protocol") ? [] : ["--protocol", "tr"];
  kith("evaluate", ...protocol, "--similarity", `${data}.csv`, "--labels", `${data}.tsv`, "--methods", METHODS, "--grid", "svm-clip:cost=0.1,1,10", "--grid", "knn:neighbours=1,3,5",
    "--set", "svm-clip:probability=yes", "--folds", 2, ...repeats, "--store", store, "--quiet", ...more);
}

/** The page of a store, and what `report --json` has of it. */
export function report(name, ...more) {
  kith("report", "--store", `${name}.db`, "--out", `${name}.html`, ...more);
  return JSON.parse(kith("report", "--store", `${name}.db`, "--json", ...more));
}

export const documentOf = (file) => JSON.parse(readFileSync(join(folder, file), "utf8").match(/id="document">(.*?)<\/script>/s)[1]);

/** The page of `source` with another document. */
export function variant(source, file, change) {
  const document = documentOf(source);
  change(document, document.data_sets[0]);
  const text = JSON.stringify(document).replaceAll("<", "\\u003c");
  writeFileSync(join(folder, file), readFileSync(join(folder, source), "utf8").replace(/(id="document">).*?(<\/script>)/s, (_, a, b) => a + text + b));
  return join(folder, file);
}

/** As src/report/pack.cpp writes whole numbers. */
export function packed(values) {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const width = Math.max(1, Math.ceil(Math.log(Math.max(...values) + 2) / Math.log(64)));
  return width + values.map((value) => Array.from({ length: width }, (_, k) => letters[Math.floor((value + 1) / 64 ** (width - 1 - k)) % 64]).join("")).join("");
}

const ticks = (page, chart, axis) => page.locator(`figure[data-chart="${chart}"] [aria-label="${axis}-axis tick label"] text`);
export const tickLabels = (page, chart, axis) => ticks(page, chart, axis).allTextContents();
export const marks = (page, chart, mark) => page.locator(`figure[data-chart="${chart}"] svg [aria-label="${mark}"]`).count();

const number = (text) => Number(text.replaceAll(",", "").replace("\u2212", "-"));
const placeOf = (transform) => transform.match(/translate\(([-\d.]+),\s*([-\d.]+)\)/).slice(1).map(Number);

/** Pixels for a value of an axis, read off its ticks: in a line, logarithmic, or from tick to tick where it is broken. */
export async function scaleOf(page, chart, axis, { log = false } = {}) {
  const found = await ticks(page, chart, axis).evaluateAll((texts) => texts.map((text) => [text.textContent, text.getAttribute("transform")]));
  const read = found.filter(([text]) => text !== "").map(([text, transform]) => [number(text), placeOf(transform)[axis === "x" ? 0 : 1]]);
  assert.ok(read.length > 1, `${chart} has ticks`);
  const of = log ? Math.log : (v) => v;
  return (value) => {
    const right = Math.max(1, read.findIndex(([tick], i) => i > 0 && (tick >= value || i === read.length - 1)));
    const [[a, from], [b, to]] = read.slice(right - 1, right + 1);
    return from + ((to - from) * (of(value) - of(a))) / (of(b) - of(a));
  };
}

/** Attributes of marks as numbers. */
export const places = (page, chart, mark, ...keys) =>
  page.locator(`figure[data-chart="${chart}"] svg [aria-label="${mark}"]`).evaluateAll((shapes, names) => shapes.map((shape) => names.map((key) => Number(shape.getAttribute(key)))), keys);

/** Whether two lists of pixels are the same but for what nobody sees. */
export function assertNear(drawn, expected, what) {
  assert.equal(drawn.length, expected.length, what);
  drawn.forEach((value, i) => assert.ok(Math.abs(value - expected[i]) < 0.6, `${what}: ${value} drawn, ${expected[i]} expected`));
}

export const cells = (page, column) => page.locator(`table.results tbody td:nth-child(${column})`).allInnerTexts();
