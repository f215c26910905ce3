// SPDX-License-Identifier: Apache-2.0
// The first screen: who is best, by how much, whether that means anything; the table and the charts of the comparison.
import { differences, pairMatrix, strips } from "./compare.js";
import { h, name, visible } from "./dom.js";
import { save } from "./figure.js";
import { learningCurve } from "./learning.js";
import { METRICS, behindBest, seated, settingsText, significant } from "./model.js";
import { alike, count, fixed, list, pValue, seconds } from "./numbers.js";
import { table } from "./table.js";
import { differenceText, inPercent, meanText, plain, points, value, withUnit } from "./values.js";

const WHERE = { error: "lowest error", "balanced-error": "lowest balanced error", "log-loss": "lowest log-loss" };
const FEW_WARNINGS = 4; // more fold away
const HALF = 560; // width of a chart that shares its row
const WHOLE = 1120;

export function methodLink(method, best = false) {
  return h("a", { href: `#method-${method.index}` }, name(method.method, 40), best ? h("span", { class: "badge", title: "in the best group" }, "\u00a0\u2605") : null);
}

/** "a", "a and b", "a and 5 other methods". */
export function together(titles) {
  if (titles.length > 3) return [name(titles[0]), ` and ${titles.length - 1} other methods`];
  return list(titles.map((title) => name(title)));
}

function headline(doc, set) {
  const metric = METRICS[doc.metric];
  if (!set.winner && set.most > 0) return [`No method has ${metric.title === "error" ? "an error" : `a value of ${metric.title}`} on `, name(set.name)];
  if (!set.winner) return ["No result for ", name(set.name), " yet"];
  return [
    together(set.leaders.map((method) => method.method)),
    set.leaders.length > 1 ? " share the " : " has the ",
    WHERE[doc.metric] ?? `highest ${metric.title}`,
    " on ",
    name(set.name),
    `: ${withUnit(doc, set.winner.mean)}`,
  ];
}

/** How large the lead is: the next method with its interval, and how far the last one is behind. */
function effect(doc, set, others) {
  const behind = others.map((method) => ({ method, ...behindBest(doc, method) })).filter((one) => Number.isFinite(one.mean));
  if (behind.length === 0) return null;
  const [next] = behind;
  const last = behind[behind.length - 1];
  const interval = next.low === null ? "" : ` (95 % interval ${plain(doc, next.low)} to ${points(doc, next.high)})`;
  return [
    behind.length > 1 ? "The next method, " : "The other method, ",
    name(next.method.method, 40),
    `, is ${points(doc, next.mean)} behind${interval}`,
    behind.length > 1 && !alike(last.mean, next.mean) ? [", the last one, ", name(last.method.method, 40), `, ${points(doc, last.mean)}`] : null,
    ". ",
  ];
}

function significance(set, others) {
  if (!set.test.possible) return visible(set.test.note);
  const clear = others.filter((method) => !method.best && significant(set, method.p));
  const close = others.filter((method) => method.best);
  if (clear.length === 0) return others.length === 1 ? "It is not significantly worse: the order may be chance." : `None of the ${others.length} other methods is significantly worse: the order may be chance.`;
  const found = [
    others.length === 1 ? "It" : clear.length === others.length ? (others.length === 2 ? "Both other methods" : `All ${others.length} other methods`) : `${clear.length} of the ${others.length} other methods`,
    clear.length === 1 ? " is" : " are",
    " significantly worse at 5 %",
  ];
  if (close.length === 0) return [found, "."];
  if (close.length > 4) return [found, `; ${close.length} are not and share the best group.`];
  return [found, "; ", list(close.map((method) => name(method.method, 30))), close.length === 1 ? " is not and shares the best group." : " are not and share the best group."];
}

/** What the lead is worth: first how large it is, then whether that could be chance. */
function verdict(doc, set) {
  if (!set.winner && set.most > 0) return "The store has results, but none of this metric.";
  if (!set.winner) {
    return `${set.partitions > 1 ? `None of the ${set.partitions} partitions` : "The partition"} is finished for any of the ${count(set.methods.length, "method")}. The same kith evaluate command goes on where it stopped.`;
  }
  const others = set.compared.filter((method) => !set.leaders.includes(method));
  if (set.compared.length === 1) return "It is the only method with results; there is nothing to compare it with.";
  const equal = set.leaders.length > 1 ? "Their means are equal. " : null;
  if (others.length === 0) return [equal, set.test.possible ? null : visible(set.test.note)];
  return [equal, effect(doc, set, others), significance(set, others)];
}

