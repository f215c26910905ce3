// SPDX-License-Identifier: Apache-2.0
// The samples: how often they were tested, who is missed most often and predicted as what, who is near.
import * as Plot from "@observablehq/plot";
import { classMark } from "./classes.js";
import { h, name, replace, short, visible } from "./dom.js";
import { sampleMap } from "./data.js";
import { figure, fitting, plot } from "./figure.js";
import { difficulty, sampleName } from "./model.js";
import { count, percent } from "./numbers.js";
import { testedWords } from "./results.js";
import { table } from "./table.js";

const WIDTH = 540;

const sampleLink = (set, i, most = 40) => h("a", { href: `#sample-${i}` }, name(sampleName(set, i), most));

/** A class that a method predicted most often, or that there is none: two were predicted equally often. */
const answerMark = (set, label) => (label === set.class_names.length ? "a tie" : classMark(set, label));

/** What the methods predicted for a sample, the most frequent first. */
function answers(set, i) {
  const predicted = new Map();
  for (const method of set.methods) {
    const label = method.details.said[i];
    if (label >= 0) predicted.set(label, (predicted.get(label) ?? 0) + 1);
  }
  return [...predicted].sort((a, b) => b[1] - a[1]);
}

/** The wrong answers that most methods gave: [[label, methods], ...], several where they are equally many. */
function mostWrong(set, i, label) {
  const wrong = answers(set, i).filter(([other]) => other !== label);
  return wrong.filter(([, methods]) => methods === wrong[0][1]).sort(([a], [b]) => a - b);
}

const SHOWN = 3; // wrong answers in a cell of the table

function wrongAnswers(set, i, label) {
  const most = mostWrong(set, i, label);
  if (most.length === 0) return "";
  const more = most.length > SHOWN ? ` or ${most.length - SHOWN} more` : "";
  return [
    most.slice(0, SHOWN).map(([other], k) => [k > 0 ? " or " : "", answerMark(set, other)]),
    h("span", { class: "faint" }, `${more} by ${count(most[0][1], "method")}${most.length > 1 ? " each" : ""}`),
  ];
}

function neighbours(set, i, portrait = set.portraits[0]) {
  if (!portrait || !portrait.neighbours || portrait.nearest === 0) return [];
  return portrait.neighbours.slice(i * portrait.nearest, (i + 1) * portrait.nearest).filter((j) => j >= 0);
}

function histogram(rows) {
  const tested = rows.filter((row) => row.share !== null);
  const bins = Array.from({ length: 11 }, (_, b) => ({ b, n: 0 }));
  for (const row of tested) bins[row.share === 0 ? 0 : Math.min(10, Math.ceil(row.share * 10))].n += 1;
  const label = (b) => (b === 0 ? "never" : `${b * 10 - 10}\u2013${b * 10}`);
  const narrow = fitting(WIDTH) < 500;
  const chart = plot({
    width: WIDTH, height: 220, marginLeft: 46, marginBottom: 40,
    x: { type: "band", domain: bins.map((bin) => bin.b), tickFormat: (b) => (b === 0 ? (narrow ? "0" : "never") : narrow ? `${b * 10}` : `\u2264 ${b * 10}`), label: "predictions that missed the sample (%)", labelAnchor: "center", labelArrow: "none", tickSize: 0 },
    y: { label: "samples", grid: true, ticks: 5 },
    marks: [
      Plot.barY(bins, { x: "b", y: "n", fill: (d) => (d.b > 5 ? "var(--warm)" : "var(--accent)"), ariaLabel: () => "bin", title: (d) => `${label(d.b)}: ${count(d.n, "sample")}`, tip: true }),
      Plot.ruleY([0]),
    ],
  });
  return figure({
    title: "How hard the samples are",
    chart,
    marks: bins.length,
    file: "difficulty",
    words: `Samples by the share of predictions that missed them: ${bins.map((bin) => `${label(bin.b)} ${bin.n}`).join(", ")}.`,
    caption: "Over all methods and the test parts a sample was in. Orange: missed more often than not.",
  });
}

