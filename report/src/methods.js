// SPDX-License-Identifier: Apache-2.0
// Each method: what it chose, how it got there, which classes it finds, what its solver says.
import * as Plot from "@observablehq/plot";
import { methodRecall, precisionRecall, roc } from "./classes.js";
import { h, name, short, visible } from "./dom.js";
import { around, figure, plot } from "./figure.js";
import { METRICS, seated, settingsText } from "./model.js";
import { count, few, percent, seconds, tickText } from "./numbers.js";
import { table } from "./table.js";
import { value } from "./values.js";

/** Losses at the points of the grid, over at most two axes: of further ones the best value. */
function surface(details) {
  const axes = details.axes.filter((axis) => axis.values.length > 1);
  const shown = axes.slice(0, 2);
  const best = new Map();
  const sizes = details.axes.map((axis) => axis.values.length);
  details.validation.forEach((loss, point) => {
    const places = [];
    let rest = point;
    for (let a = sizes.length - 1; a >= 0; a -= 1) {
      places[a] = rest % sizes[a];
      rest = Math.floor(rest / sizes[a]);
    }
    const key = shown.map((axis) => places[details.axes.indexOf(axis)]);
    const at = key.join(" ");
    if (!best.has(at) || best.get(at).loss > loss) best.set(at, { key, loss });
  });
  return { axes: shown, hidden: axes.slice(2), points: [...best.values()] };
}

const ticks = (axis, room = Infinity) => {
  const text = axis.values.map((v) => (Number.isFinite(Number(v)) ? few(Number(v), 6) : v)).map((v) => (v.length > 4 && Number(v) ? Number(v).toExponential().replace("e+", "e") : v));
  const longest = 8 + 6.8 * Math.max(...text.map((v) => Math.min(9, v.length)));
  const every = Math.max(Math.ceil(axis.values.length / 10), Math.ceil((axis.values.length * longest) / room));
  return { domain: axis.values.map((_, i) => i), tickFormat: (i) => (i % every === 0 ? short(text[i], 9) : ""), label: axis.field };
};

function validation(method) {
  const { axes, hidden, points } = surface(method.details);
  if (axes.length === 0 || points.length < 2) return null;
  const lowest = points.reduce((a, b) => (b.loss < a.loss ? b : a));
  const equals = points.filter((point) => point.loss === lowest.loss);
  const rest = hidden.length > 0 ? ` Of ${hidden.map((axis) => axis.field).join(", ")} the best value is shown.` : "";
  const highest = points.reduce((a, b) => (b.loss > a.loss ? b : a));
  const ringed = equals.length < points.length ? equals : [];
  const colours = axes.length > 1 && ringed.length > 0 ? ` Colour: from dark, ${percent(lowest.loss)}, to light, ${percent(highest.loss)}.` : "";
  const where =
    equals.length === 1
      ? axes.map((axis, a) => `${axis.field} ${axis.values[lowest.key[a]]}`).join(", ")
      : equals.length < points.length
        ? `${equals.length} of ${points.length} points`
        : "every point";
  let chart;
  if (axes.length === 1) {
    chart = plot({
      width: 340, height: 230, marginLeft: 46, marginBottom: 40, marginTop: 28,
      x: { type: "point", ...ticks(axes[0], 280), labelAnchor: "center", labelArrow: "none" },
      y: { label: "loss (%)", grid: true, ticks: 5, nice: true, domain: around(points.map((point) => 100 * point.loss), { unit: 5, low: 0, high: 100 }), transform: (v) => 100 * v },
      marks: [
        Plot.line(points, { x: (d) => d.key[0], y: "loss", stroke: "var(--accent)", strokeWidth: 2 }),
        Plot.dot(points, { x: (d) => d.key[0], y: "loss", fill: "var(--accent)", r: 3, ariaLabel: () => "point", title: (d) => `${axes[0].field} ${visible(axes[0].values[d.key[0]])}: ${percent(d.loss)}`, tip: true }),
        Plot.dot(ringed, { x: (d) => d.key[0], y: "loss", stroke: "var(--warm)", strokeWidth: 2, r: 6 }),
      ],
    });
  } else {
    chart = plot({
      width: 340, height: Math.min(340, 90 + 22 * axes[1].values.length), marginLeft: 56, marginBottom: 40,
      x: { type: "band", ...ticks(axes[0], 280), labelAnchor: "center", labelArrow: "none" },
      y: { type: "band", ...ticks(axes[1]), domain: axes[1].values.map((_, i) => i).reverse(), labelAnchor: "center" },
      color: { type: "linear", range: ["#1a1852", "#2a5c9e", "#4c9eb8", "#b2d8c8", "#fcfaee"], interpolate: "rgb" },
      marks: [
        Plot.cell(points, { x: (d) => d.key[0], y: (d) => d.key[1], fill: "loss", ariaLabel: () => "point", inset: 0.5, title: (d) => `${axes.map((axis, a) => `${axis.field} ${visible(axis.values[d.key[a]])}`).join("\n")}\nloss ${percent(d.loss)}`, tip: true }),
        Plot.cell(ringed, { x: (d) => d.key[0], y: (d) => d.key[1], stroke: "var(--warm)", strokeWidth: 3, fill: "none" }),
      ],
    });
  }
  return figure({
    title: "Validation loss over the grid",
    chart,
    marks: points.length,
    file: `validation-${method.index}`,
    words: `Mean validation loss over ${points.length} points of the grid; lowest ${percent(lowest.loss)} at ${where}.`,
    caption: `Inner cross-validation, mean over the partitions; ${ringed.length > 0 ? "ringed: the lowest, " : ""}${percent(lowest.loss)} at ${visible(where)}.${colours}${rest}`,
  });
}