/** What always predicting one class would come to. */
function floorWords(doc, set) {
  if (set.floor === null) return null;
  const metric = METRICS[doc.metric];
  const lead = set.winner ? (metric.smaller ? set.floor - set.winner.mean : set.winner.mean - set.floor) : 1;
  return [
    "Always predicting the most frequent class, ",
    name(set.baseline.class, 40),
    `, has ${metric.title === "error" || metric.title === "area under the curve" ? "an" : "a"} ${metric.title} of ${withUnit(doc, set.floor)}`,
    lead > 0 ? ". " : ": no method is better than that. ",
  ];
}

/** How often samples were tested: "each of 100 samples 3 to 9 times", and how many never were. */
export function testedWords(set) {
  const { most, never } = set.test_counts;
  if (most === 0) return null;
  const least = set.tested.reduce((a, b) => (b > 0 ? Math.min(a, b) : a), most);
  const times = least === most ? (most === 1 ? "once" : `${most} times`) : `${least} to ${most} times`;
  if (never === 0) return `Each of the ${count(set.n, "sample")} was tested ${times}.`;
  return `${(set.n - never).toLocaleString("en")} of ${count(set.n, "sample")} were tested, ${set.n - never === 1 ? "" : "each "}${times}; ${never.toLocaleString("en")} ${never === 1 ? "was" : "were"} in no finished test part.`;
}

function about(doc, set) {
  const metric = METRICS[doc.metric];
  const kind = set.protocol?.partitions === "given" ? "given" : "random";
  return h(
    "p",
    { class: "faint about" },
    `${count(set.methods.length, "method")} on ${count(set.n, "sample")} of ${count(set.class_names.length, "class", "classes")}`,
    set.groups ? ` in ${count(set.groups, "group")} that stay whole; ` : "; ",
    set.partitions > 1 ? `mean over ${set.partitions} ${kind} partitions with the standard deviation in brackets; ` : `one ${kind} partition; `,
    set.methods.some((method) => method.grid.length > 0 || seated(method).length > 0) ? "settings chosen by cross-validation inside each training part. " : "every setting fixed. ",
    metric.smaller ? "Smaller is better. " : "Larger is better. ",
    floorWords(doc, set),
    testedWords(set)
  );
}

function warnings(set) {
  const notes = [];
  if (set.complete === false && set.most > 0) {
    notes.push("The evaluation is not finished: some methods lack partitions, and only those with the most can be best.");
  }
  const missed = set.methods.filter((method) => method.ended_as_asked === false);
  if (missed.length > 0) {
    notes.push(["A solver missed its tolerance on some partition of ", list(missed.map((m) => name(m.method))), "."]);
  }
  return notes.map((note) => h("p", { class: "warning" }, note));
}

/** Searches whose grid was flat, or too short at one end. */
function gridWarnings(set) {
  const notes = set.methods.flatMap((method) => method.details.notes ?? []);
  if (notes.length === 0) return null;
  const lines = h("ul", {}, notes.map((note) => h("li", {}, visible(note))));
  if (notes.length <= FEW_WARNINGS) return h("div", { class: "warning grids" }, lines);
  return h("details", { class: "warning grids" }, h("summary", {}, `${notes.length} remarks on grids that were flat or chosen from at an end`), lines);
}

/** What kith says of the input: for the reader who goes on. */
export function notesList(notes) {
  if (!notes || notes.length === 0) return null;
  return h("div", { class: "notes" }, h("h3", {}, "Notes"), h("ul", {}, notes.map((note) => h("li", {}, visible(note)))));
}

function usualText(method) {
  const members = seated(method);
  if (members.length > 0) return visible(members.map((one) => `${one.method} (${one.partitions}\u00d7)`).join(", "));
  const text = settingsText(method.chosen_most.settings, method.grid);
  return text ? visible(`${text} (${method.chosen_most.partitions}\u00d7)`) : "";
}

const bayesText = ({ better, equal, worse }) => [better, equal, worse].map((share) => fixed(100 * share, 0)).join(" / ");

/** Whether Holm's method changes anything. */
const adjusted = (set) => set.test.possible && set.deciding === "p_adjusted" && set.compared.length > 2;