/** In how many test parts the samples were. */
function testCounts(set) {
  const counts = new Map();
  for (const times of set.tested) counts.set(times, (counts.get(times) ?? 0) + 1);
  const most = Math.max(...counts.keys());
  const bars = Array.from({ length: most + 1 }, (_, times) => ({ times, n: counts.get(times) ?? 0 }));
  const every = Math.max(1, Math.ceil(bars.length / 12));
  const chart = plot({
    width: WIDTH, height: 220, marginLeft: 46, marginBottom: 40,
    x: { type: "band", domain: bars.map((bar) => bar.times), tickFormat: (times) => (times % every > 0 ? "" : times === 0 ? "never" : `${times}`), label: "finished test parts with the sample", labelAnchor: "center", labelArrow: "none", tickSize: 0 },
    y: { label: "samples", grid: true, ticks: 5 },
    marks: [
      Plot.barY(bars, { x: "times", y: "n", fill: (d) => (d.times === 0 ? "var(--warm)" : "var(--dot)"), ariaLabel: () => "times", title: (d) => `${d.times === 0 ? "never" : count(d.times, "time")}: ${count(d.n, "sample")}`, tip: true }),
      Plot.ruleY([0]),
    ],
  });
  return figure({
    title: "How often the samples were tested",
    chart,
    marks: bars.length,
    file: "test-counts",
    words: `Samples by the number of test parts they were in: ${bars.map((bar) => `${bar.times === 0 ? "never" : bar.times} ${bar.n}`).join(", ")}.`,
    caption: bars[0].n > 0 ? "Orange: never, so that nothing is known of these." : "Every sample was in a test part.",
  });
}

/** How many samples there are answers for, and of these how many were always or never right. */
function summaryWords(set, rows) {
  const tested = rows.filter((row) => row.tested > 0);
  const right = tested.filter((row) => row.wrong === 0).length;
  const wrong = tested.filter((row) => row.wrong === row.tested).length;
  return [
    testedWords(set),
    ` ${tested.length < rows.length ? "Of those tested, " : ""}${count(right, "sample")} ${right === 1 ? "was" : "were"} predicted right every time, `,
    wrong === 0 ? "none wrong every time." : `${wrong.toLocaleString("en")} wrong every time: ${wrong === 1 ? "it may be mislabelled, or have its neighbours" : "these may be mislabelled, or have their neighbours"} in other classes.`,
  ];
}

function panel(set, i, rows) {
  const row = rows[i];
  const portrait = set.portraits[0];
  // Several matrices need not agree on who is near.
  const near = set.portraits.map((one) => ({ title: set.portraits.length > 1 ? one.name : null, found: neighbours(set, i, one) })).filter((one) => one.found.length > 0);
  const methods = table(
    [
      { title: "method", key: (m) => m.method, cell: (m) => h("a", { href: `#method-${m.index}` }, name(m.method, 30)) },
      { title: "tested", number: true, key: (m) => m.tested[i], cell: (m) => m.tested[i] },
      { title: "wrong", number: true, key: (m) => m.details.wrong[i], cell: (m) => m.details.wrong[i] },
      { title: "predicted most often", key: (m) => m.details.said[i], cell: (m) => (m.details.said[i] < 0 ? "\u2013" : answerMark(set, m.details.said[i])) },
    ],
    { rows: set.ordered, label: "what each method predicted" }
  );
  return h(
    "div",
    { class: "panel", id: "sample", tabindex: "-1" },
    h("h3", {}, "Sample ", name(sampleName(set, i), 120)),
    h("p", {}, classMark(set, row.label), row.tested > 0 ? `; missed by ${row.wrong} of ${count(row.tested, "prediction")} (${percent(row.share, 0)})` : "; in no test part"),
    h(
      "div",
      { class: "columns" },
      row.tested > 0 ? h("div", {}, methods) : null,
      h(
        "div",
        {},
        near.map(({ title, found }) => [
          h("h3", {}, "Nearest neighbours", title === null ? null : [" by ", name(title, 40)]),
          h("ol", {}, found.map((j) => h("li", {}, sampleLink(set, j), " ", classMark(set, set.labels[j])))),
        ]),
        portrait?.map ? sampleMap(set, portrait, { marked: i, width: 380 }) : null
      )
    )
  );
}

