// SPDX-License-Identifier: Apache-2.0
// The first screen: who is best, whether that means anything, the table, the errors per partition.
import * as Plot from "@observablehq/plot";
import { h, name, visible, short } from "./dom.js";
import { around, figure, fitting, plot, save } from "./figure.js";
import { METRICS, seated, settingsText } from "./model.js";
import { count, few, fixed, list, pValue, seconds } from "./numbers.js";
import { table } from "./table.js";

const WHERE = { error: "lowest error", "balanced-error": "lowest balanced error", "log-loss": "lowest log-loss" };

export function value(doc, number, digits = 2) {
  const metric = METRICS[doc.metric];
  return metric.unit === "%" ? fixed(number === null ? null : 100 * number, digits) : fixed(number, 4);
}

/** The cell of the table: one partition has no standard deviation. */
export function meanText(doc, method) {
  if (method.mean === null) return method.finished.length > 0 ? "\u2013" : "";
  return method.finished.length > 1 ? `${value(doc, method.mean)} (${value(doc, method.sd)})` : value(doc, method.mean);
}

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
  const unit = metric.unit ? ` ${metric.unit}` : "";
  return [
    together(set.leaders.map((method) => method.method)),
    set.leaders.length > 1 ? " share the " : " has the ",
    WHERE[doc.metric] ?? `highest ${metric.title}`,
    " on ",
    name(set.name),
    `: ${value(doc, set.winner.mean)}${unit}`,
  ];
}