/** `over`: what the counts are of. */
export function confusion(set, method, over = "over all test parts") {
  const cells = [];
  method.confusion.forEach((row, truth) => {
    const total = row.reduce((a, b) => a + b, 0);
    row.forEach((n, predicted) => cells.push({ truth, predicted, n, share: total > 0 ? n / total : 0 }));
  });
  const classes = set.class_names.length;
  const label = (c) => short(set.class_names[c], 11);
  const size = Math.max(250, Math.min(420, 80 + classes * 26));
  const step = (size - 90) / classes;
  const written = step >= 20;
  const every = Math.max(1, Math.ceil(11 / step));
  const tick = (c) => (c % every === 0 ? label(c) : "");
  const turned = Math.max(...set.class_names.map((_, c) => label(c).length)) * 7 > step;
  const chart = plot({
    width: size, height: size - (turned ? 10 : 42), marginLeft: 80, marginTop: 16, marginBottom: turned ? 74 : 42,
    x: { type: "band", domain: set.class_names.map((_, c) => c), tickFormat: tick, tickRotate: turned ? -45 : 0, label: "predicted", labelAnchor: "center", labelArrow: "none", tickSize: 0 },
    y: { type: "band", domain: set.class_names.map((_, c) => c), tickFormat: tick, label: "true", labelArrow: "none", tickSize: 0 },
    color: { type: "linear", domain: [0, 1], range: ["#fcfaee", "#b2d8c8", "#4c9eb8", "#2a5c9e", "#1a1852"], interpolate: "rgb" },
    marks: [
      Plot.cell(cells, { x: "predicted", y: "truth", fill: "share", ariaLabel: () => "entry", inset: classes > 40 ? 0 : 0.5, title: (d) => `${visible(set.class_names[d.truth])} predicted as ${visible(set.class_names[d.predicted])}: ${d.n} (${percent(d.share, 1)})`, tip: true }),
      written ? Plot.text(cells.filter((d) => d.n > 0), { x: "predicted", y: "truth", text: (d) => String(d.n), fill: (d) => (d.share > 0.45 ? "#ffffff" : "#1b1f24"), fontSize: step < 30 ? 9 : 11, ariaLabel: () => "count" }) : null,
    ],
  });
  const wrong = cells.filter((d) => d.truth !== d.predicted && d.n > 0).sort((a, b) => b.n - a.n)[0];
  return figure({
    title: "Confusion",
    chart,
    marks: cells.length,
    file: `confusion-${method.index}`,
    words: `Confusion matrix ${over}. ${wrong ? `Most frequent error: ${visible(set.class_names[wrong.truth])} predicted as ${visible(set.class_names[wrong.predicted])}, ${wrong.n} times.` : "No errors."}`,
    caption: wrong ? ["Most frequent error: ", name(set.class_names[wrong.truth], 30), " predicted as ", name(set.class_names[wrong.predicted], 30), `, ${wrong.n} times. Colour: share of the row.`] : "No errors.",
  });
}

