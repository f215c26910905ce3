// SPDX-License-Identifier: Apache-2.0
// The page as a reader meets it: offline, without a word on the console, with the numbers of the store.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { unpack } from "../../report/src/model.js";
import { folder, kith, launch, open } from "./browser.mjs";
import { CLASSES, HOSTILE, METHODS, N, cells, documentOf, evaluate, marks, packed, report, tickLabels, variant, writeData } from "./support.mjs";

let browser;

before(async () => {
  browser = await launch();
  writeData("one", 2.2);
  writeData("two", 3.4);
  evaluate("one", "one.db");
  evaluate("one", "both.db");
  evaluate("two", "both.db", "--append", "--name", HOSTILE);
  report("one");
  report("both");
});
after(() => browser?.close());

test("the first screen has the numbers of the store", async () => {
  const page = await open(browser, join(folder, "one.html"));
  const stored = JSON.parse(kith("report", "--store", "one.db", "--json"));
  const lines = kith("report", "--store", "one.db", "--format", "csv").trim().split("\n").slice(1);
  const rows = page.locator("table.results tbody tr");
  assert.equal(await rows.count(), METHODS.length);
  for (const method of stored.methods) {
    const text = await rows.filter({ has: page.locator(`bdi:text-is("${method.method}")`) }).innerText();
    const cell = kith("report", "--store", "one.db").split("\n").find((line) => line.includes(method.method)).match(/\d+\.\d\d \(\d+\.\d\d\)/)[0];
    assert.ok(text.includes(cell), `${text} has no ${cell}`);
    assert.equal(text.includes("\u2605"), method.best);
    assert.ok(lines.some((line) => line.includes(method.method)));
  }
  const best = stored.methods.find((method) => method.leads);
  assert.match(await page.locator("h1").innerText(), new RegExp(`^${best.method} .*the lowest error on one: `));
  assert.deepEqual(page.complaints, []);
});

test("errors that are all the same have an axis with room, and no band", async () => {
  const flat = variant("one.html", "flat.html", (_, set) => {
    for (const method of set.methods) {
      Object.assign(method.metrics.error, { mean: 0, sd: 0, values: method.finished.map(() => 0) });
      method.details.validation = method.details.validation.map(() => 0);
    }
  });
  const page = await open(browser, flat);
  assert.equal(await marks(page, "errors-per-partition", "partition"), 5 * METHODS.length);
  assert.equal(await marks(page, "errors-per-partition", "band"), 0);
  const floor = Number((100 * documentOf("one.html").data_sets[0].baseline.metrics.error).toPrecision(3));
  assert.deepEqual(await tickLabels(page, "errors-per-partition", "x"), ["0", "1", "2", "3", "4", "5", String(floor)]);
  assert.ok(!(await page.locator("figure[data-chart=errors-per-partition] figcaption").innerText()).includes("band"));
  await page.getByRole("button", { name: "open all" }).click();
  assert.deepEqual(await tickLabels(page, "validation-0", "y"), ["0", "1", "2", "3", "4", "5"]);
  assert.deepEqual(page.complaints, []);
});

test("one partition has no standard deviation", async () => {
  const single = variant("one.html", "single.html", (_, set) => {
    set.partitions = 1;
    for (const method of set.methods) {
      method.finished = method.finished.slice(0, 1);
      Object.assign(method.metrics.error, { mean: 0.2, sd: 0, values: [0.2] });
    }
  });
  const page = await open(browser, single);
  assert.deepEqual(await cells(page, 2), METHODS.map(() => "20.00"));
  assert.deepEqual(page.complaints, []);
});

test("means that are equal but for rounding are equals, in the order of the store", async () => {
  const equal = variant("one.html", "equal.html", (_, set) => {
    const means = [0.4, 0.1 + 0.2, 0.3];
    set.methods.forEach((method, m) => {
      Object.assign(method.metrics.error, { mean: means[m], sd: 0.1, values: method.finished.map((i) => means[m] + 0.01 * (i - 3)) });
      const difference = m === 1 ? null : { mean: means[m] - 0.3, low: means[m] - 0.4, high: means[m] - 0.2 };
      Object.assign(method, { best: true, leads: m === 1, p_value: m === 1 ? null : 1, difference });
    });
  });
  const page = await open(browser, equal);
  assert.equal(await page.locator("h1").innerText(), "nearest-mean and svm-clip share the lowest error on one: 30.00 %");
  assert.equal(await page.locator("p.lead").innerText(), "Their means are equal. The other method, knn, is 10.00 points behind (95 % interval 0.00 to 20.00 points). It is not significantly worse: the order may be chance.");
  const order = ["nearest-mean", "svm-clip", "knn"];
  const names = () => page.locator("table.results tbody tr td:first-child bdi").allInnerTexts();
  assert.deepEqual(await names(), order);
  assert.deepEqual(await tickLabels(page, "errors-per-partition", "y"), order);
  await page.locator("table.results th").nth(1).getByRole("button").click();
  assert.deepEqual(await names(), order);
  assert.deepEqual(page.complaints, []);
});

