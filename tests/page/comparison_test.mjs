// SPDX-License-Identifier: Apache-2.0
// What the page says of differences between methods, and how it draws them.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { groupsOf } from "../../report/src/model.js";
import { fixed } from "../../report/src/numbers.js";
import { folder, kith, launch, open } from "./browser.mjs";
import { METHODS, N, assertNear, cells, evaluate, marks, packed, places, report, scaleOf, tickLabels, variant, writeData } from "./support.mjs";

const page_of = (name) => join(folder, `${name}.html`);
let browser;
let fair;

before(async () => {
  browser = await launch();
  writeData("one", 2.9);
  evaluate("one", "fair.db", "--protocol", "kith", "--sizes", "30%,60%,100%");
  fair = report("fair");
});
after(() => browser?.close());

const minus = (text) => text.replace("-", "\u2212");
const points = (share) => minus((100 * share).toFixed(2).replace(/^-0\.00$/, "0.00"));
const plus = (share) => (share > 0 ? "+" : "") + points(share);
const others = (set) => set.methods.filter((method) => !method.leads);

/** The order of the table: by mean, equals as they stand in the store. */
const ordered = (set) => [...set.methods].sort((a, b) => a.mean_error - b.mean_error);

test("the table has every difference with its interval, the p that decides and the three probabilities", async () => {
  const page = await open(browser, page_of("fair"));
  assert.deepEqual((await page.locator("table.results th").allInnerTexts()).slice(1, 5), ["error, %", "to the best, points", "p (Holm)", "better / same / worse, %"]);
  const [differences, p, bayes] = [await cells(page, 3), await cells(page, 4), await cells(page, 5)];
  ordered(fair).forEach((method, m) => {
    if (method.leads) return assert.deepEqual([differences[m], p[m], bayes[m]], ["best", "", ""]);
    const { mean, low, high } = method.difference;
    assert.equal(differences[m], `${plus(mean)} [${points(low)}, ${points(high)}]`);
    assert.equal(p[m], method.p_adjusted < 0.0005 ? "< 0.001" : method.p_adjusted.toFixed(3));
    assert.equal(bayes[m], ["better", "equal", "worse"].map((key) => (100 * method.bayes[key]).toFixed(0)).join(" / "));
  });
  assert.deepEqual(page.complaints, []);
});

test("the drawn differences and intervals are those of the results", async () => {
  const page = await open(browser, page_of("fair"));
  const x = await scaleOf(page, "differences", "x");
  const rows = ordered(fair).filter((method) => !method.leads).map((method) => method.difference);
  assertNear((await places(page, "differences", "difference", "cx")).flat(), rows.map((row) => x(100 * row.mean)), "differences");
  const drawn = await places(page, "differences", "interval", "x1", "x2");
  assertNear(drawn.map(([low]) => low), rows.map((row) => x(100 * row.low)), "lower ends");
  assertNear(drawn.map(([, high]) => high), rows.map((row) => x(100 * row.high)), "upper ends");
});

test("the verdict says how large the lead is before it says whether it is significant", async () => {
  const page = await open(browser, page_of("fair"));
  const [, next] = ordered(fair);
  const lead = await page.locator("p.lead").innerText();
  const { mean, low, high } = next.difference;
  assert.ok(lead.startsWith(`The next method, ${next.method}, is ${points(mean)} points behind (95 % interval ${points(low)} to ${points(high)} points)`), lead);
  const worse = others(fair).filter((method) => !method.best).length;
  assert.match(lead, worse === 0 ? /None of the 2 other methods is significantly worse: the order may be chance\.$/ : / significantly worse at 5 %/);
  const note = await page.locator("p.legend-of-table").innerText();
  assert.ok(note.includes(fair.test.note), note);
});

test("methods that are significantly worse are told from those that are not", async () => {
  const lead = async (...worse) => {
    const page = await open(browser, variant("fair.html", "worse.html", (_, set) => set.methods.forEach((method, m) => worse.includes(m) && Object.assign(method, { best: false, p_adjusted: 0.01 }))));
    assert.equal(await page.locator("tr.best").count(), METHODS.length - worse.length);
    assert.deepEqual(page.complaints, []);
    return page.locator("p.lead").innerText();
  };
  const losers = [...METHODS.keys()].filter((m) => !fair.methods[m].leads);
  assert.match(await lead(...losers), /Both other methods are significantly worse at 5 %\.$/);
  assert.match(await lead(losers[0]), new RegExp(`1 of the 2 other methods is significantly worse at 5 %; ${METHODS[losers[1]]} is not and shares the best group\\.$`));
});