export function calibration(method) {
  const bins = method.details.calibration.filter(([n]) => n > 0).map(([n, probability, right]) => ({ n, probability, right }));
  if (bins.length === 0) return null;
  const most = Math.max(...bins.map((bin) => bin.n));
  const chart = plot({
    width: 300, height: 280, marginLeft: 46, marginBottom: 40,
    x: { domain: [0, 1], label: "probability of the prediction", labelAnchor: "center", labelArrow: "none", ticks: 5 },
    y: { domain: [0, 1], label: "share that was right", grid: true, ticks: 5 },
    marks: [
      Plot.line([[0, 0], [1, 1]], { stroke: "var(--line)", strokeDasharray: "4 3", strokeWidth: 1.5 }),
      Plot.line(bins, { x: "probability", y: "right", stroke: "var(--accent)", strokeWidth: 1.5 }),
      Plot.dot(bins, { x: "probability", y: "right", r: (d) => 2 + 6 * Math.sqrt(d.n / most), fill: "var(--accent)", fillOpacity: 0.7, ariaLabel: () => "bin", title: (d) => `${count(d.n, "prediction")}\nprobability ${percent(d.probability, 1)}, right ${percent(d.right, 1)}`, tip: true }),
    ],
    r: { type: "identity" },
  });
  return figure({
    title: "Calibration of its probabilities",
    chart,
    marks: bins.length,
    file: `calibration-${method.index}`,
    words: `Of predictions by their probability, the share that was right: ${bins.map((b) => `${percent(b.probability, 0)} probable, ${percent(b.right, 0)} right`).join("; ")}.`,
    caption: "On the dashed line probabilities mean what they say; the area of a dot is the number of predictions.",
  });
}

/** Who took part in a committee. */
function members(method) {
  return table(
    [
      { title: "member", key: (r) => r.method, cell: (r) => name(r.method, 40) },
      { title: "partitions", number: true, key: (r) => r.partitions, cell: (r) => `${r.partitions} of ${method.finished.length}` },
      {
        title: "most often with",
        cell: (r) => {
          const text = settingsText(r.chosen_most.settings);
          return text ? visible(`${text} (${r.chosen_most.partitions}\u00d7)`) : "";
        },
      },
    ],
    { rows: [...seated(method), ...method.members.filter((one) => one.partitions === 0)], label: "members of the committee", most: 12 }
  );
}

function chosen(method) {
  if (method.members) return members(method);
  if (method.grid.length === 0) return h("p", { class: "note" }, "Nothing was searched: every setting is fixed.");
  const counts = new Map();
  method.chosen.forEach((settings, i) => {
    const text = settingsText(settings, method.grid);
    counts.set(text, [...(counts.get(text) ?? []), method.finished[i]]);
  });
  const rows = [...counts].map(([text, partitions]) => ({ text, partitions })).sort((a, b) => b.partitions.length - a.partitions.length);
  if (rows.length === 1) return h("p", { class: "note" }, rows[0].partitions.length > 1 ? `On all ${rows[0].partitions.length} partitions: ` : "Chosen: ", visible(rows[0].text), ".");
  return table(
    [
      { title: "settings chosen", key: (r) => r.text, cell: (r) => visible(r.text) },
      { title: "times", number: true, key: (r) => r.partitions.length, cell: (r) => r.partitions.length, downFirst: true },
      { title: "on partitions", class: "faint", cell: (r) => r.partitions.join(", ") },
    ],
    { rows, label: "settings chosen per partition", most: 12 }
  );
}

/** The rows of a table whose columns the document has. */
function recordsOf({ partition, ...columns }) {
  return partition.map((number, i) => ({ partition: number, ...Object.fromEntries(Object.entries(columns).map(([key, list]) => [key, list[i]])) }));
}

/** From the least to the largest of what is known. */
function span(rows, key, text) {
  const known = rows.map((row) => row[key]).filter((v) => v !== null);
  if (known.length === 0) return null;
  const [low, high] = [text(Math.min(...known)), text(Math.max(...known))];
  return low === high ? low : `${low} to ${high}`;
}

