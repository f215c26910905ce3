// SPDX-License-Identifier: Apache-2.0
// The data: what kind of matrix it is, seen and in numbers.
import * as Plot from "@observablehq/plot";
import { classColour, classSymbol } from "./classes.js";
import { h, name, replace, short, visible } from "./dom.js";
import { figure, fitting, plot } from "./figure.js";
import { heatmap } from "./heatmap.js";
import { sampleName } from "./model.js";
import { count, few, percent, tickText } from "./numbers.js";
import { notesList } from "./results.js";
import { scrolling } from "./table.js";

const MANY = 5; // classes whose sizes make a high chart

/** Where the diagonal adds up to 0, half of every spectrum is negative: only the centred matrix tells something. */
function indefinite({ negative_eigenvalues: negative, negative_eigenfraction: share, centred }) {
  if (centred) {
    return centred.negative_eigenvalues > 0
      ? `after centring ${count(centred.negative_eigenvalues, "negative eigenvalue")}, ${percent(centred.negative_eigenfraction)} of the absolute spectrum`
      : "not after centring: positive semidefinite";
  }
  return negative > 0 ? `${count(negative, "negative eigenvalue")}, ${percent(share)} of the absolute spectrum` : "no: positive semidefinite";
}

function facts(set, portrait) {
  const rows = [];
  const fact = (title, ...content) => rows.push(h("tr", {}, h("th", { scope: "row" }, title), h("td", {}, content)));
  fact("samples", count(portrait.n ?? set.n, "sample"), set.class_names.length > 0 ? ` of ${count(set.class_names.length, "class", "classes")}` : "");
  fact("read from", name(portrait.source ?? "", 80), ` (${portrait.format}${portrait.sparse ? ", sparse" : ""}, ${portrait.kind === "distance" ? "distances" : "similarities"})`);
  (portrait.applied ?? []).forEach((step, i) => fact(i === 0 ? "applied" : "", name(step)));
  const range = (low, high) => (low === high ? `${few(low)} everywhere` : `${few(low)} to ${few(high)}`);
  fact("range", `${range(portrait.min, portrait.max)}; diagonal ${range(portrait.diagonal_min, portrait.diagonal_max)}`);
  fact("symmetry", portrait.symmetric ? "symmetric" : `asymmetric: S and its transpose differ by ${percent(portrait.asymmetry)} of the norm`);
  if (portrait.missing > 0) fact("missing", `${count(portrait.missing, "pair")} without a value`);
  if (portrait.negative_eigenfraction !== null && portrait.negative_eigenfraction !== undefined) {
    fact("indefinite", indefinite(portrait));
    fact("eigenvalues", portrait.lambda_min === portrait.lambda_max ? `all ${few(portrait.lambda_min)}` : `${few(portrait.lambda_min)} to ${few(portrait.lambda_max)}`);
  } else if (portrait.no_spectrum_because) {
    fact("spectrum", name(portrait.no_spectrum_because));
  }
  if (portrait.triangle_violations !== null && portrait.triangle_violations !== undefined) {
    fact("triangles", `${percent(portrait.triangle_violations)} of ${portrait.triangles_checked.toLocaleString("en")} ${portrait.triangles_sampled ? "sampled " : ""}triples break the triangle inequality`);
  }
  if (portrait.loo_1nn_error !== null && portrait.loo_1nn_error !== undefined) {
    fact("neighbours", `leave-one-out 1-NN error ${percent(portrait.loo_1nn_error)}`);
  }
  const half = Math.ceil(rows.length / 2);
  const part = (some) => h("table", { class: "facts", "aria-label": "facts about the matrix" }, h("tbody", {}, some));
  return h("div", { class: "columns" }, part(rows.slice(0, half)), part(rows.slice(half)));
}