test("of a metric that is better when larger, worse methods are behind too", async () => {
  kith("report", "--store", "fair.db", "--out", "auc.html", "--metric", "auc");
  const found = JSON.parse(kith("report", "--store", "fair.db", "--json", "--metric", "auc"));
  const page = await open(browser, page_of("auc"));
  const [, next] = [...found.methods].sort((a, b) => b.metrics.auc.mean - a.metrics.auc.mean);
  const lead = await page.locator("p.lead").innerText();
  assert.ok(next.difference.mean < 0);
  assert.ok(lead.includes(`is ${points(-next.difference.mean)} points behind (95 % interval ${points(-next.difference.high)} to ${points(-next.difference.low)} points)`), lead);
  assert.ok((await page.locator("figure[data-chart=differences] figcaption").innerText()).startsWith("Left of 0 is worse"));
  assert.deepEqual(page.complaints, []);
});

test("where nothing could be significant, nothing is marked and the page says what would be needed", async () => {
  evaluate("one", "single.db", "--protocol", "kith", "--repeats", 1);
  const found = report("single", "--metric", "f-score");
  assert.equal(found.test.possible, false);
  const page = await open(browser, page_of("single"));
  assert.equal(await page.locator("tr.best, .badge, [aria-label=significant]").count(), 0);
  assert.equal(await page.locator("#app").innerText().then((text) => text.includes("\u2605")), false);
  const weights = await page.locator("table.results tbody td:first-child a, table.results tbody td").evaluateAll((all) => all.map((one) => getComputedStyle(one).fontWeight));
  assert.deepEqual([...new Set(weights)], ["400"]);
  const lead = await page.locator("p.lead").innerText();
  assert.ok(lead.endsWith(found.test.note) && found.test.note.startsWith("No difference could be significant"), lead);
  assert.deepEqual(await page.locator("table.results th").allInnerTexts().then((all) => all.filter((title) => title.startsWith("p"))), []);
  for (const colour of await page.locator("figure[data-chart=errors-per-partition] [aria-label=mean], figure[data-chart=f-score-per-partition] [aria-label=mean]").evaluateAll((all) => all.map((one) => one.getAttribute("stroke")))) {
    assert.equal(colour, "var(--dot)");
  }
  assert.deepEqual(page.complaints, []);
});

test("single tests of the papers decide by the p that is not adjusted", async () => {
  evaluate("one", "papers.db");
  const found = report("papers");
  assert.equal(found.test.name, "wilcoxon");
  const page = await open(browser, page_of("papers"));
  const titles = await page.locator("table.results th").allInnerTexts();
  const shown = await cells(page, titles.indexOf("p") + 1);
  ordered(found).forEach((method, m) => method.leads || assert.equal(shown[m], fixed(method.p_value, 3)));
});

test("the most frequent class is a line at its value, a row and a sentence", async () => {
  const { class: name, metrics } = fair.baseline;
  const page = await open(browser, page_of("fair"));
  const foot = await page.locator("table.results tfoot td").allInnerTexts();
  const shortened = name.length > 30 ? `${name.slice(0, 29)}\u2026` : name;
  assert.deepEqual(foot.slice(0, 2), [`always ${shortened}`, points(metrics.error)]);
  assert.ok((await page.locator("p.about").innerText()).includes(`Always predicting the most frequent class, ${name}, has an error of ${points(metrics.error)} %.`));
  const [[at]] = await places(page, "errors-per-partition", "baseline", "x1");
  const x = await scaleOf(page, "errors-per-partition", "x");
  assertNear([at], [x(100 * metrics.error)], "baseline");
});