/** One line where every partition ended alike; what each of them says is below it. */
function certificates(method) {
  const rows = recordsOf(method.details.partitions);
  const solver = rows.some((row) => row.gap !== null || row.kkt_residual !== null);
  const columns = [{ title: "partition", number: true, key: (r) => r.partition, cell: (r) => r.partition }];
  if (solver) {
    columns.push(
      { title: "status", key: (r) => r.status, cell: (r) => visible(r.status) },
      { title: "gap", number: true, key: (r) => r.gap, cell: (r) => few(r.gap, 2) },
      { title: "residual", number: true, key: (r) => r.kkt_residual, cell: (r) => few(r.kkt_residual, 2) },
      { title: "iterations", number: true, key: (r) => r.iterations, cell: (r) => (r.iterations === null ? "\u2013" : r.iterations.toLocaleString("en")) }
    );
  }
  columns.push({ title: "time", number: true, key: (r) => r.seconds, cell: (r) => seconds(r.seconds) });
  const all = table(columns, { rows, label: "certificates per partition", most: 20 });
  const note = h("p", { class: "note" }, solver ? "Of the refit; time includes the inner folds." : "Refit, prediction and inner folds. The method has no solver to certify.");
  const heading = h("h3", {}, solver ? "Certificates" : "Time");
  if (rows.some((row) => row.status !== rows[0].status)) return [heading, all, note];
  const facts = [
    solver ? `${rows.length > 1 ? `all ${rows.length} partitions ` : ""}${visible(rows[0].status)}` : null,
    [["gap", (v) => few(v, 2)], ["kkt_residual", (v) => few(v, 2)], ["iterations", (v) => v.toLocaleString("en")]].map(([key, text]) => {
      const found = solver ? span(rows, key, text) : null;
      return found === null ? null : `${key === "kkt_residual" ? "residual" : key} ${found}`;
    }),
    `${seconds(rows.reduce((sum, row) => sum + (row.seconds ?? 0), 0))} in all`,
  ].flat().filter(Boolean);
  const line = facts.join("; ");
  return [heading, h("p", { class: "certified" }, `${line[0].toUpperCase()}${line.slice(1)}.`), rows.length > 1 ? h("details", { class: "fold" }, h("summary", {}, "each partition"), all) : null, note];
}

function weights(method, parts) {
  const rows = parts.flatMap((part) => (part.kernel_weights ?? []).map((w) => ({ ...w, part: part.name })));
  if (rows.length === 0) return null;
  const names = [...new Set(rows.map((row) => row.matrix))];
  const chart = plot({
    width: 340, height: 62 + 30 * names.length, marginLeft: 100, marginBottom: 40,
    x: { label: "weight", labelAnchor: "center", labelArrow: "none", ticks: 5, grid: true, nice: true, zero: true, domain: rows.every((row) => row.weight === 0) ? [0, 1] : undefined },
    y: { type: "point", domain: names.map((_, i) => i), tickFormat: (i) => short(names[i], 14), label: null, tickSize: 0 },
    marks: [
      Plot.ruleX([0]),
      Plot.dot(rows, { x: "weight", y: (d) => names.indexOf(d.matrix), fill: "var(--accent)", fillOpacity: 0.7, r: 5, ariaLabel: () => "weight", title: (d) => `${visible(d.matrix)}${d.part ? `, ${visible(d.part)}` : ""}: ${few(d.weight)}`, tip: true }),
    ],
  });
  return figure({
    title: "Kernel weights",
    chart,
    marks: rows.length,
    file: `weights-${method.index}`,
    words: `Weights of the matrices: ${rows.map((row) => `${visible(row.matrix)} ${few(row.weight)}`).join(", ")}.`,
    caption: parts.length > 1 ? "First partition; a dot per pair of classes." : "First partition.",
  });
}

function spectra(method, parts) {
  const rows = parts.flatMap((part) => (part.multipliers ?? []).map((g, i) => ({ lambda: part.eigenvalues[i], g, part: part.name })));
  if (rows.length === 0) return null;
  const chart = plot({
    width: 340, height: 250, marginLeft: 46, marginBottom: 40,
    x: { type: "symlog", label: "eigenvalue (symmetric log scale)", labelAnchor: "center", labelArrow: "none", ticks: 5, tickFormat: tickText(2) },
    y: { label: "multiplier", grid: true, ticks: 5, domain: around(rows.map((row) => row.g)) },
    marks: [
      Plot.ruleX([0], { stroke: "var(--line)" }),
      Plot.dot(rows, { x: "lambda", y: "g", r: 2.5, fill: (d) => (d.lambda < 0 ? "var(--warm)" : "var(--accent)"), fillOpacity: 0.6, ariaLabel: () => "multiplier", title: (d) => `${visible(d.part)}\n${few(d.lambda)} times ${few(d.g)}`, tip: true }),
    ],
  });
  return figure({
    title: "The spectrum it learned",
    chart,
    marks: rows.length,
    file: `learned-spectrum-${method.index}`,
    words: `Multiplier of each eigenvalue, ${rows.length} points from ${parts.length} subproblems.`,
    caption: `First partition${parts.length > 1 ? `, ${parts.length} pairs of classes` : ""}. Clip would be 0 left of zero, flip \u22121.`,
  });
}

