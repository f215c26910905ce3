// SPDX-License-Identifier: Apache-2.0
// Methods side by side: the metric on every partition, the difference to the best, all pairs.
import * as Plot from "@observablehq/plot";
import { name, short, visible } from "./dom.js";
import { around, figure, fitting, plot } from "./figure.js";
import { METRICS, rangeOf, significant } from "./model.js";
import { few, minus, pValue, roundStep, tickText } from "./numbers.js";
import { differenceText, value, withUnit } from "./values.js";


const scaleOf = (doc) => (METRICS[doc.metric].unit === "%" ? 100 : 1);
const label = (method) => short(method.method, 24);

/** Rows of methods: charts that stand side by side have the same. */
function rowsOf(set, width) {
  const longest = Math.max(...set.compared.map((method) => label(method).length), 6);
  return {
    width,
    height: 62 + 27 * set.compared.length,
    marginLeft: Math.min(170, fitting(width) / 3, 14 + 7 * longest),
    marginBottom: 38,
    marginRight: 16,
    y: { domain: set.compared.map((_, m) => `${m}`), tickFormat: (m) => label(set.compared[Number(m)]), label: null, tickSize: 0 },
  };
}

const colour = (d) => (d.best ? "var(--accent)" : "var(--dot)");

const BREAK = 0.1; // share of a broken axis behind its break

/**
 * The axis of the values with the line of the most frequent class on it. Where that is so far off that the values would
 * share less than a third of the axis, the axis is broken: round values as far as there are some, the line at the end.
 */
function axisWithFloor(values, floor, rows, { unit, range: [least, most] }) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  if (floor === null || Math.max(high, floor) - Math.min(low, floor) <= 3 * (high - low)) {
    const domain = around(values, { unit, low: least, high: most });
    return { axis: { domain: domain && floor !== null ? [Math.min(domain[0], floor), Math.max(domain[1], floor)] : domain, nice: true, ticks: 6 } };
  }
  const [first, last] = around(values, { unit, low: least, high: most }) ?? [low, high];
  const step = roundStep(last - first, 6);
  const ends = [Math.floor(first / step + 1e-9) * step, Math.ceil(last / step - 1e-9) * step];
  const ticks = Array.from({ length: Math.round((ends[1] - ends[0]) / step) + 1 }, (_, i) => ends[0] + i * step);
  const [left, right] = [rows.marginLeft, fitting(rows.width) - rows.marginRight];
  const above = floor > ends[1];
  const all = above ? [...ticks, floor] : [floor, ...ticks];
  const cut = above ? right - BREAK * (right - left) : left + BREAK * (right - left);
  return {
    axis: { type: "linear", domain: above ? [...ends, floor] : [floor, ...ends], range: [left, cut, right], ticks: all, tickFormat: tickText(3, all) },
    broken: (above ? ends[1] + floor : ends[0] + floor) / 2,
  };
}