function resultTable(doc, set) {
  const metric = METRICS[doc.metric];
  const unit = metric.unit ? `, ${metric.unit}` : "";
  const compared = set.methods.some((method) => method.difference);
  const columns = [
    { title: "method", key: (m) => m.method, cell: (m) => methodLink(m, m.best) },
    {
      title: `${metric.title}${unit}`,
      number: true,
      key: (m) => m.level,
      cell: (m) => [
        meanText(doc, m),
        m.finished.length < set.partitions ? h("span", { class: "faint" }, `${m.finished.length > 0 ? " " : ""}[${m.finished.length} of ${set.partitions}]`) : null,
      ],
    },
    compared && { title: `to the best${metric.unit ? ", points" : ""}`, number: true, key: (m) => (m.leads ? 0 : (m.difference?.mean ?? null)), cell: (m) => (m.leads ? "best" : differenceText(doc, m.difference)) },
    set.methods.some((method) => method.p !== null) && { title: adjusted(set) ? "p (Holm)" : "p", number: true, key: (m) => m.p, cell: (m) => (m.leads ? "" : pValue(m.p)) },
    set.methods.some((method) => method.bayes) && { title: "better / same / worse, %", number: true, class: "faint", key: (m) => m.bayes?.worse ?? null, cell: (m) => (m.bayes ? bayesText(m.bayes) : m.leads ? "" : "\u2013") },
    set.methods.some((method) => method.grid.length > 0 || seated(method).length > 0) && { title: "chosen most often", class: "setting wide-cell", cell: usualText },
    { title: "time", number: true, class: "faint", key: (m) => m.seconds, cell: (m) => seconds(m.seconds), downFirst: true },
  ].filter(Boolean);
  const floor =
    set.floor === null ? null : [h("span", { class: "faint" }, "always ", name(set.baseline.class, 30)), value(doc, set.floor)];
  return table(columns, { rows: set.ordered, rowClass: (m) => (m.best ? "best" : null), label: `${metric.title} of every method`, className: "results", foot: floor });
}

/** What the columns of the table mean. */
function legend(doc, set) {
  const points = inPercent(doc) ? "1 point" : "0.01";
  return [
    set.methods.some((method) => method.best) ? [h("span", { class: "badge" }, "\u2605"), " the best mean, or not significantly worse than it at 5 %. "] : null,
    set.methods.some((method) => method.difference) ? ["To the best: the mean difference to the best method, with its 95 % interval in brackets", adjusted(set) ? ", which is not adjusted. " : ". "] : null,
    set.test.possible ? [visible(set.test.note), " "] : null,
    set.methods.some((method) => method.bayes) ? `Better / same / worse: how probable it is that the method is better than the best one by more than ${points}, differs by at most ${points}, or is worse (Bayesian correlated t-test). ` : null,
    set.floor === null ? null : ["Always ", name(set.baseline.class, 30), ": every sample is predicted as the most frequent class."],
  ];
}

export function downloads(doc) {
  const file = (ending) => `kith-report${doc.metric === "error" ? "" : `-${doc.metric}`}.${ending}`;
  const button = (text, ending, type, content) =>
    h("button", { type: "button", "data-download": ending, onclick: () => save(file(ending), type, content()) }, text);
  return h(
    "div",
    { class: "tools" },
    h("span", { class: "faint" }, "Download the table:"),
    button("CSV", "csv", "text/csv", () => doc.tables.csv),
    button("LaTeX", "tex", "application/x-tex", () => doc.tables.latex),
    button("Markdown", "md", "text/markdown", () => doc.tables.markdown),
    button("everything (JSON)", "json", "application/json", () => document.getElementById("document").textContent)
  );
}

/** Two charts a row; the last one of an odd number has a row of its own. */
function charts(doc, set) {
  const { length } = set.compared;
  if (length === 0) return null;
  const makers = [strips, length > 1 && differences, set.sizes && learningCurve, length > 2 && pairMatrix].filter(Boolean);
  const wide = makers.length % 2 === 1 ? makers.length - 1 : -1;
  return h("div", { class: "columns charts" }, makers.map((make, i) => h("div", { class: i === wide ? "whole" : null }, make(doc, set, i === wide ? WHOLE : HALF))));
}

export function resultsSection(doc, set) {
  const doubts = new Set(set.methods.flatMap((method) => method.details.notes ?? []));
  return h(
    "section",
    { id: "results" },
    h(doc.data_sets.length > 1 ? "h2" : "h1", {}, headline(doc, set)),
    h("p", { class: "lead" }, verdict(doc, set)),
    about(doc, set),
    warnings(set),
    resultTable(doc, set),
    set.winner && h("p", { class: "note legend-of-table" }, legend(doc, set)),
    doc.data_sets.length > 1 ? null : downloads(doc),
    gridWarnings(set),
    notesList((set.notes ?? []).filter((note) => !doubts.has(note))),
    charts(doc, set)
  );
}
