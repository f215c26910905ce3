// SPDX-License-Identifier: Apache-2.0
// Several data sets: every mean, average ranks and their critical difference.
import { h, name, s, short, visible } from "./dom.js";
import { figure, fitting } from "./figure.js";
import { METRICS, groupsOf } from "./model.js";
import { alike, count, fixed } from "./numbers.js";
import { downloads, together } from "./results.js";
import { table } from "./table.js";
import { meanText } from "./values.js";

/**
 * The diagram of Demsar (2006, figure 1): an axis of ranks, the critical difference above it, every method joined to its
 * rank, the better half on the left; thick bars join methods that do not differ significantly.
 */
function diagram(ranked, difference, sets) {
  const width = fitting(720);
  const most = ranked.length;
  const half = Math.ceil(most / 2);
  const groups = groupsOf(ranked, difference);
  const letters = width < 500 ? 13 : 22;
  const longest = Math.max(...ranked.map((row) => short(row.method, letters).length));
  const margin = Math.min(width / 3, 24 + 7 * longest);
  const [AXIS, BAR, STEP] = [58, 9, 22];
  const across = (rank) => margin + ((rank - 1) / (most - 1)) * (width - 2 * margin);
  const firstName = AXIS + 24 + BAR * groups.length;
  const height = firstName + STEP * (half - 1) + 14;
  const text = (x, y, anchor, content, attributes = {}) => s("text", { x, y, dy: "0.32em", "text-anchor": anchor, fill: "var(--text)", ...attributes }, content);
  const path = (d, attributes = {}) => s("path", { d, fill: "none", stroke: "var(--text)", ...attributes });
  const ticks = Array.from({ length: most }, (_, i) => i + 1).filter((rank) => most <= 12 || (rank - 1) % Math.ceil(most / 10) === 0 || rank === most);
  const ruler = Math.min(difference, most - 1);
  const chart = s(
    "svg",
    { class: "plot", viewBox: `0 0 ${width} ${height}`, width, height },
    path(`M${across(1)},8v8M${across(1)},12H${across(1 + ruler)}M${across(1 + ruler)},8v8`, { "aria-label": "critical difference" }),
    text(across(1 + ruler / 2), 24, "middle", `critical difference ${fixed(difference, 2)}`),
    path(`M${across(1)},${AXIS}H${across(most)}`),
    ticks.map((rank) => [path(`M${across(rank)},${AXIS - 5}v5`), text(across(rank), AXIS - 13, "middle", rank)]),
    groups.map((group, g) =>
      path(`M${across(ranked[group.from].rank) - 3},${AXIS + 10 + BAR * g}H${across(ranked[group.to].rank) + 3}`, { "aria-label": "group", "stroke-width": 4, stroke: "var(--accent)" })
    ),
    ranked.map((row, i) => {
      const left = i < half;
      const y = firstName + STEP * (left ? i : most - 1 - i);
      const end = left ? margin - 6 : width - margin + 6;
      return s(
        "g",
        { "aria-label": "method", "data-rank": row.rank },
        s("title", {}, `${visible(row.method)}: average rank ${fixed(row.rank, 2)}`),
        path(`M${across(row.rank)},${AXIS}V${y}H${end}`),
        text(left ? end - 5 : end + 5, y, left ? "end" : "start", `${short(row.method, letters)}`)
      );
    })
  );
  const apart = groups.map((group) => ranked.slice(group.from, group.to + 1).map((row) => visible(row.method)).join(", "));
  return figure({
    title: "Critical-difference diagram",
    chart,
    marks: ranked.length,
    file: "critical-difference",
    words: `Average rank over ${sets} data sets: ${ranked.map((row) => `${visible(row.method)} ${fixed(row.rank, 2)}`).join(", ")}. Critical difference ${fixed(difference, 2)}. Not significantly different: ${apart.join("; ") || "no two"}.`,
    caption: "Average ranks, 1 is best. A bar joins methods whose ranks differ by less than the critical difference of Nemenyi's test at 5 %.",
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
  return h(
    "section",
    { id: "ranks" },
    h("h1", {}, ranked.length > 0 ? [together(leaders), ` ${leaders.length > 1 ? "share" : "has"} the best average rank over ${doc.data_sets.length} data sets: ${fixed(ranked[0].rank, 2)} among ${count(ranked.length, "method")}`] : [`${count(doc.data_sets.length, "data set")}, no method finished on all of them`]),
    ranked.length > 1 ? h("p", { class: "lead" }, visible(doc.ranks.note)) : null,
    table(columns, { rows: names, sort: ranked.length > 0 ? { column: columns.length - 1, down: false } : null, label: `${metric.title} on every data set`, className: "results" }),
    h("p", { class: "note" }, `${metric.title}${metric.unit ? ` in ${metric.unit}` : ""}: mean (standard deviation).${doc.data_sets.some((set) => set.test.possible) ? " \u2605 the best mean of that data set, or not significantly worse than it at 5 %." : ""}`),
    downloads(doc),
    difference !== null && ranked.length > 1 ? diagram(ranked, difference, doc.data_sets.length) : null,
    h("div", { class: "tools" }, h("label", {}, "Everything below is about", h("select", { id: "data-set", onchange: (event) => choose(Number(event.target.value)) }, doc.data_sets.map((set, i) => h("option", { value: i }, short(set.name, 60))))))
  );
}