test("a store without a finished partition says so", async () => {
  const none = variant("one.html", "none.html", (_, set) => {
    Object.assign(set, { complete: false, pairs: [], tested: packed(Array(N).fill(0)), test_counts: { least: 0, most: 0, never: N } });
    for (const method of set.methods) {
      Object.assign(method, { finished: [], best: false, leads: false, p_value: null, p_adjusted: null, difference: null, bayes: null, mean_error: null, chosen: [], chosen_most: { settings: null, partitions: 0 }, metrics: {} });
      method.details.partitions = Object.fromEntries(Object.keys(method.details.partitions).map((key) => [key, []]));
      method.details.wrong = packed(Array(N).fill(0));
    }
  });
  const page = await open(browser, none);
  assert.equal(await page.locator("h1").innerText(), "No result for one yet");
  assert.match(await page.locator("p.lead").innerText(), /^None of the 5 partitions is finished for any of the 3 methods\./);
  assert.ok(!(await page.locator("#results").innerText()).includes("only method"));
  assert.equal(await page.locator("figure[data-chart=errors-per-partition]").count(), 0);
  assert.deepEqual(page.complaints, []);
});

test("a committee shows who took part, and notes are read", async () => {
  const shown = variant("one.html", "committee.html", (_, set) => {
    const [first] = set.methods;
    first.grid = [];
    first.members = [
      { method: "never", partitions: 0, chosen_most: { settings: null, partitions: 0 } },
      { method: HOSTILE, partitions: 2, chosen_most: { settings: { cost: 10 }, partitions: 1 } },
      { method: "often", partitions: 5, chosen_most: { settings: { neighbours: 3 }, partitions: 4 } },
    ];
    set.notes = ["one note", HOSTILE];
  });
  const page = await open(browser, shown);
  const row = await page.locator("table.results tbody tr", { hasText: "often" }).innerText();
  assert.ok(row.includes("often (5\u00d7)") && !row.includes("never"), row);
  assert.deepEqual((await page.locator(".notes li").allInnerTexts())[0], "one note");
  assert.equal(await page.locator(".notes li").count(), 2);
  const details = page.locator("details.method", { hasText: "knn" }).first();
  await details.locator("summary").first().click();
  await details.locator(".columns").waitFor();
  assert.match(await details.innerText(), /neighbours 3 \(4\u00d7\)/);
  assert.deepEqual(page.complaints, []);
});

test("every chart is there with its marks", async () => {
  const page = await open(browser, join(folder, "one.html"));
  const found = JSON.parse(await page.locator("#document").textContent());
  assert.equal(await marks(page, "errors-per-partition", "partition"), 5 * METHODS.length);
  assert.equal(await marks(page, "errors-per-partition", "mean"), METHODS.length);
  assert.equal(await marks(page, "errors-per-partition", "band"), METHODS.length);
  assert.equal(await marks(page, "map", "sample"), N);
  assert.equal(await marks(page, "spectrum", "eigenvalue"), N);
  assert.equal(await marks(page, "class-sizes", "class"), 3);
  assert.equal(await marks(page, "differences", "difference"), METHODS.length - 1);
  assert.equal(await marks(page, "pairs", "pair"), METHODS.length * (METHODS.length - 1));
  assert.equal(await marks(page, "difficulty", "bin"), 11);
  await page.getByRole("button", { name: "open all" }).click();
  for (const [m, name] of METHODS.entries()) {
    assert.equal(await marks(page, `confusion-${m}`, "entry"), 9, name);
    if (name !== "nearest-mean") assert.equal(await marks(page, `validation-${m}`, "point"), 3, name);
  }
  const bins = found.data_sets[0].methods[2].details.calibration.filter(([count]) => count > 0).length;
  assert.ok(bins > 0);
  assert.equal(await marks(page, "calibration-2", "bin"), bins);
  for (const svg of await page.locator("figure svg:not([aria-hidden])").all()) {
    assert.equal(await svg.getAttribute("role"), "img");
    assert.ok((await svg.getAttribute("aria-label")).length > 20);
  }
  assert.deepEqual(page.complaints, []);
});

