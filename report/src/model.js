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
  set.sizes = set.class_names.map(() => 0);
  for (const label of set.labels ?? []) set.sizes[label] += 1;
  const metric = METRICS[doc.metric ?? "error"];
  set.methods.forEach((method, m) => {
    method.index = m;
    const own = method.metrics[doc.metric];
    method.mean = own ? own.mean : null;
    method.sd = own ? own.sd : null;
    method.values = own ? own.values : [];
    method.seconds = secondsOf(doc, set, method);
    method.tested = method.details.tested ?? set.tested;
  });
  level(set.methods);
  set.most = Math.max(0, ...set.methods.map((method) => method.finished.length));
  const behind = (method) => (method.mean === null ? 2 : method.finished.length < set.most ? 1 : 0);
  set.ordered = [...set.methods].sort((a, b) => {
    const difference = behind(a) - behind(b) || (a.level === b.level ? 0 : a.level - b.level) * (metric.smaller ? 1 : -1);
    return difference || a.index - b.index;
  });
  set.winner = set.methods.find((method) => method.best && method.p_value === null) ?? null;
  set.leaders = set.winner ? set.ordered.filter((method) => behind(method) === 0 && method.level === set.winner.level) : [];
}

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
