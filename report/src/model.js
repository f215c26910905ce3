// SPDX-License-Identifier: Apache-2.0
// The document of the page, and what follows from it without any statistics of our own.

import { alike } from "./numbers.js";

export const METRICS = {
  error: { title: "error", unit: "%", smaller: true },
  "balanced-error": { title: "balanced error", unit: "%", smaller: true },
  "f-score": { title: "F-score", unit: "%", smaller: false },
  f1: { title: "F1", unit: "%", smaller: false },
  "log-loss": { title: "log-loss", unit: "", smaller: true },
  auc: { title: "area under the curve", unit: "%", smaller: false },
};

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const DIGIT = new Map([...LETTERS].map((letter, digit) => [letter, digit]));

/** Whole numbers of at least -1, packed by src/report/pack.cpp: letters for each, then base-64 digits of number + 1. */
export function unpack(text) {
  if (typeof text !== "string") return text;
  const width = Number(text[0]);
  const numbers = new Array((text.length - 1) / width);
  for (let i = 0; i < numbers.length; i += 1) {
    let value = 0;
    for (let k = 1; k <= width; k += 1) value = 64 * value + DIGIT.get(text[i * width + k]);
    numbers[i] = value - 1;
  }
  return numbers;
}

export function readDocument() {
  const text = document.getElementById("document").textContent;
  const doc = JSON.parse(text);
  doc.data_sets.forEach((set, index) => prepare(set, index, doc));
  return doc;
}

function prepare(set, index, doc) {
  set.index = index;
  set.class_names = set.class_names ?? [];
  set.portraits = set.portraits ?? [];
  set.methods = set.methods ?? [];
  set.labels = unpack(set.labels);
  set.tested = unpack(set.tested);
  for (const portrait of set.portraits) for (const key of ["order", "neighbours"]) portrait[key] = unpack(portrait[key]);
  set.class_sizes = set.class_names.map(() => 0);
  for (const label of set.labels ?? []) set.class_sizes[label] += 1;
  if (doc.kind === "report") prepareMethods(set, doc);
}

function prepareMethods(set, doc) {
  const metric = METRICS[doc.metric];
  // Single tests, as the papers print them, stand as they are; all others are adjusted.
  set.deciding = set.test.name === "wilcoxon" ? "p_value" : "p_adjusted";
  set.floor = set.baseline.metrics[doc.metric] ?? null;
  set.methods.forEach((method, m) => {
    method.index = m;
    const own = method.metrics[doc.metric];
    method.mean = own ? own.mean : null;
    method.sd = own ? own.sd : null;
    method.values = own ? own.values : [];
    method.p = method[set.deciding];
    method.seconds = secondsOf(doc, set, method);
    for (const key of ["wrong", "said", "tested"]) method.details[key] = unpack(method.details[key]);
    method.tested = method.details.tested ?? set.tested;
    if (method.details.curves) readCurves(method.details.curves);
  });
  level(set.methods);
  set.most = Math.max(0, ...set.methods.map((method) => method.finished.length));
  const behind = (method) => (method.mean === null ? 2 : method.finished.length < set.most ? 1 : 0);
  set.ordered = [...set.methods].sort((a, b) => {
    const difference = behind(a) - behind(b) || (a.level === b.level ? 0 : a.level - b.level) * (metric.smaller ? 1 : -1);
    return difference || a.index - b.index;
  });
  set.winner = set.methods.find((method) => method.leads) ?? null;
  set.leaders = set.winner ? set.ordered.filter((method) => behind(method) === 0 && method.level === set.winner.level) : [];
  set.compared = set.ordered.filter((method) => method.mean !== null);
}

/** Rates are packed in thousandths. */
function readCurves(curves) {
  const rates = (text) => unpack(text).map((rate) => rate / 1000);
  curves.grid = rates(curves.grid);
  for (const one of curves.classes) Object.assign(one, { tpr: rates(one.tpr), precision: rates(one.precision) });
}

/** The least and the largest value that the metric can have. */
export const rangeOf = (doc) => (METRICS[doc.metric].unit === "%" ? [0, 1] : [0, Infinity]);

/** How far a method is behind the best, with its interval: positive is worse, whatever the metric. */
export function behindBest(doc, method) {
  if (!method.difference) return null;
  const { mean, low, high } = method.difference;
  return METRICS[doc.metric].smaller ? { mean, low, high } : { mean: -mean, low: high === null ? null : -high, high: low === null ? null : -low };
}

export const significant = (set, p) => p !== null && p <= set.test.level;

/** Means that are equal but for rounding get one level; equals stay in the order of the store. */
function level(methods) {
  let last = null;
  for (const method of [...methods].sort((a, b) => a.mean - b.mean)) {
    if (method.mean !== null) last = last !== null && alike(last, method.mean) ? last : method.mean;
    method.level = method.mean === null ? null : last;
  }
}

function secondsOf(doc, set, method) {
  const timing = doc.timing ?? {};
  const own = timing.data_sets ? timing.data_sets[set.name] : timing;
  return own?.methods?.[method.method] ?? null;
}

export function sampleName(set, i) {
  return set.ids.length > 0 ? set.ids[i] : `sample ${i + 1}`;
}

/** How often each sample was missed, over all methods that were tested on it. */
export function difficulty(set) {
  return (set.labels ?? []).map((label, i) => {
    let wrong = 0;
    let tested = 0;
    let missing = 0;
    for (const method of set.methods) {
      wrong += method.details.wrong[i];
      tested += method.tested[i];
      missing += method.tested[i] > 0 && method.details.wrong[i] === method.tested[i] ? 1 : 0;
    }
    return { i, label, wrong, tested, missing, share: tested > 0 ? wrong / tested : null };
  });
}

/** Of a committee: the members that took part at all, the most frequent first; [] for any other method. */
export function seated(method) {
  return (method.members ?? []).filter((one) => one.partitions > 0).sort((a, b) => b.partitions - a.partitions);
}

/** Searched settings of a partition as text. */
export function settingsText(settings, grid) {
  const fields = grid ? grid.map((axis) => axis.field) : Object.keys(settings ?? {});
  return fields
    .filter((field) => settings && field in settings)
    .map((field) => `${field} ${settings[field]}`)
    .join(", ");
}

/** Runs of methods whose ranks differ by less than the critical difference, none inside another. */
export function groupsOf(ranked, difference) {
  const groups = [];
  ranked.forEach((first, i) => {
    let j = i;
    while (j + 1 < ranked.length && ranked[j + 1].rank - first.rank < difference) j += 1;
    if (j > i && (groups.length === 0 || groups[groups.length - 1].to < j)) groups.push({ from: i, to: j });
  });
  return groups;
}