test("a line far beyond the values stands behind a break of the axis", async () => {
  const far = (share) =>
    variant("fair.html", "far.html", (_, set) => {
      set.baseline.metrics.error = share;
      set.methods.forEach((method, m) => Object.assign(method.metrics.error, { mean: 0.4 + 0.01 * m, sd: 0.01, values: method.finished.map((i) => 0.4 + 0.01 * m + 0.004 * (i - 3)) }));
    });
  for (const share of [0.95, 0.05]) {
    const page = await open(browser, far(share));
    assert.equal(await marks(page, "errors-per-partition", "break"), 1);
    const labels = await tickLabels(page, "errors-per-partition", "x");
    assert.equal(share > 0.5 ? labels.at(-1) : labels[0], String(100 * share));
    const x = await scaleOf(page, "errors-per-partition", "x");
    assertNear((await places(page, "errors-per-partition", "baseline", "x1")).flat(), [x(100 * share)], "baseline");
    const means = [40, 41, 42].map(x);
    assertNear((await places(page, "errors-per-partition", "mean", "x1")).flat(), means, "means");
    assert.ok(means[2] - means[0] > 60, "the values keep most of the axis");
    const lead = await page.locator("p.about").innerText();
    assert.equal(lead.includes("no method is better than that"), share < 0.5, lead);
    assert.deepEqual(page.complaints, []);
  }
});

test("bands stay within the values that an error can have", async () => {
  const page = await open(
    browser,
    variant("fair.html", "ends.html", (_, set) => {
      [[0.02, [0, 0, 0, 0, 0.1]], [0.5, [0.3, 0.4, 0.5, 0.6, 0.7]], [0.98, [0.9, 1, 1, 1, 1]]].forEach(([mean, values], m) => Object.assign(set.methods[m].metrics.error, { mean, sd: 0.1, values }));
    })
  );
  const x = await scaleOf(page, "errors-per-partition", "x");
  const bands = await places(page, "errors-per-partition", "band", "x1", "x2");
  assertNear(bands.flat(), [0, 12, 40, 60, 88, 100].map(x), "bands");
});

test("every two methods stand in the matrix, both ways, and what is significant is framed", async () => {
  const sure = variant("fair.html", "pairs.html", (_, set) => set.pairs.forEach((pair, i) => (pair.p_adjusted = i === 0 ? 0.03 : 0.4)));
  for (const [file, framed] of [[page_of("fair"), 2 * fair.pairs.filter((pair) => pair.p_adjusted <= 0.05).length], [sure, 2]]) {
    const page = await open(browser, file);
    assert.equal(await marks(page, "pairs", "pair"), METHODS.length * (METHODS.length - 1));
    assert.equal(await marks(page, "pairs", "significant"), framed);
    const columns = await page.locator('figure[data-chart=pairs] [aria-label="x-axis tick label"] text').evaluateAll((all) => all.map((one) => [one.textContent, Number(one.getAttribute("transform").match(/translate\(([-\d.]+)/)[1])]));
    const rows = await page.locator('figure[data-chart=pairs] [aria-label="y-axis tick label"] text').evaluateAll((all) => all.map((one) => [one.textContent, Number(one.getAttribute("transform").match(/,\s*([-\d.]+)\)/)[1])]));
    const boxes = await places(page, "pairs", "pair", "x", "y", "width", "height");
    const texts = await page.locator("figure[data-chart=pairs] [aria-label=text] text").allTextContents();
    const nearest = (ticks, at) => ticks.reduce((a, b) => (Math.abs(b[1] - at) < Math.abs(a[1] - at) ? b : a))[0];
    const drawn = new Map(boxes.map(([x, y, width, height], i) => [`${nearest(rows, y + height / 2)} ${nearest(columns, x + width / 2)}`, texts[i]]));
    for (const { methods: [i, j], difference, low, high } of fair.pairs) {
      const text = (share) => minus((100 * share).toFixed(1).replace(/^-0\.0$/, "0.0"));
      assert.equal(drawn.get(`${METHODS[i]} ${METHODS[j]}`), `${text(difference)} [${text(low)}, ${text(high)}]`);
      assert.equal(drawn.get(`${METHODS[j]} ${METHODS[i]}`), `${text(-difference)} [${text(-high)}, ${text(-low)}]`);
    }
    assert.deepEqual(page.complaints, []);
  }
});