test("what a method learned is drawn", async () => {
  const common = ["--labels", "one.tsv", "--repeats", 1, "--folds", 2, "--quiet", "--store"];
  kith("evaluate", "--protocol", "tr", "--similarity", "one.csv", "--methods", "spectrum-svm,robust-svm", "--set", "robust-svm:solver=exchange", "--grid", "spectrum-svm:eta=0.1", "--grid", "spectrum-svm:gamma=1",
    "--grid", "robust-svm:cost=1", "--grid", "robust-svm:rho=1", ...common, "learned.db");
  kith("evaluate", "--protocol", "tr", "--similarity", "first=one.csv", "--similarity", "second=two.csv", "--methods", "mkl", "--grid", "mkl:cost=1", ...common, "weights.db");
  const drawn = async (store, chart, mark, count) => {
    kith("report", "--store", `${store}.db`, "--out", `${store}.html`);
    const page = await open(browser, join(folder, `${store}.html`));
    await page.getByRole("button", { name: "open all" }).click();
    const method = documentOf(`${store}.html`).data_sets[0].methods[Number(chart.at(-1))];
    assert.equal(await marks(page, chart, mark), count(method.details.learned));
    assert.deepEqual(page.complaints, []);
  };
  const sum = (parts, size) => parts.reduce((total, part) => total + size(part), 0);
  await drawn("learned", "learned-spectrum-0", "multiplier", (parts) => sum(parts, (part) => part.multipliers.length));
  await drawn("learned", "bounds-1", "bound", (parts) => 2 * parts[0].bounds.length);
  await drawn("weights", "weights-0", "weight", (parts) => sum(parts, (part) => part.kernel_weights.length));
  const page = await open(browser, join(folder, "weights.html"));
  await page.getByRole("button", { name: "open all" }).click();
  assert.deepEqual(await tickLabels(page, "weights-0", "y"), ["first", "second"]);
  await page.evaluate(() => (location.hash = "sample-0"));
  await page.waitForSelector("#sample");
  assert.deepEqual((await page.locator("#sample h3").allInnerTexts()).slice(1), ["Nearest neighbours by first", "Nearest neighbours by second"]);
  assert.equal(await page.locator("#sample-table th").last().innerText(), "nearest by first");
});

test("a table sorts by the column that is pressed, both ways", async () => {
  const page = await open(browser, join(folder, "one.html"));
  const names = () => page.locator("table.results tbody tr td:first-child bdi").allInnerTexts();
  const header = page.locator("table.results th").first();
  await header.getByRole("button").click();
  assert.deepEqual(await names(), [...METHODS].sort());
  assert.equal(await header.getAttribute("aria-sort"), "ascending");
  await header.getByRole("button").press("Enter");
  assert.deepEqual(await names(), [...METHODS].sort().reverse());
  assert.equal(await header.getAttribute("aria-sort"), "descending");
});

test("samples are filtered, and each opens with its neighbours", async () => {
  const page = await open(browser, join(folder, "one.html"));
  const rows = page.locator("#sample-table tbody tr");
  await page.locator("#sample-filter").fill("s3");
  const expected = Array.from({ length: N }, (_, i) => `s${i}`).filter((id, i) => i !== 4 && id.includes("s3"));
  assert.equal(await rows.count(), expected.length);
  await page.locator("#class-filter").selectOption({ label: "plain" });
  assert.equal(await rows.count(), expected.filter((id) => Number(id.slice(1)) % 3 === 0).length);
  await page.locator("#sample-filter").fill("s30");
  await rows.first().getByRole("link").first().click();
  await page.waitForSelector("#sample");
  assert.match(await page.locator("#sample h3").first().innerText(), /s30/);
  const portrait = JSON.parse(await page.locator("#document").textContent()).data_sets[0].portraits[0];
  const near = unpack(portrait.neighbours).slice(30 * portrait.nearest, 31 * portrait.nearest);
  assert.equal(await page.locator("#sample ol li").count(), near.length);
  assert.match(await page.locator("#sample ol li").first().innerText(), new RegExp(`s${near[0]}\\b`));
  await page.locator("#sample ol li a").first().click();
  await page.waitForFunction((id) => document.querySelector("#sample h3").innerText.includes(id), `s${near[0]}`);
  assert.deepEqual(page.complaints, []);
});

