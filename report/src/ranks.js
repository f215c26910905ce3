// SPDX-License-Identifier: Apache-2.0
// Several data sets: every mean, average ranks and their critical difference.
import * as Plot from "@observablehq/plot";
import { h, name, short, visible } from "./dom.js";
import { figure, plot } from "./figure.js";
import { METRICS } from "./model.js";
import { alike, count, few, fixed } from "./numbers.js";
import { downloads, meanText, together } from "./results.js";
import { table } from "./table.js";

function diagram(ranked, difference, sets) {
  const chart = plot({
    width: 720,
    height: 60 + 26 * ranked.length,
    marginLeft: 150,
    marginRight: 20,
    marginBottom: 40,
    x: { label: "average rank (1 is best)", grid: true, labelAnchor: "center", labelArrow: "none", domain: [1, Math.max(2, ranked.length)] },
    y: { type: "point", domain: ranked.map((_, i) => i), tickFormat: (i) => short(ranked[i].method, 20), label: null, tickSize: 0 },
    marks: [
      difference ? Plot.ruleY(ranked, { y: (_, i) => i, x1: (d) => d.rank - difference / 2, x2: (d) => d.rank + difference / 2, stroke: "var(--dot)", strokeOpacity: 0.35, strokeWidth: 8, clip: true }) : null,
      Plot.dot(ranked, { y: (_, i) => i, x: "rank", r: 5, fill: (d) => (difference && d.rank - ranked[0].rank < difference ? "var(--accent)" : "var(--dot)"), ariaLabel: () => "rank", title: (d) => `${visible(d.method)}: average rank ${fixed(d.rank, 2)}`, tip: true }),
    ],
  });
  return figure({
    title: "Average ranks",
    chart,
    marks: ranked.length,
    file: "ranks",
    words: `Average rank over ${sets} data sets: ${ranked.map((d) => `${visible(d.method)} ${fixed(d.rank, 2)}`).join(", ")}. Critical difference ${few(difference)}.`,
    caption: `Two methods whose bands do not overlap differ significantly (Nemenyi's test at 5 %, critical difference ${few(difference, 3)}). Coloured: not significantly worse than the first.`,
  });
}

export function ranksSection(doc, choose) {
  const metric = METRICS[doc.metric];
  const ranked = [...(doc.ranks?.methods ?? [])].sort((a, b) => a.rank - b.rank);
  const difference = doc.ranks?.critical_difference ?? null;
  const names = [...new Set(doc.data_sets.flatMap((set) => set.methods.map((method) => method.method)))];
  const rankOf = new Map(ranked.map((row) => [row.method, row.rank]));
  const cell = (set, title) => set.methods.find((method) => method.method === title);
  const columns = [
    { title: "method", key: (row) => row, cell: (row) => name(row, 40) },
    ...doc.data_sets.map((set, d) => ({
      title: short(set.name, 24),
      number: true,
      key: (row) => cell(set, row)?.level ?? null,
      cell: (row) => {
        const method = cell(set, row);
        if (!method) return "";
        const text = meanText(doc, method);
        return method.best ? h("b", {}, text, h("span", { class: "badge" }, " \u2605")) : text;
      },
    })),
    { title: "average rank", number: true, key: (row) => rankOf.get(row) ?? null, cell: (row) => fixed(rankOf.get(row), 2) },
  ];
  const leaders = ranked.filter((row) => alike(row.rank, ranked[0].rank)).map((row) => row.method);
  const behind = difference ? ranked.filter((row) => row.rank - ranked[0].rank >= difference).length : 0;
  return h(
    "section",
    { id: "ranks" },
    h("h1", {}, ranked.length > 0 ? [together(leaders), ` ${leaders.length > 1 ? "share" : "has"} the best average rank over ${doc.data_sets.length} data sets: ${fixed(ranked[0].rank, 2)} among ${count(ranked.length, "method")}`] : [`${count(doc.data_sets.length, "data set")}, no method finished on all of them`]),
    ranked.length > 1 ? h("p", { class: "lead" }, behind === 0 ? `No method is significantly behind ${leaders.length > 1 ? "them" : "it"}: the critical difference of average ranks is ` : `${ranked.length === 2 ? "The other method" : `${behind} of the ${ranked.length - 1} other methods`} ${behind === 1 ? "is" : "are"} significantly behind ${leaders.length > 1 ? "them" : "it"}: the critical difference of average ranks is `, few(difference, 3), ".") : null,
    table(columns, { rows: names, sort: ranked.length > 0 ? { column: columns.length - 1, down: false } : null, label: `${metric.title} on every data set`, className: "results" }),
    h("p", { class: "note" }, `${metric.title}${metric.unit ? ` in ${metric.unit}` : ""}: mean (standard deviation). \u2605 best group of that data set.`),
    downloads(doc),
    ranked.length > 1 ? diagram(ranked, difference, doc.data_sets.length) : null,
    h("div", { class: "tools" }, h("label", {}, "Everything below is about", h("select", { id: "data-set", onchange: (event) => choose(Number(event.target.value)) }, doc.data_sets.map((set, i) => h("option", { value: i }, short(set.name, 60))))))
  );
}