function bounds(method, parts) {
  const part = parts.find((one) => one.bounds && one.bounds.length > 1);
  if (!part) return null;
  const rows = part.bounds.flatMap(([iteration, lower, upper]) => [{ iteration, v: lower, side: "lower" }, { iteration, v: upper, side: "upper" }]);
  const chart = plot({
    width: 340, height: 250, marginLeft: 62, marginBottom: 40,
    x: { label: "iteration", labelAnchor: "center", labelArrow: "none", ticks: 5 },
    y: { label: "bounds on the objective", grid: true, ticks: 5, domain: around(rows.map((row) => row.v)), tickFormat: tickText(4) },
    marks: [
      Plot.line(rows, { x: "iteration", y: "v", z: "side", stroke: (d) => (d.side === "lower" ? "var(--accent)" : "var(--warm)"), strokeWidth: 2 }),
      Plot.dot(rows, { x: "iteration", y: "v", r: 2, fill: (d) => (d.side === "lower" ? "var(--accent)" : "var(--warm)"), ariaLabel: () => "bound", title: (d) => `iteration ${d.iteration}\n${d.side} ${few(d.v, 8)}`, tip: true }),
    ],
  });
  const last = part.bounds[part.bounds.length - 1];
  return figure({
    title: "Bounds by iteration",
    chart,
    marks: rows.length,
    file: `bounds-${method.index}`,
    words: `Lower and upper bound on the objective over ${last[0]} iterations, ending at ${few(last[1], 8)} and ${few(last[2], 8)}.`,
    caption: ["First partition", part.name ? [", ", name(part.name, 40)] : null, ". Blue from below, orange from above."],
  });
}

export function settingsWords(method) {
  const entries = Object.entries(method.settings ?? {});
  // Members of a committee have settings and grids of their own: their names tell who was asked.
  const plain = (v) => (Array.isArray(v) ? v.map((one) => one?.name ?? plain(one)).join(", ") : typeof v === "object" ? JSON.stringify(v) : v);
  const text = entries.map(([key, v]) => `${key} = ${plain(v)}`).join(", ");
  const grid = method.grid.map((axis) => `${axis.field}: ${axis.values.join(", ")}`);
  return ["method ", h("code", {}, visible(method.base_method)), text ? `; fixed: ${visible(text)}` : "", grid.length > 0 ? `; searched: ${visible(grid.join("; "))}` : ""];
}

const fixedSettings = (method) => h("p", { class: "note settings" }, settingsWords(method), ".");

function content(doc, set, method) {
  const parts = method.details.learned ?? [];
  const charts = [
    validation(method), confusion(set, method), methodRecall(set, method), roc(set, method), precisionRecall(set, method), calibration(method),
    weights(method, parts), spectra(method, parts), bounds(method, parts),
  ];
  const notes = method.details.notes ?? [];
  return h(
    "div",
    {},
    fixedSettings(method),
    notes.map((note) => h("p", { class: "warning" }, visible(note))),
    h("div", { class: "cards" }, charts.filter(Boolean)),
    h("div", { class: "columns" }, h("div", {}, h("h3", {}, "Settings"), chosen(method)), h("div", {}, certificates(method)))
  );
}

export function methodsSection(doc, set) {
  const metric = METRICS[doc.metric];
  const items = set.ordered.map((method) => {
    const details = h(
      "details",
      { class: "method", id: `method-${method.index}` },
      h(
        "summary",
        {},
        h("b", {}, name(method.method, 40)),
        h("span", {}, method.finished.length === 0 ? "no partition finished yet" : `${value(doc, method.mean)}${method.mean !== null && metric.unit ? ` ${metric.unit}` : ""}`, method.best ? h("span", { class: "badge", title: "in the best group" }, " \u2605") : null),
        h("span", { class: "faint" }, visible(settingsText(method.chosen_most.settings, method.grid)))
      )
    );
    // Drawn when it is opened: a page of thirty methods is ready at once.
    details.fill = () => {
      if (details.childElementCount > 1) return;
      details.append(method.finished.length > 0 ? content(doc, set, method) : h("div", {}, fixedSettings(method)));
    };
    details.addEventListener("toggle", () => details.open && details.fill());
    return details;
  });
  const all = (open) => items.forEach((item) => ((open && item.fill()), (item.open = open)));
  return h(
    "section",
    { id: "methods" },
    h("h2", {}, "Each method"),
    h("div", { class: "tools" }, h("button", { type: "button", onclick: () => all(true) }, "open all"), h("button", { type: "button", onclick: () => all(false) }, "close all")),
    items
  );
}