function spectrumWords(portrait, points) {
  const { negative_eigenvalues: negative, negative_eigenfraction: share, centred } = portrait;
  if (centred) {
    return {
      title: centred.negative_eigenvalues > 0 ? `The spectrum: ${percent(centred.negative_eigenfraction)} of it is negative after centring` : "The spectrum: nothing negative after centring",
      caption: `Half of this spectrum is negative, as in every matrix whose diagonal adds up to 0: that says nothing of the pairs. After double centring, which is all that a machine with an intercept sees, ${centred.negative_eigenvalues === 0 ? "no eigenvalue is" : `${centred.negative_eigenvalues} of ${points} eigenvalues are`} below zero.`,
    };
  }
  return {
    title: negative > 0 ? `The spectrum: ${percent(share)} of it is negative` : "The spectrum: nothing negative",
    caption: negative > 0 ? `${negative} of ${points} eigenvalues are below zero. A similarity is a kernel only if none is.` : "No eigenvalue is below zero: the similarity is a kernel.",
  };
}

function spectrum(portrait) {
  const values = [...portrait.eigenvalues].sort((a, b) => b - a);
  const points = values.map((lambda, i) => ({ rank: i + 1, lambda, sign: lambda < 0 }));
  // Bars of a few pixels would beat against the pixels of the screen: their outline does not.
  const outline = (fitting(520) - 72) / points.length < 6;
  const colour = (sign) => (sign ? "var(--warm)" : "var(--accent)");
  const chart = plot({
    width: 520,
    height: 250,
    marginLeft: 52,
    marginBottom: 40,
    x: { domain: [0.5, points.length + 0.5], label: "rank, largest first", labelAnchor: "center", labelArrow: "none", ticks: 6 },
    y: { type: "sqrt", domain: values.every((lambda) => lambda === 0) ? [0, 1] : undefined, label: "eigenvalue (square-root scale)", grid: true, ticks: 6, tickFormat: tickText(2) },
    marks: [
      outline
        ? [false, true].map((sign) => Plot.areaY(stairs(points.filter((p) => p.sign === sign)), { x: "x", y1: 0, y2: "lambda", fill: colour(sign), ariaLabel: () => "eigenvalues" }))
        : Plot.rectY(points, { x1: (d) => d.rank - 0.5, x2: (d) => d.rank + 0.5, y: "lambda", fill: (d) => colour(d.sign), inset: 0.5, ariaLabel: () => "eigenvalue" }),
      Plot.ruleY([0], { stroke: "currentColor" }),
    ],
  });
  const { title, caption } = spectrumWords(portrait, points.length);
  return figure({
    title,
    chart,
    file: "spectrum",
    marks: outline ? 2 : points.length,
    words: `Eigenvalues by rank, from ${few(portrait.lambda_max)} down to ${few(portrait.lambda_min)}. ${caption}`,
    caption,
  });
}

/** The outline of bars from half a rank before each to half a rank behind. */
const stairs = (points) => points.flatMap(({ rank, lambda }) => [{ x: rank - 0.5, lambda }, { x: rank + 0.5, lambda }]);

function classSizes(set, portrait) {
  const rows = set.class_names.map((title, c) => ({ c: `${c}`, n: set.class_sizes[c], title }));
  rows.sort((a, b) => b.n - a.n);
  const shown = rows.slice(0, 40);
  const within = new Map((portrait.class_table ?? []).map((row) => [row.class, row]));
  const chart = plot({
    width: 520,
    height: 58 + Math.max(14, Math.min(24, 420 / shown.length)) * shown.length,
    marginLeft: 110,
    marginRight: 40,
    marginBottom: 40,
    x: { label: "samples", labelAnchor: "center", labelArrow: "none", ticks: 5 },
    y: { domain: shown.map((row) => row.c), tickFormat: (c) => short(set.class_names[Number(c)], 16), label: null, tickSize: 0 },
    marks: [
      Plot.barX(shown, {
        y: "c", x: "n", fill: (d) => classColour(Number(d.c)), insetTop: 2, insetBottom: 2, ariaLabel: () => "class",
        title: (d) => {
          const own = within.get(d.title);
          const alike = own && own.mean_similarity_within !== null ? `\nmean similarity within ${few(own.mean_similarity_within)}, to others ${few(own.mean_similarity_to_others)}` : "";
          return `${visible(d.title)}: ${count(d.n, "sample")}${alike}`;
        },
        tip: true,
      }),
      Plot.text(shown, { y: "c", x: "n", text: (d) => d.n.toLocaleString("en"), textAnchor: "start", dx: 5, fill: "currentColor" }),
      Plot.ruleX([0]),
    ],
  });
  return figure({
    title: "Class sizes",
    chart,
    file: "class-sizes",
    marks: shown.length,
    words: `Samples per class: ${shown.map((row) => `${visible(row.title)} ${row.n}`).join(", ")}.`,
    caption: rows.length > shown.length ? `The ${shown.length} largest of ${rows.length} classes.` : null,
  });
}