test("the matrix zooms to two classes and back", async () => {
  const page = await open(browser, join(folder, "one.html"));
  const heat = page.locator("svg.heat");
  const width = () => heat.locator("image").getAttribute("width").then(Number);
  const whole = await width();
  await page.getByLabel("zoom: rows").selectOption({ index: 1 });
  assert.equal(await width(), whole);
  await page.getByLabel("zoom: columns").selectOption({ index: 2 });
  assert.ok((await width()) > 2.9 * whole);
  await page.getByRole("button", { name: "whole matrix" }).click();
  assert.equal(await width(), whole);
  await heat.scrollIntoViewIfNeeded();
  const box = await heat.boundingBox();
  await page.mouse.click(box.x + box.width - 40, box.y + box.height - 40);
  assert.equal(await heat.getAttribute("data-zoom"), "2 2");
  await heat.press("Escape");
  assert.equal(await heat.getAttribute("data-zoom"), "whole");
  await page.mouse.move(box.x + box.width - 40, box.y + box.height - 45);
  await page.waitForFunction(() => /: (about|.) /.test(document.querySelector(".readout").innerText));
  assert.deepEqual(page.complaints, []);
});

test("dark and light are readable, paper is light", async () => {
  const colours = (page) =>
    page.evaluate(() => {
      const parts = (text) => text.match(/[\d.]+/g).slice(0, 3).map(Number);
      const light = (rgb) => rgb.map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const body = getComputedStyle(document.body);
      const back = light(parts(body.backgroundColor));
      const contrast = (element) => {
        const front = light(parts(getComputedStyle(element).color));
        return (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
      };
      const shown = ["body", "p.faint", "h1", "a[href^='#method']", "figcaption", ".badge"].map((selector) => document.querySelector(selector));
      return { back, worst: Math.min(...shown.map(contrast)) };
    });
  const page = await open(browser, join(folder, "one.html"), { colorScheme: "dark" });
  const dark = await colours(page);
  assert.ok(dark.back < 0.05 && dark.worst >= 4.5, JSON.stringify(dark));
  await page.emulateMedia({ media: "print" });
  const paper = await colours(page);
  assert.ok(paper.back === 1 && paper.worst >= 4.5, JSON.stringify(paper));
  assert.equal(await page.locator("header.bar").isVisible(), false);
  assert.equal(await page.locator("table.results").isVisible(), true);
  assert.equal(await page.locator("details.method > summary:visible").count(), METHODS.length);
  await page.emulateMedia({ media: "screen", colorScheme: "light" });
  assert.ok((await colours(page)).worst >= 4.5);
  await page.locator("#theme").click();
  assert.ok((await colours(page)).back < 0.05);
  assert.ok((await page.pdf({ format: "A4" })).length > 10000);
  assert.deepEqual(page.complaints, []);
});

test("hostile names are texts everywhere", async () => {
  const page = await open(browser, join(folder, "both.html"));
  await page.locator("#data-set").selectOption({ index: 1 });
  await page.getByRole("button", { name: "open all" }).click();
  await page.evaluate(() => (location.hash = "sample-4"));
  await page.waitForSelector("#sample");
  assert.equal(await page.locator("img, iframe, object, #app script, [onerror]").count(), 0);
  const text = await page.locator("#app").innerText();
  assert.ok(text.includes(`on ${HOSTILE}`) && text.includes(`four "&<b>${HOSTILE}`));
  assert.ok(!text.includes("\u202e") && text.includes("\\u{202e}right to left"));
  assert.deepEqual(page.complaints, []);
});

test("several data sets are ranked, and each can be looked at", async () => {
  const page = await open(browser, join(folder, "both.html"));
  const ranks = JSON.parse(kith("report", "--store", "both.db", "--json")).ranks;
  const best = ranks.methods.reduce((a, b) => (b.rank < a.rank ? b : a));
  assert.match(await page.locator("h1").first().innerText(), new RegExp(`^${best.method} has the best average rank over 2 data sets: ${best.rank.toFixed(2)} among 3 methods`));
  assert.equal(await page.locator("#ranks table.results tbody tr").count(), METHODS.length);
});

test("tables and charts are downloaded", async () => {
  const page = await open(browser, join(folder, "one.html"));
  const saved = async (action) => {
    const [download] = await Promise.all([page.waitForEvent("download"), action()]);
    return readFileSync(await download.path(), "utf8");
  };
  assert.equal(await saved(() => page.locator("[data-download=csv]").click()), kith("report", "--store", "one.db", "--format", "csv"));
  assert.equal(await saved(() => page.locator("[data-download=tex]").click()), kith("report", "--store", "one.db", "--format", "latex"));
  const svg = await saved(() => page.locator("figure[data-chart=errors-per-partition] button").click());
  assert.match(svg, /^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  assert.ok(!svg.includes("var(--"));
  await page.emulateMedia({ colorScheme: "dark" });
  const map = await saved(() => page.locator("figure[data-chart=map] > button").click());
  assert.ok(map.includes('fill="#ffffff"') && map.includes("color:#1b1f24"), "light whatever the page is");
  assert.deepEqual([...map.matchAll(/<text [^>]*dy="0.35em"[^>]*>([^<]*)</g)].map((found) => found[1]).sort(), [`${HOSTILE.slice(0, 21).replaceAll("<", "&lt;").replaceAll(">", "&gt;")}\u2026`, "\\u{202e}right to left", "plain"].sort());
  const matrix = await saved(() => page.locator("figure[data-chart=matrix] > button").click());
  assert.match(matrix, /<image [^>]*href="data:image\/png;base64,/);
  const words = matrix.match(/<text [^>]*>/g);
  assert.ok(words.length > 0 && words.every((text) => /fill="#/.test(text)), "texts have a colour of their own");
  assert.deepEqual(page.complaints, []);
});

test("inspect writes the data part alone", async () => {
  kith("inspect", "--similarity", "one.csv", "--labels", "one.tsv", "--html", "inspect.html");
  const page = await open(browser, join(folder, "inspect.html"));
  assert.equal(await marks(page, "map", "sample"), N);
  assert.equal(await page.locator("#results, #methods, #samples").count(), 0);
  assert.ok((await page.locator("#app").innerText()).includes("What to try, and why"));
  assert.deepEqual(page.complaints, []);
});

test("a store without a picture of its data says why", async () => {
  const without = variant("one.html", "without.html", (_, set) => {
    delete set.portraits;
    set.about.no_portraits_because = "the diagonal <b>is</b> negative";
  });
  const page = await open(browser, without);
  assert.ok((await page.locator("#data .note").innerText()).includes("no picture of these data: the diagonal <b>is</b> negative"));
  assert.ok(!(await page.locator("#repeat").innerText()).includes("negative"));
  assert.deepEqual(page.complaints, []);
});

test("methods that later commands added are named", async () => {
  const later = variant("one.html", "later.html", (_, set) => (set.about.command = "kith evaluate --methods knn,svm-clip --store one.db"));
  const page = await open(browser, later);
  assert.deepEqual(await page.locator("#later li bdi").allInnerTexts(), ["nearest-mean"]);
  const whole = await open(browser, join(folder, "one.html"));
  assert.equal(await whole.locator("#later").count(), 0);
  assert.deepEqual([...page.complaints, ...whole.complaints], []);
});

test("a matrix of zeros has a spectrum of zeros", async () => {
  writeFileSync(join(folder, "zeros.csv"), "0,0,0,0\n".repeat(4));
  kith("inspect", "--similarity", "zeros.csv", "--html", "zeros.html");
  const page = await open(browser, join(folder, "zeros.html"));
  const heights = await page.locator('figure[data-chart=spectrum] [aria-label="eigenvalue"]').evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute("height"))));
  assert.deepEqual(heights, [0, 0, 0, 0]);
  assert.match(await page.locator("#app").innerText(), /0 everywhere; diagonal 0 everywhere/);
  assert.deepEqual(page.complaints, []);
});

test("a matrix that is asymmetric, and one with holes, are told and drawn", async () => {
  const value = (i, j) => (i === j ? 1 : (0.1 * ((3 * i + 5 * j) % 7) + (i % 2 === j % 2 ? 0.3 : 0)).toFixed(2));
  const rows = (hole) => Array.from({ length: 12 }, (_, i) => Array.from({ length: 12 }, (_, j) => (hole(i, j) ? "" : value(i, j))).join(",")).join("\n") + "\n";
  writeFileSync(join(folder, "whole.csv"), rows(() => false));
  writeFileSync(join(folder, "holes.csv"), rows((i, j) => i === 2 && j > 2 && j < 6));
  kith("inspect", "--similarity", "whole.csv", "--html", "whole.html");
  kith("inspect", "--similarity", "holes.csv", "--html", "holes.html");
  const whole = await open(browser, join(folder, "whole.html"));
  assert.match(await whole.locator("#app").innerText(), /asymmetric: S and its transpose differ by \d/);
  assert.equal(await marks(whole, "map", "sample"), 12);
  const holes = await open(browser, join(folder, "holes.html"));
  const text = await holes.locator("#app").innerText();
  assert.match(text, /3 pairs without a value/);
  assert.match(text, /Orange: pairs without a value/);
  assert.equal(await holes.locator("figure[data-chart=map], figure[data-chart=spectrum]").count(), 0);
  assert.deepEqual([...whole.complaints, ...holes.complaints], []);
});
