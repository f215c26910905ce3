// SPDX-License-Identifier: Apache-2.0
// How good one model is on labelled samples: the error in a sentence, its classes, its mistakes, its probabilities.
import { DRAWN, recallChart } from "./classes.js";
import { h, name, visible } from "./dom.js";
import { save } from "./figure.js";
import { calibration, confusion } from "./methods.js";
import { count, few, fixed, list, percent } from "./numbers.js";
import { notesList } from "./results.js";
import { table } from "./table.js";

export const SECTIONS = [["score", "Result"], ["classes", "Classes"], ["mistakes", "Mistakes"]];

export const scoreTitle = ({ about }) => `Score of ${visible(about.model ?? about.method)}`;

const between = ([low, high], digits = 2) => `${fixed(100 * low, digits)} to ${percent(high, digits)}`;

function baselineWords({ baseline, baseline_class, interval }) {
  if (baseline === null) return "";
  const [low, high] = interval;
  const meaning =
    high < baseline
      ? "The model is better than that."
      : low > baseline
        ? "The model is worse than that."
        : "These samples do not show which of the two is better.";
  return [" Who always answers ", name(baseline_class, 40), `, the most frequent class of the training samples, is wrong on ${percent(baseline)}. ${meaning}`];
}

function aboutWords({ about }) {
  const queries = (about.queries ?? []).map((one) => name(one, 60));
  return h(
    "p",
    { class: "faint about" },
    "Method ",
    name(about.method, 40),
    about.model ? [", model ", name(about.model, 60)] : null,
    queries.length > 0 ? [", predictions for ", list(queries)] : null,
    about.labels ? [", true classes from ", name(about.labels, 60)] : null,
    "."
  );
}

function facts(score) {
  const rows = [
    ["balanced error", percent(score.balanced_error), "mean over the classes of the share of their samples that is missed"],
    score.auc === null ? null : ["area under the ROC curve", percent(score.auc), "how often a sample of one class is ordered above one of the other"],
    score.mean_cost === null ? null : ["mean cost", few(score.mean_cost), "by the costs the model was trained with"],
    score.log_loss === null ? null : ["log-loss", few(score.log_loss), "mean of -log of the probability of the true class"],
    score.calibration === null ? null : ["calibration error", percent(score.calibration.error), "how far probabilities are off on average"],
  ];
  const line = ([title, value, meaning]) => h("tr", {}, h("th", { scope: "row" }, title), h("td", { class: "number" }, value), h("td", { class: "faint" }, meaning));
  return h("table", { class: "facts", "aria-label": "further measures" }, h("tbody", {}, rows.filter(Boolean).map(line)));
}

function classTable(score) {
  const share = (title, key) => ({ title, number: true, key: (c) => c[key], cell: (c) => percent(c[key]) });
  const interval = (key) => ({ title: "95 % interval", number: true, class: "faint", cell: (c) => (c[key] ? between(c[key]) : "\u2013") });
  return table(
    [
      { title: "class", key: (c) => c.class, cell: (c) => [name(c.class, 40), c.known ? null : h("span", { class: "faint" }, " (not in the model)")] },
      { title: "samples", number: true, key: (c) => c.samples, cell: (c) => c.samples.toLocaleString("en"), downFirst: true },
      share("recall", "recall"),
      interval("recall_interval"),
      { title: "predicted", number: true, key: (c) => c.predicted, cell: (c) => c.predicted.toLocaleString("en"), downFirst: true },
      share("precision", "precision"),
      interval("precision_interval"),
    ],
    { rows: score.classes, label: "recall and precision of every class", most: 60 }
  );
}

function recalls(score) {
  const rows = score.classes.filter((one) => one.recall !== null).map((one) => ({ title: one.class, n: one.samples, recall: one.recall, low: one.recall_interval[0], high: one.recall_interval[1] }));
  return recallChart(rows, { file: "recall", counted: (n) => count(n, "sample") });
}

function mistakes(score) {
  const { classes, counts } = score.confusion;
  const rows = counts.flatMap((row, t) => row.map((n, p) => ({ truth: classes[t], predicted: classes[p], n, share: n / score.classes[t].samples, right: t === p })));
  const wrong = rows.filter((row) => row.n > 0 && !row.right).sort((a, b) => b.n - a.n);
  if (wrong.length === 0) return h("p", {}, "There are none.");
  return table(
    [
      { title: "true class", key: (r) => r.truth, cell: (r) => name(r.truth, 40) },
      { title: "predicted as", key: (r) => r.predicted, cell: (r) => name(r.predicted, 40) },
      { title: "samples", number: true, key: (r) => r.n, cell: (r) => r.n.toLocaleString("en"), downFirst: true },
      { title: "of the class", number: true, key: (r) => r.share, cell: (r) => percent(r.share, 1), downFirst: true },
    ],
    { rows: wrong, label: "mistakes, the most frequent first", most: 12 }
  );
}

/** The score as the charts of a compared method take it. */
function asMethod(score) {
  const bins = score.calibration?.bins ?? [];
  return {
    index: "score",
    confusion: score.confusion.counts,
    details: { calibration: bins.map((bin) => [bin.samples, bin.probability, bin.right]) },
  };
}

export function scorePage(doc) {
  const { score } = doc;
  const method = asMethod(score);
  const drawn = score.confusion.classes.length <= DRAWN ? confusion({ class_names: score.confusion.classes }, method, "of these samples") : null;
  return [
    h(
      "section",
      { id: "score" },
      h("h1", {}, `Error ${percent(score.error)}: ${score.wrong.toLocaleString("en")} of ${count(score.n, "sample")} predicted wrong`),
      h("p", { class: "lead" }, `On samples like these the error is ${between(score.interval)}, with 95 % confidence.`, baselineWords(score)),
      aboutWords(doc),
      notesList(score.notes),
      facts(score),
      h(
        "div",
        { class: "tools" },
        h("button", { type: "button", "data-download": "json", onclick: () => save("kith-score.json", "application/json", document.getElementById("document").textContent) }, "everything (JSON)")
      )
    ),
    h("section", { id: "classes" }, h("h2", {}, "Each class"), h("p", { class: "note" }, "Recall: the share of the samples of a class that is predicted as it. Precision: the share of the predictions of a class that is right."), classTable(score), recalls(score)),
    h("section", { id: "mistakes" }, h("h2", {}, "Mistakes"), h("div", { class: "columns" }, h("div", {}, mistakes(score)), h("div", {}, drawn, calibration(method)))),
  ];
}