test("the learning curve has every size with its interval, and what it says", async () => {
  const page = await open(browser, page_of("fair"));
  assert.equal(fair.sizes.length, 3);
  assert.equal(await marks(page, "learning-curve", "curve"), METHODS.length);
  const y = await scaleOf(page, "learning-curve", "y");
  const rows = ordered(fair).flatMap((method) => fair.sizes.map((size) => size.methods.find((one) => one.method === method.method)));
  const drawn = await places(page, "learning-curve", "interval", "y1", "y2");
  assertNear(drawn.map((ends) => Math.max(...ends)), rows.map((row) => y(100 * Math.max(0, row.low))), "lower ends");
  assertNear(drawn.map((ends) => Math.min(...ends)), rows.map((row) => y(100 * Math.min(1, row.high))), "upper ends");
  assertNear((await places(page, "learning-curve", "size", "cy")).flat(), rows.map((row) => y(100 * row.mean_error)), "means");
  assert.equal(await page.locator("figure[data-chart=learning-curve] .finding").innerText(), fair.sizes_note);
  const without = await open(browser, variant("fair.html", "whole.html", (_, set) => delete set.sizes));
  assert.equal(await without.locator("figure[data-chart=learning-curve]").count(), 0);
});

test("samples that were never tested are counted apart", async () => {
  const { least, most, never } = fair.test_counts;
  assert.ok(least === 0 && never > 0);
  const page = await open(browser, page_of("fair"));
  const text = `${N - never} of ${N} samples were tested, each 1 to ${most} times; ${never} ${never === 1 ? "was" : "were"} in no finished test part.`;
  assert.ok((await page.locator("p.about").innerText()).includes(text));
  assert.ok((await page.locator("#samples > p").first().innerText()).startsWith(text));
  assert.equal(await marks(page, "test-counts", "times"), most + 1);
  const bars = (await places(page, "test-counts", "times", "height")).flat();
  const y = await scaleOf(page, "test-counts", "y");
  assertNear([bars[0]], [y(0) - y(never)], "never tested");
  const all = await open(browser, variant("fair.html", "all.html", (_, set) => Object.assign(set, { tested: packed(Array(N).fill(2)), test_counts: { least: 2, most: 2, never: 0 } })));
  assert.ok((await all.locator("p.about").innerText()).includes(`Each of the ${N} samples was tested 2 times.`));
  assert.deepEqual([...page.complaints, ...all.complaints], []);
});

test("remarks on grids are warnings, in a fold where there are many, and stand with their method", async () => {
  const notes = (count) =>
    variant("fair.html", "grids.html", (_, set) => {
      const own = Array.from({ length: count }, (_unused, i) => `svm-clip: cost was chosen at the end of its grid (${i})`);
      set.methods[2].details.notes = own;
      set.notes = ["a doubt about the input", ...own];
    });
  const few = await open(browser, notes(2));
  assert.equal(await few.locator("div.warning.grids li").count(), 2);
  assert.deepEqual(await few.locator(".notes li").allInnerTexts(), ["a doubt about the input"]);
  await few.locator("#method-2 summary").first().click();
  await few.locator("#method-2 .columns").waitFor();
  assert.equal(await few.locator("#method-2 p.warning").count(), 2);
  const many = await open(browser, notes(9));
  assert.match(await many.locator("details.grids summary").innerText(), /^9 remarks on grids/);
  assert.equal(await many.locator("details.grids li:visible").count(), 0);
  assert.deepEqual([...few.complaints, ...many.complaints], []);
});

test("notes that the program keeps of a search reach its method", async () => {
  kith("evaluate", "--similarity", "one.csv", "--labels", "one.tsv", "--methods", "svm-clip", "--grid", "svm-clip:cost=1e-9,1e-8", "--repeats", 2, "--folds", 2, "--store", "flat.db", "--quiet");
  const found = report("flat");
  const own = found.notes.filter((note) => note.startsWith("svm-clip: "));
  assert.ok(own.length > 0, "a grid of tiny costs is flat or chosen from at an end");
  const page = await open(browser, page_of("flat"));
  assert.equal(await page.locator(".grids li").count(), own.length);
});

test("few data sets have ranks and a sentence, and no critical difference", async () => {
  writeData("two", 3.4);
  evaluate("one", "sets.db", "--protocol", "kith");
  evaluate("two", "sets.db", "--protocol", "kith", "--append");
  const { ranks } = report("sets");
  assert.equal(ranks.critical_difference, null);
  const page = await open(browser, page_of("sets"));
  assert.equal(await page.locator("#ranks p.lead").innerText(), ranks.note);
  assert.equal(await page.locator("figure[data-chart=critical-difference]").count(), 0);
  assert.deepEqual(page.complaints, []);
});