export function strips(doc, set, width) {
  const metric = METRICS[doc.metric];
  const scale = scaleOf(doc);
  const points = set.compared.flatMap((method, m) =>
    method.values
      .map((v, i) => ({ m: `${m}`, v: v === null ? NaN : v * scale, partition: method.finished[i], best: method.best, method }))
      .filter((point) => Number.isFinite(point.v))
  );
  const range = rangeOf(doc).map((end) => end * scale);
  const spans = set.compared.map((method, m) => {
    const [mean, sd] = [method.mean * scale, (method.sd ?? 0) * scale];
    return { m: `${m}`, mean, sd, best: method.best, low: Math.max(range[0], mean - sd), high: Math.min(range[1], mean + sd) };
  });
  const bands = spans.filter((span, m) => set.compared[m].finished.length > 1 && span.sd > 1e-12 * Math.abs(span.mean));
  const floor = set.floor === null ? null : set.floor * scale;
  const rows = rowsOf(set, width);
  const ends = [...points.map((point) => point.v), ...bands.flatMap((band) => [band.low, band.high])];
  const { axis, broken = null } = axisWithFloor(ends, floor, rows, { unit: metric.unit === "%" ? 5 : null, range });
  const chart = plot({
    ...rows,
    x: { label: `${metric.title}${metric.unit ? ` (${metric.unit})` : ""} on each test part`, grid: true, labelAnchor: "center", labelArrow: "none", ...axis },
    marks: [
      floor !== null ? Plot.ruleX([floor], { stroke: "var(--warm)", strokeDasharray: "5 3", strokeWidth: 1.5, ariaLabel: () => "baseline" }) : null,
      Plot.ruleY(bands, { y: "m", x1: "low", x2: "high", ariaLabel: () => "band", stroke: colour, strokeWidth: 9, strokeOpacity: 0.22 }),
      Plot.dot(points, {
        y: "m", x: "v", r: 3.2, fill: colour, fillOpacity: 0.55, ariaLabel: () => "partition",
        title: (d) => `${visible(d.method.method)}, partition ${d.partition}: ${few(d.v, 4)}${metric.unit ? ` ${metric.unit}` : ""}`,
        tip: true,
      }),
      Plot.tickX(spans, { y: "m", x: "mean", stroke: colour, strokeWidth: 3, inset: 4, ariaLabel: () => "mean" }),
      broken === null ? null : Plot.text([broken], { x: (d) => d, frameAnchor: "bottom", dy: 6, text: () => "\u2215\u2215", fontSize: 14, fill: "currentColor", ariaLabel: () => "break" }),
    ],
  });
  const floorText = floor === null ? "" : withUnit(doc, set.floor);
  return figure({
    title: `${metric.title[0].toUpperCase()}${metric.title.slice(1)} on ${set.partitions > 1 ? "every partition" : "the test part"}${set.winner === set.compared[0] && set.compared.length > 1 ? ", the best first" : ""}`,
    chart,
    marks: points.length,
    file: `${doc.metric === "error" ? "errors" : doc.metric}-per-partition`,
    words: `${metric.title} of each method on each partition. ${set.compared
      .map((m) => `${visible(m.method)} ${value(doc, m.mean)}${m.finished.length > 1 ? `, standard deviation ${value(doc, m.sd)}` : ""}${m.best ? ", best group" : ""}`)
      .join("; ")}.${floor === null ? "" : ` Always predicting ${visible(set.baseline.class)}: ${floorText}.`}`,
    caption: [
      `A dot is a test part, the upright line the mean${bands.length > 0 ? ", the band one standard deviation to each side" : ""}.`,
      set.test.possible ? " Blue: the best group." : null,
      floor === null ? null : [" Dashed: always predicting ", name(set.baseline.class, 30), `, ${floorText}${broken === null ? "" : ", behind a break of the axis"}.`],
    ],
  });
}

/** The difference of every method to the best, with its interval. */
export function differences(doc, set, width) {
  const scale = scaleOf(doc);
  const found = set.compared.map((method, m) => ({ method, m: `${m}`, best: method.best, ...method.difference })).filter((row) => Number.isFinite(row.mean));
  const rows = found.map((row) => ({ ...row, mean: row.mean * scale, low: row.low === null ? null : row.low * scale, high: row.high === null ? null : row.high * scale }));
  const intervals = rows.filter((row) => row.low !== null);
  const region = set.methods.some((method) => method.bayes) ? 0.01 * scale : null;
  const unit = METRICS[doc.metric].unit;
  const chart = plot({
    ...rowsOf(set, width),
    x: { label: `difference to ${label(set.winner)}${unit ? " (points)" : ""}`, grid: true, nice: true, labelAnchor: "center", labelArrow: "none", ticks: 6, domain: around(rows.flatMap((row) => [row.mean, row.low, row.high, 0]), { unit: 5 }) },
    marks: [
      region ? Plot.rectX([0], { x1: -region, x2: region, fill: "var(--dot)", fillOpacity: 0.16 }) : null,
      Plot.ruleX([0], { stroke: "currentColor" }),
      Plot.ruleY(intervals, { y: "m", x1: "low", x2: "high", stroke: colour, strokeWidth: 2.5, ariaLabel: () => "interval" }),
      Plot.dot(rows, {
        y: "m", x: "mean", r: 4.5, fill: colour, ariaLabel: () => "difference",
        title: (d) => `${visible(d.method.method)}: ${differenceText(doc, d.method.difference)}${d.method.p === null ? "" : `\np ${pValue(d.method.p)}`}`,
        tip: true,
      }),
      Plot.dot(set.compared.map((method, m) => ({ method, m: `${m}` })).filter((row) => row.method === set.winner), { y: "m", x: 0, r: 5, symbol: "diamond2", fill: "currentColor", ariaLabel: () => "leader" }),
    ],
  });
  return figure({
    title: "Difference to the best, with its 95\u00a0% interval",
    chart,
    marks: rows.length,
    file: "differences",
    words: `Difference of each method to ${visible(set.winner.method)}: ${rows.map((row) => `${visible(row.method.method)} ${differenceText(doc, row.method.difference)}`).join("; ")}.`,
    caption: `${METRICS[doc.metric].smaller ? "Right" : "Left"} of 0 is worse than the best.${region ? ` Grey: within ${unit ? "1 point" : "0.01"}.` : ""}${intervals.length === 0 ? " There is no interval for this metric on one partition." : ""}`,
  });
}