export function samplesSection(set) {
  const rows = difficulty(set);
  // Of samples that are missed equally often, those that were tested most say most.
  const listed = [...rows].sort((a, b) => b.tested - a.tested || a.i - b.i);
  const holder = h("div");
  const filters = { text: "", label: "", wrong: false };
  const summary = h("span", { class: "faint", role: "status" });
  const view = table(
    [
      { title: "sample", key: (r) => sampleName(set, r.i), cell: (r) => sampleLink(set, r.i) },
      { title: "class", key: (r) => r.label, cell: (r) => classMark(set, r.label) },
      { title: "missed", number: true, downFirst: true, key: (r) => r.share, cell: (r) => (r.share === null ? "\u2013" : percent(r.share, 0)) },
      { title: "tested", number: true, class: "faint", downFirst: true, key: (r) => set.tested[r.i], cell: (r) => (set.tested[r.i] === 0 ? "never" : `${set.tested[r.i]}\u00d7`) },
      { title: "methods always wrong", number: true, downFirst: true, key: (r) => r.missing, cell: (r) => r.missing },
      {
        title: "predicted as", key: (r) => mostWrong(set, r.i, r.label)[0]?.[0] ?? null,
        cell: (r) => wrongAnswers(set, r.i, r.label),
      },
      { title: set.portraits.length > 1 ? `nearest by ${short(set.portraits[0].name, 20)}` : "nearest", class: "setting screen", cell: (r) => neighbours(set, r.i).slice(0, 3).map((j, k) => [k > 0 ? ", " : "", sampleLink(set, j, 18)]) },
    ],
    { rows: listed, sort: { column: 2, down: true }, label: "samples", most: 25 }
  );
  view.id = "sample-table";
  function filter() {
    const wanted = filters.text.toLowerCase();
    const kept = listed.filter(
      (row) =>
        (filters.label === "" || row.label === Number(filters.label)) &&
        (!filters.wrong || row.share > 0.5) &&
        (wanted === "" || String(sampleName(set, row.i)).toLowerCase().includes(wanted))
    );
    view.setRows(kept);
    replace(summary, `${count(kept.length, "sample")} of ${rows.length.toLocaleString("en")}`);
  }
  filter();
  const section = h(
    "section",
    { id: "samples" },
    h("h2", {}, "The samples"),
    h("p", {}, summaryWords(set, rows)),
    h("div", { class: "columns" }, histogram(rows), testCounts(set)),
    h(
      "div",
      { class: "tools" },
      h("label", {}, "find", h("input", { type: "search", id: "sample-filter", placeholder: "part of a name", oninput: (event) => ((filters.text = event.target.value), filter()) })),
      h("label", {}, "class", h("select", { id: "class-filter", onchange: (event) => ((filters.label = event.target.value), filter()) }, h("option", { value: "" }, "all"), set.class_names.map((title, c) => h("option", { value: c }, short(title, 40))))),
      h("label", {}, h("input", { type: "checkbox", id: "wrong-filter", onchange: (event) => ((filters.wrong = event.target.checked), filter()) }), "missed more often than not"),
      summary
    ),
    holder,
    view
  );
  section.open = (i) => {
    if (!(i >= 0 && i < rows.length)) return;
    replace(holder, panel(set, i, rows));
    holder.firstChild.scrollIntoView({ block: "start" });
    holder.firstChild.focus({ preventScroll: true });
  };
  return section;
}