/** Domains of the axes with one unit for both, so that the plane shows distances as they are. */
function frame(points, width, height) {
  const ends = (key) => points.reduce(([low, high], d) => [Math.min(low, d[key]), Math.max(high, d[key])], [Infinity, -Infinity]);
  const [x, y] = [ends("x"), ends("y")];
  const unit = Math.max((x[1] - x[0]) / width, (y[1] - y[0]) / height) || 1;
  const around = ([low, high], size) => [(low + high - size * unit) / 2, (low + high + size * unit) / 2];
  return { x: around(x, width), y: around(y, height) };
}

/** The samples in the plane; a legend that singles out a class; `onPick` when a sample is clicked. */
export function sampleMap(set, portrait, { onPick, marked = null, width = 520 } = {}) {
  const { x, y, unit, largest, smallest, squared_share: share } = portrait.map;
  const all = x.map((_, i) => ({ i, x: x[i] * unit, y: y[i] * unit, c: set.labels ? set.labels[i] : 0 }));
  const height = fitting(width) * 0.8;
  const margins = { marginLeft: 44, marginRight: 12, marginTop: 24, marginBottom: 40 };
  const domains = frame(all, fitting(width) - 56 - 16, height - 64 - 16);
  const chosen = new Set();
  const holder = h("div");
  const buttons = set.class_names.map((title, c) =>
    h(
      "li",
      {},
      h(
        "button",
        {
          type: "button", "aria-pressed": "false",
          onclick: (event) => {
            chosen.has(c) ? chosen.delete(c) : chosen.add(c);
            event.currentTarget.setAttribute("aria-pressed", String(chosen.has(c)));
            draw();
          },
        },
        swatch(c),
        h("span", {}, short(title, 22))
      )
    )
  );
  function draw() {
    const dim = (d) => chosen.size > 0 && !chosen.has(d.c);
    const front = [...all].sort((a, b) => dim(b) - dim(a));
    const chart = plot({
      width,
      height,
      ...margins,
      inset: 8,
      x: { domain: domains.x, label: "first axis", labelAnchor: "center", labelArrow: "none", ticks: 5, tickFormat: tickText(2) },
      y: { domain: domains.y, label: "second axis", ticks: 5, tickFormat: tickText(2) },
      marks: [
        Plot.dot(front, {
          x: "x", y: "y", r: all.length > 1500 || fitting(width) < 400 ? 2 : 3, ariaLabel: () => "sample",
          fill: (d) => (dim(d) ? "var(--line)" : classColour(d.c)), fillOpacity: 0.75, symbol: (d) => classSymbol(d.c),
          title: (d) => `${visible(sampleName(set, d.i))}${set.labels ? `\n${visible(set.class_names[d.c])}` : ""}`,
          tip: { maxRadius: 14 },
        }),
        marked === null ? null : Plot.dot(all.filter((d) => d.i === marked), { x: "x", y: "y", r: 9, stroke: "currentColor", strokeWidth: 2.5, ariaLabel: () => "marked" }),
      ],
      symbol: { type: "identity" },
    });
    if (onPick) {
      chart.addEventListener("click", () => {
        if (chart.value) onPick(chart.value.i);
      });
      chart.style.cursor = "pointer";
    }
    holder.replaceChildren(
      figure({
        title: "The samples in the plane",
        chart,
        file: "map",
        marks: all.length,
        legend: () => (set.class_names.length > 1 ? set.class_names.map((title, c) => ({ mark: swatch(c), text: short(title, 22) })) : []),
        words: `Classical scaling of ${all.length} samples to two dimensions, coloured by class. The axes have eigenvalues ${few(largest[0])} and ${few(largest[1])}.`,
        caption: [
          `Classical scaling: the two largest eigenvalues (${few(largest[0])}, ${few(largest[1])}) of the centred matrix, ${percent(share, 1)} of its squared spectrum. `,
          smallest < -1e-9 * largest[0] ? `Its smallest eigenvalue is ${few(smallest)}: no plane shows that part.` : "None of its eigenvalues is negative.",
          onPick ? " Click a sample to see it below." : "",
        ],
      })
    );
  }
  draw();
  return h("div", {}, holder, set.class_names.length > 1 ? h("ul", { class: "legend", "aria-label": "classes: press to single out" }, buttons) : null);
}

