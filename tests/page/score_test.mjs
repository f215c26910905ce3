// SPDX-License-Identifier: Apache-2.0
// The page of `kith predict --labels --html`, offline, with the numbers of its JSON.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { folder, kith, launch, open } from "./browser.mjs";

const HOSTILE = '</script><img src=x onerror=alert(1)>';
const CLASSES = ["plain", HOSTILE, "\u202eright to left"];
const N = 60;
const TRAINING = 36;
let browser;

const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
const score = (...flags) => JSON.parse(kith("predict", "--model", "m.kith", "--similarity", "new.csv", "--labels", "truth.tsv", ...flags, "--quiet", "--json")).score;
const marks = (page, chart, mark) => page.locator(`figure[data-chart="${chart}"] svg [aria-label="${mark}"]`).count();
const percent = (share) => `${(100 * share).toFixed(2)} %`;

/** Three clusters on a line, with noise that needs no random numbers; the last ten are of a class of their own. */
before(async () => {
  browser = await launch();
  const at = Array.from({ length: N }, (_, i) => 3 * (i % 3) + 2.2 * Math.sin(7.3 * i * i + i));
  const rows = (from, to) => [["", ...at.slice(0, TRAINING).map((_, i) => `t${i}`)].join(","),
    ...at.slice(from, to).map((a, i) => [from === 0 ? `t${i}` : `q${i}`, ...at.slice(0, TRAINING).map((b) => Math.exp(-Math.abs(a - b)))].join(","))].join("\n") + "\n";
  writeFileSync(join(folder, "s.csv"), rows(0, TRAINING));
  writeFileSync(join(folder, "l.tsv"), at.slice(0, TRAINING).map((_, i) => `t${i}\t${quoted(CLASSES[i % 3])}\n`).join(""));
  writeFileSync(join(folder, "new.csv"), rows(TRAINING, N));
  writeFileSync(join(folder, "truth.tsv"), at.slice(TRAINING).map((_, i) => `q${i}\t${quoted(i < 20 ? CLASSES[(TRAINING + i) % 3] : "a class of its own")}\n`).join(""));
  kith("train", "--similarity", "s.csv", "--labels", "l.tsv", "--method", "svm", "--model", "m.kith", "--quiet");
  kith("predict", "--model", "m.kith", "--similarity", "new.csv", "--labels", "truth.tsv", "--html", "score.html", "--quiet");
});
after(() => browser?.close());

test("the page has the numbers of the score", async () => {
  const found = score();
  const page = await open(browser, join(folder, "score.html"));
  assert.equal(await page.locator("h1").innerText(), `Error ${percent(found.error)}: ${found.wrong} of ${found.n} samples predicted wrong`);
  const lead = await page.locator("p.lead").innerText();
  assert.ok(lead.includes(`${(100 * found.interval[0]).toFixed(2)} to ${percent(found.interval[1])}`) && lead.includes(percent(found.baseline)), lead);
  const text = await page.locator("#score").innerText();
  for (const part of [percent(found.balanced_error), percent(found.calibration.error), "m.kith", "new.csv", "truth.tsv"]) assert.ok(text.includes(part), part);
  assert.ok(text.includes("a class of its own") && text.includes("count as wrong"));
  const rows = page.locator("#classes table tbody tr");
  assert.equal(await rows.count(), found.classes.length);
  for (const [c, one] of found.classes.entries()) {
    const cells = await rows.nth(c).locator("td").allInnerTexts();
    assert.equal(cells[1], String(one.samples));
    assert.equal(cells[2], one.recall === null ? "\u2013" : percent(one.recall));
    assert.equal(cells[5], one.precision === null ? "\u2013" : percent(one.precision));
    assert.equal(cells[0].endsWith("(not in the model)"), !one.known);
  }
  assert.deepEqual(page.complaints, []);
});

