// SPDX-License-Identifier: Apache-2.0
// What the page shows of each method, of its classes and of its spectrum.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { unpack } from "../../report/src/model.js";
import { tickText } from "../../report/src/numbers.js";
import { folder, kith, launch, open } from "./browser.mjs";
import { CLASSES, METHODS, N, assertNear, documentOf, evaluate, marks, packed, places, report, scaleOf, variant, writeData } from "./support.mjs";

let browser;
let found;

before(async () => {
  browser = await launch();
  writeData("one", 2.2);
  evaluate("one", "one.db", "--protocol", "kith");
  found = report("one");
});
after(() => browser?.close());

const opened = async (file, options) => {
  const page = await open(browser, file, options);
  await page.getByRole("button", { name: "open all" }).click();
  return page;
};

test("the recall of every class is drawn with its interval", async () => {
  const page = await opened(join(folder, "one.html"));
  for (const [m, method] of found.methods.entries()) {
    const x = await scaleOf(page, `recall-${m}`, "x");
    assertNear((await places(page, `recall-${m}`, "recall", "cx")).flat(), method.recall.map((one) => x(100 * one.mean)), "recall");
    const drawn = await places(page, `recall-${m}`, "interval", "x1", "x2");
    assertNear(drawn.flat(), method.recall.flatMap((one) => [x(100 * Math.max(0, one.low)), x(100 * Math.min(1, one.high))]), "intervals");
  }
  assert.deepEqual(page.complaints, []);
});

test("ROC and precision-recall have a line for each class and one for their mean, through their points", async () => {
  const page = await opened(join(folder, "one.html"));
  const details = documentOf("one.html").data_sets[0].methods.map((method) => method.details);
  assert.ok(details.some((one) => one.curves));
  for (const [m, { curves }] of details.entries()) {
    for (const [chart, key] of [[`roc-${m}`, "tpr"], [`precision-recall-${m}`, "precision"]]) {
      assert.equal(await marks(page, chart, "curve"), curves ? curves.classes.length : 0, chart);
      if (!curves) continue;
      assert.equal(curves.classes.length, CLASSES.length + 1);
      const [x, y] = [await scaleOf(page, chart, "x"), await scaleOf(page, chart, "y")];
      const paths = await page.locator(`figure[data-chart="${chart}"] [aria-label=curve]`).evaluateAll((all) => all.map((path) => path.getAttribute("d")));
      const grid = unpack(curves.grid);
      [...curves.classes].reverse().forEach((one, c) => {
        const points = paths[c].slice(1).split("L").map((pair) => pair.split(",").map(Number));
        assertNear(points.map(([at]) => at), grid.map((v) => x(v / 1000)), "grid");
        assertNear(points.map(([, at]) => at), unpack(one[key]).map((v) => y(v / 1000)), key);
      });
    }
  }
  const legend = await page.locator("figure[data-chart=roc-0] .key").allInnerTexts();
  assert.deepEqual(legend.map((text) => text.split(" ").at(-1)), details[0].curves.classes.map((one) => one.auc.toFixed(3)));
  assert.deepEqual(page.complaints, []);
});

test("a method without scores has no such curves", async () => {
  const page = await opened(variant("one.html", "bare.html", (_, set) => set.methods.forEach((method) => {
    delete method.details.curves;
    method.details.calibration = [];
  })));
  assert.equal(await page.locator('figure[data-chart^="roc"], figure[data-chart^="precision"], figure[data-chart^="calibration"]').count(), 0);
  assert.equal(await page.locator('figure[data-chart^="recall"]').count(), METHODS.length);
  assert.deepEqual(page.complaints, []);
});