/** Whether the difference means anything. */
function verdict(doc, set) {
  const others = set.ordered.filter((method) => !set.leaders.includes(method) && method.mean !== null);
  if (!set.winner && set.most > 0) return "The store has results, but none of this metric.";
  if (!set.winner) {
    return `${set.partitions > 1 ? `None of the ${set.partitions} partitions` : "The partition"} is finished for any of the ${count(set.methods.length, "method")}. The same kith evaluate command goes on where it stopped.`;
  }
  if (others.length === 0) {
    return set.leaders.length > 1 ? "Their means are equal: these partitions do not tell them apart." : "It is the only method with results; there is nothing to compare it with.";
  }
  const close = others.filter((method) => method.best);
  const clear = others.filter((method) => !method.best && method.p_value !== null && method.p_value <= 0.05);
  const partitions = set.winner.finished.length;
  if (partitions < 5) {
    return `With ${count(partitions, "partition")} no difference can be significant at 5 %: take the order as a first impression.`;
  }
  if (clear.length === 0) return `But ${others.length === 1 ? "the other method is not" : `none of the ${others.length} other methods is`} significantly worse: the order may be chance.`;
  const names = close.map((method) => name(method.method, 30));
  const tied =
    close.length === 0
      ? ` No other method keeps up with ${set.leaders.length > 1 ? "them" : "it"}.`
      : close.length <= 4
        ? [" ", list(names), close.length === 1 ? " is" : " are", " not significantly worse and ", close.length === 1 ? "shares" : "share", " the best group."]
        : ` ${close.length} others are not significantly worse and share the best group.`;
  return [
    others.length === 1 ? "The other method" : clear.length === others.length ? `All ${others.length} other methods` : `${clear.length} of the ${others.length} other methods`,
    clear.length === 1 ? " is" : " are",
    " significantly worse (one-sided Wilcoxon signed-rank test at 5 %).",
    tied,
  ];
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

/** What kith says of the input and of the searches: for the reader who goes on. */
export function notesList(notes) {
  if (!notes || notes.length === 0) return null;
  return h("div", { class: "notes" }, h("h3", {}, "Notes"), h("ul", {}, notes.map((note) => h("li", {}, visible(note)))));
}

function resultTable(doc, set) {
  const metric = METRICS[doc.metric];
  const planned = set.partitions;
  return table(
    [
      { title: "method", key: (m) => m.method, cell: (m) => methodLink(m, m.best) },
      {
        title: `${metric.title}${metric.unit ? `, ${metric.unit}` : ""}`,
        number: true,
        key: (m) => m.level,
        cell: (m) => [
          meanText(doc, m),
          m.finished.length < planned ? h("span", { class: "faint" }, `${m.finished.length > 0 ? " " : ""}[${m.finished.length} of ${planned}]`) : null,
        ],
      },
      { title: "p", number: true, class: "faint", key: (m) => m.p_value, cell: (m) => pValue(m.p_value) },
      set.methods.some((method) => method.grid.length > 0 || seated(method).length > 0) && {
        title: "chosen most often",
        class: "setting wide-cell",
        cell: (m) => {
          const members = seated(m);
          if (members.length > 0) return visible(members.map((one) => `${one.method} (${one.partitions}\u00d7)`).join(", "));
          const text = settingsText(m.chosen_most.settings, m.grid);
          return text ? `${text} (${m.chosen_most.partitions}\u00d7)` : "";
        },
      },
      { title: "time", number: true, class: "faint", key: (m) => m.seconds, cell: (m) => seconds(m.seconds), downFirst: true },
    ].filter(Boolean),
    { rows: set.ordered, rowClass: (m) => (m.best ? "best" : null), label: `${metric.title} of every method`, className: "results" }
  );
}

function strips(doc, set) {
  const metric = METRICS[doc.metric];
  const scale = metric.unit === "%" ? 100 : 1;
  const shown = set.ordered.filter((method) => method.mean !== null);
  const label = (method) => short(method.method, 24);
  const names = shown.map((method, m) => `${m}`);
  const points = shown.flatMap((method, m) =>
    method.values
      .map((v, i) => ({ m: `${m}`, v: v === null ? NaN : v * scale, partition: method.finished[i], best: method.best, method }))
      .filter((point) => Number.isFinite(point.v))
  );
  const spans = shown.map((method, m) => ({ m: `${m}`, mean: method.mean * scale, sd: (method.sd ?? 0) * scale, best: method.best }));
  const bands = spans.filter((span, m) => shown[m].finished.length > 1 && span.sd > 1e-12 * Math.abs(span.mean));
  const colour = (d) => (d.best ? "var(--accent)" : "var(--dot)");
  const longest = Math.max(...shown.map((method) => label(method).length), 6);
  const chart = plot({
    width: 560,
    height: 62 + 27 * shown.length,
    marginLeft: Math.min(170, fitting(560) / 3, 14 + 7 * longest),
    marginBottom: 38,
    marginRight: 16,
    x: { label: `${metric.title}${metric.unit ? ` (${metric.unit})` : ""} on each test part`, grid: true, nice: true, labelAnchor: "center", labelArrow: "none", ticks: 6, domain: around(points.map((point) => point.v), metric.unit === "%" ? { unit: 5, low: 0, high: 100 } : { low: 0 }) },
    y: { domain: names, tickFormat: (m) => label(shown[Number(m)]), label: null, tickSize: 0 },
    marks: [
      Plot.ruleY(bands, { y: "m", x1: (d) => d.mean - d.sd, x2: (d) => d.mean + d.sd, ariaLabel: () => "band", stroke: colour, strokeWidth: 9, strokeOpacity: 0.22, strokeLinecap: "round" }),
      Plot.dot(points, {
        y: "m", x: "v", r: 3.2, fill: colour, fillOpacity: 0.55, ariaLabel: () => "partition",
        title: (d) => `${visible(d.method.method)}, partition ${d.partition}: ${few(d.v, 4)}${metric.unit ? ` ${metric.unit}` : ""}`,
        tip: true,
      }),
      Plot.tickX(spans, { y: "m", x: "mean", stroke: colour, strokeWidth: 3, inset: 4, ariaLabel: () => "mean" }),
    ],
  });
  return figure({
    title: `${metric.title[0].toUpperCase()}${metric.title.slice(1)} on every partition${set.winner === shown[0] && shown.length > 1 ? ", the best first" : ""}`,
    chart,
    marks: points.length,
    file: `${doc.metric === "error" ? "errors" : doc.metric}-per-partition`,
    words: `${metric.title} of each method on each partition. ${shown
      .map((m) => `${visible(m.method)} ${value(doc, m.mean)}${m.finished.length > 1 ? `, standard deviation ${value(doc, m.sd)}` : ""}${m.best ? ", best group" : ""}`)
      .join("; ")}.`,
    caption: `A dot is a test part, the upright line the mean${bands.length > 0 ? ", the band one standard deviation to each side" : ""}. Coloured: the best group.`,
  });
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

export function resultsSection(doc, set) {
  const metric = METRICS[doc.metric];
  const classes = set.class_names.length;
  const kind = set.protocol?.partitions === "given" ? "given" : "random";
  return h(
    "section",
    { id: "results" },
    h(doc.data_sets.length > 1 ? "h2" : "h1", {}, headline(doc, set)),
    h("p", { class: "lead" }, verdict(doc, set)),
    h(
      "p",
      { class: "faint about" },
      `${count(set.methods.length, "method")} on ${count(set.n, "sample")} of ${count(classes, "class", "classes")}; `,
      set.partitions > 1 ? `mean over ${set.partitions} ${kind} partitions with the standard deviation in brackets; ` : `one ${kind} partition; `,
      set.methods.some((method) => method.grid.length > 0 || seated(method).length > 0) ? "settings chosen by cross-validation inside each training part. " : "every setting fixed. ",
      metric.smaller ? "Smaller is better." : "Larger is better."
    ),
    warnings(set),
    h(
      "div",
      { class: "columns first" },
      h(
        "div",
        {},
        resultTable(doc, set),
        set.winner && h(
          "p",
          { class: "note" },
          h("span", { class: "badge" }, "\u2605"),
          " best group: the best mean and every method that is not significantly worse. p: how often chance alone would make a method look this much worse than the best."
        ),
        doc.data_sets.length > 1 ? null : downloads(doc)
      ),
      set.ordered.some((method) => method.mean !== null) ? strips(doc, set) : null
    ),
    notesList(set.notes)
  );
}