function swatch(c) {
  const chart = Plot.plot({
    width: 12, height: 12, margin: 0, axis: null, className: "swatch",
    x: { domain: [-1, 1] }, y: { domain: [-1, 1] }, symbol: { type: "identity" },
    marks: [Plot.dot([0], { x: () => 0, y: () => 0, r: 4.5, fill: () => classColour(c), symbol: () => classSymbol(c) })],
  });
  chart.querySelectorAll("style").forEach((style) => style.remove());
  chart.setAttribute("aria-hidden", "true");
  return chart;
}

/** Two stacks, so that a low chart leaves no hole beside a high one; `further` goes below the lower of them. */
function matrixPart(set, portrait, index, onPick, further) {
  const left = [heatmap(set, portrait, index)];
  const right = [];
  if (portrait.map) right.push(sampleMap(set, portrait, { onPick }));
  if (portrait.eigenvalues) (right.length > 0 ? left : right).push(spectrum(portrait));
  if (set.class_names.length > 0) right.push(classSizes(set, portrait));
  (set.class_names.length > MANY ? left : right).push(further);
  const stack = (charts) => h("div", { class: "stack" }, charts);
  return h("div", {}, facts(set, portrait), h("div", { class: "columns" }, stack(left), stack(right)));
}

function agreement(doc) {
  if (!doc.agreement) return null;
  const names = doc.data_sets.map((set) => set.name);
  return h(
    "div",
    {},
    h("h3", {}, "How much the matrices agree"),
    scrolling(h(
      "table",
      {},
      h("thead", {}, h("tr", {}, h("th", {}), names.map((title) => h("th", { class: "number", scope: "col" }, name(title, 20))))),
      h("tbody", {}, doc.agreement.map((row, i) => h("tr", {}, h("th", { scope: "row" }, name(names[i], 20)), row.map((v) => h("td", { class: "number" }, v.toFixed(2))))))
    )),
    h("p", { class: "note" }, "1: they say the same.")
  );
}

function advice(list) {
  if (!list || list.length === 0) return null;
  return h("div", { class: "advice" }, h("h3", {}, "What to try, and why"), h("ul", {}, list.map((one) => h("li", {}, h("b", {}, name(one.what)), h("br"), name(one.why)))));
}

export function dataSection(doc, set, onPick) {
  const section = h("section", { id: "data" }, h("h2", {}, "The data"));
  if (set.portraits.length === 0) {
    const reason = set.about?.no_portraits_because;
    section.append(h("p", { class: "note" }, "The store has no picture of these data: ", reason ? name(reason) : "it was made by an older kith, or from vectors", "."));
    if (set.class_names.length > 0) section.append(classSizes(set, {}));
    return section;
  }
  const holder = h("div");
  const report = doc.kind === "report";
  const show = (index) => replace(holder, matrixPart(set, set.portraits[index], index, onPick, report ? advice(set.advice) : null));
  if (set.portraits.length > 1) {
    const select = h("select", { onchange: (event) => show(Number(event.target.value)) }, set.portraits.map((p, i) => h("option", { value: i }, short(p.name, 40))));
    section.append(h("div", { class: "tools" }, h("label", {}, "matrix", select)));
  }
  show(0);
  section.append(holder);
  if (!report) section.append(...[notesList(doc.notes), agreement(doc), advice(doc.advice)].filter(Boolean));
  return section;
}