test("five data sets have the critical-difference diagram", async () => {
  for (const [i, spread] of [2.6, 3, 3.8].entries()) {
    writeData(`more${i}`, spread);
    evaluate(`more${i}`, "sets.db", "--protocol", "kith", "--append");
  }
  const { ranks } = report("sets");
  assert.equal(ranks.data_sets, 5);
  const page = await open(browser, page_of("sets"));
  assert.equal(await page.locator("#ranks p.lead").innerText(), ranks.note);
  const chart = page.locator("figure[data-chart=critical-difference] svg");
  const drawn = await chart.locator("[aria-label=method] path").evaluateAll((all) => all.map((one) => Number(one.getAttribute("d").match(/^M([-\d.]+),/)[1])));
  const sorted = [...ranks.methods].sort((a, b) => a.rank - b.rank);
  const axis = await chart.locator("> text").evaluateAll((all) => all.filter((one) => /^\d+$/.test(one.textContent)).map((one) => [Number(one.textContent), Number(one.getAttribute("x"))]));
  const [[a, from], [b, to]] = [axis[0], axis.at(-1)];
  const x = (rank) => from + ((to - from) * (rank - a)) / (b - a);
  assertNear(drawn, sorted.map((one) => x(one.rank)), "ranks");
  assert.equal(await chart.locator("[aria-label=group]").count(), groupsOf(sorted, ranks.critical_difference).length);
  assert.deepEqual((await chart.locator("[aria-label=method] text").allTextContents()).sort(), [...METHODS].sort());
  assert.deepEqual(page.complaints, []);
});

test("a bar joins exactly the methods that differ by less than the critical difference", () => {
  const ranked = [1, 1.4, 2, 2.1, 3.4, 3.4, 5].map((rank) => ({ rank }));
  for (const difference of [0.05, 0.5, 1, 1.5, 2.4, 4.1]) {
    const groups = groupsOf(ranked, difference);
    ranked.forEach((one, i) =>
      ranked.forEach((other, j) => {
        const joined = groups.some((group) => group.from <= Math.min(i, j) && group.to >= Math.max(i, j));
        if (i !== j) assert.equal(joined, Math.abs(one.rank - other.rank) < difference, `${one.rank} and ${other.rank} by ${difference}`);
      })
    );
    groups.forEach((group, g) => g > 0 && assert.ok(group.from > groups[g - 1].from && group.to > groups[g - 1].to, "none inside another"));
  }
});

test("on a phone nothing that decides is cut off without a sign", async () => {
  const page = await open(browser, page_of("fair"), { viewport: { width: 420, height: 800 } });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth));
  await page.getByRole("button", { name: "open all" }).click();
  await page.evaluate(() => (location.hash = "sample-0"));
  await page.waitForSelector("#sample");
  const signs = await page.locator(".scroller").evaluateAll((all) => all.filter((one) => one.checkVisibility()).map((one) => {
    const inside = one.querySelector(".scroll");
    return { cut: inside.scrollWidth > inside.clientWidth + 1, told: getComputedStyle(one.querySelector(".hint")).display !== "none", shade: getComputedStyle(inside).backgroundImage !== "none" };
  }));
  assert.ok(signs.some((sign) => sign.cut) && signs.length > 3, JSON.stringify(signs));
  for (const sign of signs) assert.ok(sign.told === sign.cut && sign.shade === sign.cut, JSON.stringify(sign));
  const table = page.locator("#results .scroll").first();
  const seen = await table.locator("thead th").evaluateAll((all) => all.map((head) => head.getBoundingClientRect().right <= innerWidth));
  assert.deepEqual(seen.slice(0, 3), [true, true, true], "method, error and difference need no scrolling");
  await table.evaluate((one) => (one.scrollLeft = one.scrollWidth));
  assert.ok((await page.locator("table.results tbody td:first-child").first().boundingBox()).x >= 0, "the name stays");
  assert.deepEqual(page.complaints, []);
});

test("on paper the whole table is there", async () => {
  const page = await open(browser, page_of("fair"));
  await page.setViewportSize({ width: 718, height: 1000 });
  await page.emulateMedia({ media: "print" });
  const { right } = await page.locator("table.results").evaluate((table) => table.getBoundingClientRect());
  assert.ok(right <= 718, `${right} of 718 pixels`);
  assert.equal(await page.locator(".hint:visible").count(), 0);
});