/** Row minus column, for every two methods. */
function cellsOf(set) {
  const place = new Map(set.compared.map((method, m) => [method.index, m]));
  return set.pairs
    .filter((pair) => pair.difference !== null && pair.methods.every((index) => place.has(index)))
    .flatMap((pair) => {
      const [i, j] = pair.methods.map((index) => place.get(index));
      const p = pair[set.deciding];
      const one = { row: i, column: j, mean: pair.difference, low: pair.low, high: pair.high, p };
      const negative = (number) => (number === null ? null : -number);
      return [one, { row: j, column: i, mean: -pair.difference, low: negative(pair.high), high: negative(pair.low), p }];
    })
    .map((cell) => ({ ...cell, sure: significant(set, cell.p) }));
}

const FONTS = [13, 12, 11];
const LETTER = 0.58; // width of a letter by its height

/** What fits into a cell and how large: the difference with its interval, alone, or nothing. */
function cellText(doc, cells, room) {
  const one = (number) => minus(number * scaleOf(doc), METRICS[doc.metric].unit ? 1 : 3);
  const whole = (d) => (d.low === null ? one(d.mean) : `${one(d.mean)} [${one(d.low)}, ${one(d.high)}]`);
  for (const [text, intervals] of [[whole, true], [(d) => one(d.mean), false]]) {
    const longest = Math.max(...cells.map((cell) => text(cell).length), 1);
    const fontSize = FONTS.find((size) => LETTER * size * longest <= room);
    if (fontSize) return { text, fontSize, intervals };
  }
  return null;
}

export function pairMatrix(doc, set, width) {
  const methods = set.compared;
  const cells = cellsOf(set);
  const { smaller, unit } = METRICS[doc.metric];
  const largest = Math.max(...cells.map((cell) => Math.abs(cell.mean)), 1e-12);
  const longest = Math.min(18, Math.max(...methods.map((method) => label(method).length), 6));
  const left = Math.min(170, fitting(width) / 3, 14 + 7 * longest);
  const step = (fitting(width) - left - 16) / methods.length;
  const turned = step < 7 * longest;
  const bottom = turned ? 30 + 5 * longest : 26;
  const row = Math.max(13, Math.min(32, step));
  const every = Math.max(1, Math.ceil(11 / step));
  const tick = (m) => (m % every === 0 ? short(methods[m].method, 18) : "");
  const worse = (cell) => cell.mean > 0 === smaller;
  const p = (cell) => (cell.p === null ? "" : `\np ${pValue(cell.p)}${set.deciding === "p_adjusted" ? ", adjusted for all pairs" : ""}`);
  const written = cellText(doc, cells, 0.88 * step);
  const chart = plot({
    width, height: 16 + bottom + row * methods.length, marginLeft: left, marginRight: 16, marginTop: 16, marginBottom: bottom,
    x: { type: "band", domain: methods.map((_, m) => m), tickFormat: tick, tickRotate: turned ? -45 : 0, label: null, tickSize: 0 },
    y: { type: "band", domain: methods.map((_, m) => m), tickFormat: tick, label: null, tickSize: 0 },
    marks: [
      Plot.cell(cells, {
        x: "column", y: "row", fill: (d) => (worse(d) ? "var(--warm)" : "var(--accent)"), fillOpacity: (d) => 0.06 + (0.5 * Math.abs(d.mean)) / largest, inset: 0.5, ariaLabel: () => "pair",
        title: (d) => `${visible(methods[d.row].method)} minus ${visible(methods[d.column].method)}: ${differenceText(doc, d)}${p(d)}`, tip: true,
      }),
      Plot.cell(cells.filter((cell) => cell.sure), { x: "column", y: "row", fill: "none", stroke: "currentColor", strokeWidth: 1.5, inset: 1.5, ariaLabel: () => "significant" }),
      written ? Plot.text(cells, { x: "column", y: "row", text: written.text, fill: "currentColor", fontSize: written.fontSize, pointerEvents: "none" }) : null,
    ],
  });
  const sure = cells.filter((cell) => cell.sure).length / 2;
  return figure({
    title: `Every two methods: row minus column${unit ? ", in points" : ""}${written?.intervals ? ", with its 95\u00a0% interval" : ""}`,
    chart,
    marks: cells.length,
    file: "pairs",
    words: `Differences between every two of ${methods.length} methods. ${sure === 0 ? "None is significant." : `${sure} of ${cells.length / 2} are significant.`}`,
    caption: `Orange: the row is worse, blue: better. ${sure === 0 ? "No difference is significant at 5 %" : "Framed: significant at 5 %"}${set.deciding === "p_adjusted" ? " after Holm's adjustment for all pairs" : ""}.`,
  });
}