test("more than eight classes keep marks and lines of their own", async () => {
  const names = Array.from({ length: 26 }, (_, c) => String.fromCharCode(65 + c));
  const page = await opened(variant("one.html", "letters.html", (_, set) => {
    set.class_names = names;
    set.labels = packed(Array.from({ length: N }, (_unused, i) => i % 26));
    for (const method of set.methods) {
      method.recall = names.map(() => ({ mean: 0.5, low: 0.2, high: 0.8 }));
      method.confusion = names.map((_t, t) => names.map((_p, p) => (t === p ? 4 : 0)));
      method.details.said = packed(Array.from({ length: N }, (_unused, i) => (i + 1) % 26));
      if (method.details.curves) method.details.curves.classes = [-1, ...names.keys()].slice(0, 13).map((label) => ({ ...method.details.curves.classes[0], class: label }));
      if (method.details.curves) method.details.curves.left_out = 14;
    }
  }));
  const styles = await page.locator("figure[data-chart=roc-0] [aria-label=curve]").evaluateAll((all) => all.map((path) => ["stroke", "stroke-dasharray"].map((key) => path.closest(`[${key}]`)?.getAttribute(key)).join(" ")));
  assert.equal(styles.length, 13);
  assert.equal(new Set(styles).size, 13);
  const symbols = await page.locator("ul.legend button svg path, ul.legend button svg circle").evaluateAll((all) => all.map((one) => `${one.tagName} ${one.getAttribute("d")} ${one.getAttribute("fill")}`));
  assert.equal(symbols.length, 26);
  assert.equal(new Set(symbols).size, 26);
  assert.match(await page.locator("figure[data-chart=roc-0] figcaption").innerText(), /14 classes told apart best are left out of the chart, not of the mean/);
  assert.deepEqual(page.complaints, []);
});

test("partitions that all end alike are one line, others a table", async () => {
  const page = await opened(join(folder, "one.html"));
  const solved = page.locator("#method-2");
  assert.match(await solved.locator(".certified").innerText(), /^All 5 partitions solved; gap .* in all\.$/);
  assert.equal(await solved.locator("table[aria-label='certificates per partition']:visible").count(), 0);
  await solved.getByText("each partition", { exact: true }).click();
  assert.equal(await solved.locator("table[aria-label='certificates per partition'] tbody tr:visible").count(), 5);
  const mixed = await opened(variant("one.html", "mixed.html", (_, set) => (set.methods[2].details.partitions.status[3] = "iteration limit")));
  assert.equal(await mixed.locator("#method-2 .certified").count(), 0);
  assert.equal(await mixed.locator("#method-2 table[aria-label='certificates per partition'] tbody tr:visible").count(), 5);
  assert.deepEqual([...page.complaints, ...mixed.complaints], []);
});

test("auto says what it was made of, and how often", async () => {
  kith("evaluate", "--similarity", "one.csv", "--labels", "one.tsv", "--methods", "auto,knn", "--among", "knn,nearest-mean,ridge-clip", "--repeats", 3, "--folds", 2, "--store", "auto.db", "--quiet");
  const committee = report("auto").methods.find((method) => method.method === "auto");
  const page = await opened(join(folder, "auto.html"));
  const taken = committee.members.filter((member) => member.partitions > 0);
  const row = await page.locator("table.results tbody tr", { hasText: "auto" }).first().innerText();
  for (const member of taken) assert.ok(row.includes(`${member.method} (${member.partitions}\u00d7)`), row);
  const rows = await page.locator("#method-0 table[aria-label='members of the committee'] tbody tr").allInnerTexts();
  assert.equal(rows.length, committee.members.length);
  for (const member of committee.members) assert.ok(rows.some((text) => text.includes(member.method) && text.includes(`${member.partitions} of 3`)), rows.join("; "));
  assert.ok(!(await page.locator("#method-0 .settings").innerText()).includes("{"), "members by their names");
  assert.deepEqual(page.complaints, []);
});

test("advice stands with the data", async () => {
  const page = await open(browser, join(folder, "one.html"));
  const { advice } = documentOf("one.html").data_sets[0];
  assert.ok(advice.length > 0);
  assert.deepEqual(await page.locator("#data .advice li b").allInnerTexts(), advice.map((one) => one.what));
});

test("the samples say what was predicted, and how often they were tested", async () => {
  const page = await open(browser, join(folder, "one.html"));
  const [set] = documentOf("one.html").data_sets;
  const tested = unpack(set.tested);
  const shown = await page.locator("#sample-table tbody tr").evaluateAll((rows) => rows.map((row) => [row.querySelector("a").hash, row.cells[3].textContent]));
  for (const [link, times] of shown) {
    const i = Number(link.slice("#sample-".length));
    assert.equal(times, tested[i] === 0 ? "never" : `${tested[i]}\u00d7`, link);
  }
  assert.ok((await page.locator("#sample-table th").allInnerTexts()).includes("predicted as"));
});