test("recall, confusion, calibration and mistakes are drawn", async () => {
  const found = score();
  const page = await open(browser, join(folder, "score.html"));
  assert.equal(await marks(page, "recall", "recall"), found.classes.filter((one) => one.recall !== null).length);
  assert.equal(await marks(page, "recall", "interval"), found.classes.filter((one) => one.recall !== null).length);
  assert.equal(await marks(page, "confusion-score", "entry"), found.classes.length ** 2);
  assert.equal(await marks(page, "calibration-score", "bin"), found.calibration.bins.filter((bin) => bin.samples > 0).length);
  const { counts } = found.confusion;
  const wrong = counts.flatMap((row, t) => row.filter((n, p) => p !== t && n > 0));
  assert.equal(await page.locator("#mistakes table tbody tr").count(), Math.min(12, wrong.length));
  assert.equal(await page.locator("#mistakes table tbody tr td:nth-child(3)").first().innerText(), String(Math.max(...wrong)));
  for (const svg of await page.locator("figure svg").all()) assert.ok((await svg.getAttribute("aria-label")).length > 20);
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("[data-download=json]").click()]);
  assert.deepEqual(JSON.parse(readFileSync(await download.path(), "utf8")).score, found);
  assert.deepEqual(page.complaints, []);
});

test("it fits a phone, is readable in the dark, and prints", async () => {
  const page = await open(browser, join(folder, "score.html"), { viewport: { width: 420, height: 800 }, colorScheme: "dark" });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), "nothing is cut off");
  assert.match(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), /^rgb\(20, 23, 27\)$/);
  await page.emulateMedia({ media: "print" });
  assert.match(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), /^rgb\(255, 255, 255\)$/);
  assert.ok((await page.pdf({ format: "A4" })).length > 10000);
  assert.deepEqual(page.complaints, []);
});

test("hostile names are texts", async () => {
  const page = await open(browser, join(folder, "score.html"));
  assert.equal(await page.locator("img, iframe, object, #app script, [onerror]").count(), 0);
  const text = await page.locator("#app").innerText();
  assert.ok(text.includes(HOSTILE) && !text.includes("\u202e") && text.includes("\\u{202e}right to left"));
  assert.deepEqual(page.complaints, []);
});

test("a model without probabilities or mistakes has a page too", async () => {
  kith("train", "--similarity", "s.csv", "--labels", "l.tsv", "--set", "probability=no", "--set", "cost=1e5", "--model", "p.kith", "--quiet");
  kith("predict", "--model", "p.kith", "--similarity", "s.csv", "--labels", "l.tsv", "--html", "plain.html", "--quiet");
  const page = await open(browser, join(folder, "plain.html"));
  assert.equal(await page.locator("figure[data-chart=calibration-score]").count(), 0);
  assert.match(await page.locator("#mistakes").innerText(), /There are none\./);
  assert.match(await page.locator("#score").innerText(), /36 of 36 samples have the id of a training sample/);
  assert.deepEqual(page.complaints, []);
});

test("hundreds of classes stay readable", async () => {
  const text = readFileSync(join(folder, "score.html"), "utf8");
  const document = JSON.parse(text.match(/id="document">(.*?)<\/script>/s)[1]);
  const one = document.score.classes[0];
  const classes = Array.from({ length: 300 }, (_, c) => ({ ...one, class: `class ${c}`, recall: (c % 10) / 10, recall_interval: [Math.max(0, (c % 10) / 10 - 0.1), (c % 10) / 10 + 0.1] }));
  document.score.classes = classes;
  document.score.confusion = { classes: classes.map((each) => each.class), counts: classes.map((_, t) => classes.map((__, p) => (p === t ? 5 : p === t + 1 ? 2 : 0))) };
  writeFileSync(join(folder, "many.html"), text.replace(/(id="document">).*?(<\/script>)/s, (_, a, b) => a + JSON.stringify(document).replaceAll("<", "\\u003c") + b));
  const page = await open(browser, join(folder, "many.html"));
  assert.equal(await marks(page, "recall", "recall"), 40);
  assert.equal(await page.locator("figure[data-chart=confusion-score]").count(), 0);
  assert.equal(await page.locator("#classes table tbody tr").count(), 60);
  assert.deepEqual(page.complaints, []);
});