test("answers that are equally frequent are all named, and a tie of a method is called one", async () => {
  const page = await open(browser, variant("one.html", "ties.html", (_, set) => {
    const [right, other, third] = [0, 1, 2];
    set.class_names = ["a", "b", "c"];
    set.labels = packed(Array(N).fill(right));
    const said = [[other, third, right], [third, right, other], [right, 3, right], [other, other, third]]; // by sample and method; 3: a tie
    set.methods.forEach((method, m) => (method.details.said = packed(Array.from({ length: N }, (_unused, i) => said[i]?.[m] ?? right))));
  }));
  const cell = async (i) => {
    await page.locator("#sample-filter").fill(`s${i}`);
    const text = await page.locator("#sample-table tbody tr").filter({ has: page.locator(`a[href="#sample-${i}"]`) }).first().locator("td").nth(5).innerText();
    return text.replace(/[^\x20-\x7e]/g, ""); // without the marks of classes
  };
  assert.match(await cell(0), /b or .*c by 1 method each$/);
  assert.match(await cell(1), /b or .*c by 1 method each$/);
  assert.equal(await cell(2), "a tie by 1 method");
  assert.match(await cell(3), /b by 2 methods$/);
  assert.equal(await cell(5), "");
  await page.evaluate(() => (location.hash = "#sample-2"));
  await page.waitForFunction(() => document.querySelector("#sample h3")?.innerText.length > 0);
  assert.ok((await page.locator("#sample table").first().innerText()).includes("a tie"));
  assert.deepEqual(page.complaints, []);
});

test("the words of ticks differ where the ticks do", () => {
  const words = (ticks, least, known) => ticks.map((tick, i) => tickText(least, known)(tick, i, ticks));
  assert.deepEqual(words([1234.5, 1234.6, 1234.7], 4), ["1234.5", "1234.6", "1234.7"]);
  assert.deepEqual(words([95, 105, 115], 2), ["95", "105", "115"]);
  assert.deepEqual(words([0, 0.5, 1], 2), ["0", "0.5", "1"]);
  assert.deepEqual(words([0, 100 / 3], 3), ["0", "33.3"]);
  assert.deepEqual(words([7], 2), ["7"]);
  assert.equal(tickText(2, [101, 102])(101), "101");
});

/** A matrix of similarities that fall with the distance on a line. */
function writeLine(name, n, similarity) {
  const rows = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_unused, j) => similarity(i, j).toFixed(6)).join(","));
  writeFileSync(join(folder, `${name}.csv`), rows.join("\n") + "\n");
  kith("inspect", "--similarity", `${name}.csv`, "--html", `${name}.html`);
  return documentOf(`${name}.html`).data_sets[0].portraits[0];
}

test("a spectrum of hundreds is two outlines, through every eigenvalue", async () => {
  const n = 300;
  const portrait = writeLine("hundreds", n, (i, j) => Math.cos(0.02 * (i - j)) * (1 + 0.3 * Math.sin(1.7 * (i + j))));
  const page = await open(browser, join(folder, "hundreds.html"));
  assert.equal(await marks(page, "spectrum", "eigenvalue"), 0);
  assert.equal(await marks(page, "spectrum", "eigenvalues"), 2);
  const paths = await page.locator("figure[data-chart=spectrum] [aria-label=eigenvalues]").evaluateAll((all) => all.map((path) => path.getAttribute("d").match(/[ML]/g).length));
  assert.equal(paths.reduce((a, b) => a + b, 0), 4 * portrait.eigenvalues.length, "two corners above and two at zero for each");
  assert.deepEqual(page.complaints, []);
});

test("half of a spectrum below zero is no finding where the diagonal adds up to zero", async () => {
  const portrait = writeLine("balanced", 40, (i, j) => (i === j ? 0 : -Math.sqrt(Math.abs(i - j)) - 0.4 * ((7 * i + 7 * j) % 5)));
  assert.ok(Math.abs(portrait.negative_eigenfraction - 0.5) < 1e-9 && portrait.centred);
  const page = await open(browser, join(folder, "balanced.html"));
  const figure = page.locator("figure[data-chart=spectrum]");
  const share = `${(100 * portrait.centred.negative_eigenfraction).toFixed(2)} %`;
  assert.equal(await figure.locator(".title").innerText(), `The spectrum: ${share} of it is negative after centring`);
  const text = await page.locator("#app").innerText();
  assert.ok(!text.includes("50.00 %") && text.includes("as in every matrix whose diagonal adds up to 0"));
  assert.deepEqual(page.complaints, []);
});
